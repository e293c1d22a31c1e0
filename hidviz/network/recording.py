"""Recording: the visible history that a learner may see, one or more trials of ±1 states.

A trial of T bins holds T - 1 transitions s(t) → s(t+1). No transition crosses from one trial to the next, and each
trial starts without a past: the hidden state at its first bin is unknown.

Trials may share an external field h_i(t), such as the effect of a stimulus that is the same in all of them. It is part
of the data: every learner adds it to the field on the visible units, H_i(t) = h_i + h_i(t) + Σ_j J_ij s_j(t) + …, and
learns what it learns beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hidviz.numerics import Array, States


class Transitions(NamedTuple):
    """All transitions of a recording, trial after trial, each (n_transitions, Nv) of int8.

    `previous` is s(t-1), a row of zeros where a trial starts; `present` is s(t); `following` is s(t+1).
    `starts` are the rows at which a trial starts.
    """

    previous: States
    present: States
    following: States
    starts: NDArray[np.intp]


@dataclass(frozen=True, eq=False, init=False)
class Recording:
    """Visible states over time, in one or more trials.

    Args:
        trials: one (T, Nv) array or a sequence of them, T >= 2 in each; entries +1 and -1.
        names: of the units, in the order of the columns; None where nobody named them.
        bin: width of a time bin in seconds; None where it is not known.
        external_field: (T - 1, Nv) what is added to the field on each visible unit, at each transition of every trial;
            None for nothing. All trials must then have T bins.

    Raises:
        ValueError: no trial, a trial that is too short, unequal numbers of units, an entry that is not ±1, names that
            do not match the units, or an external field that does not match the trials.
    """

    trials: tuple[States, ...]
    names: tuple[str, ...] | None
    bin: float | None
    external_field: Array | None

    def __init__(
        self,
        trials: ArrayLike | Iterable[ArrayLike],
        names: Iterable[str] | None = None,
        bin: float | None = None,  # noqa: A002 - the field's word
        external_field: ArrayLike | None = None,
    ) -> None:
        given = _listed(trials)
        if not given:
            raise ValueError("A recording needs at least one trial, got none.")
        object.__setattr__(self, "trials", tuple(_checked(trial, k) for k, trial in enumerate(given)))
        widths = {trial.shape[1] for trial in self.trials}
        if len(widths) > 1:
            raise ValueError(f"Every trial must hold the same units, got trials of {sorted(widths)} units.")
        object.__setattr__(self, "names", None if names is None else tuple(str(name) for name in names))
        object.__setattr__(self, "bin", bin)
        if self.names is not None and len(set(self.names)) != self.n_visible:
            raise ValueError(f"{self.n_visible} units must have as many different names, got {', '.join(self.names)}.")
        if bin is not None and not 0.0 < bin < np.inf:
            raise ValueError(f"A bin must be a positive number of seconds, got {bin!r}.")
        object.__setattr__(self, "external_field", self._checked_field(external_field))

    def _checked_field(self, given: ArrayLike | None) -> Array | None:
        if given is None:
            return None
        field, lengths = np.array(given, dtype=np.float64), {len(trial) for trial in self.trials}
        if len(lengths) > 1 or field.shape != (min(lengths) - 1, self.n_visible):
            raise ValueError(
                "An external field must have shape (T - 1, Nv) for trials that all have T bins, got "
                f"{field.shape} for {self.n_visible} units and trials of {', '.join(map(str, sorted(lengths)))} bins."
            )
        if not np.isfinite(field).all():
            raise ValueError(f"An external field must be finite, got {field[~np.isfinite(field)][0]}.")
        field.flags.writeable = False
        return field

    def name_of(self, unit: int) -> str:
        """What to call a unit, counted from 0: its name, or its number from 1."""
        return f"unit {unit + 1}" if self.names is None else self.names[unit]

    def with_trials(self, trials: Iterable[ArrayLike]) -> Recording:
        """Other bins of the same units."""
        return Recording(trials, self.names, self.bin, self.external_field)

    def with_external_field(self, field: ArrayLike | None) -> Recording:
        """The same bins with another external field, (T - 1, Nv); None for none."""
        return Recording(self.trials, self.names, self.bin, field)

    def __reduce__(self) -> tuple[Any, ...]:
        return Recording, (
            self.trials,
            self.names,
            self.bin,
            self.external_field,
        )  # so that a copy is checked and read-only again

    @property
    def unchanging(self) -> tuple[int, ...]:
        """Units, counted from 0, that are in the same state in every bin."""
        lowest = np.min([trial.min(axis=0) for trial in self.trials], axis=0)
        highest = np.max([trial.max(axis=0) for trial in self.trials], axis=0)
        return tuple(np.flatnonzero(lowest == highest).tolist())

    @property
    def n_visible(self) -> int:
        """Number of visible units, Nv."""
        return int(self.trials[0].shape[1])

    @property
    def n_bins(self) -> int:
        """Number of time bins, over all trials."""
        return sum(len(trial) for trial in self.trials)

    @property
    def n_transitions(self) -> int:
        """Number of transitions s(t) → s(t+1), over all trials: what a cost per bin is divided by."""
        return self.n_bins - len(self.trials)

    @property
    def clock(self) -> NDArray[np.intp]:
        """(n_transitions,) at which bin of its trial each transition starts."""
        return np.concatenate([np.arange(len(trial) - 1) for trial in self.trials])

    def external_fields(self) -> Array | None:
        """(n_transitions, Nv) the external field at each transition; None where there is none."""
        return None if self.external_field is None else self.external_field[self.clock]

    def transitions(self) -> Transitions:
        """Every transition with its past, trial after trial."""
        past = [np.vstack([np.zeros_like(trial[:1]), trial[:-2]]) for trial in self.trials]
        lengths = [len(trial) - 1 for trial in self.trials]
        return Transitions(
            previous=np.concatenate(past),
            present=np.concatenate([trial[:-1] for trial in self.trials]),
            following=np.concatenate([trial[1:] for trial in self.trials]),
            starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp),
        )


def _listed(trials: Any) -> list[Any]:
    """The trials one by one: an array or a table with two axes is one trial, anything else a sequence of them."""
    if getattr(trials, "ndim", None) == 2:
        return [trials]
    if getattr(trials, "ndim", None) in (0, 1) or isinstance(trials, str | bytes) or not isinstance(trials, Iterable):
        got = f"an array of shape {trials.shape}" if hasattr(trials, "shape") else f"{trials!r}"[:60]
        raise ValueError(
            f"A recording needs an array (T, Nv) or a sequence of them, got {got}: time runs down the rows, and one "
            "unit alone is a column, x[:, None]."
        )
    given = list(trials)
    if given and all(np.ndim(each) == 0 for each in given):
        return _listed(np.asarray(given))
    return given


def _checked(trial: ArrayLike, k: int) -> States:
    if isinstance(trial, np.ma.MaskedArray) and (missing := int(np.count_nonzero(np.ma.getmaskarray(trial)))):
        raise ValueError(
            f"Trial {k + 1} must hold a state in every bin, got {missing} masked: leave those bins out, and make what "
            "lies before and after them trials of their own."
        )
    given = np.asarray(trial)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ValueError(
            f"Trial {k + 1} must have shape (T, Nv), T >= 2 and Nv >= 1, got {given.shape}: time runs down the rows."
        )
    if given.dtype.kind not in "biuf":
        given = _as_numbers(given, k)
    allowed = (given == 1) | (given == -1)
    if not allowed.all():
        wrong = given[~allowed][0]
        raise ValueError(f"Trial {k + 1} must hold only +1 (spike) and -1 (silence), got {wrong}: {what_to_do(given)}")
    states = given.astype(np.int8)
    states.flags.writeable = False
    return states


def _as_numbers(given: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Numbers that were stored as objects, as a table with columns of several kinds has them."""
    try:
        if given.dtype.kind == "O":
            return given.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"Trial {k + 1} must hold numbers, +1 (spike) and -1 (silence), got entries of type {given.dtype}."
    )


def what_to_do(entries: NDArray[Any]) -> str:
    """How to turn entries that are not all ±1 into ±1, as the end of a sentence."""
    if not np.isfinite(entries).all():
        return "leave bins with a missing state out, and make what lies before and after them trials of their own."
    if is_wrapped(entries):
        return "it looks like -1 stored in an unsigned type, x.astype(np.int8) brings it back."
    if (entries < 0).any() or (entries != np.floor(entries)).any():
        return "if these are spike counts, find out first what its negative or broken numbers mean."
    return "turn spike counts x into np.where(x > 0, 1, -1)."


def is_wrapped(entries: NDArray[Any]) -> bool:
    """Whether all entries are 1, or -1 as an unsigned type shows it, such as 255."""
    most = entries.max(initial=0)
    if float(most) not in [2.0**bits - 1.0 for bits in (8, 16, 32, 64)]:
        return False
    return bool(((entries == 1) | (entries == most)).all())
