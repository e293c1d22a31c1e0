"""As many runs as a class has, with no page and nobody who looks: what all of them together can do at most.

    python -m tests.benchmarks.headless [--runs 30] [--seconds 20]

Each is Fig. 3 by gradient ascent in a thread of its own, behind the gate that all runs of a process share; one that
ends is begun again. Prints the steps a second of all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator

from hidviz.background import Runner, keep_one_blas_thread
from hidviz.experiments import Experiment, Frame, Progress, iter_run

RUN = Experiment(optimiser="gradient")


def _again_and_again(counted: list[int]) -> Iterator[Progress | Frame]:
    while True:
        for item in iter_run(RUN):
            counted[0] += isinstance(item, Frame) and item.snapshot.step > 0
            yield item


def steps_a_second(n_runs: int, seconds: float) -> float:
    """Of all runs of this process together, once each has begun."""
    keep_one_blas_thread()
    counts = [[0] for _ in range(n_runs)]
    runners = [Runner[Progress | Frame]() for _ in counts]
    for runner, counted in zip(runners, counts, strict=True):
        runner.start(_again_and_again(counted))
    while not all(counted[0] for counted in counts):
        time.sleep(0.1)
    begin, before = time.monotonic(), sum(counted for (counted,) in counts)
    time.sleep(seconds)
    made = (sum(counted for (counted,) in counts) - before) / (time.monotonic() - begin)
    for runner in runners:
        runner.stop()
    return made


def of_processes(n_runs: int, seconds: float, n_processes: int = 1) -> float:
    """The same of runs that are spread over processes of their own."""
    shares = [n_runs // n_processes + (k < n_runs % n_processes) for k in range(n_processes)]
    command = [sys.executable, "-m", "tests.benchmarks.headless", "--seconds", str(seconds), "--runs"]
    started = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, text=True) for n in shares if n]
    return sum(float(process.communicate()[0].split()[0]) for process in started)


def main(arguments: list[str] | None = None) -> int:
    """Print the rate."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.headless", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30, help="1 to 100")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long they are counted, 1 to 300")
    options = parser.parse_args(arguments)
    if not (1 <= options.runs <= 100 and 1 <= options.seconds <= 300):
        parser.error("--runs must lie between 1 and 100, --seconds between 1 and 300")
    print(f"{steps_a_second(options.runs, options.seconds):.4g} steps a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
