"""The Python of the README runs as written, in order."""

import re
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


def test_the_continuous_integration_runs_the_readme_command():
    command = re.search(r"<!-- test -->\n```sh\n(.*?)\n```", (ROOT / "README.md").read_text()).group(1)
    assert command.endswith("pytest")
    assert "<!-- test -->" in (ROOT / ".ci" / "run").read_text()
