"""How near each workload is to what this machine can do: `python -m tests.benchmarks.roofline [--only W2] [--quick]`.

First the machine, on one core, in processor time: products of matrices of the shapes that the workloads have, NumPy's
functions on arrays in the cache, and memory. Then each workload of `problems`: what the best evaluation we know of has
to do, counted from Nv, Nh, T and how many distinct states the data have, however it is programmed. Its bound is the
larger of two times: all additions and multiplications at the speed of matrix products plus every function value at its
own, and the bytes of data and results at the speed of a copy. The share is that bound over the measured processor time.

Nothing is said of what a program needs besides: sums and products that NumPy makes pass by pass, ten times slower than
inside a matrix product, and the calls themselves. So 100 % is out of reach, and small problems are far from it.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from typing import NamedTuple

import numpy as np

from hidviz.background import keep_freed_memory, one_blas_thread
from hidviz.learners.parts.e_step_solver import settle
from hidviz.learners.parts.mean_field_cases import cases_of
from hidviz.learners.parts.mean_field_objective import Theory, wire
from hidviz.network import distinct_transitions
from hidviz.numerics import LOWEST
from tests.benchmarks.engine import ours
from tests.benchmarks.problems import WORKLOADS, problem
from tests.benchmarks.table import duration, head, heading, line

IN_CACHE, IN_MEMORY = 8192, 2**24  # numbers of an array that stays in the cache, and of one that does not
BLOCK = 512  # rows of a product, where time has been cut into blocks


class Work(NamedTuple):
    """What an evaluation has to do.

    Args:
        flops: additions and multiplications.
        exps: exponentials; a tanh is an exponential and a quotient.
        logs: logarithms.
        quotients: divisions.
        randoms: uniform random numbers.
        bytes: of data read and results written, once each.
        shape: (rows, inner, columns) of its largest kind of matrix product.
    """

    flops: float
    exps: float
    logs: float
    quotients: float
    randoms: float
    bytes: float
    shape: tuple[int, int, int]


def simulation(w):
    """A field of each unit from all; a threshold log u/(1-u) of each; a state of one byte of each."""
    n = w.n_visible
    return Work(w.n_steps * 2 * n * n, 0, w.n_steps * n, w.n_steps * n, w.n_steps * n, w.n_steps * n, (BLOCK, n, n))


def backprop(w):
    """B and H forward, Kᵀeps and the slopes of J, K, L back; M once forward, once back, and once in its slope."""
    v, h, t = w.n_visible, w.n_hidden, w.n_steps
    flops = 4 * v * v + 8 * v * h + w.hidden_hidden * 6 * h * h
    # one exponential and one quotient a unit give tanh and likelihood, whose logarithm is that of a product over units
    return Work(t * flops, t * (v + h), t, t * (v + h), 0, t * (v + 8 * h), (BLOCK, v + h, v))


def exact(w):
    """Three products of halves of the hidden units a distinct triple; tables and averages over distinct s(t)."""
    v, z = w.n_visible, 2**w.n_hidden
    each = distinct_transitions(problem(w).recording)
    triples, present = len(each.count), len(each.present)
    # a factor, a product and a quotient for each unit and state; then its average, by s(t) and by z
    flops, half = triples * 6 * z + present * z * v * 7, 2 ** (w.n_hidden // 2)
    per_triple = triples * 32  # p, x, y and count
    shape = (min(triples // present, BLOCK), half, half)
    return Work(flops, present * (v + z // half), triples, present * z * v, 0, per_triple, shape)


def chain(w):
    """A matrix over hidden states times a vector forward and back, and an outer product into the sum over pairs."""
    v, h, z, t = w.n_visible, w.n_hidden, 2**w.n_hidden, w.n_steps
    present = len(distinct_transitions(problem(w).recording).present)
    # factors, normalisers and averages of every unit in each hidden state, over distinct s(t)
    tables = present * z * (v + h)
    return Work(t * 6 * z * z + 7 * tables, present * (v + h), t, tables, 0, t * (v + 8 * h), (256, z, z))


def mean_field(w):
    """Fields from s and mu, their variance, the prior field, and the slopes of J, of K by both, and of L."""
    v, h, t = w.n_visible, w.n_hidden, w.n_steps
    # entropies want two logarithms a hidden unit, the rest is a logarithm of a product
    flops, logs = 4 * v * v + 12 * v * h + 12 * v, 2 * h + 2
    return Work(t * flops, t * (v + h), t * logs, t * (v + h), 0, t * (v + 8 * h), (BLOCK, v, v))


def gaussian(w):
    """The same with ten pairs of nodes a field: a quotient and a logarithm each, two exponentials in all."""
    v, t, plain = w.n_visible, w.n_steps, mean_field(w)
    return plain._replace(
        flops=plain.flops + t * v * 100,
        exps=plain.exps + t * v,
        logs=plain.logs + t * v * 11,
        quotients=plain.quotients + t * v * 11,
    )


def e_step(w):
    """The sweeps of this solver: four products with K, tanh of every field and unit, and three moves mixed."""
    given, plain = problem(w), mean_field(w)
    v, h, theory = w.n_visible, w.n_hidden, Theory(LOWEST)
    n = int(settle(theory, wire(given.couplings, theory), cases_of(given.recording), None, 1e-8, 500).sweeps.sum())
    return plain._replace(
        flops=plain.flops + n * (8 * v * h + 12 * v + 40 * h),
        exps=plain.exps + n * (v + 2 * h),
        quotients=plain.quotients + n * (v + 2 * h),
        shape=(BLOCK, h, v),
    )


def gibbs(w):
    """The odds of every hidden unit, a factor of three operations for each visible one; then backprop's slopes."""
    v, h, t = w.n_visible, w.n_hidden, w.n_steps
    flops = 4 * v * v + 8 * v * h + 4 * v * h
    return Work(t * flops, t * (2 * v + 2 * h), 2 * t, t * (v + 2 * h), t * h, t * (v + 2 * h), (BLOCK, v + h, v))


WORK = {
    "simulation": simulation,
    "backprop": backprop,
    "exact": exact,
    "chain": chain,
    "mean-field": mean_field,
    "gaussian": gaussian,
    "e-step": e_step,
    "gibbs": gibbs,
}


def fastest(work, seconds=0.1):
    """Processor seconds of one call, the least over rounds of some calls."""
    work()
    began, n = time.process_time(), 0
    while time.process_time() - began < 0.01:
        work()
        n += 1
    spent, end = [], time.process_time() + seconds
    while not spent or time.process_time() < end:
        began = time.process_time()
        for _ in range(n):
            work()
        spent.append((time.process_time() - began) / n)
    return min(spent)


@functools.cache
def product_rate(shape):
    """Flops a second of a matrix product; of a stack of small ones."""
    rows, inner, columns = shape
    n = max(1, 2**15 // (rows * max(inner, columns)))
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=(n, rows, inner)), rng.normal(size=(n, inner, columns)), np.empty((n, rows, columns))
    return 2.0 * n * rows * inner * columns / fastest(lambda: np.matmul(a, b, out=out))


@functools.cache
def element_seconds():
    """Seconds an element of NumPy's functions, in the cache."""
    rng = np.random.default_rng(0)
    x, out = rng.normal(size=IN_CACHE), np.empty(IN_CACHE)
    positive = np.abs(x) + 0.1
    calls = {
        "exp": lambda: np.exp(x, out=out),
        "log": lambda: np.log(positive, out=out),
        "tanh": lambda: np.tanh(x, out=out),
        "quotient": lambda: np.divide(1.0, positive, out=out),
        "product": lambda: np.multiply(x, positive, out=out),
        "random": lambda: rng.random(out=out),
    }
    return {name: fastest(call) / IN_CACHE for name, call in calls.items()}


@functools.cache
def memory_rates():
    """Bytes a second, read and written, of a copy and of a triad a = b + 3 c (two passes in NumPy)."""
    a, b, c = (np.ones(IN_MEMORY) for _ in range(3))

    def triad():
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    return {"copy": 16.0 * IN_MEMORY / fastest(lambda: np.copyto(a, b)), "triad": 40.0 * IN_MEMORY / fastest(triad)}


def bound(work):
    """Seconds of the arithmetic, and of the memory, of some work on this machine."""
    each = element_seconds()
    arithmetic = work.flops / product_rate(work.shape) + work.exps * each["exp"] + work.logs * each["log"]
    arithmetic += work.quotients * each["quotient"] + work.randoms * each["random"]
    return arithmetic, work.bytes / memory_rates()["copy"]


def row(workload, repeats):
    """A row of the table of workloads."""
    work, ask = WORK[workload.kind](workload), ours(workload)
    ask()
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        ask()
        spent.append(time.process_time() - began)
    arithmetic, memory = bound(work)
    least, measured = max(arithmetic, memory), float(np.median(spent))
    counts = (work.exps, work.logs, work.quotients, work.randoms)
    return line([
        f"{workload.name} {workload.what}, {workload.size}",
        f"{1e-9 * work.flops:.3g}",
        " / ".join(f"{1e-6 * count:.3g}" for count in counts),
        f"{1e-6 * work.bytes:.3g}",
        duration(work.flops / product_rate(work.shape)),
        duration(arithmetic),
        duration(memory),
        duration(measured),
        f"{100.0 * least / measured:.0f} %",
    ])  # fmt: skip


def machine(shapes):
    """The lines that say what the machine can do."""
    yield head(["product of matrices", "GFLOP/s"])
    for shape in shapes:
        yield line([" × ".join(map(str, shape)), f"{1e-9 * product_rate(shape):.1f}"])
    yield f"\n{head(['in the cache', 'ns an element'])}"
    for name, seconds in element_seconds().items():
        yield line([name, f"{1e9 * seconds:.2f}"])
    yield f"\n{head(['memory', 'GB/s'])}"
    for name, rate in memory_rates().items():
        yield line([name, f"{1e-9 * rate:.1f}"])


def main(arguments=None):
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.roofline", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="workloads whose names begin like this, such as W2 or W3b")
    parser.add_argument("--repeats", type=int, default=7, help="of which the median counts")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, one repeat: does it run?")
    options = parser.parse_args(arguments)
    chosen = [w for w in WORKLOADS if w.name.startswith(options.only)]
    if not chosen:
        parser.error(f"--only must begin like one of {', '.join(w.name for w in WORKLOADS)}, got {options.only!r}")
    chosen = [w.quick() for w in chosen] if options.quick else chosen
    print(f"{heading()}\n")
    keep_freed_memory()
    with one_blas_thread():
        for text in machine(dict.fromkeys(WORK[w.kind](w).shape for w in chosen)):
            print(text)
        titles = ["workload", "GFLOP", "million exp / log / quotient / random", "MB", "flops alone", "arithmetic"]
        print(f"\n{head([*titles, 'memory', 'measured', 'share'])}")
        for workload in chosen:
            print(row(workload, 1 if options.quick else options.repeats), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
