"""The table of a scan: models of rising size beside lag 1 and lag 2, and which of them to take.

The rule: the fewest hidden units, first without M, whose judged cost lies within one paired standard error of the best.
Where a recording repeats, there are rows under h(t), the field that is the same in all trials (`evaluation.repeats`):
of as many hidden units they come before those with M. Each bin and unit of h(t) counts as a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hidviz.evaluation import Difference, paired
from hidviz.experiments.l1_path import L1Path, Strength
from hidviz.network import Couplings
from hidviz.numerics import Array


@dataclass(frozen=True, eq=False)
class ScanRow:
    """One model of the scan.

    Args:
        n_hidden: number of hidden units; 0 is lag 1.
        hidden_hidden: whether M was learned.
        couplings: the best start's.
        n_parameters: entries learned; under an L1 penalty those that are not zero.
        cost: on the part learned from, nats per bin.
        stop: on the part that stopped it, for each start, rising.
        judged: on each block of the judging part.
        gain: of `judged` on lag 1.
        step: of `judged` on one hidden unit fewer with the same M and h(t); None without it.
        aic: per bin of the part learned from.
        bic: the same.
        message: why learning stopped.
        note: why the model is missing, if it is.
        seconds: that all its starts took on this machine.
        sampled: whether it was fitted by sampling, as sums over its hidden states would take too long.
        max_steps: most steps of a start.
        external_field: (T - 1, Nv) h(t), which the model was given; None without.
        l1: weight of the L1 penalty that was asked for; "chosen" for one chosen on the stopping part; 0 for none.
        path: its path, of which `couplings` are; None for no L1 penalty.
    """

    n_hidden: int
    hidden_hidden: bool
    couplings: Couplings | None
    n_parameters: int
    cost: float = np.nan
    stop: tuple[float, ...] = ()
    judged: Array = field(default_factory=lambda: np.empty(0))
    gain: Difference | None = None
    step: Difference | None = None
    aic: float = np.nan
    bic: float = np.nan
    message: str = ""
    note: str = ""
    seconds: float = np.nan
    sampled: bool = False
    max_steps: int = 300
    external_field: Array | None = field(default=None, repr=False)
    l1: Strength = 0.0
    path: L1Path | None = field(default=None, repr=False)

    @property
    def driven(self) -> bool:
        """Whether the model was given h(t)."""
        return self.external_field is not None

    @property
    def name(self) -> str:
        """In a few words."""
        name = f"{self.n_hidden} hidden unit{'s' * (self.n_hidden > 1)}{' with M' * self.hidden_hidden}"
        return f"{name if self.n_hidden else 'lag 1'}{', h(t)' * self.driven}"

    @property
    def kept(self) -> str:
        """How many of its couplings an L1 penalty has left, "57 of 290"; empty without one."""
        if self.path is None:
            return ""
        n, size = self.path.n_kept
        return f"{n:,} of {size:,}"

    @property
    def mean(self) -> float:
        """Mean judged cost, nats per bin."""
        return float(self.judged.mean()) if self.judged.size else np.inf


@dataclass(frozen=True, eq=False)
class Scan:
    """The table as far as it has come.

    Args:
        rows: models fitted so far; the first is lag 1.
        lag2: gain of two lags on lag 1, in the judging blocks.
        penalty: weight of the L2 penalty of all of them, per bin.
        how: how the recording was divided.
        n: how many models there will be.
        doing: what is being fitted; empty at the end.
        seconds_left: predicted.
        remarks: sentences to read with the table.
        repeats: gain of h(t), alone and with lag 1, on lag 1, where 20 trials or more have one length; else None.
        l1: of all of them, lag 1 and lag 2 included: weight of the L1 penalty, or "chosen" for each on the stopping
            part; 0 for none.
    """

    rows: tuple[ScanRow, ...]
    lag2: Difference
    penalty: float
    how: str
    n: int
    doing: str
    seconds_left: float
    remarks: tuple[str, ...] = ()
    repeats: tuple[Difference, Difference] | None = None
    l1: Strength = 0.0

    @property
    def best(self) -> ScanRow:
        """The lowest judged cost."""
        return min(self.rows, key=lambda each: each.mean)

    @property
    def chosen(self) -> ScanRow:
        """The fewest hidden units, first without M, within one paired standard error of the best."""
        best = self.best
        for each in sorted(self.rows, key=lambda each: (each.n_hidden, each.driven, each.hidden_hidden)):
            if each.judged.size:
                behind = paired(each.judged, best.judged)
                if each is best or behind.mean <= behind.error:
                    return each
        return best

    @property
    def lowest_bic(self) -> ScanRow:
        """What BIC would choose."""
        return min(
            (each for each in self.rows if each.judged.size), key=lambda each: np.nan_to_num(each.bic, nan=np.inf)
        )

    def in_words(self) -> str:
        """The table, in thousandths of a nat per bin."""
        kept = f"{'couplings kept':>18}" if self.l1 else ""
        lines = [f"{'':24}{'gain on lag 1':>16}{'on one fewer':>16}{'AIC':>11}{'BIC':>11}{kept}"]
        for each in self.rows:
            if each.note:
                lines.append(f"{each.name:24}{each.note}")
                continue
            gain, step = ("" if d is None else d.in_words() for d in (each.gain, each.step))
            name = f"{each.name}, sampled" if each.sampled else each.name
            lines.append(
                f"{name:24}{gain:>16}{step:>16}{each.aic:11.4f}{each.bic:11.4f}{f'{each.kept:>18}' if self.l1 else ''}"
            )
        lines.append(f"{'lag 2':24}{self.lag2.in_words():>16}")
        if self.repeats is not None:
            lines.append(f"{'h(t) alone':24}{self.repeats[0].in_words():>16}")
        return "\n".join([*lines, self.sentence(), *self.remarks])

    def sentence(self) -> str:
        """The choice in words."""
        chosen, best = self.chosen, self.best
        if not chosen.n_hidden and not chosen.driven:
            return "Chosen: no hidden unit. None is worth more than its error on lag 1."
        if not chosen.n_hidden:
            return "Chosen: no hidden unit beside h(t). None is worth more than its error on what all trials share."
        assert chosen.gain is not None
        text = f"Chosen: {chosen.name}, {chosen.gain.in_words()} thousandths of a nat per bin better than lag 1"
        if best is not chosen:
            text += f"; {best.name} is better by {paired(chosen.judged, best.judged).in_words()}, within its error"
        if chosen.n_hidden == max(each.n_hidden for each in self.rows):
            text += "; more hidden units were not tried"
        if self.repeats is not None and not chosen.driven and self.repeats[1].mean > chosen.gain.mean:
            text += (
                f". What is the same in all trials, with lag 1, gains {self.repeats[1].in_words()} and explains more: "
                "these hidden units may stand for a stimulus, not for units of the network"
            )
        return text + "."

    def records(self) -> list[dict[str, Any]]:
        """The table as plain values, for a file."""
        return [
            {
                "n_hidden": each.n_hidden, "hidden_hidden": each.hidden_hidden, "repeats": each.driven,
                "sampled": each.sampled, "n_parameters": each.n_parameters,
                "judged": each.mean if each.judged.size else None, "gain": each.gain and each.gain.mean,
                "gain_error": each.gain and each.gain.error, "step": each.step and each.step.mean,
                "step_error": each.step and each.step.error, "aic": each.aic, "bic": each.bic,
                "l1": each.path and each.path.plain(), "starts": list(each.stop), "chosen": each is self.chosen,
                "message": each.message, "note": each.note,
            }
            for each in self.rows
        ]  # fmt: skip
