"""Preview: what a recording looks like before anything is learned from it, and what looks wrong with it.

Each remark names the unit and says what can be done. A bin keeps whether there was a spike, not how many: spikes that
share a bin with another of their unit are lost, the more the wider the bin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint, one_blas_thread
from hidviz.numerics import Array

if TYPE_CHECKING:
    from hidviz.network.spikes import Counts, Spikes

WIDTHS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # seconds, at which the loss is told
BEARABLE = 0.05  # part of the spikes lost
ALIKE = 0.9  # correlation in the same bin
SAMPLE = 2**17  # bins from which correlations are taken
SAMPLE_NUMBERS = 2**24  # bins × units of them: 128 MB
SLOW = 10.0  # a median interval between spikes of so many seconds is one of milliseconds, or of a very quiet unit
MANY = 500  # spikes in one bin, beyond which a column may be of something else
MOST_PAIRED = 1000  # units of which all pairs are compared


@dataclass(frozen=True, eq=False)
class Preview:
    """What there is to see.

    Args:
        names: of the units.
        n_bins: bins of each trial.
        bin: seconds per bin; None where it is not known.
        n_spikes: (N,) spikes of each unit.
        fired: (N,) fraction of bins with a spike.
        lost: (N,) spikes of each unit that share a bin with another of the same unit.
        loss: bin width in seconds → part of all spikes lost; empty for counts.
        silent: units that never fire.
        constant: units that fire in every bin.
        duplicates: pairs that fire in the same bins.
        remarks: sentences, what looks wrong and what to do.
    """

    names: tuple[str, ...]
    n_bins: tuple[int, ...]
    bin: float | None
    n_spikes: NDArray[np.int64]
    fired: Array
    lost: NDArray[np.int64]
    loss: dict[float, float]
    silent: tuple[str, ...]
    constant: tuple[str, ...]
    duplicates: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]

    @property
    def seconds(self) -> float | None:
        """How long it lasts; None where the bin is not known."""
        return None if self.bin is None else sum(self.n_bins) * self.bin

    @property
    def rates(self) -> Array | None:
        """(N,) spikes per second; None where the bin is not known."""
        return None if self.seconds is None else self.n_spikes / self.seconds


@one_blas_thread()
def preview_of(spikes: Spikes, width: float | None) -> Preview:
    """The preview of spikes in bins of this width."""
    counts = spikes.binned(width)
    n_bins = tuple(len(trial) for trial in counts)
    total = max(sum(n_bins), 1)
    n_spikes, occupied = np.zeros(spikes.n_units, np.int64), np.zeros(spikes.n_units, np.int64)
    for trial in counts:
        for begin in range(0, len(trial), SAMPLE):
            checkpoint()
            block = trial[begin : begin + SAMPLE]
            n_spikes += block.sum(axis=0, dtype=np.int64)
            occupied += (block > 0).sum(axis=0)
    silent, constant = np.flatnonzero(occupied == 0), np.flatnonzero((occupied == total) & (occupied > 0))
    blocks = tuple(_sampled(counts))
    same = [
        pair for pair in _alike(blocks) if all(np.array_equal(t[:, pair[0]] > 0, t[:, pair[1]] > 0) for t in counts)
    ]
    loss = _loss(spikes) if spikes.are_times else {}
    found = Preview(
        names=spikes.names,
        n_bins=n_bins,
        bin=spikes.bin if width is None else width,
        n_spikes=n_spikes,
        fired=occupied / total,
        lost=n_spikes - occupied,
        loss=loss,
        silent=tuple(spikes.names[k] for k in silent),
        constant=tuple(spikes.names[k] for k in constant),
        duplicates=tuple((spikes.names[i], spikes.names[j]) for i, j in same),
        remarks=(),
    )
    remarks = (*spikes.remarks, *_slow(spikes), *_remarks(found, counts, blocks))
    return Preview(**{**vars(found), "remarks": remarks})


def _remarks(found: Preview, counts: tuple[Counts, ...], blocks: tuple[Array, ...]) -> Iterator[str]:
    bins = f"{sum(found.n_bins):,} bins"
    for name in found.silent:
        yield f"{name} never fires in {bins}: dropped (keep it with --keep-silent)."
    for name in found.constant:
        yield f"{name} fires in every one of {bins}: dropped (keep it with --keep-silent)."
    if not found.loss:
        yield from _too_many(found, counts)
    yield from _loss_remarks(found)
    for one, two in found.duplicates:
        yield f"{one} and {two} fire in the same bins: the same unit twice? Leave one out with --units."
    twins = set(found.duplicates)
    for i, j in _alike(blocks):
        if (pair := (found.names[i], found.names[j])) not in twins:
            yield f"{pair[0]} and {pair[1]} are correlated by more than {ALIKE} in the same bin: one unit sorted twice?"
    above = [name for name, part in zip(found.names, found.fired, strict=True) if 0.5 < part < 1.0]
    if above and len(above) * 2 > len(found.names):
        yield f"{len(above)} of {len(found.names)} units fire in more than half of the bins: are 0 and 1 swapped?"
    if _no_order(blocks):
        yield "No unit predicts any other one bin later beyond chance: are these bins in order of time?"
    yield from _drifts(found, counts)


def _too_many(found: Preview, counts: tuple[Counts, ...]) -> Iterator[str]:
    most = np.max([trial.max(axis=0) for trial in counts], axis=0) if counts else np.zeros(len(found.names))
    for k in np.flatnonzero(most > MANY):
        yield f"{found.names[k]} has {most[k]:,} spikes in one bin: is it a unit? If not, leave it out with --units."


def _slow(spikes: Spikes) -> Iterator[str]:
    intervals = [np.diff(train) for trial in spikes.trials for train in trial.trains]
    if sum(map(len, intervals)) and (median := float(np.median(np.concatenate(intervals)))) > SLOW:
        yield (
            f"The median interval between two spikes of a unit is {median:.3g} s: if these times are in milliseconds, "
            "say so with --rate 1000."
        )


def _loss_remarks(found: Preview) -> Iterator[str]:
    lost, total = int(found.lost.sum()), int(found.n_spikes.sum())
    if lost <= BEARABLE * total:
        return
    where = "a bin" if found.bin is None else f"a {_in_ms(found.bin)} bin"
    sentence = f"{100 * lost / total:.0f} % of the spikes share {where} with another of their unit and are lost"
    narrower = [width for width in found.loss if found.bin is None or width < found.bin]
    if not narrower:
        yield f"{sentence}; narrower bins would keep more."
        return
    best = min(narrower, key=lambda width: abs(found.loss[width] - BEARABLE))
    yield f"{sentence}; {_in_ms(best)} would lose {100 * found.loss[best]:.1f} %."


def _in_ms(seconds: float) -> str:
    return f"{1000 * seconds:g} ms"


def _loss(spikes: Spikes) -> dict[float, float]:
    """Part of the spikes lost at each width."""
    loss = {}
    for width in WIDTHS:
        kept = total = 0
        for trial in spikes.trials:
            for unit in range(spikes.n_units):
                checkpoint()
                places = trial.bins(unit, width)
                total += len(places)
                kept += int(np.count_nonzero(np.diff(places)) + (len(places) > 0))
        loss[width] = 1.0 - kept / max(total, 1)
    return loss


def _sampled(counts: tuple[Counts, ...]) -> Iterator[Array]:
    """Stretches of the recording, a stretch from each trial, with a spike as 1: enough for correlations."""
    n_units = counts[0].shape[1] if counts else 0
    share = max(min(SAMPLE, SAMPLE_NUMBERS // max(n_units, 1)) // max(len(counts), 1), 64)
    for trial in counts if n_units <= MOST_PAIRED else ():
        if len(trial) > 2:
            yield (trial[:share] > 0).astype(np.float64)


def _alike(blocks: tuple[Array, ...]) -> list[tuple[int, int]]:
    """Pairs of units correlated beyond `ALIKE` in the same bin."""
    if not blocks:
        return []
    correlation = _correlation(sum(x.T @ x for x in blocks), blocks, blocks)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(correlation > ALIKE, 1))]


def _no_order(blocks: tuple[Array, ...]) -> bool:
    """Whether all correlations from one bin to the next lie within chance."""
    n = sum(len(x) - 1 for x in blocks)
    if n < 100:
        return False
    later, earlier = tuple(x[1:] for x in blocks), tuple(x[:-1] for x in blocks)
    product = sum(b.T @ a for b, a in zip(later, earlier, strict=True))
    correlation = _correlation(product, later, earlier)
    # the largest of N² normal numbers stays below this in 99 of 100 recordings without order
    limit = np.sqrt(2.0 * np.log(100.0 * correlation.size)) / np.sqrt(n)
    return bool(np.abs(correlation).max(initial=0.0) < limit)


def _correlation(product: Array | int, rows: tuple[Array, ...], columns: tuple[Array, ...]) -> Array:
    """Correlations from the sum of products; 0 for a unit that does not change."""
    n = sum(len(x) for x in rows)
    ones, others = (sum(x.sum(axis=0) for x in each) / n for each in (rows, columns))
    scale = [np.sqrt(mean * (1.0 - mean)) for mean in (ones, others)]
    spread = np.outer(*scale)
    covariance = product / n - np.outer(ones, others)
    return np.where(spread > 0.0, covariance / np.where(spread > 0.0, spread, 1.0), 0.0)


def _drifts(found: Preview, counts: tuple[Counts, ...]) -> Iterator[str]:
    """Units whose rate differs between eighths of the recording by more than chance, and by a half at least."""
    total = sum(found.n_bins)
    if total < 64 * 10:
        return
    edges, place, pieces = np.linspace(0, total, 65).astype(int), 0, np.zeros((64, len(found.names)))
    for trial in counts:
        for k in range(64):
            begin, end = (int(np.clip(edge - place, 0, len(trial))) for edge in edges[k : k + 2])
            pieces[k] += (trial[begin:end] > 0).sum(axis=0)
        place += len(trial)
    eighths = pieces.reshape(8, 8, -1)
    error = np.sqrt(eighths.var(axis=1, ddof=1).mean(axis=0) / 8.0)
    most, least = eighths.mean(axis=1).max(axis=0), eighths.mean(axis=1).min(axis=0)
    # the range of 8 normal numbers passes 6 standard deviations once in 250 times
    drifting = [k for k in np.argsort(least - most) if most[k] - least[k] > 6.0 * error[k] and most[k] > 1.5 * least[k]]
    if not drifting:
        return
    worst, per_bin = drifting[0], 64.0 / total
    others = f", and {len(drifting) - 1} more units" if len(drifting) > 1 else ""
    yield (
        f"The rate of {found.names[worst]} drifts{others}: a spike in {100 * least[worst] * per_bin:.2g} % of the bins "
        f"in the quietest eighth, in {100 * most[worst] * per_bin:.2g} % in the busiest. Blocks of time are dealt out "
        "in turn, but couplings that change are averaged."
    )
