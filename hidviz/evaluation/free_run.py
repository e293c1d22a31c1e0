"""Free run: a model left to itself, beside the data. A held-out cost asks for one bin; this asks for all that follows.

    rates, correlations in the same bin (c0) and one bin later (c1), and synchrony: how many units fire in a bin

A model can predict the next bin well and still drift into states that no recording shows, as each of its steps starts
from its own last one. Under an external field the model has it in every trial anew, and the first bin of each, which
nothing drives, is left out. Synchrony is compared by the total variation ½ Σ |P_model(n) - P_data(n)|, from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidviz.evaluation.correlations import correlations
from hidviz.network import Couplings, Recording, simulate
from hidviz.numerics import Array

FREE_BINS = 100_000
BURN_IN = 1_000  # bins after which the start is forgotten


@dataclass(frozen=True, eq=False)
class Shown:
    """What one recording shows.

    Args:
        rates: (Nv,) fraction of bins with a spike.
        same_bin: (Nv, Nv) correlations in the same bin.
        next_bin: (Nv, Nv) correlations one bin later; rows are later.
        synchrony: (Nv + 1,) fraction of bins in which so many units fire.
    """

    rates: Array
    same_bin: Array
    next_bin: Array
    synchrony: Array


@dataclass(frozen=True, eq=False)
class FreeRun:
    """Data and model.

    Args:
        data: what the data show.
        model: what the model shows, left to itself.
    """

    data: Shown
    model: Shown

    @property
    def synchrony_error(self) -> float:
        """Total variation between the two distributions of the number of units that fire."""
        return float(0.5 * np.abs(self.data.synchrony - self.model.synchrony).sum())

    @property
    def rate_error(self) -> float:
        """Largest difference of a rate, in spikes a bin."""
        return float(np.abs(self.data.rates - self.model.rates).max())

    def correlation_error(self, lag: int) -> float:
        """Root mean square difference of the correlations of pairs, in the same bin (0) or the next (1)."""
        if lag == 0:
            return _rms(_pairs(self.data.same_bin) - _pairs(self.model.same_bin))
        return _rms(self.data.next_bin - self.model.next_bin)


def free_run(
    couplings: Couplings, recording: Recording, rng: np.random.Generator, *, n_bins: int = FREE_BINS
) -> FreeRun:
    """Run a model with stochastic hidden units, or none, and compare it with a recording.

    Args:
        couplings: of the model.
        recording: the data.
        rng: source of randomness.
        n_bins: how long to run.
    """
    field = recording.external_field
    if field is None:
        run = simulate(couplings, BURN_IN + n_bins, rng, hidden="stochastic").recording
        return FreeRun(_shown(recording), _shown(Recording(run.trials[0][BURN_IN:])))
    period = np.vstack([field, field.mean(axis=0)])  # the last leads to the first bin of the next trial
    n_trials, length = max(n_bins // len(period), 2), len(period)
    states = simulate(couplings, n_trials * length, rng, hidden="stochastic", external_field=period).recording.trials[0]
    trials = [states[begin + 1 : begin + length] for begin in range(length, len(states), length)]
    seen = [trial[1:] for trial in recording.trials]
    if length < 3:
        raise ValueError("A free run under an external field needs trials of at least 3 bins.")
    return FreeRun(_shown(Recording(seen)), _shown(Recording(trials)))


def _shown(recording: Recording) -> Shown:
    found = correlations(recording)
    n_visible = recording.n_visible
    active = np.concatenate([(trial > 0).sum(axis=1) for trial in recording.trials])
    spikes = sum((trial > 0).sum(axis=0) for trial in recording.trials)
    return Shown(
        rates=spikes / recording.n_bins,
        same_bin=found.lag0,
        next_bin=found.lag1,
        synchrony=np.bincount(active, minlength=n_visible + 1) / recording.n_bins,
    )


def _pairs(matrix: Array) -> Array:
    return matrix[np.triu_indices(len(matrix), 1)]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
