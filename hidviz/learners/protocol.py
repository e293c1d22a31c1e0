"""What every learner is: a method prepares it for one recording, then it is a pure function of the couplings.

    method.prepare(recording, n_hidden=…)  →  learner
    learner(couplings, beliefs)            →  Estimate(objective, gradient, beliefs, residual)

`prepare` does the work that depends on the data alone; calling the learner does only what depends on the couplings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from hidviz.background import RUN, format_size, largest_number, run_limit
from hidviz.network import Couplings, Gauge, Recording, block_shapes, learned_blocks
from hidviz.numerics import Array

HiddenKind = Literal["none", "continuous", "stochastic"]
Family = Literal["likelihood", "sampling", "mean-field", "other"]

LIKELIHOODS: Mapping[HiddenKind, str] = MappingProxyType(
    {"none": "visible", "continuous": "backprop", "stochastic": "exact"}
)
"""For each kind of hidden units the learner whose objective is their exact log likelihood."""


class Infeasible(ValueError):
    """A request that is well formed but would take too long or too much memory; the message gives the number."""


class TooLarge(Infeasible):
    """A request that would take too much memory.

    Args:
        sentence: the message.
        knobs: values of an experiment's knobs with which it would fit; empty where fewer bins do not help.
    """

    def __init__(self, sentence: str, knobs: Mapping[str, int] = MappingProxyType({})) -> None:
        super().__init__(sentence)
        self.knobs = dict(knobs)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a learner thinks of the hidden units, kept from one step to the next.

    Args:
        hidden: (n_transitions, Nh) magnetisation or sampled state at the start of each transition.
        sweeps: how many random sweeps have been drawn so far (gibbs); 0 otherwise.
        response: (n_transitions, Nh) how far each unit's field comes back to it (correlated mean field); else None.
    """

    hidden: Array
    sweeps: int = 0
    response: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that these arrays take."""
        return self.hidden.nbytes + (0 if self.response is None else self.response.nbytes)


def regauge_beliefs(beliefs: Beliefs, gauge: Gauge) -> Beliefs:
    """The same beliefs about hidden units that were relabelled and flipped.

    Where an E-step has several fixed points, only they lead to the same one.
    """
    response = None if beliefs.response is None else beliefs.response[:, gauge.order]
    return replace(beliefs, hidden=beliefs.hidden[:, gauge.order] * gauge.signs, response=response)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a learner says about one set of couplings.

    Args:
        objective: in nats, summed over all transitions. The log likelihood log P[s] for exact learners; else what
            `Method.objective` says.
        gradient: derivative of the objective with respect to every learned entry; zero in the blocks not learned.
        beliefs: the hidden units as the learner now sees them, to warm-start the next call; None if it keeps none.
        residual: largest violation of the E-step equations; 0 where there is no E-step.
        unconverged: number of time bins whose E-step did not converge.
        standard_error: of the objective, in nats, when it is itself an estimate; 0 otherwise.
    """

    objective: float
    gradient: Couplings
    beliefs: Beliefs | None = None
    residual: float = 0.0
    unconverged: int = 0
    standard_error: float = 0.0


@dataclass(frozen=True)
class Learner:
    """A method prepared for one recording: call it with couplings (and the last beliefs) to get an Estimate.

    Args:
        evaluate: the pure function behind the call.
        n_visible: number of visible units, Nv.
        n_hidden: number of hidden units assumed, Nh.
        n_transitions: number of transitions in the recording: cost per bin = -objective / n_transitions.
        learned: names of the blocks that the gradient covers.
        stochastic: whether the gradient is a random estimate, which an optimiser must average over.
        held: the same function with the beliefs left as they are, for learners that alternate between settling beliefs
            (E-step) and moving couplings (M-step); None for the others. Its residual is what the beliefs now violate.
        unchanging: visible units, counted from 0, that never change in the recording.
        continuous: whether hidden states are a function of the visible ones before them, and not random.
        again: how a method prepared this learner. A learner is pickled as that, so that it can travel to another
            process; None, and no pickling of local functions, for a learner that was put together by hand.
    """

    evaluate: Callable[[Couplings, Beliefs | None], Estimate]
    n_visible: int
    n_hidden: int
    n_transitions: int
    learned: tuple[str, ...]
    stochastic: bool = False
    held: Callable[[Couplings, Beliefs], Estimate] | None = None
    unchanging: tuple[int, ...] = ()
    continuous: bool = False
    again: Callable[[], Learner] | None = field(default=None, init=False, compare=False, repr=False)

    def __call__(self, couplings: Couplings, beliefs: Beliefs | None = None) -> Estimate:
        """Evaluate the objective and its gradient at these couplings.

        Raises:
            ValueError: the couplings have other numbers of units than the learner was prepared for.
        """
        if (couplings.n_visible, couplings.n_hidden) != (self.n_visible, self.n_hidden):
            raise ValueError(
                f"The learner was prepared for {self.n_visible} visible and {self.n_hidden} hidden units, "
                f"got couplings for {couplings.n_visible} and {couplings.n_hidden}."
            )
        return self.evaluate(couplings, beliefs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return super().__reduce__() if self.again is None else (self.again, ())

    def per_bin(self, estimate: Estimate) -> float:
        """The cost of an estimate: -objective / n_transitions, in nats per bin."""
        return -estimate.objective / self.n_transitions

    @property
    def n_parameters(self) -> int:
        """Number of learned entries."""
        shapes = block_shapes(self.n_visible, self.n_hidden)
        return sum(prod(shapes[name]) for name in self.learned)


class Prepare(Protocol):
    """Does the work that depends on the data alone; options are the method's own keyword arguments."""

    def __call__(
        self, recording: Recording, *, n_hidden: int, hidden_hidden: bool = False, bias: bool = False
    ) -> Learner:
        """Prepare for this recording; see `Method.__call__`."""
        ...


def beliefs_memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:  # noqa: ARG001
    """Bytes of what most learners hold: the transitions, and beliefs of the newest steps and the best one."""
    return n_transitions * (8.0 * n_visible + 40.0 * n_hidden + 40.0)


def never_long(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> None:
    """Refuse nothing: what most learners do, whose time grows only as the numbers of units and of bins."""


@dataclass(frozen=True)
class Method:
    """An inference method: how to prepare it, and what a user should know before choosing it.

    Args:
        name: its name in LEARNERS.
        title: a short name for menus.
        prepare: the function that `LEARNERS[name]` calls.
        hidden: which hidden units it assumes: "none", "continuous" (model A) or "stochastic" (model B).
        objective: what it maximises, in words, e.g. "log likelihood".
        likelihood: whether the objective is the exact log likelihood of the data under the method's own model.
        summary: two sentences: what it assumes, and where it applies.
        equations: its equations in KaTeX, without delimiters.
        phases: of a learner whose E-step and M-step can be told apart, in which of them each equation is in play: "E",
            "M" or "EM"; empty for the others.
        seconds: predicted seconds for one evaluation, from (Nv, Nh, n_transitions, hidden_hidden); a rough guide.
        memory: predicted bytes at the worst moment of preparing it and learning with it, from the same, without the
            recording; right within a factor of two where it is much.
        refuse_if_long: raises Infeasible where one evaluation would take too long, from the same.
        stochastic: whether its gradients are random estimates; its `prepare` then takes a `seed`.
        family: what decides when to stop it: its "likelihood", the noise of "sampling", the bias of a "mean-field", or
            nothing that is known of it ("other").
        runs_away: whether its couplings grow without end even in large networks and from many data.
        copies: whether the hidden units of its couplings are copies of the visible ones, one bin late.
    """

    name: str
    title: str
    prepare: Prepare
    hidden: HiddenKind
    objective: str
    likelihood: bool
    summary: str
    equations: tuple[str, ...]
    seconds: Callable[[int, int, int, bool], float]
    memory: Callable[[int, int, int, bool], float] = beliefs_memory
    refuse_if_long: Callable[[int, int, int, bool], None] = never_long
    stochastic: bool = False
    phases: tuple[str, ...] = ()
    family: Family = "other"
    runs_away: bool = False
    copies: bool = False

    @property
    def judge(self) -> str:
        """Name of the learner whose objective is the likelihood of what this one finds: itself, or the exact one."""
        return self.name if self.likelihood else LIKELIHOODS[self.hidden]

    @property
    def options(self) -> frozenset[str]:
        """Names of the keyword arguments that are this method's own."""
        return frozenset(inspect.signature(self.prepare).parameters) - _COMMON

    def seeded(self, seed: int) -> dict[str, Any]:
        """The seed as an option of this method; none for a method that draws no random numbers."""
        return {"seed": seed} if "seed" in self.options else {}

    def units(self, n_visible: int, assumed: int) -> int:
        """Number of hidden units in its couplings, where so many are assumed."""
        return n_visible if self.copies else 0 if self.hidden == "none" else assumed

    def blocks(self, n_hidden: int, *, hidden_hidden: bool = False, bias: bool = False) -> tuple[str, ...]:
        """Names of the blocks that it learns, in couplings with so many hidden units."""
        if self.hidden == "none":
            return ("J", *("K",) * (n_hidden > 0), *("h",) * bias)
        return learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def __call__(
        self,
        recording: Recording,
        *,
        n_hidden: int,
        hidden_hidden: bool = False,
        bias: bool = False,
        **options: object,
    ) -> Learner:
        """Prepare this method for a recording: `prepare` with the arguments checked.

        Raises:
            ValueError: an argument is out of range, or the method does not know an option.
            Infeasible: the request would take too long, or more memory than a run may use (`background.run_limit`); the
                message gives the number and an alternative.
        """
        if isinstance(n_hidden, bool) or not isinstance(n_hidden, int | np.integer) or n_hidden < 0:
            raise ValueError(f"n_hidden must be a whole number, 0 or more, got {n_hidden!r}.")
        if unknown := set(options) - self.options:
            takes = ", ".join(sorted(self.options)) or "no options"
            raise ValueError(f"{self.title} takes {takes}, got {', '.join(sorted(unknown))}.")
        self.refuse_if_long(recording.n_visible, int(n_hidden), recording.n_transitions, hidden_hidden)
        self._refuse_if_large(recording, int(n_hidden), hidden_hidden)
        settings: dict[str, Any] = {"n_hidden": int(n_hidden), "hidden_hidden": hidden_hidden, "bias": bias, **options}
        learner = replace(self.prepare(recording, **settings), unchanging=recording.unchanging)
        object.__setattr__(learner, "again", partial(self, recording, **settings))
        return learner

    def _refuse_if_large(self, recording: Recording, n_hidden: int, hidden_hidden: bool) -> None:
        def needed(n: int) -> float:
            return self.memory(recording.n_visible, n_hidden, n, hidden_hidden)

        n, limit = recording.n_transitions, run_limit()
        if needed(n) <= limit:
            return
        most = largest_number(lambda n: needed(n) <= limit, n)
        raise TooLarge(
            f"{self.title} would need about {format_size(needed(n))} of memory for {n:,} transitions of "
            f"{recording.n_visible} + {n_hidden} units, and a run may use {format_size(limit)}: at most {most:,} would "
            f"fit. Take fewer bins or units, or allow more with {RUN}."
        )


_COMMON = {"recording", "n_hidden", "hidden_hidden", "bias"}
