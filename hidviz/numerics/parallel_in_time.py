"""Parallel in time: segments of a recursion run side by side from guesses, then again until their seams agree.

A recursion x(t+1) = f_t(x(t)) is sequential, but if it forgets where it began, the far past does not matter. So time is
cut into segments that all start at once from a guess. A seam is where a segment ends and the next one starts: where the
start was not what the segment before arrived at, the segment runs again from there, and only until it meets its own
earlier path, since beyond that nothing changes. Then the path solves the recursion from the first step to the last.

Forgetful recursions need one round. Where nothing is forgotten, each round makes at least one more segment right, so
the end is that of the plain recursion, only later; a caller who would rather be plain then can limit the steps.

It knows no network: what a step is, where it writes, and when two states count as one, is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hidviz.numerics.arrays import Array, Flags, Index

Advance = Callable[[slice, Index], None]
"""Run some segments through some steps: (steps, segments) → nothing. Step k reads path[k] and writes path[k + 1]. More
segments than these may run, if their states are as they were."""

Differ = Callable[[Array, Array], Flags]
"""Which of n states (n, S) differ from n others: (n,) of bool."""


def join_segments(
    path: Array,
    advance: Advance,
    differ: Differ,
    *,
    stride: int,
    starting: slice = slice(1, None),
    ending: slice = slice(None, -1),
    one_by_one_after: int | None = None,
    most_steps: int | None = None,
) -> bool:
    """Run segments again until all seams agree; every segment must have been run once.

    Args:
        path: (steps + 1, segments, S) the states of every segment, the guess it started from included; a view will do.
        advance: runs segments again, into the path.
        differ: compares states.
        stride: steps that a segment runs before it is compared with its earlier path.
        starting: the segments that start where another ends.
        ending: these others, in the same order.
        one_by_one_after: rounds after which only the first wrong segment runs again, since it is right for good then;
            None to run all wrong ones in every round.
        most_steps: steps of reruns before giving up; None for no limit.

    Returns:
        Whether the seams agree; False where too many steps were needed, and the path is good for nothing then.
    """
    n_steps, places = len(path) - 1, np.arange(path.shape[1])
    starts, ends = places[starting], places[ending]
    left = np.inf if most_steps is None else most_steps
    n_rounds = 0
    while True:
        wrong = np.flatnonzero(differ(path[0, starts], path[-1, ends]))
        if not wrong.size:
            return True
        n_rounds += 1
        if one_by_one_after is not None and n_rounds > one_by_one_after:
            wrong = wrong[:1]
        segments = starts[wrong]
        path[0, segments] = path[-1, ends[wrong]]
        for begin in range(0, n_steps, stride):
            end = min(begin + stride, n_steps)
            compared = segments if 2 * len(segments) < len(places) else slice(None)  # all at once, where most run
            before = path[end, compared].copy("K")
            advance(slice(begin, end), segments)
            left -= end - begin
            if left < 0:
                return False
            apart = differ(path[end, compared], before)
            segments = segments[apart if compared is segments else apart[segments]]
            if not segments.size:
                break
