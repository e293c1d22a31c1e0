"""Measurement: one experiment run to its end, and the numbers that are left of it.

    measure(experiment)  →  Measurement: errors of each block, costs, criteria, and how learning ended

Which couplings are judged: with a `patience`, those of the lowest held-out cost; without, the last ones (of a
stochastic learner the average of its last fifth). Held-out data then only judge. With a patience they both stop and
judge, so that the held-out cost is a little too good; the longer they are, the less.

Every cost is a true -log likelihood per bin, in nats, or missing: an exact learner's own, else the exact one at the
couplings found, where its sum over hidden states takes less than `LONGEST_LIKELIHOOD`. AIC and BIC are made from that
alone. What an approximate learner maximises stands apart, as its `objective`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from hidviz.background import one_blas_thread, return_value
from hidviz.evaluation import (
    LONGEST_LIKELIHOOD,
    cost_per_bin,
    criteria,
    hidden_state_error,
    likelihood_for,
    mean_square_errors,
)
from hidviz.experiments import Data, Experiment, Setup, Trace, make_frame
from hidviz.learners import LEARNERS, LIKELIHOODS, Learner
from hidviz.learning import Snapshot, learn, result
from hidviz.network import BLOCKS, Couplings, Recording
from hidviz.version import __version__


@dataclass(frozen=True)
class Measurement:
    """What is left of an experiment: plain numbers, so that it travels between processes and through JSON.

    Args:
        experiment: its knobs.
        errors: for each learned or true block its mean square error as found and after alignment; for a learner that
            knows of no hidden units only J and h.
        objective: what the learner minimised at the couplings found, nats per bin, without the penalty.
        cost: -log likelihood of the training data, nats per bin; None if it is not affordable.
        held_out: the same of held-out data.
        cost_at_truth: training cost of the true couplings.
        held_out_at_truth: held-out cost of the true couplings.
        aic: Akaike's criterion per bin, (cost + N) / n in terms of summed costs; None without `cost`.
        bic: Schwarz's criterion per bin.
        n_parameters: number of learned entries.
        steps: steps made.
        evaluations: how often the learner was called.
        state: how learning ended, as in Snapshot.
        message: the sentence that says so.
        residual: largest violation of the E-step equations at the last step.
        largest: size of the largest coupling found.
        seconds: time of one core, simulation and judgement included; how busy the machine is does not matter.
        wrong_signs: share of hidden states whose sign the couplings found tell wrongly, if asked for (`hidden_states`).
        wrong_signs_at_truth: the same of the true couplings.
        trace: columns over the steps (see Frame.trace), if asked for; empty otherwise.
    """

    experiment: Experiment
    errors: Mapping[str, tuple[float, float]]
    objective: float | None
    cost: float | None
    held_out: float | None
    cost_at_truth: float | None
    held_out_at_truth: float | None
    aic: float | None
    bic: float | None
    n_parameters: int
    steps: int
    evaluations: int
    state: str
    message: str
    residual: float
    largest: float
    seconds: float
    wrong_signs: float | None = None
    wrong_signs_at_truth: float | None = None
    trace: Mapping[str, list[float]] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line of JSON, without a line end, marked with the version of hidviz that made it."""
        return json.dumps({"version": __version__, "key": key_of(self.experiment)} | asdict(self))

    @staticmethod
    def from_json(line: str) -> Measurement:
        """The inverse of `to_json`.

        Raises:
            ValueError: the line is no measurement, or one of another version.
        """
        try:
            values: dict[str, Any] = json.loads(line)
            version, _ = values.pop("version"), values.pop("key")
            experiment = Experiment(**values.pop("experiment"))
            errors = {block: (float(raw), float(aligned)) for block, (raw, aligned) in values.pop("errors").items()}
            measurement = Measurement(experiment=experiment, errors=errors, **values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"A measurement needs the fields of this version of hidviz: {error}.") from error
        if version != __version__:
            raise ValueError(
                f"This measurement was made by hidviz {version}, which is not {__version__}: run it again."
            )
        return measurement


def key_of(experiment: Experiment) -> str:
    """A short name that depends on every knob and on nothing else: the same in every process and on every machine."""
    knobs = {
        name: float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        for name, value in asdict(experiment).items()
    }
    return hashlib.sha256(json.dumps(knobs, sort_keys=True).encode()).hexdigest()[:16]


def measure(experiment: Experiment, with_trace: bool = False, with_states: bool = False) -> Measurement:
    """Run an experiment to its end and measure what it found, with BLAS at one thread.

    Args:
        experiment: what to run.
        with_trace: keep costs and errors of every step.
        with_states: tell the hidden states too, which must be stochastic.

    Raises:
        Infeasible: the learner would take too long.
        ValueError: the knobs do not fit together.
    """
    with one_blas_thread():
        began = time.thread_time()
        data = return_value(experiment.simulate())
        setup = experiment.prepare(data)
        last, trace = _learned(experiment, data, setup, with_trace)
        measurement = _judged(experiment, data, setup, last)
        if with_states:
            wrong, at_truth = (
                hidden_state_error(each, data.truth, data.recording, data.hidden, seed=experiment.seed)
                for each in (result(last), data.truth)
            )
            measurement = replace(measurement, wrong_signs=wrong, wrong_signs_at_truth=at_truth)
        return replace(measurement, seconds=time.thread_time() - began, trace=trace)


def predicted_seconds(experiment: Experiment) -> float:
    """A rough guess at the seconds `measure` will take, from `Method.seconds` and a typical number of steps."""
    method, n = LEARNERS[experiment.learner], experiment.n_steps
    n_visible, n_hidden = experiment.n_visible, experiment.n_hidden_learned
    typical = 70 if experiment.patience is not None else 200 if experiment.penalty == "learned" else 100
    evaluations = 800 if method.stochastic else typical
    if experiment.max_steps is not None:
        evaluations = min(evaluations, experiment.max_steps + 1)
    step = method.seconds(n_visible, n_hidden, n, experiment.hidden_hidden)
    if experiment.patience is not None and experiment.n_held_out:
        step += min(
            0.25, LEARNERS[method.judge].seconds(n_visible, n_hidden, experiment.n_held_out, experiment.hidden_hidden)
        )
    simulated = (n + experiment.n_held_out) * (2e-7 + 2e-8 * (n_visible + experiment.n_hidden))
    return 0.05 + simulated + evaluations * step


def _learned(
    experiment: Experiment, data: Data, setup: Setup, with_trace: bool
) -> tuple[Snapshot, dict[str, list[float]]]:
    """The last snapshot, and costs and errors of every step if they are wanted."""
    stopping = setup.held_out if experiment.patience is not None else None
    plain, trace = replace(setup, exact=None), Trace()
    start = experiment.starting_point(data.truth)
    for snapshot in learn(setup.learner, start, **experiment.learn_options(stopping)):
        if with_trace:
            trace = make_frame(experiment, data, plain, snapshot, trace).trace
    return snapshot, {name: trace[name].tolist() for name in trace.names}


def _judged(experiment: Experiment, data: Data, setup: Setup, last: Snapshot) -> Measurement:
    """Errors and costs of the couplings found; `seconds` and `trace` are left to the caller."""
    learner, method = setup.learner, LEARNERS[experiment.learner]
    found = result(last)

    def cost(couplings: Couplings, name: str, recording: Recording | None, known: Learner | None) -> float | None:
        if known is None:
            known = likelihood_for(
                name,
                recording,
                couplings.n_hidden,
                hidden_hidden=experiment.hidden_hidden,
                bias=experiment.bias > 0.0,
                longest=LONGEST_LIKELIHOOD,
            )
        return cost_per_bin(known, couplings)

    name, true_name = experiment.learner, LIKELIHOODS[experiment.model]
    train = cost(found, name, data.recording, learner if method.likelihood else setup.exact)
    at_truth, held_out_at_truth = setup.cost_at_truth, setup.held_out_cost_at_truth
    n_parameters = found.vector(learner.learned).size
    paid = None if train is None else criteria(-train * learner.n_transitions, n_parameters, learner.n_transitions)
    raw = mean_square_errors(found, data.truth, align=False)
    aligned = mean_square_errors(found, data.truth, align=True)
    comparable = ("J", "h") if method.hidden == "none" else BLOCKS  # the others are no couplings of hidden units
    present = [b for b in comparable if b in learner.learned or getattr(data.truth, b).any()]
    objective = train if method.likelihood else cost_per_bin(learner, found, last.estimate.beliefs)
    return Measurement(
        experiment=experiment,
        errors={block: (raw[block], aligned[block]) for block in present},
        objective=objective,
        cost=train,
        held_out=cost(found, name, data.held_out, setup.held_out),
        cost_at_truth=cost(data.truth, true_name, data.recording, None) if at_truth is None else at_truth,
        held_out_at_truth=(
            cost(data.truth, true_name, data.held_out, None) if held_out_at_truth is None else held_out_at_truth
        ),
        aic=None if paid is None else paid.aic / paid.n_transitions,
        bic=None if paid is None else paid.bic / paid.n_transitions,
        n_parameters=n_parameters,
        steps=last.step,
        evaluations=last.evaluations,
        state=last.state,
        message=last.message,
        residual=last.estimate.residual,
        largest=float(np.abs(found.vector()).max()),
        seconds=np.nan,
    )
