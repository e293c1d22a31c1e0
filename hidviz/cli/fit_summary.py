"""What a fit of a recording is worth, in a few lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PLAIN = ("stopped", "finished")  # ends of learning that are no warning
AGREE = 1e-4  # nats per bin between starts that count as having found the same model


def in_words(summary: dict[str, Any]) -> str:
    """Costs beside those of the models without hidden units, warnings, and what to do next.

    Args:
        summary: of `Fitted`.
    """
    return "\n".join([_head(summary), *_costs(summary), *zeros(summary), *_warnings(summary), *_next(summary)])


def _head(summary: dict[str, Any]) -> str:
    settings = summary["settings"]
    held_out = summary["n_transitions_held_out"]
    kept = f", {held_out:,} held out" if held_out else ""
    return (
        f"{settings['n_hidden']} hidden units ({settings['learner']}) behind {summary['n_visible']} visible ones; "
        f"{summary['n_transitions']:,} transitions{kept}; {summary['n_parameters']:,} parameters"
    )


def _costs(summary: dict[str, Any]) -> Iterator[str]:
    """Held-out costs where there are any, else training costs."""
    cost = summary["held_out"]
    if cost is None:
        what, cost = ("training cost", summary["cost"]) if summary["cost"] is not None else ("objective", None)
        value = summary["objective"] if cost is None else cost
        yield f"  {what:34} {value:9.5f} nats per bin; {summary['not_judged']}"
        return
    yield f"  {'held-out cost':34} {cost:9.5f} nats per bin"
    names = {"visible": "without hidden units", "visible-lag2": "without, looking two bins back"}
    if "repeats" in summary["baselines_held_out"]:
        names["repeats"] = "without, under h(t)"
    for name, words in names.items():
        baseline = summary["baselines_held_out"][name]
        if baseline is not None:
            gain, error = summary["gains"][name], summary["gain_errors"][name]
            verdict = "hidden units gain" if gain > 0.0 else "hidden units lose"
            yield f"  {words:34} {baseline:9.5f}   {verdict} {abs(gain):.5f} ± {error:.5f}"


def zeros(summary: dict[str, Any]) -> Iterator[str]:
    """How many couplings an L1 penalty has set to zero, and hidden units that it has cut off."""
    l1 = summary.get("l1")
    if l1 is None:
        return
    if not l1["weight"]:
        yield "  No L1 penalty predicts the stopping part better than none: no coupling is zero."
        return
    how = "chosen on the stopping part" if summary["settings"]["l1"] == "chosen" else "as asked"
    counts = ", ".join(f"{name} {n} of {size}" for name, (n, size) in l1["zero"].items() if size)
    yield f"  L1 penalty {l1['weight']:.4g}, {how}: exactly zero are {counts} couplings"
    if l1["unconnected"]:
        units = ", ".join(f"hidden{a + 1}" for a in l1["unconnected"])
        yield f"  Warning: nothing that is seen depends on {units} any more: fewer hidden units do as well."


def _warnings(summary: dict[str, Any]) -> Iterator[str]:
    for remark in summary.get("remarks", ()):
        yield f"  {remark}"
    for warning in summary["warnings"]:
        if warning["kind"] != "converged":
            yield f"  {'' if warning['kind'] in PLAIN else 'Warning: '}{warning['sentence']}"
    starts = sorted(summary["starts"])
    if len(starts) > 1 and starts[1] - starts[0] > AGREE:
        yield f"  Warning: only one of {len(starts)} starts reached the lowest cost; others may reach a lower one."


def _next(summary: dict[str, Any]) -> Iterator[str]:
    """What to do next: one piece of advice, the first that applies."""
    settings, cost = summary["settings"], summary["held_out"]
    lag1, lag2 = (summary["baselines_held_out"][name] for name in ("visible", "visible-lag2"))
    starts = sorted(summary["starts"])
    kinds = {warning["kind"] for warning in summary["warnings"]}
    if "few data" in kinds:
        yield "  Next: record longer, leave units out, or set a penalty: --penalty 0.01"
    elif kinds & {"runaway", "lost e-step", "stuck"}:
        yield "  Next: bound the couplings: --box 1"
    elif cost is not None and lag1 is not None and cost > lag1:
        yield "  Next: fewer hidden units, or a penalty: nothing here speaks for hidden units"
    elif cost is not None and lag2 is not None and cost > lag2:
        yield "  Next: longer memory of the visible units explains as much; compare with --learner visible-lag2"
    elif len(starts) > 1 and starts[1] - starts[0] > AGREE:
        yield f"  Next: more starts: --starts {4 * len(starts)}"
    elif settings["n_hidden"]:
        yield f"  Next: does one more hidden unit lower the held-out cost? --hidden {settings['n_hidden'] + 1}"
