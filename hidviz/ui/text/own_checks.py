"""What the checks of an own recording say: the free run, the hidden units, two halves, and units hidden in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from hidviz.evaluation import FreeRun, SharedStates
from hidviz.experiments import Halves, HiddenUnit
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _, _n
from hidviz.units import duration, signed

ALIKE = 0.7  # correlation of two halves from which a block counts as determined
FINDS = {
    "J": N_("J (recorded to recorded)"),
    "K": N_("K (hidden to recorded)"),
    "L": N_("L (recorded to hidden)"),
    "M": N_("M (hidden to hidden)"),
}


def checks_in_words(doing: str, n_done: int, n: int, predicted: Mapping[str, float], left: float) -> str:
    """What is being done, and how long each of the checks may take.

    Args:
        doing: in a few words.
        n_done: how many steps are done.
        n: of how many.
        predicted: seconds of each check by its name; empty until they are known.
        left: predicted seconds of all that is left.
    """
    text = _("{doing}: {n_done} of {n} are there", doing=escape(of_engine(doing)), n_done=n_done, n=n)
    if not predicted:
        return f"{text}."
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in predicted.items())
    return _("{text}; about {left} left. Predicted: {each}.", text=text, left=duration(left), each=each)


def free_run_in_words(model: FreeRun, lag1: FreeRun | None) -> str:
    """How near a model that is left to itself comes to the data."""
    beside = "" if lag1 is None else _(" (lag 1: {error:.3f})", error=lag1.synchrony_error)
    pairs = [f"{model.correlation_error(lag):.3f}" for lag in (0, 1)]
    others = (
        ""
        if lag1 is None
        else _(" (lag 1: {same:.3f} and {later:.3f})", same=lag1.correlation_error(0), later=lag1.correlation_error(1))
    )
    return _(
        "Left to itself for {n:,} bins, the model misplaces <b>{synchrony_error:.3f}</b>{beside} "
        "of the distribution of how many units fire together. Its correlations of pairs are off by "
        "{same} in the same bin and {later} one bin later{others}, rates by {rate_error:.3f} "
        "spikes a bin at most.",
        n=100_000,
        synchrony_error=model.synchrony_error,
        beside=beside,
        same=pairs[0],
        later=pairs[1],
        others=others,
        rate_error=model.rate_error,
    )


def shared_in_words(found: SharedStates, width: float | None) -> str:
    """What each hidden unit does."""
    items = []
    for a in range(len(found.up)):
        long = "" if np.isnan(found.bins_up[a]) else _(", for {long} at a time", long=_long(found.bins_up[a], width))
        if np.isnan(found.fire_up[a]) or np.isnan(found.fire_down[a]):
            items.append(_("<b>Hidden unit {a}</b> never changes: the model does not need it.", a=a + 1))
            continue
        items.append(
            _(
                "<b>Hidden unit {a}</b> is a shared state that is up in {up:.0f} % of the bins{long}: "
                "{fire_up:.2g} units fire in a bin while it is up, {fire_down:.2g} while it is down.",
                a=a + 1,
                up=100 * found.up[a],
                long=long,
                fire_up=found.fire_up[a],
                fire_down=found.fire_down[a],
            )
        )
    return "<br>".join(items)


def halves_in_words(found: Halves) -> str:
    """Which blocks two halves of the recording agree on."""
    known = {name: r for name, r in found.correlation.items() if name in FINDS and not np.isnan(r)}
    if not known:
        return _("There are too few couplings to compare two halves by.")
    told = ", ".join(f"{name} {signed(r, 2)}" for name, r in known.items())
    open_ = [_(FINDS[name]) for name, r in known.items() if r < ALIKE]
    text = _("The same model fitted to two halves of the data agrees with correlations of <b>{told}</b>. ", told=told)
    if not open_:
        return text + _("The data determine these couplings.")
    return text + _(
        "The data do not determine {open}: do not read single couplings of it.", open=_(" and ").join(open_)
    )


def blocks_html(colours: Mapping[str, str]) -> str:
    """What the colours of the points mean."""
    return " · ".join(f'<span style="color:{colour}">●</span> {_(FINDS[name])}' for name, colour in colours.items())


def hidden_table(found: Sequence[HiddenUnit]) -> str:
    """A row for each unit that was hidden, with its control."""
    heads = (
        _("hidden in turn"),
        "r",
        _("chance"),
        _("r of the count alone"),
        _("r given the count"),
        "AUC",
        _("so it is"),
    )
    rows = []
    for each in found:
        cells = (f"{each.r:.2f}", f"{each.chance:.2f}", f"{each.r_count:.2f}", f"{each.partial:.2f}", f"{each.auc:.2f}")
        body = "".join(f"<td>{cell}</td>" for cell in (*cells, verdict(each)))
        rows.append(f'<tr><th scope="row">{escape(each.name)}</th>{body}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def verdict(found: HiddenUnit) -> str:
    """What a hidden unit stands for: an unseen unit only where half of the correlation survives the control."""
    if found.is_the_unit:
        return _("an unseen unit")
    return _("a shared state") if found.r > 2.0 * found.chance else _("neither: within chance")


def hidden_in_words(found: Sequence[HiddenUnit]) -> str:
    """What all of them say together."""
    if not found:
        return ""
    n = len(found)
    how = _n(
        "{n} recorded unit was hidden in turn and inferred from the others.",
        "{n} recorded units were hidden in turn and inferred from the others.", n,
    )  # fmt: skip
    what = _(
        "r is the correlation of what was inferred with what the unit did; the control is how many other units fire."
    )
    return f"<b>{hidden_verdict(found)}</b> {how} {what}"


def hidden_verdict(found: Sequence[HiddenUnit]) -> str:
    """What they say together, in one sentence."""
    n_units, n = sum(each.is_the_unit for each in found), len(found)
    if not n_units:
        return _("The hidden unit found again is a shared state, not the missing cell.")
    if n_units == n:
        return _("A hidden unit here is an unseen unit: at least half of r is left given the count.")
    return _("{n_units} of {n} came back as an unseen unit, the others as a shared state.", n_units=n_units, n=n)


def _long(n_bins: float, width: float | None) -> str:
    return _("{n_bins:.2g} bins", n_bins=n_bins) if width is None else duration(n_bins * width)
