"""What every learner is: a method prepares it for one recording, then it is a pure function of the couplings.

    method.prepare(recording, n_hidden=…)  →  learner
    learner(couplings, beliefs)            →  Estimate(objective, gradient, beliefs, residual)

`prepare` does the work that depends on the data alone; calling the learner does only what depends on the couplings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from hidviz.network import Couplings, Gauge, Recording
from hidviz.numerics import Array

HiddenKind = Literal["none", "continuous", "stochastic"]


class Infeasible(ValueError):
    """A request that is well formed but would take too long or too much memory; the message gives the number."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a learner thinks of the hidden units, kept from one step to the next.

    Args:
        hidden: (n_transitions, Nh) magnetisation or sampled state at the start of each transition.
        sweeps: how many random sweeps have been drawn so far (gibbs); 0 otherwise.
    """

    hidden: Array
    sweeps: int = 0


def regauge_beliefs(beliefs: Beliefs, gauge: Gauge) -> Beliefs:
    """The same beliefs about hidden units that were relabelled and flipped.

    Where an E-step has several fixed points, only they lead to the same one.
    """
    return replace(beliefs, hidden=beliefs.hidden[:, gauge.order] * gauge.signs)


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
    """

    evaluate: Callable[[Couplings, Beliefs | None], Estimate]
    n_visible: int
    n_hidden: int
    n_transitions: int
    learned: tuple[str, ...]
    stochastic: bool = False
    held: Callable[[Couplings, Beliefs], Estimate] | None = None

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


class Prepare(Protocol):
    """Does the work that depends on the data alone; options are the method's own keyword arguments."""

    def __call__(
        self, recording: Recording, *, n_hidden: int, hidden_hidden: bool = False, bias: bool = False
    ) -> Learner:
        """Prepare for this recording; see `Method.__call__`."""
        ...


@dataclass(frozen=True)
class Method:
    """An inference method: how to prepare it, and what a person should know before choosing it.

    Args:
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
        stochastic: whether its gradients are random estimates.
    """

    title: str
    prepare: Prepare
    hidden: HiddenKind
    objective: str
    likelihood: bool
    summary: str
    equations: tuple[str, ...]
    seconds: Callable[[int, int, int, bool], float]
    stochastic: bool = False
    phases: tuple[str, ...] = ()

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
            Infeasible: the request would take too long; the message gives the number and an alternative.
        """
        if not isinstance(n_hidden, int) or n_hidden < 0:
            raise ValueError(f"n_hidden must be a whole number, 0 or more, got {n_hidden!r}.")
        known = set(inspect.signature(self.prepare).parameters) - {
            "recording",
            "n_hidden",
            "hidden_hidden",
            "bias",
        }
        if unknown := set(options) - known:
            takes = ", ".join(sorted(known)) or "no options"
            raise ValueError(f"{self.title} takes {takes}, got {', '.join(sorted(unknown))}.")
        return self.prepare(recording, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=bias, **options)
