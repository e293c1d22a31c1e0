"""Plant small faults in the code and see whether the tests notice: `python -m tests.mutants [MODULE …] [--most N]`.

A fault is one change of one place: another comparison, another sign, another constant, a condition turned round, a
call or an assignment left out. Which ones, is drawn by the seed. Each is planted in a copy of the project, where the
tests of its module run until the first that fails. What survives is printed as a difference, and is either a test that
is missing, or code that changes nothing and can go, or, with its reason in `tests.equivalent`, a change that no test
could notice.
"""

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.equivalent import explanation

ROOT = Path(__file__).parent.parent
LONGEST = 900  # seconds after which the tests have noticed: the fault made them hang, which is told, or the machine did

CONTRACT = ["tests/learners/test_contract.py", "tests/learners/test_external_field.py"]
TESTS = {
    "hidviz/network/gauge.py": ["tests/network/test_gauge.py"],
    "hidviz/background/runner.py": ["tests/background/test_runner.py"],
    "hidviz/background/arenas.py": ["tests/background/test_arenas.py"],
    "hidviz/background/memory.py": ["tests/background/test_memory.py"],
    "hidviz/background/files.py": ["tests/faults/test_files.py"],
    "hidviz/learning/loop.py": ["tests/learning/test_loop.py", "tests/learning"],
    "hidviz/learning/optimisers.py": [
        "tests/learning/test_line_search.py",
        "tests/learning/test_optimisers.py",
        "tests/learning",
    ],
    "hidviz/learners/backprop.py": [
        "tests/learners/test_backprop.py",
        "tests/learners/test_time_blocks.py",
        *CONTRACT,
    ],
    "hidviz/learners/exact.py": [
        "tests/learners/test_exact.py",
        "tests/learners/test_budget.py",
        "tests/learners/test_time_blocks.py",
        *CONTRACT,
    ],
    "hidviz/learners/mean_field.py": ["tests/learners/test_mean_field.py", "tests/learners"],
    "hidviz/learners/gibbs.py": ["tests/learners/test_gibbs.py", *CONTRACT],
    "hidviz/learners/parts/gibbs_sweep.py": ["tests/learners/test_gibbs.py", *CONTRACT],
    "hidviz/learners/mean_field_correlated.py": ["tests/learners/test_mean_field_correlated.py", *CONTRACT],
    "hidviz/learners/smoothing.py": ["tests/learners/test_smoothing.py", *CONTRACT],
    "hidviz/learners/visible.py": ["tests/learners/test_visible.py", *CONTRACT],
    "hidviz/experiments/bundle.py": ["tests/experiments/test_bundle.py"],
    "hidviz/experiments/archive.py": [
        "tests/experiments/test_archive.py",
        "tests/experiments/test_bundle.py",
        "tests/faults/test_hostile.py",
    ],
    "hidviz/experiments/memory.py": ["tests/experiments/test_memory.py"],
    "hidviz/sweeps/sweep.py": ["tests/sweeps/test_sweep.py", "tests/faults/test_command_line.py"],
    "hidviz/sweeps/measurement.py": ["tests/sweeps/test_sweep.py", "tests/sweeps/test_paper_figures.py"],
    "hidviz/ui/state/session.py": [
        "tests/ui/test_acts.py",
        "tests/ui/test_session.py",
        "tests/ui/test_session_machine.py",
    ],
    "hidviz/ui/state/live_run.py": [
        "tests/ui/test_acts.py",
        "tests/ui/test_session.py",
        "tests/ui/test_session_machine.py",
    ],
    "hidviz/ui/state/undo.py": ["tests/ui/test_undo.py", "tests/ui/test_session.py"],
    "hidviz/ui/state/changes.py": ["tests/ui/test_changes.py"],
    "hidviz/ui/state/pulse.py": ["tests/ui/test_pulse.py"],
    "hidviz/ui/known_models.py": ["tests/ui/test_known_models.py"],
    "hidviz/ui/last_message.py": ["tests/ui/test_last_message.py"],
    "hidviz/ui/state/link.py": ["tests/ui/test_link.py", "tests/ui/test_numbers.py", "tests/ui/test_lecture.py"],
}

SPEED_ALONE = {
    "seconds", "_seconds", "exact_seconds", "predicted_seconds", "memory", "_memory", "exact_memory", "distinct_memory",
    "_blocks", "blocks",
}  # fmt: skip
"""Functions, and arguments of calls, that are left out: they guess what something will take, which slow tests hold to
a factor of two, or cut work in blocks, which changes how fast an answer comes and not the answer."""

FOR_READERS = {"eq", "frozen", "strict", "init", "slots"}
"""Arguments that are left out: they guard against another fault, and change nothing while there is none."""

SIZES = {
    "BLOCK",
    "BLOCK_NUMBERS",
    "SEGMENT_TRIPLES",
    "BELIEF_NUMBERS",
    "_CACHED",
    "PINNED",
    "TURN",
    "LOOK",
    "UNKNOWN",
    "HEADER",
}
"""Constants that are left out: sizes of blocks and buffers, times between looks, a date that has to stay the same."""

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Add, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def n_faults(source):
    """How many faults can be planted in a source."""
    return len(_places(ast.parse(source)))


def lines_of_faults(source):
    """The number of the line of each of them."""
    return [getattr(node, "lineno", 0) for node, _ in _places(ast.parse(source))]


def fault(source, k):
    """The k-th of them: the number of its line, and the source with it."""
    tree = ast.parse(source)
    node, change = _places(tree)[k]
    line = getattr(node, "lineno", 0)
    change()
    return line, ast.unparse(ast.fix_missing_locations(tree))


def _places(tree):
    return [(node, change) for node in _walked(tree) for change in _changes(node)]


def _walked(node):
    """A node and all below it, but for what is left out."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name in SPEED_ALONE:
            continue
        if isinstance(child, ast.keyword) and child.arg in SPEED_ALONE | FOR_READERS:
            continue
        if isinstance(child, ast.Assign) and any(isinstance(t, ast.Name) and t.id in SIZES for t in child.targets):
            continue
        yield from _walked(child)


def _changes(node):
    """The ways to change this node, as functions without arguments."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield lambda: node.ops.__setitem__(0, SWAPS[type(node.ops[0])]())
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
        yield lambda: setattr(node, "op", SWAPS[type(node.op)]())
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield lambda: setattr(node, "value", node.value + 1)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield lambda: setattr(node, "value", ast.Constant(None))
    if isinstance(node, ast.Return) and node.value is not None and not _is_said_already(node.value):
        yield lambda: setattr(node, "value", ast.Constant(None))


def _is_said_already(node):
    """Whether it is None, or True or False, which are turned into one another."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def noticed(folder, module, source, tests):
    """Whether these tests "fail", "pass" or "hang" in a copy of the project in which the module has this source."""
    place = folder / "project"
    for name in ("hidviz", "tests", "assets"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "app.py", "README.md"):
        shutil.copy(ROOT / name, place / name)
    (place / module).write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-m", "not slow and not browser", *tests]
    try:
        ended = subprocess.run(
            [*command, "-p", "no:cacheprovider"], cwd=place, capture_output=True, check=False, timeout=LONGEST,
            env={**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "hang"
    return "fail" if ended.returncode else "pass"


def judge(module, line, source, plain):
    """What became of one fault, "noticed", "equivalent" or "survived", and a line about it."""
    with tempfile.TemporaryDirectory() as folder:
        seen = noticed(Path(folder), module, source, TESTS[module])
    before, after = changed(plain, source)
    known = explanation(module, before, after)
    if seen != "pass":
        how = f", no end in {LONGEST} s" * (seen == "hang") + ", though explained as equivalent" * (known is not None)
        return "noticed", f"noticed     {module}:{line}{how}"
    shown = f"{module}:{line}\n- {before}\n+ {after}"
    if known:
        return "equivalent", f"equivalent  {shown}\n  {known.kind}: {known.reason}"
    return "survived", f"SURVIVED    {shown}"


def changed(plain, source):
    """The line (now and then more than one) that differs between two sources, as it was and as it is."""
    lines = list(difflib.unified_diff(plain.splitlines(), source.splitlines(), lineterm="", n=0))[2:]
    return tuple("\n".join(each[1:].strip() for each in lines if each[0] == sign) for sign in "-+")


def in_words(ends):
    """How many of each end, and the share noticed of those that are not explained."""
    n = ends["noticed"] + ends["survived"]
    counts = " / ".join(f"{ends[end]} {end}" for end in ("noticed", "equivalent", "survived"))
    return f"{counts}: {100 * ends['noticed'] / max(1, n):.0f} % noticed of {n} that are not explained as equivalent."


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="which modules (default: all in the table)", default=list(TESTS))
    parser.add_argument("--most", type=int, default=10, help="faults of each module (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(words)
    jobs = []
    for module in given.modules:
        text = (ROOT / module).read_text(encoding="utf-8")
        plain, n = ast.unparse(ast.parse(text)), n_faults(text)
        chosen = random.Random(f"{given.seed} {module}").sample(range(n), min(given.most, n))
        jobs += [(module, *fault(text, k), plain) for k in chosen]
    with ThreadPoolExecutor(given.workers) as pool:
        ends = Counter()
        for end, text in pool.map(lambda job: judge(*job), jobs):
            ends[end] += 1
            print(text, flush=True)
    print(in_words(ends))
    return 0


if __name__ == "__main__":
    sys.exit(main())
