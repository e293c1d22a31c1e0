"""The Python of the README runs as written, in order."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_python_block_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "held-out cost was best" in printed or "Converged" in printed
    assert "20 " in printed


def commands(marker):
    found = subprocess.run([ROOT / ".ci" / "readme", marker], capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def test_continuous_integration_sets_up_and_tests_by_the_commands_of_the_readme():
    assert len(commands("install")) == 2
    assert [line.split()[0] for line in commands("test")] == [".venv/bin/pytest"]
    calls = {name: (ROOT / ".ci" / name).read_text() for name in ("run", "check")}
    assert re.search(r"^\.ci/readme install \|", calls["run"], re.MULTILINE)
    assert re.search(r"^\.ci/check$", calls["run"], re.MULTILINE)
    assert re.search(r"^\.ci/readme test \| bash", calls["check"], re.MULTILINE)


def test_a_block_that_the_readme_has_not_is_an_error():
    assert subprocess.run([ROOT / ".ci" / "readme", "nonsense"], capture_output=True, check=False).returncode == 1
