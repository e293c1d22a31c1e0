"""Model comparison: everything needed to choose between models of the same data, in one table.

    cost per bin = -log P[s] / n      training and held-out, n transitions, for the truth, the fits, and the baselines
    AIC = cost + N,  BIC = cost + N/2 · log n,  TIC = cost + N*      in nats, summed over the training data

log P[s] is exact where that is affordable. Else, without hidden-to-hidden couplings, it is estimated by importance
sampling with the mean-field posterior as proposal, has a standard error, and is refused where that cannot be trusted.
It is never a mean-field objective, which is no likelihood, eq. 27 (`PMF`). The baselines know of no hidden units:
logistic regression on one bin and on two.

AIC and BIC suppose the maximum of the likelihood and that N parameters can be told apart. Beyond the true number of
hidden units they cannot: then trust the held-out cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hidviz.background import return_value
from hidviz.evaluation.baselines import TINY
from hidviz.evaluation.effective_parameters import effective_parameters_of_rows, iter_effective_parameters
from hidviz.evaluation.errors import Criteria, criteria
from hidviz.evaluation.importance_sampling import predicted_seconds, sampled_log_likelihood
from hidviz.evaluation.likelihood import log_likelihood
from hidviz.learners import LEARNERS, LIKELIHOODS, Infeasible, logistic_fit, prepare
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array, check_generator

AFFORDABLE = 10.0  # seconds that an exact likelihood may take
LONGEST_SECONDS = 300.0  # that sampling may take

ModelKind = Literal["truth", "fit", "baseline"]


@dataclass(frozen=True)
class Evidence:
    """A log likelihood and how it was found.

    Args:
        log_likelihood: nats, summed over transitions.
        standard_error: of it, nats; zero if exact.
        n_transitions: how many there are.
        exact: whether it is a sum over all hidden states; an estimate by importance sampling otherwise.
        fewest: the smallest effective sample size of any bin of an estimate; infinite if exact.
    """

    log_likelihood: float
    standard_error: float
    n_transitions: int
    exact: bool
    fewest: float = np.inf

    @property
    def cost(self) -> float:
        """Nats per bin."""
        return -self.log_likelihood / self.n_transitions

    @property
    def cost_error(self) -> float:
        """Standard error of the cost, nats per bin."""
        return self.standard_error / self.n_transitions


@dataclass(frozen=True)
class Candidate:
    """One model and what speaks for it.

    Args:
        name: what it is called.
        kind: "truth", "fit" or "baseline".
        n_parameters: number of entries learned from the data; zero for the truth.
        training: evidence of the data learned from; None if not affordable.
        held_out: evidence of the other data; None if there are none, or if not affordable.
        criteria: AIC and BIC; None for the truth, which was not fitted, and without training evidence.
        note: a sentence if something is missing; else empty.
    """

    name: str
    kind: ModelKind
    n_parameters: int
    training: Evidence | None
    held_out: Evidence | None
    criteria: Criteria | None
    note: str = ""


@dataclass(frozen=True)
class Judgement:
    """The table as far as it has come.

    Args:
        candidates: the models judged so far.
        n: how many there will be.
        doing: the name of the model that is being judged; empty at the end.
    """

    candidates: tuple[Candidate, ...]
    n: int
    doing: str

    @property
    def best(self) -> Candidate | None:
        """The candidate with the lowest held-out cost, the truth aside; None before there is any."""
        known = [each for each in self.candidates if each.held_out is not None and each.kind != "truth"]
        return min(known, key=_held_out_cost, default=None)


def judge(
    fits: Mapping[str, Couplings],
    recording: Recording,
    rng: np.random.Generator,
    *,
    learner: str,
    held_out: Recording | None = None,
    truth: Couplings | None = None,
    model: Literal["continuous", "stochastic"] = "stochastic",
    hidden_hidden: bool = False,
    bias: bool = False,
    penalties: Mapping[str, Array] | None = None,
) -> Iterator[Judgement]:
    """Judge fits beside the truth and the baselines: the table, one more model each time.

    Args:
        fits: name → couplings, each learned by the same learner with the same blocks.
        recording: the data that they were learned from.
        rng: source of randomness, for what has to be sampled.
        learner: the name in LEARNERS of what learned them; it says which hidden units they assume.
        held_out: data that they were not learned from.
        truth: the true couplings, where they are known.
        model: how the true hidden units behave.
        hidden_hidden: whether M was learned.
        bias: whether the biases were learned; the baselines do as the fits do.
        penalties: name → weight of the L2 penalty per bin on each learned entry, for fits that had one.
    """
    check_generator(rng)
    method = LEARNERS[learner]
    entries = [] if truth is None else [_Entry("Truth", "truth", LIKELIHOODS[model], (), truth)]
    for name, couplings in fits.items():
        blocks = method.blocks(couplings.n_hidden, hidden_hidden=hidden_hidden, bias=bias)
        entries.append(_Entry(name, "fit", method.judge, blocks, couplings, (penalties or {}).get(name, 0.0)))
    for name, baseline in (("Lag 1", "visible"), ("Lag 2", "visible-lag2")):
        n_hidden = LEARNERS[baseline].units(recording.n_visible, 0)
        entries.append(_Entry(name, "baseline", baseline, LEARNERS[baseline].blocks(n_hidden, bias=bias)))
    done: tuple[Candidate, ...] = ()
    for entry in entries:
        yield Judgement(done, len(entries), entry.name)
        done = (*done, _judged(entry, recording, held_out, rng))
    yield Judgement(done, len(entries), "")


class _Entry(NamedTuple):
    """A model to be judged, by the learner whose objective is its likelihood; a baseline has no couplings yet."""

    name: str
    kind: ModelKind
    judge: str
    blocks: tuple[str, ...]
    couplings: Couplings | None = None
    penalty: Array | float = 0.0


def _judged(entry: _Entry, recording: Recording, held_out: Recording | None, rng: np.random.Generator) -> Candidate:
    training = other = paid = None
    couplings, n, note = entry.couplings, 0, ""
    try:
        if couplings is None:
            lags: Literal[1, 2] = 2 if "K" in entry.blocks else 1
            couplings = logistic_fit(recording, lags=lags, bias="h" in entry.blocks, penalty=TINY).couplings
        n = len(couplings.vector(entry.blocks)) if entry.blocks else 0
        training = _evidence(couplings, recording, rng, entry)
        other = None if held_out is None else _evidence(couplings, held_out, rng, entry)
    except ValueError as refusal:  # infeasible, or a baseline that finds no optimum
        note = str(refusal)
    if training is not None and couplings is not None and entry.kind != "truth":
        paid = criteria(
            training.log_likelihood, n, training.n_transitions, n_effective=_n_effective(couplings, recording, entry)
        )
    return Candidate(entry.name, entry.kind, n, training, other, paid, note)


def _n_effective(couplings: Couplings, recording: Recording, entry: _Entry) -> float | None:
    """Effective parameters of a fit whose likelihood is a sum over transitions; None if they are out of reach."""
    bias = "h" in entry.blocks
    kind = LEARNERS[entry.judge].hidden
    if kind == "none":
        lags: Literal[1, 2] = 2 if "K" in entry.blocks else 1
        weight = TINY if entry.kind == "baseline" else entry.penalty
        return effective_parameters_of_rows(couplings, recording, lags=lags, bias=bias, penalty=weight)
    if "M" in entry.blocks or couplings.M.any() or not couplings.n_hidden:
        return None
    return return_value(iter_effective_parameters(couplings, recording, hidden=kind, bias=bias, penalty=entry.penalty))


def _evidence(couplings: Couplings, recording: Recording, rng: np.random.Generator, entry: _Entry) -> Evidence:
    if entry.judge == LIKELIHOODS["stochastic"]:
        return find_evidence(couplings, recording, rng)
    coupled = bool(couplings.M.any())
    judge = prepare(entry.judge, recording, n_hidden=couplings.n_hidden, hidden_hidden=coupled, bias=True)
    return Evidence(judge(couplings).objective, 0.0, recording.n_transitions, exact=True)


def find_evidence(
    couplings: Couplings, recording: Recording, rng: np.random.Generator, *, affordable: float = AFFORDABLE
) -> Evidence:
    """The log likelihood of stochastic hidden units, exact where affordable, else by importance sampling.

    Args:
        couplings: any; with M = 0 for sampling.
        recording: the visible history.
        rng: source of randomness.
        affordable: seconds that the exact sum may take.

    Raises:
        Infeasible: neither is possible, or the error of sampling cannot be trusted; the message gives the number.
    """
    (Nv, Nh), n = couplings.K.shape, recording.n_transitions
    coupled = bool(couplings.M.any())
    if LEARNERS[LIKELIHOODS["stochastic"]].seconds(Nv, Nh, n, coupled) <= affordable:
        try:
            return Evidence(log_likelihood(couplings, recording), 0.0, n, exact=True)
        except Infeasible:
            pass  # few bins, but more hidden units than may be summed over
    if coupled:
        raise Infeasible(
            f"With hidden-to-hidden couplings the likelihood needs 4**{Nh} transitions a bin, and importance sampling "
            "bin by bin needs M = 0: judge with fewer hidden units, or by the errors of the couplings."
        )
    cold = 2 * LEARNERS["mean-field"].seconds(Nv, Nh, n, False)  # its guess is for a run, whose starts are mostly warm
    predicted = cold + predicted_seconds(Nv, Nh, n)
    if predicted > LONGEST_SECONDS:
        raise Infeasible(
            f"Importance sampling of {n:,} transitions would take about {predicted:.2g} s of {LONGEST_SECONDS:g} s "
            "at most: use fewer bins."
        )
    posterior = prepare("mean-field", recording, n_hidden=Nh)(couplings).beliefs
    assert posterior is not None
    found = sampled_log_likelihood(couplings, recording, posterior.hidden, rng)
    if found.refusal:
        raise Infeasible(found.refusal)
    return Evidence(found.log_likelihood, found.standard_error, n, exact=False, fewest=found.fewest)


def _held_out_cost(candidate: Candidate) -> float:
    return candidate.held_out.cost if candidate.held_out else np.inf
