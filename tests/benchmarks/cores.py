"""One evaluation on one core, on two and on more: `python -m tests.benchmarks.cores [--repeats 7]`.

A row says the median wall time on one core, and how many times shorter it is on n of them; in every column the numbers
are the same to the last digit. Recordings shorter than these go by themselves, as does everything while other runs of
the process are under way.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from hidviz.background import CORES, one_blas_thread
from tests.benchmarks.engine import ours
from tests.benchmarks.problems import WORKLOADS
from tests.benchmarks.table import duration, head, heading, line

SHARED = ("W2c", "W5a", "W5b", "W5c")


def medians(evaluate, counts, repeats):
    """The median seconds of one evaluation for each number of cores, taking turns."""
    spent = {n: [] for n in counts}
    for _ in range(repeats):
        for n in counts:
            os.environ[CORES] = str(n)
            began = time.perf_counter()
            evaluate()
            spent[n].append(time.perf_counter() - began)
    return {n: float(np.median(each)) for n, each in spent.items()}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cores")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    counts = range(1, (os.cpu_count() or 1) + 1)
    print(heading())
    print(head(["workload", "1 core", *(f"{n} cores" for n in counts[1:])]))
    with one_blas_thread():
        for workload in WORKLOADS:
            if workload.name.startswith(SHARED):
                evaluate = ours(workload)
                evaluate()
                found = medians(evaluate, counts, arguments.repeats)
                print(line([workload.name, duration(found[1]), *(f"{found[1] / found[n]:.2f}×" for n in counts[1:])]))


if __name__ == "__main__":
    main()
