"""Memory of a run, predicted from its knobs before anything is allocated, and the refusal of what would not fit.

    predicted_memory(experiment) = max(while data are simulated, data + learner + what its costs are compared with)

Each learner says its own part (`Method.memory`); the data, the judges and the baselines come on top of it. A run must
fit what one run may use, and what is left of the process when it begins (`hidviz.background.memory`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from hidviz.background import PROCESS, RUN, asked_for, format_size, largest_number, memory_left, run_limit
from hidviz.evaluation import baseline_memory
from hidviz.experiments.ranges import RANGES
from hidviz.experiments.setup import is_affordable
from hidviz.learners import LEARNERS, LIKELIHOODS, TooLarge

if TYPE_CHECKING:
    from hidviz.experiments.experiment import Experiment

OVERHEAD = 3e7  # bytes of blocks of time and tables, however long the data


def predicted_memory(experiment: Experiment, *, with_data: bool = True) -> float:
    """Bytes at the worst moment of a run; right within a factor of two where it is much.

    Args:
        experiment: the knobs.
        with_data: whether its data are still to be made; without, what comes on top of them.
    """
    n, held_out, n_visible = experiment.n_steps, experiment.n_held_out, experiment.n_visible
    of_hidden = (8 if experiment.model == "continuous" else 1) * experiment.n_hidden
    kept = n * (n_visible + of_hidden) + held_out * n_visible
    simulating = kept + held_out * (3 * n_visible + of_hidden)  # the others take less than learning from them does
    learning = _learning_memory(experiment)
    return OVERHEAD + (max(simulating, kept + learning) if with_data else learning)


def _learning_memory(experiment: Experiment) -> float:
    """Bytes of the learner, of what its costs are compared with, and of models without hidden units.

    They are prepared and evaluated one after the other; of that memory each holds on to about a quarter.
    """
    e, method = experiment, LEARNERS[experiment.learner]
    size = e.n_visible, e.n_hidden_learned

    def judge(name: str, n_hidden: int, n: int) -> float:
        if not n or not is_affordable(name, e.n_visible, n_hidden, n, e.hidden_hidden):
            return 0.0
        return LEARNERS[LEARNERS[name].judge].memory(e.n_visible, n_hidden, n, e.hidden_hidden)

    true = LIKELIHOODS[e.model]
    each = [
        method.memory(*size, e.n_steps, e.hidden_hidden),
        judge(e.learner, size[1], e.n_held_out),
        judge(true, e.n_hidden, e.n_held_out),
        judge(true, e.n_hidden, e.n_steps),
        0.0 if method.likelihood else judge(e.learner, size[1], e.n_steps),
        baseline_memory(e.n_visible, e.n_steps) if e.n_held_out else 0.0,
    ]
    return max(each) + 0.25 * (sum(each) - max(each))


@contextmanager
def room_for(experiment: Experiment, *, with_data: bool = True) -> Iterator[None]:
    """Refuse a run that does not fit; count its memory as gone while it is being filled.

    Args:
        experiment: the knobs.
        with_data: whether its data are still to be made.

    Raises:
        TooLarge: it does not fit; the message says how much it would need, of how much, and what would fit.
    """
    needed, limit, left = predicted_memory(experiment, with_data=with_data), run_limit(), memory_left()
    if needed > limit:
        raise _refusal(experiment, needed, limit, f"a run may use {format_size(limit)}", RUN, with_data)
    if needed > left:
        there = f"{format_size(max(left, 0.0))} is left of what all runs here share"
        raise _refusal(experiment, needed, left, there, PROCESS, with_data)
    with asked_for(needed):
        yield


def _refusal(
    experiment: Experiment, needed: float, limit: float, there: str, variable: str, with_data: bool
) -> TooLarge:
    def shorter(n: int) -> Experiment:
        return replace(experiment, n_steps=n, n_held_out=min(n, experiment.n_held_out))

    fewest = int(RANGES["n_steps"][0])
    fitting = largest_number(
        lambda n: predicted_memory(shorter(max(n, fewest)), with_data=with_data) <= limit, experiment.n_steps
    )
    most = fitting // (digits := 10 ** max(len(str(fitting)) - 2, 0)) * digits  # a number that can be remembered
    held_out = f", and {experiment.n_held_out:,} held out," if experiment.n_held_out else ""
    what = f"at most {most:,} bins would fit" if most >= fewest else "no number of bins would fit"
    knobs = {"n_steps": most, "n_held_out": min(most, experiment.n_held_out)} if most >= fewest else {}
    return TooLarge(
        f"This run would need about {format_size(needed)} of memory for {experiment.n_steps:,} bins{held_out} of "
        f"{experiment.n_visible} + {experiment.n_hidden} units, and {there}: {what}. Take fewer bins or units, or "
        f"allow more with {variable}.",
        knobs,
    )
