"""All that is measured, in one table beside the last one that was kept: is anything lost?

    python -m tests.benchmarks.all --quick [--only page] [--keep]

Takes about ten minutes with --quick, on a machine that does nothing else, and three times as long without. Ratios, of
the engine to plain NumPy or of sessions to each other, can be compared between machines; seconds and rates only where
the processor is the same. A number that is worse by a fifth or more than in the record is marked, and told of at the
end. `--keep` puts the new numbers in the place of the record, tests/benchmarks/record.json, which is part of the
repository: then each loss has a commit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from tests.benchmarks import engine, headless, load, page
from tests.benchmarks.contestants import OURS, PEERS, functions, is_installed
from tests.benchmarks.problems import WORKLOADS
from tests.benchmarks.table import head, heading, line, processor
from tests.pages import launched

RECORD = Path(__file__).with_name("record.json")
LOST = 1.2  # times worse than the record, from which on something is lost
QUICK = ("W1", "W2a", "W2c", "W3a", "W4a", "W5a", "W5b", "W5c", "W6b")


@dataclass(frozen=True)
class Number:
    """Something measured.

    Args:
        name: what, with the benchmark that measures it in front.
        value: how much.
        unit: of the value; empty for a ratio, which can be compared between machines.
        less_is_better: whether a greater value is a loss.
    """

    name: str
    value: float
    unit: str = ""
    less_is_better: bool = True

    def times_worse(self, before: float) -> float:
        """How many times worse than before; below 1 if better."""
        return self.value / before if self.less_is_better else before / self.value


@dataclass(frozen=True)
class Record:
    """Numbers that were kept, and of what they are."""

    heading: str
    processor: str
    commit: str
    numbers: Mapping[str, float]

    def of(self, number: Number, processor: str) -> float | None:
        """What this number was, if it can be compared."""
        comparable = not number.unit or processor == self.processor
        return self.numbers.get(number.name) if comparable else None


def engine_numbers(*, quick: bool) -> Iterator[Number]:
    """Processor milliseconds of an evaluation, and how many times more each peer needs."""
    for workload in WORKLOADS:
        if quick and workload.name not in QUICK:
            continue
        names = [OURS, *[n for n in PEERS if is_installed(n) and workload.kind in functions(n)]]
        timings, _ = engine.measure(workload, names, 3 if quick else 7)
        own = timings[OURS].cpu
        yield Number(f"engine {workload.name} {workload.what}, {workload.size}", 1e3 * float(np.median(own)), "ms")
        for name in names[1:]:
            ratio = float(np.median(timings[name].cpu / own))
            yield Number(f"engine {workload.name}, times {name}'s", ratio, less_is_better=False)


def page_numbers(*, quick: bool) -> Iterator[Number]:
    """Opening, tabs, frames, and presses in a browser."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        (first, *then), _again = page.openings(browser, 4)
        yield Number("page opening, first", first, "s")
        yield Number("page opening, then", float(np.median(then)), "s")
        for when, seconds in page.switches(browser).items():
            yield Number(f"page to a tab {when}, worst", max(seconds.values()), "s")
        runs = [(name, query, 1.0) for name, query in page.RUNS.items()]
        for name, query, slower in (*runs, ("browser 6 times slower", next(iter(page.RUNS.values())), 6.0)):
            seen = page.run_in(browser, query, slower, 5.0 if quick else 20.0)
            yield Number(f"page {name}: frames", seen.frames, "a second", less_is_better=False)
            yield Number(f"page {name}: server", seen.cost, "ms a frame")
            yield Number(f"page {name}: press, 95 %", float(np.quantile(seen.presses, 0.95)), "s")
        browser.close()


def load_numbers(*, quick: bool) -> Iterator[Number]:
    """Many sessions on one process."""
    n_sessions = 10 if quick else 30
    with load.serving(lifetime=5) as server:
        seen = asyncio.run(load.loaded(server, n_sessions, 12.0 if quick else 30.0))
    memory = {when: megabytes for when, (_, megabytes) in seen.usage.items()}
    what = f"load {n_sessions} sessions"
    yield Number(f"{what}: Pause, 95 %", float(np.quantile(seen.pause, 0.95)), "s")
    yield Number(f"{what}: all steps", float(seen.steps.sum()), "a second", less_is_better=False)
    share = seen.steps.sum() / headless.of_processes(n_sessions, 10.0)
    yield Number(f"{what}: all steps / those of as many runs without a page", float(share), less_is_better=False)
    yield Number(f"{what}: least steps / mean", float(seen.steps.min() / seen.steps.mean()), less_is_better=False)
    yield Number(f"{what}: memory", (memory["during"] - memory["before"]) / n_sessions, "MB a session")


PARTS: Mapping[str, Callable[..., Iterator[Number]]] = {
    "engine": engine_numbers,
    "page": page_numbers,
    "load": load_numbers,
}


def row(number: Number, record: Record | None, processor: str) -> tuple[str, bool]:
    """A row of the table, and whether something is lost."""
    before = record and record.of(number, processor)
    now = f"{number.value:.3g} {number.unit}".strip()
    if not before:
        return line([number.name, now, "–", ""]), False
    worse = number.times_worse(before)
    lost = worse >= LOST
    change = f"{worse:.2f}× worse" if worse > 1.0 else f"{1.0 / worse:.2f}× better"
    return line([number.name, now, f"{before:.3g}", f"**{change}**" if lost else change]), lost


def commit() -> str:
    """What is measured, as Git names it; empty outside a repository."""
    asked = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(asked, cwd=RECORD.parent, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def recorded() -> Record | None:
    """The record, if there is one."""
    return Record(**json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.exists() else None


def keep(numbers: Sequence[Number], record: Record | None) -> None:
    """Put these numbers in the place of those in the record; others of the same machine stay."""
    here = processor()
    others = record.numbers if record and record.processor == here else {}
    new = Record(heading(), here, commit(), {**others, **{n.name: round(n.value, 6) for n in numbers}})
    RECORD.write_text(json.dumps(asdict(new), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if anything is lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.all", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer workloads and rounds: ten minutes")
    parser.add_argument("--only", choices=tuple(PARTS), help="one of the parts")
    parser.add_argument("--keep", action="store_true", help="put the numbers in the place of the record")
    options = parser.parse_args(arguments)
    record, here = recorded(), processor()
    print(f"{heading()}; commit {commit()}")
    if record is not None:
        ratios = "" if record.processor == here else " (another processor: ratios alone are compared)"
        print(f"record: {record.heading}; commit {record.commit}{ratios}")
    print(f"\n{head(['', 'now', 'record', 'change'])}")
    numbers, lost = [], []
    for name, measure in PARTS.items():
        for number in measure(quick=options.quick) if options.only in (None, name) else ():
            text, is_lost = row(number, record, here)
            print(text, flush=True)
            numbers.append(number)
            lost += [number.name] * is_lost
    if options.keep:
        keep(numbers, record)
    if lost:
        print("\nA fifth or more is lost: " + "; ".join(lost) + ".")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
