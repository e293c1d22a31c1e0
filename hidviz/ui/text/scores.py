"""Score tables: judgements and error bars as HTML tables with captions and headings, and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from hidviz.evaluation import Candidate, Comparison, ErrorBars, Evidence, Judgement
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import _


def table_of(judgement: Judgement, accent: str) -> str:
    """The models judged so far as an HTML table; the one with the lowest held-out cost is marked in words too."""
    heads = (_("model"), _("training cost"), _("held-out cost"), "AIC", "BIC", _("parameters"), _("effective"))
    rows = "".join(_model_row(each, each is judgement.best) for each in judgement.candidates)
    n = next((each.training.n_transitions for each in judgement.candidates if each.training), None)
    caption = _("Costs in nats per bin; AIC and BIC in nats") + (_(", n = {n:,} transitions. ", n=n) if n else ". ")
    caption += _("Lag 1 and lag 2 know of no hidden units: each unit answers the visible states of one or two bins.")
    return _table(_("Models judged"), heads, rows, caption, f"--best:{accent}")


def _model_row(candidate: Candidate, best: bool) -> str:
    paid = candidate.criteria
    held_out = _shown(candidate.held_out) + (f"<span>{_('best fit')}</span>" if best else "")
    cells = (_shown(candidate.training), held_out, *((f"{paid.aic:,.1f}", f"{paid.bic:,.1f}") if paid else "––"))
    values = "".join(f'<td class="held">{cell}</td>' if k == 1 else f"<td>{cell}</td>" for k, cell in enumerate(cells))
    number = f"{candidate.n_parameters:,}" if candidate.n_parameters else "–"
    kind = ' class="best"' if best else ""
    effective = "–" if paid is None or paid.n_effective is None else f"{paid.n_effective:,.1f}"
    name = escape(of_engine(candidate.name))
    return f'<tr{kind}><th scope="row">{name}</th>{values}<td>{number}</td><td>{effective}</td></tr>'


def _shown(evidence: Evidence | None) -> str:
    if evidence is None:
        return "–"
    sampled = _(" ± {cost_error:.4f}, ≥ {fewest:.0f} samples", cost_error=evidence.cost_error, fewest=evidence.fewest)
    return f"{evidence.cost:.4f}" + ("" if evidence.exact else sampled)


def verdict_of(judgement: Judgement) -> str:
    """What the table says, in sentences."""
    held_out = {each: each.held_out.cost for each in judgement.candidates if each.held_out}
    best, said = judgement.best, []
    if best is None:
        said.append(
            _("There are no held-out data: set their length under Data, since they show how well a model predicts.")
        )
    elif best.kind == "baseline":
        said.append(
            _(
                "**The fit does not beat a model without hidden units** ({model}) on data it has not seen: "
                "learn on, stop at the best held-out step, or take more data.",
                model=_lower(best),
            )
        )
    else:
        against = [
            (_("{size:.4f} below {model}") if held_out[best] < cost else _("{size:.4f} above {model}")).format(
                size=abs(held_out[best] - cost), model=_lower(each)
            )
            for each, cost in held_out.items()
            if each.kind != "fit"
        ]
        said.append(
            _(
                "**{name} predicts held-out data best of all fits**, in nats per bin {against}.",
                name=of_engine(best.name),
                against=", ".join(against),
            )
        )
    paid = [each for each in judgement.candidates if each.criteria]
    if paid:
        aic, bic = (min(paid, key=lambda each, by=by: getattr(each.criteria, by)) for by in ("aic", "bic"))  # type: ignore[misc]
        choice = _("AIC and BIC choose {model}.", model=_lower(aic))
        if aic is not bic:
            choice = _("AIC chooses {aic}, BIC {bic}.", aic=_lower(aic), bic=_lower(bic))
        said.append(
            _(
                "{choice} Both count every parameter, as if all were told apart at the maximum of the "
                "likelihood. Trust the held-out cost first; then AIC with the effective number of parameters "
                "in place of theirs, which counts what a penalty or a wrong model makes of them. Hidden "
                "units to spare, without a penalty, mislead that too.",
                choice=choice,
            )
        )
    costs = [cost for each in judgement.candidates for cost in (each.training, each.held_out)]
    if any(cost is not None and not cost.exact for cost in costs):
        said.append(
            _(
                "Likelihoods with ± are sampled, for the exact sum over hidden states would take too long; "
                "after it the effective samples of the least certain bin."
            )
        )
    said += dict.fromkeys(f"{of_engine(each.name)}: {each.note}" for each in judgement.candidates if each.note)
    return " ".join(said)


def table_of_bars(comparison: Mapping[str, Comparison], colours: Mapping[str, str], step: int) -> str:
    """Standard errors beside the errors that the truth reveals, block by block, as an HTML table."""
    heads = (_("block"), _("couplings"), _("standard error"), _("actual error"), _("within 95 % bars"))
    rows = "".join(
        f'<tr><th scope="row" style="color:{colours[name]}">{name}</th><td>{block.n:,}</td>'
        f"<td>{block.standard_error:.4f}</td><td>{block.error:.4f}</td><td>{100 * block.covered:.0f} %</td></tr>"
        for name, block in comparison.items()
    )
    caption = _("Step {step:,}; root mean squares over each block, aligned to the truth.", step=step)
    return _table(_("Error bars by block"), heads, rows, caption)


def bars_in_words(bars: ErrorBars, converged: bool) -> str:
    """What the data leave open, in sentences."""
    n, n_flat, n_down = len(bars.eigenvalues), bars.n_flat, int((bars.eigenvalues < 0.0).sum())
    said = [
        _(
            "From the curvature of the exact likelihood ({how}); four times the data would halve every bar.",
            how=of_engine(bars.how),
        )
    ]
    if not converged:
        said.append(_("**This fit has not converged**, so its errors may exceed the bars."))
    if n_flat:
        shares = ", ".join(f"{100 * share:.0f} % {name}" for name, share in bars.flat_shares.items() if share >= 0.005)
        said.append(
            _(
                "**{n_flat} of {n} directions are flat** ({shares}): a step of length 1 along them costs "
                "less than half a nat in all: not identifiable. The bars leave them out.",
                n_flat=n_flat,
                n=n,
                shares=shares,
            )
        )
        said += [_("{n_down} of them curve downwards: no maximum yet.", n_down=n_down)] * bool(n_down)
    else:
        said.append(_("None of the {n} directions is flat: the data determine every combination of couplings.", n=n))
    if len(bars.scale_errors):
        least, most = (_percent(float(end)) for end in (bars.scale_errors.min(), bars.scale_errors.max()))
        range_of = least if least == most else _("{least} to {most}", least=least, most=most)
        said.append(
            _(
                "Along the scale valley of a hidden unit, K → cK and L → L/c, the factor c is known to "
                "{range_of}: for weak couplings the data determine only the products of K and L.",
                range_of=range_of,
            )
        )
    said.append(
        _("Actual errors far beyond the bars come from an early stop, a penalty, mean field, or another model.")
    )
    return " ".join(said)


def _percent(error: float) -> str:
    """The standard error of a logarithm, as that of the number."""
    return (
        f"±{100 * error:.2g} %"
        if error < 0.5
        else _("a factor {factor:.2g}", factor=np.exp(error))
        if error < 5.0
        else _("nothing")
    )


def _lower(model: Candidate) -> str:
    """A model's name in the middle of a sentence."""
    name = of_engine(model.name)
    return _("the truth") if model.kind == "truth" else name[0].lower() + name[1:]


def _table(label: str, heads: tuple[str, ...], rows: str, caption: str, style: str = "") -> str:
    columns = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0" style="{style}"><table>'
        f"<caption>{caption}</caption><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
