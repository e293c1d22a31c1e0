"""What the checks of an own recording say: the free run, the hidden units, two halves, and units hidden in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from hidviz.evaluation import FreeRun, SharedStates
from hidviz.experiments import Halves, HiddenUnit
from hidviz.units import duration, signed

ALIKE = 0.7  # correlation of two halves from which a block counts as determined
FINDS = {
    "J": "J (recorded to recorded)",
    "K": "K (hidden to recorded)",
    "L": "L (recorded to hidden)",
    "M": "M (hidden to hidden)",
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
    text = f"{escape(doing)}: {n_done} of {n} are there"
    if not predicted:
        return f"{text}."
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in predicted.items())
    return f"{text}; about {duration(left)} left. Predicted: {each}."


def free_run_in_words(model: FreeRun, lag1: FreeRun | None) -> str:
    """How near a model that is left to itself comes to the data."""
    beside = "" if lag1 is None else f" (lag 1: {lag1.synchrony_error:.3f})"
    pairs = [f"{model.correlation_error(lag):.3f}" for lag in (0, 1)]
    others = "" if lag1 is None else f" (lag 1: {lag1.correlation_error(0):.3f} and {lag1.correlation_error(1):.3f})"
    return (
        f"Left to itself for {100_000:,} bins, the model misplaces <b>{model.synchrony_error:.3f}</b>{beside} of the "
        f"distribution of how many units fire together. Its correlations of pairs are off by {pairs[0]} in the same "
        f"bin and {pairs[1]} one bin later{others}, rates by {model.rate_error:.3f} spikes a bin at most."
    )


def shared_in_words(found: SharedStates, width: float | None) -> str:
    """What each hidden unit does."""
    items = []
    for a in range(len(found.up)):
        long = "" if np.isnan(found.bins_up[a]) else f", for {_long(found.bins_up[a], width)} at a time"
        if np.isnan(found.fire_up[a]) or np.isnan(found.fire_down[a]):
            items.append(f"<b>Hidden unit {a + 1}</b> never changes: the model does not need it.")
            continue
        items.append(
            f"<b>Hidden unit {a + 1}</b> is a shared state that is up in {100 * found.up[a]:.0f} % of the bins{long}: "
            f"{found.fire_up[a]:.2g} units fire in a bin while it is up, {found.fire_down[a]:.2g} while it is down."
        )
    return "<br>".join(items)


def halves_in_words(found: Halves) -> str:
    """Which blocks two halves of the recording agree on."""
    known = {name: r for name, r in found.correlation.items() if name in FINDS and not np.isnan(r)}
    if not known:
        return "There are too few couplings to compare two halves by."
    told = ", ".join(f"{name} {signed(r, 2)}" for name, r in known.items())
    open_ = [FINDS[name] for name, r in known.items() if r < ALIKE]
    text = f"The same model fitted to two halves of the data agrees with correlations of <b>{told}</b>. "
    if not open_:
        return text + "The data determine these couplings."
    return text + f"The data do not determine {' and '.join(open_)}: do not read single couplings of it."


def blocks_html(colours: Mapping[str, str]) -> str:
    """What the colours of the points mean."""
    return " · ".join(f'<span style="color:{colour}">●</span> {FINDS[name]}' for name, colour in colours.items())


def hidden_table(found: Sequence[HiddenUnit]) -> str:
    """A row for each unit that was hidden, with its control."""
    heads = ("hidden in turn", "r", "chance", "r of the count alone", "r given the count", "AUC", "so it is")
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
        return "an unseen unit"
    return "a shared state" if found.r > 2.0 * found.chance else "neither: within chance"


def hidden_in_words(found: Sequence[HiddenUnit]) -> str:
    """What all of them say together."""
    if not found:
        return ""
    n = len(found)
    how = (
        f"{n} recorded unit{'s were' if n > 1 else ' was'} hidden in turn and inferred from the others. r is the "
        "correlation of what was inferred with what the unit did; the control is how many other units fire."
    )
    return f"<b>{hidden_verdict(found)}</b> {how}"


def hidden_verdict(found: Sequence[HiddenUnit]) -> str:
    """What they say together, in one sentence."""
    n_units, n = sum(each.is_the_unit for each in found), len(found)
    if not n_units:
        return "The hidden unit found again is a shared state, not the missing cell."
    if n_units == n:
        return "A hidden unit here is an unseen unit: at least half of r is left given the count."
    return f"{n_units} of {n} came back as an unseen unit, the others as a shared state."


def _long(n_bins: float, width: float | None) -> str:
    return f"{n_bins:.2g} bins" if width is None else duration(n_bins * width)
