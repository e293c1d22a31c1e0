"""Simulation: draw a history of a network, in which every unit answers the state of the bin before.

    P[s_i(t+1) = ±1] = exp(±H_i(t)) / 2cosh H_i(t)           eq. 1 (`visdyn`)
    sigma_a(t+1) likewise with B_a(t) in model B               eq. 14 (`stochdyn`)
    mu_a(t+1) = tanh B_a(t) in model A                         eq. 2 (`hiddyn`)

A unit turns +1 when its field passes a threshold drawn from the logistic distribution of scale 1/2, so a step is
one stacked matrix, one subtraction and one sign. Thresholds are drawn for many bins at once.

Given its thresholds a network is a deterministic map that forgets where it began, if it is small or weakly coupled. So
a chunk of time is cut into segments that run side by side from a guess, and run again from the end of the segment
before, until nothing changes: then the result solves the recursion from the first bin to the last. Networks that do
not forget are run bin after bin.

The start is not stationary: visible and stochastic hidden units begin uniform on ±1, continuous ones at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint, return_value
from hidviz.network.couplings import Couplings
from hidviz.network.recording import Recording
from hidviz.numerics import Array, Index, check_generator, join_segments

Hidden = Literal["stochastic", "continuous"]

_SEGMENT = 1024  # bins; most networks of twenty units forget in a few hundred
_SHORT, _TRIAL, _LONG = 64, 8 * _SEGMENT, 64 * _SEGMENT  # bins in the first chunk, the first cut one, the longest
_STRIDE = 32  # steps of a segment run again before it is compared
_FORGETS_WITHIN = 4  # times the steps of a segment, after which a network counts as one that does not forget
_CACHED = 2**14  # numbers that stay in the cache between operations
_WORK = 5e7  # coupling products in a chunk run bin after bin, at most: below 50 ms


class Simulation(NamedTuple):
    """A simulated history.

    `recording` is what a learner may see: one trial of T bins. `hidden` is (T, Nh), the hidden units it may not see:
    int8 of ±1 when stochastic, floats in [-1, 1] when continuous.
    """

    recording: Recording
    hidden: NDArray[np.int8] | Array


def simulate(
    couplings: Couplings,
    n_steps: int,
    rng: np.random.Generator,
    *,
    hidden: Hidden = "stochastic",
    external_field: Array | None = None,
) -> Simulation:
    """Draw n_steps bins of a network, starting from a random state.

    The same generator state gives the same numbers, and a longer simulation begins with the shorter one.

    Args:
        couplings: the network.
        n_steps: number of time bins T, at least 2, the initial state included.
        rng: source of randomness.
        hidden: "stochastic" for ±1 hidden units (model B), "continuous" for deterministic ones (model A).
        external_field: (period, Nv) what is added to the field on each visible unit, over and over from the first
            transition on; None for nothing.

    Raises:
        ValueError: n_steps, rng, hidden or external_field is not as above.
    """
    return return_value(iter_simulation(couplings, n_steps, rng, hidden=hidden, external_field=external_field))


def iter_simulation(
    couplings: Couplings,
    n_steps: int,
    rng: np.random.Generator,
    *,
    hidden: Hidden = "stochastic",
    external_field: Array | None = None,
) -> Generator[float, None, Simulation]:
    """As `simulate`, but a generator: yields the fraction done after each chunk of work, returns the Simulation."""
    check_generator(rng)
    if isinstance(n_steps, bool) or not isinstance(n_steps, int | np.integer) or n_steps < 2:
        raise ValueError(f"n_steps must be a whole number of time bins, 2 or more, got {n_steps!r}.")
    if hidden not in get_args(Hidden):
        raise ValueError(f"hidden must be one of {', '.join(get_args(Hidden))}, got {hidden!r}.")
    if external_field is not None and (external_field.ndim, *external_field.shape[1:]) != (2, couplings.n_visible):
        raise ValueError(
            f"An external field must have shape (period, {couplings.n_visible}), got {external_field.shape}."
        )
    return _iter_simulation(couplings, int(n_steps), rng, hidden == "continuous", external_field)


def _iter_simulation(
    couplings: Couplings, n_steps: int, rng: np.random.Generator, continuous: bool, external_field: Array | None
) -> Generator[float, None, Simulation]:
    n_visible, n_units = couplings.n_visible, couplings.n_visible + couplings.n_hidden
    W = np.block([[couplings.J, couplings.K], [couplings.L, couplings.M]])
    bias = np.concatenate([couplings.h, couplings.g])
    step = _step(W, n_visible if continuous else n_units)

    state = np.where(rng.random(n_units) < 0.5, -1.0, 1.0)
    if continuous:
        state[n_visible:] = 0.0
    s = np.empty((n_steps, n_visible), np.int8)
    sigma = np.empty((n_steps, n_units - n_visible), np.float64 if continuous else np.int8)
    s[0], sigma[0] = state[:n_visible], state[n_visible:]

    # Chunks grow from short ones and are run whole, whatever n_steps is: the prefix property to the last bit.
    length, done, forgets = _SHORT, 1, _TRIAL * n_units**2 <= _WORK
    while done < n_steps:
        n_segments = length // _SEGMENT if forgets and length >= _TRIAL else 1
        thresholds = _thresholds(rng, (length // n_segments, n_segments, n_units))
        if continuous:
            thresholds[..., n_visible:] = 0.0
        thresholds -= bias
        if external_field is not None:
            bins = (done - 1 + np.arange(length)).reshape(n_segments, -1).T
            thresholds[..., :n_visible] -= external_field[bins % len(external_field)]
        path = _side_by_side(step, state, thresholds)
        if path is None:
            forgets, thresholds = False, _in_time(thresholds)[:, None]
            path = _bin_after_bin(step, state, thresholds)
        state, stop = path[-1, -1], min(done + length, n_steps)
        s[done:stop] = _in_time(path[..., :n_visible].astype(s.dtype))[: stop - done]
        sigma[done:stop] = _in_time(path[..., n_visible:].astype(sigma.dtype))[: stop - done]
        done = stop
        if 2 * length <= (_LONG if forgets else min(_TRIAL, _WORK / n_units**2)):
            length *= 2
        checkpoint()
        yield done / n_steps
    return Simulation(Recording(s), sigma)


def _in_time(path: NDArray[Any]) -> NDArray[Any]:
    """(steps, segments, units), segments side by side → (bins, units), one after the other."""
    n_steps, n_segments, n_units = path.shape
    return path.swapaxes(0, 1).reshape(n_steps * n_segments, n_units)


def _thresholds(rng: np.random.Generator, shape: tuple[int, int, int]) -> Array:
    """Logistic numbers of scale 1/2: P[threshold < x] = 1 / (1 + exp(-2x))."""
    thresholds = np.empty(shape)
    flat, spare = thresholds.reshape(-1), np.empty(_CACHED)
    for begin in range(0, flat.size, _CACHED):
        u = flat[begin : begin + _CACHED]
        rng.random(out=u)
        rest = np.subtract(1.0, u, out=spare[: u.size])
        np.add(u, 2.0**-60, out=u)  # a drawn 0 would be a threshold of minus infinity
        np.divide(u, rest, out=u)
        np.log(u, out=u)
        np.multiply(u, 0.5, out=u)
    return thresholds


Step = Callable[[Array, Array, Array], None]


def _step(W: Array, n_binary: int) -> Step:
    """One time step in place: (states, thresholds) → following; one copy (units,) or many (copies, units)."""
    by_sender = np.ascontiguousarray(W.T)

    def binary(states: Array, thresholds: Array, following: Array) -> None:
        np.dot(states, by_sender, out=following)
        np.subtract(following, thresholds, out=following)
        np.copysign(1.0, following, out=following)

    def mixed(states: Array, thresholds: Array, following: Array) -> None:
        np.dot(states, by_sender, out=following)
        np.subtract(following, thresholds, out=following)
        visible, hidden = following[..., :n_binary], following[..., n_binary:]
        np.copysign(1.0, visible, out=visible)
        np.tanh(hidden, out=hidden)

    return binary if n_binary == len(W) else mixed


def _bin_after_bin(step: Step, state: Array, thresholds: Array) -> Array:
    """The path that follows `state`, (bins, 1, units)."""
    path = np.empty_like(thresholds)
    _follow(step, state, thresholds[:, 0], path[:, 0])
    return path


def _side_by_side(step: Step, state: Array, thresholds: Array) -> Array | None:
    """The same from segments run side by side, (steps, segments, units); None when they do not forget their start."""
    n_steps, n_segments, n_units = thresholds.shape
    if n_segments == 1:
        return _bin_after_bin(step, state, thresholds)
    path = np.empty((n_steps + 1, n_segments, n_units))
    path[0] = state
    _follow(step, path[0], thresholds, path[1:])

    def advance(steps: slice, segments: Index) -> None:
        again = np.empty((steps.stop - steps.start, len(segments), n_units))
        _follow(step, path[steps.start, segments], thresholds[steps, segments], again)
        path[steps.start + 1 : steps.stop + 1, segments] = again

    joined = join_segments(path, advance, _differ, stride=_STRIDE, most_steps=_FORGETS_WITHIN * n_steps)
    return path[1:] if joined else None


def _follow(step: Step, state: Array, thresholds: Array, path: Array) -> None:
    """Fill path with the states after `state`."""
    for threshold, following in zip(thresholds, path, strict=True):
        step(state, threshold, following)
        state = following


def _differ(states: Array, others: Array) -> NDArray[np.bool_]:
    """Which copies differ by more than the rounding of continuous units."""
    apart: NDArray[np.bool_] = np.any(np.abs(states - others) > 1e-12, axis=1)
    return apart
