"""The engine beside its peers: seconds, memory, and whether they agree.

    python -m tests.benchmarks.engine [--only W2] [--repeats 7] [--quick]

Contestants take turns in one process, after a first call each that is not timed but whose answers are compared. A cell
says the median wall seconds and, in brackets, the processor seconds of one evaluation, then how many times slower a
peer is (the median over rounds of both ratios). ≈ is a peer timed on the first bins and scaled, see `problems`. Ours
works with one BLAS thread, as every run does; the peers with the threads of the heading. "Other cores busy" is ours
again while a process spins on each of the other cores. Peak memory is that of a process that does nothing else,
libraries included, without the making of the data.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hidviz.background import one_blas_thread
from tests.benchmarks.busy import busy
from tests.benchmarks.contestants import OURS, PEERS, Disagreement, compare, functions, is_installed
from tests.benchmarks.problems import WORKLOADS, Answer, Evaluate, Workload, problem
from tests.benchmarks.table import duration, head, heading, line

PATIENCE = 60.0  # seconds after which a workload gets no further round
SPUN = 0.1  # seconds, after which no thread of the contestant before still spins for work; it would count as ours


@dataclass(frozen=True)
class Timing:
    """What the rounds of one contestant took: (n_rounds,) wall and processor seconds of one evaluation."""

    wall: np.ndarray
    cpu: np.ndarray
    scaled: bool


def measure(workload: Workload, names: list[str], repeats: int) -> tuple[dict[str, Timing], Answer]:
    """Time contestants in turn, ours first; their answers have been compared.

    Raises:
        Disagreement: they answer differently.
    """
    whole = problem(workload)
    short = whole.first(workload.peer_bins)
    scale = 1.0 if workload.peer_bins is None else (workload.n_steps - 1) / (workload.peer_bins - 1)
    evaluate = {name: functions(name)[workload.kind](short) for name in names if name != OURS}
    evaluate = {OURS: ours(workload), **evaluate}
    judged: dict[str, Evaluate] = dict(evaluate)
    if short is not whole:
        judged[OURS] = functions(OURS)[workload.kind](short)
        evaluate[OURS]()
    answers = {name: ask() for name, ask in judged.items()}
    compare(workload.kind, short, answers)

    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    begin = time.perf_counter()
    for n_round in range(repeats):
        if n_round and time.perf_counter() - begin > PATIENCE:
            break
        for name, ask in evaluate.items():
            time.sleep(SPUN)
            wall, cpu = time.perf_counter(), time.process_time()
            answer = ask()
            spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
            if judged[name] is ask:
                answers[name] = answer
    compare(workload.kind, short, answers)

    scales = {name: 1.0 if name == OURS else scale for name in names}
    timings = {name: Timing(*(scales[name] * np.array(spent[name]).T), scales[name] != 1.0) for name in names}
    return timings, answers[OURS]


def ours(workload: Workload) -> Evaluate:
    """Our evaluation of the whole workload, as it is in a run: with one BLAS thread."""
    ask = functions(OURS)[workload.kind](problem(workload))

    def evaluate() -> Answer:
        with one_blas_thread():
            return ask()

    return evaluate


def beside_others(workload: Workload, repeats: int) -> np.ndarray:
    """Wall seconds of our evaluation while the other cores are busy, (n_rounds,)."""
    ask, spent = ours(workload), []
    ask()
    with busy():
        begin = time.perf_counter()
        while len(spent) < repeats and (not spent or time.perf_counter() - begin < PATIENCE):
            wall = time.perf_counter()
            ask()
            spent.append(time.perf_counter() - wall)
    return np.array(spent)


def peak_megabytes(workload: Workload, name: str) -> float:
    """Peak memory of a process of its own in which this contestant evaluates twice."""
    command = [sys.executable, "-m", "tests.benchmarks.engine", "--peak", name, "--only", workload.name]
    quick = [] if workload in WORKLOADS else ["--quick"]
    done = subprocess.run([*command, *quick], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _own_peak(workload: Workload, name: str) -> float:
    """Peak memory of this process from the time when the data are made, MB."""
    data = problem(workload).first(None if name == OURS else workload.peer_bins)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    ask = functions(name)[workload.kind](data)
    ask()
    ask()
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(entry for entry in status if entry.startswith("VmHWM")).split()[1]) / 1024


def _row(workload: Workload, repeats: int, memory: bool) -> str:
    names = [OURS, *[n for n in PEERS if is_installed(n) and workload.kind in functions(n)]]
    timings, answer = measure(workload, names, repeats)
    own = timings[OURS]
    cells = [f"{workload.name} {workload.what}, {workload.size}"]
    cells.append(f"{duration(np.median(own.wall))} ({duration(np.median(own.cpu))})")
    cells.append(duration(np.median(beside_others(workload, repeats))))
    for name in PEERS:
        if name not in timings:
            cells.append("–" if is_installed(name) else "not installed")
            continue
        peer = timings[name]
        slower = [np.median(a / b) for a, b in ((peer.wall, own.wall), (peer.cpu, own.cpu))]
        cells.append(
            f"{'≈ ' * peer.scaled}{duration(np.median(peer.wall))} ({duration(np.median(peer.cpu))}) "
            f"**{_times(slower[0])}** ({_times(slower[1])})"
        )
    cells.append("" if workload.goal is None else f"≥ {workload.goal:g}×")
    cells.append(" / ".join(f"{peak_megabytes(workload, n):.0f}" if n in timings else "–" for n in (OURS, *PEERS))
                 if memory else "–")  # fmt: skip
    cells.append(f"{answer.value:.9g}" if answer.gradient else "fair")
    cells.append(f"{answer.norm:.7g}" if answer.gradient else "")
    return line(cells)


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10.0 else f"{ratio:.2g}×"


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if anybody disagreed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.engine", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="workloads whose names begin like this, such as W2 or W3b")
    parser.add_argument("--repeats", type=int, default=7, help="rounds")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, one round: does it run?")
    parser.add_argument("--no-memory", action="store_true", help="leave the column of peak memory out")
    parser.add_argument("--peak", metavar="NAME", help="print the peak memory of one contestant, MB, and nothing else")
    options = parser.parse_args(arguments)
    chosen = [w for w in WORKLOADS if w.name.startswith(options.only)]
    if not chosen:
        parser.error(f"--only must begin like one of {', '.join(w.name for w in WORKLOADS)}, got {options.only!r}")
    chosen = [w.quick() for w in chosen] if options.quick else chosen
    if options.peak:
        print(_own_peak(chosen[0], options.peak))
        return 0
    memory = not options.no_memory and Path("/proc/self/clear_refs").exists()

    titles = ["workload", OURS, "other cores busy", *PEERS, "goal (JAX)", "peak MB", "value", "gradient"]
    print(f"{heading()}\n\n{head(titles)}")
    failures = []
    for workload in chosen:
        try:
            print(_row(workload, 1 if options.quick else options.repeats, memory), flush=True)
        except Disagreement as error:
            failures.append(f"{workload.name}: {error}")
            print(line([f"{workload.name} {workload.what}", f"**DISAGREE** {error}"]), flush=True)
    if failures:
        print("\nThe contestants disagree:\n" + "\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
