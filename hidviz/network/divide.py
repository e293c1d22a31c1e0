"""Divide: a recording in three parts, to learn from, to stop by, and to judge by.

One held-out part for all would flatter: what stops the steps and chooses the start has been seen. So of every five
blocks three are learned from, one stops, and one judges. Blocks lie in turn over the whole recording, as rates drift:
its end alone is not like the rest. Trials, where there are enough of them, are not cut.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hidviz.network.recording import Recording
from hidviz.numerics import Array, States

PATTERN = "lllsj"  # learn, learn, learn, stop, judge
MANY_TRIALS = 20  # from here on whole trials are dealt out
SHORTEST = 10  # bins that a block must have


class Parts(NamedTuple):
    """Three parts of one recording; every block of time is a trial of its part.

    Args:
        learn: to learn from.
        stop: to stop by, and to choose starts and penalties by.
        judge: to judge by; nothing was chosen by it.
        how: how it was divided, in words.
        by_trials: whether whole trials were dealt out.
    """

    learn: Recording
    stop: Recording
    judge: Recording
    how: str
    by_trials: bool = False

    def with_external_field(self, field: Array | None) -> Parts:
        """The same parts under an external field, (T - 1, Nv), the same in every trial; None for none."""
        return self._replace(
            **{name: getattr(self, name).with_external_field(field) for name in ("learn", "stop", "judge")}
        )


def divide(recording: Recording, *, blocks: int = 40) -> Parts:
    """Divide a recording: by trials if there are 20 or more, else in blocks of time.

    Args:
        recording: what was recorded.
        blocks: number of blocks of time, at least 5; fewer are made of a short recording.

    Raises:
        ValueError: the recording is too short for five blocks, or so few were asked for.
    """
    if blocks < len(PATTERN):
        raise ValueError(f"A recording is divided in at least {len(PATTERN)} blocks, got {blocks}.")
    by_trials = len(recording.trials) >= MANY_TRIALS
    pieces = recording.trials if by_trials else _blocks(recording, blocks)
    dealt: dict[str, list[States]] = {kind: [] for kind in PATTERN}
    for k, piece in enumerate(pieces):
        dealt[PATTERN[k % len(PATTERN)]].append(piece)
    what = "trials" if by_trials else f"blocks of {min(map(len, pieces)):,} bins"
    how = f"{len(pieces)} {what}: of every five three to learn from, one to stop by, one to judge by"
    learn, stop, judge = (recording.with_trials(dealt[kind]) for kind in "lsj")
    return Parts(learn, stop, judge, how, by_trials)


def _blocks(recording: Recording, wanted: int) -> list[States]:
    """About as many blocks as wanted, of equal length within each trial; none crosses from one trial to the next."""
    most = sum(len(trial) // SHORTEST for trial in recording.trials)
    n_blocks = min(wanted, most - most % len(PATTERN))
    if n_blocks < len(PATTERN):
        raise ValueError(
            f"A recording must hold {len(PATTERN)} blocks of at least {SHORTEST} bins to learn from, to stop by and to "
            f"judge by, got {recording.n_bins} bins in trials of {', '.join(str(len(t)) for t in recording.trials)}: "
            "record for longer, take narrower bins, or learn from all of it and judge by nothing (--blocks 0)."
        )
    pieces: list[States] = []
    for trial in recording.trials:
        share = min(max(round(n_blocks * len(trial) / recording.n_bins), 1), max(len(trial) // SHORTEST, 1))
        edges = np.linspace(0, len(trial), share + 1).astype(int)
        pieces += [trial[begin:end] for begin, end in pairwise(edges)]
    if len(pieces) < len(PATTERN):
        longest = max(recording.trials, key=len)
        raise ValueError(f"Trials of at most {len(longest)} bins give {len(pieces)} blocks, and five are needed.")
    return pieces
