"""Whether every test there is has run: `python -m tests.ran FILE [BUT …]`, after pytest with HIDVIZ_TESTS_RAN=FILE.

Each run appends the names of its tests to the file, with what became of them. A test that was collected by none of the
runs, or that was skipped wherever it was, counts as not run, unless it says that it waits for something optional.
"""

import subprocess
import sys
from pathlib import Path

OPTIONAL = "optional: "  # how the reason of a skip begins that may stand in continuous integration


def all_tests(*where):
    """The names of all tests in these places, or everywhere, whatever their marks."""
    options = ["--collect-only", "-q", "-n0", "-o", "addopts=", "--import-mode=importlib"]
    command = [sys.executable, "-m", "pytest", *options, *where]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line for line in listed.splitlines() if "::" in line}


def left_out(every, lines):
    """The tests that did not run, sorted, each with what became of it.

    Args:
        every: names of all tests.
        lines: "outcome name", one a line; of a skip, "skipped name reason".
    """
    seen = {}
    for line in lines:
        outcome, name = line.split("\t")[:2]
        reason = line.split("\t")[2] if outcome == "skipped" else ""
        if outcome != "skipped" or reason.startswith(OPTIONAL):
            seen[name] = "ran"
        else:
            seen.setdefault(name, f"skipped: {reason}")
    return sorted((name, seen.get(name, "in no run")) for name in every if seen.get(name) != "ran")


def main(path, *but):
    """Tell of the tests that have not run; those of files named after the first argument may wait, and are told too."""
    every = all_tests()
    missing = left_out(every, Path(path).read_text(encoding="utf-8").splitlines())
    for name, why in missing:
        print(f"{name}: {why}")
    print(f"{len(every) - len(missing)} of {len(every)} tests have run.")
    return 1 if not every or [name for name, _ in missing if not name.startswith(but)] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
