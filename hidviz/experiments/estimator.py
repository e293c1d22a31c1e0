"""HiddenIsing: the fit of a recording as an estimator, with the methods that scikit-learn's tools expect.

    model = HiddenIsing(n_hidden=2, hidden_hidden=True).fit(X)
    model.score(X_other)                 log likelihood in nats per bin, the higher the better
    model.transform(X_other)             <σ_a(t)> of each hidden unit given all of the recording

X is one (T, N) array of ±1 or of spike counts, or a list of them, one a trial: bins in order of time, units across.
scikit-learn itself is not needed. Its tools for cross-validation shuffle or cut rows freely; rows are bins here, so cut
in time (`TimeSeriesSplit`, `KFold(shuffle=False)`).
"""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np

from hidviz.background import one_blas_thread
from hidviz.evaluation import require_repeats
from hidviz.experiments.fit_parts import Run, fit_model
from hidviz.experiments.l1_path import L1Path, Strength
from hidviz.learners import hidden_posterior
from hidviz.network import Couplings, Recording, Spikes, divide
from hidviz.numerics import Array


class HiddenIsing:
    """A kinetic Ising network with hidden units, fitted exactly.

    Args:
        n_hidden: number of hidden units to assume.
        hidden_hidden: learn the couplings M among them too.
        penalty: weight of the L2 penalty per bin.
        l1: weight of the L1 penalty per bin, which sets couplings to exactly zero; "chosen" on the blocks that stop; 0
            for none.
        starts: random starts.
        max_steps: most steps of a start.
        repeats: give the model h(t), the field that is the same in all trials, of which there must be 20 of one length.
        blocks: blocks of time, of every five of which one stops the steps and one is left out for judging; 0 to learn
            from all of X until convergence.
        random_state: seed of the random starts.

    Attributes:
        couplings_: the estimate.
        n_features_in_: number of units in X.
        feature_names_in_: their names, where X has columns with names.
        n_iter_: steps of the best start.
        external_field_: (T - 1, Nv) h_i + h_i(t), which every trial of T bins has; None without repeats.
        stop_cost_: cost on the stopping part, nats per bin; on X itself without one.
        l1_path_: the L1 penalties tried and which couplings outlive them (`L1Path`); None for no L1 penalty.
    """

    def __init__(
        self,
        n_hidden: int = 1,
        hidden_hidden: bool = False,
        penalty: float = 0.0,
        repeats: bool = False,
        starts: int = 3,
        max_steps: int = 300,
        blocks: int = 40,
        random_state: int = 1,
        l1: Strength = 0.0,
    ) -> None:
        self.n_hidden = n_hidden
        self.hidden_hidden = hidden_hidden
        self.penalty = penalty
        self.repeats = repeats
        self.starts = starts
        self.max_steps = max_steps
        self.blocks = blocks
        self.random_state = random_state
        self.l1 = l1

    couplings_: Couplings
    external_field_: Array | None
    n_features_in_: int
    n_iter_: int
    stop_cost_: float
    l1_path_: L1Path | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - nothing lies deeper
        """What the estimator was made with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change what it was made with.

        Raises:
            ValueError: there is no such parameter.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for HiddenIsing: it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - there is nothing to be told
        """Learn couplings from a recording.

        Args:
            X: one (T, N) array of ±1 or counts, or a list of them; anything that `Spikes.of` takes for counts.
            y: ignored.

        Raises:
            ValueError: X is no recording, too short to be divided, or has no repeats to tell h(t) from; or nothing is
                held out to choose an L1 penalty by.
            Infeasible: there are too many hidden units to sum over.
        """
        recording = _recording(X)
        learn, stop = recording, None
        if self.blocks:
            parts = divide(recording, blocks=self.blocks)
            learn, stop = (parts.with_external_field(require_repeats(parts).field) if self.repeats else parts)[:2]
        elif self.repeats:
            raise ValueError("h(t) is chosen on a held-out part: set blocks, or leave repeats out.")
        run: Run = fit_model(
            learn, stop, self.n_hidden, hidden_hidden=self.hidden_hidden, starts=self.starts, seed=self.random_state,
            penalty=self.penalty, l1=self.l1, max_steps=self.max_steps,
        )[0]  # fmt: skip
        self.couplings_, self.n_iter_, self.stop_cost_ = run.couplings, run.last.step, run.stop
        self.external_field_, self.l1_path_ = learn.external_field, run.path
        self.n_features_in_ = recording.n_visible
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Log likelihood of a recording, nats per bin: minus what is called cost elsewhere."""
        recording = self._seen(X)
        return hidden_posterior(self.couplings_, recording).log_likelihood / recording.n_transitions

    def transform(self, X: Any) -> Any:
        """What a recording says of the hidden units.

        Returns:
            (T, Nh) <σ_a(t)> in [-1, 1] for one recording, a list of such arrays for a list. The last bin of a trial,
            which predicts nothing, has what the bin before makes likely.
        """
        recording = self._seen(X)
        smoothed = hidden_posterior(self.couplings_, recording).smoothed
        ends = np.cumsum([len(trial) - 1 for trial in recording.trials])
        trials = [
            self._with_last(part, trial[-2].astype(np.float64))
            for part, trial in zip(np.split(smoothed, ends[:-1]), recording.trials, strict=True)
        ]
        return trials if isinstance(X, list | tuple) and len(recording.trials) > 1 else trials[0]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, then `transform`."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Names of the columns that `transform` gives."""
        return np.array([f"hidden{a}" for a in range(self.couplings_.n_hidden)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks an estimator about; only scikit-learn calls it."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer", target_tags=TargetTags(required=False), transformer_tags=TransformerTags(),
            input_tags=InputTags(categorical=True, sparse=True), no_validation=False,
        )  # fmt: skip

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "couplings_")

    def __repr__(self) -> str:
        return f"HiddenIsing({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def _seen(self, X: Any) -> Recording:
        if not hasattr(self, "couplings_"):
            raise _not_fitted()
        recording = _recording(X)
        if recording.n_visible != self.n_features_in_:
            raise ValueError(
                f"X has {recording.n_visible} features, but HiddenIsing is expecting {self.n_features_in_} features as "
                "input: the units that it was fitted to."
            )
        return recording.with_external_field(self.external_field_)

    def _with_last(self, smoothed: Array, before: Array) -> Array:
        """The posterior with one more row, for the last bin."""
        W = self.couplings_
        mean = smoothed[-1] if len(smoothed) else np.zeros(W.n_hidden)
        return np.vstack([smoothed, np.tanh(W.g + W.L @ before + W.M @ mean)])


def _recording(X: Any) -> Recording:
    spikes = Spikes.of(X)
    if spikes.are_times:
        raise ValueError("X must hold bins × units, got spike times: bin them first, Spikes.of(X).recording(0.02).")
    return spikes.recording(drop=False)


def _not_fitted() -> ValueError:
    """The error that tools of scikit-learn look for, where it is there."""
    message = "This HiddenIsing instance is not fitted yet: call fit first."
    try:
        from sklearn.exceptions import NotFittedError  # an extra of the tests; the estimator does without
    except ImportError:
        return ValueError(message)
    error: ValueError = NotFittedError(message)
    return error
