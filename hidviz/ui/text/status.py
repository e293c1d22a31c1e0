"""Words: what the page says about a frame, as sentences and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from hidviz.experiments import Experiment, Frame, preset_of
from hidviz.learners import Infeasible, TooLarge
from hidviz.learning import Cure, Penalty, Remark
from hidviz.network import MATRICES, Gauge, cosines, n_equivalent_models
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _, _n
from hidviz.ui.theme import block_letters, diverging
from hidviz.units import raised

LISTED = 6  # hidden units that a sentence can name one by one; of more it gives the number

READABLE = 0.2  # seconds between two readings of running numbers: more often costs time and cannot be read


def remarks_of(frame: Frame | None, failure: BaseException | None) -> tuple[Remark, ...]:
    """What must be told beside the picture: what failed, else all that the run has to say but that it converged.

    Args:
        frame: the newest one.
        failure: what ended the run that the knobs want; None if nothing has.
    """
    if isinstance(failure, TooLarge):
        fewer = Cure(_("Take {n:,} bins", n=failure.knobs["n_steps"]), failure.knobs) if failure.knobs else None
        return (Remark("infeasible", str(failure), fewer),)
    if isinstance(failure, Infeasible):
        return (Remark("infeasible", str(failure), Cure(_("Use mean field"), {"learner": "mean-field"})),)
    if failure is not None:
        return (Remark("failed", str(failure) or repr(failure)),)
    return tuple(each for each in frame.snapshot.remarks if each.kind != "converged") if frame else ()


def sentences_of(remarks: Iterable[Remark]) -> str:
    """Everything that is told, as one text."""
    return " ".join(of_engine(remark.sentence) for remark in remarks)


def state_of(
    frame: Frame | None,
    wanted: Experiment,
    *,
    awaited: bool,
    running: bool,
    ready: bool,
    steps_per_second: float,
    error: str,
) -> str:
    """The state of the page as JSON, for tests and tools; costs in nats per bin.

    All of it is of the run shown; `awaited` says whether the knobs want another one.
    """
    experiment = frame.experiment if frame else wanted
    state: dict[str, Any] = {
        "preset": preset_of(experiment), "seed": experiment.seed, "step": 0, "awaited": awaited, "running": running,
        "ready": ready, "converged": False, "cost": None, "rms": {}, "rms_aligned": {}, "gauge": {},
        "steps_per_second": round(steps_per_second, 1), "error": error,
    }  # fmt: skip
    if frame is not None:
        trace = frame.trace
        state |= {
            "step": frame.snapshot.step,
            "converged": frame.snapshot.state == "converged",
            "state": frame.snapshot.state,
            "evaluations": frame.snapshot.evaluations,
            "cost": frame.snapshot.cost,
            "held_out": frame.snapshot.held_out,
            "cost_at_truth": frame.setup.cost_at_truth,
            "rms": {block: float(trace[f"rms_{block}"][-1]) for block in MATRICES},
            "rms_aligned": {block: float(trace[f"aligned_{block}"][-1]) for block in MATRICES},
            "gauge": {"order": frame.gauge.order.tolist(), "signs": frame.gauge.signs.astype(int).tolist()},
        }
    return json.dumps(state)


def units_of(frame: Frame, *, align: bool = False) -> list[dict[str, Any]]:
    """For each hidden unit of the estimate: which true unit it matches, with which sign, and how well.

    Args:
        frame: what is shown.
        align: whether its couplings are drawn aligned to the truth, so that no sign is seen to be another.
    """
    n_found, n_true = frame.snapshot.couplings.n_hidden, frame.data.truth.n_hidden
    agreement = cosines(frame.snapshot.couplings, frame.data.truth)
    place = np.argsort(frame.gauge.order)
    units = []
    for unit in range(n_found):
        true = int(place[unit])
        overlap = float(agreement[true, unit])
        flipped = bool(frame.gauge.signs[true] < 0)
        if true >= n_true:
            units.append({"match": _("matches no true unit"), "overlap": 0.0, "flipped": False})
            continue
        told = (
            _("true h{unit} · cosine {cos:.2f}")
            if not flipped
            else _("true h{unit}, drawn flipped · cosine {cos:.2f}")
            if align
            else _("true h{unit}, opposite sign · cosine {cos:.2f}")
        )
        match = told.format(unit=true + 1, cos=abs(overlap))
        units.append({"match": match, "overlap": overlap, "flipped": flipped})
    return units


def gauge_in_words(gauge: Gauge, n_found: int, n_true: int) -> str:
    """What alignment does, spelled out."""
    if gauge.is_identity:
        return _("Nothing to align: every hidden unit has its true label and sign.")
    flipped = [str(unit + 1) for unit in sorted(gauge.order[gauge.signs < 0]) if unit < n_found]
    moved = [
        f"{unit + 1} → {place + 1}"
        for place, unit in enumerate(gauge.order)
        if unit != place and unit < n_found and place < n_true
    ]
    parts = []
    if flipped:
        n, units = len(flipped), ", ".join(flipped)
        listed = _n("flips hidden unit {units}", "flips hidden units {units}", n, units=units)
        parts.append(listed if n <= LISTED else _("flips {n} hidden units", n=n))
    if moved:
        listed = _("relabels {units}", units=", ".join(moved))
        parts.append(listed if len(moved) <= LISTED else _("relabels {n}", n=len(moved)))
    missing = max(0, n_true - n_found)
    if missing:
        parts.append(_n("leaves {n} true unit without a match", "leaves {n} true units without a match", missing))
    return _("Alignment {does}.", does=_(" and ").join(parts)) if parts else _("Nothing to align.")


NUMBERS = (
    "No", N_("One"), N_("Two"), N_("Three"), N_("Four"), N_("Five"), N_("Six"), N_("Seven"), N_("Eight"),
    N_("Nine"), N_("Ten"), N_("Eleven"), N_("Twelve"),
)  # fmt: skip


def penalty_in_words(penalty: Penalty) -> str:
    """The weights of a learned penalty, and how many couplings the data determine; empty for one that is given."""
    if not penalty.learned:
        return ""
    weights = ", ".join(f"{block} {weight:.2g}" for block, weight in penalty.weights.items() if weight)
    counts = ", ".join(f"{block} {count:.0f}" for block, count in penalty.determined.items())
    said = (
        _("Penalty learned so far: {weights} a bin.", weights=weights)
        if not penalty.settled
        else _("Penalty learned: {weights} a bin.", weights=weights)
    )
    return said + (_(" The data determine so many couplings: {counts}.", counts=counts) if counts else "")


def question(n_hidden: int) -> str:
    """What a run with so many hidden units is about."""
    if n_hidden == 0:
        return _("Every unit is seen. Which couplings tie them together?")
    return _n(
        "{number} unit is hidden. Can the others reveal its wiring?",
        "{number} units are hidden. Can the others reveal their wiring?",
        n_hidden,
        number=_(NUMBERS[n_hidden]) if n_hidden < len(NUMBERS) else f"{n_hidden:,}",
    )


def network_caption(unit: int | None) -> str:
    """What the drawing of the network shows: the couplings of this hidden unit, counted from 0; None without any."""
    if unit is None:
        return _("The strongest inferred couplings; dashed: negative.")
    return _("h{unit}: K out, L in; dashed: < 0", unit=unit + 1)


def equivalents_in_words(n_hidden: int) -> str:
    """How many models the data cannot tell apart, and why."""
    count = n_equivalent_models(n_hidden)
    number = f"{count:,}" if count < 10**7 else f"{count:.2e}" if count < 10**300 else f"10^{len(str(count)) - 1}"
    power = f"2{raised(n_hidden)} · {n_hidden}!"
    return (
        _("{power} = {number} models give exactly the same data", power=power, number=number)
        if n_hidden
        else _("No hidden units, one model")
    )


def scale_strip(largest: float, *, dark: bool, n_beyond: int = 0) -> str:
    """The colours of the heatmaps with the couplings they stand for, as HTML.

    Args:
        largest: the size of a coupling at the ends of the scale.
        dark: whether the page is dark.
        n_beyond: how many couplings are larger, and drawn as if they were not.
    """
    colours = ", ".join(diverging(dark)[::16])
    beyond = _(" ({n_beyond:,} beyond)", n_beyond=n_beyond) if n_beyond else ""
    bar = f"width:120px;height:12px;border-radius:3px;background:linear-gradient(90deg, {colours})"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0 16px;font-size:14px;font-variant-numeric:tabular-nums">'
        f"<span>{_('row: to · column: from')}</span>"
        '<span style="display:flex;align-items:center;gap:8px;white-space:nowrap">'
        f'{_("coupling")} −{largest:.1f}<span style="{bar}"></span>+{largest:.1f}{beyond}</span></div>'
    )


def errors_legend(blocks: Iterable[str], dark: bool) -> str:
    """What the lines of the errors are: the letter of each block drawn, in its colour; thin and bold; as HTML."""
    letters = block_letters(dark)
    drawn = " ".join(f'<b style="color:{letters[block]}">{block}</b>' for block in blocks)
    return f"{drawn} · {_('thin: unaligned · bold: aligned')}"


def reading(frame: Frame | None, steps_per_second: float, running: bool) -> str:
    """The numbers of the run, two lines."""
    if frame is None:
        return "—"
    snapshot = frame.snapshot
    if running:
        speed = _("{speed} steps/s", speed=format(steps_per_second, ".0f" if steps_per_second >= 10 else ".1f"))
    else:
        paused = N_("paused") if snapshot.phase == "E" else N_("after the M-step")
        speed = _(paused if snapshot.state == "learning" else snapshot.state)
    return _("step {step:,} · {speed}\n{cost:.5f} nats/bin", step=snapshot.step, speed=speed, cost=snapshot.cost)
