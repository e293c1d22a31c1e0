"""What a scan of an own recording says: how far it has come, its answer in a sentence, and its rows in numbers."""

from __future__ import annotations

from html import escape

import numpy as np

from hidviz.evaluation import paired
from hidviz.experiments import Scan, ScanRow
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _, _n
from hidviz.units import duration

NUMBERS = ("No", N_("One"), N_("Two"), N_("Three"), N_("Four"), N_("Five"), N_("Six"), N_("Seven"), N_("Eight"))
ORDINALS = (
    "", N_("first"), N_("second"), N_("third"), N_("fourth"), N_("fifth"), N_("sixth"), N_("seventh"), N_("eighth"),
)  # fmt: skip
UNIT = N_("thousandths of a nat per bin")


def progress_in_words(table: Scan) -> str:
    """What is being done, and how long all of it may take."""
    left = _("; about {seconds_left} left", seconds_left=duration(table.seconds_left)) if table.seconds_left else ""
    doing = of_engine(table.doing[:1].upper() + table.doing[1:])
    return _("{doing}: {n} of {all} models are there{left}.", doing=doing, n=len(table.rows), all=table.n, left=left)


def end_in_words(table: Scan, *, stopped: bool) -> str:
    """How it ended."""
    if not stopped:
        return _("All {n} models are there.", n=table.n)
    return _("Cancelled: {n} of {all} models are there and stay.", n=len(table.rows), all=table.n)


def answer(table: Scan, *, complete: bool) -> str:
    """The answer in two or three sentences of HTML."""
    so_far = "" if complete else _("So far: ")
    chosen = table.chosen
    if len(table.rows) == 1:
        return _("Lag 1, the model without hidden units, is there: what others gain on it comes next.")
    if chosen.driven and not chosen.n_hidden and chosen.gain is not None:
        text = _("<b>{so_far}No hidden unit is needed beside h(t):</b> what is the same in all trials, with lag 1, "
                 "gains ", so_far=so_far)  # fmt: skip
        return (
            text
            + _("{gain} {unit} on lag 1, and none adds more than its error.", gain=chosen.gain.in_words(), unit=_(UNIT))
            + _ends(table)
        )
    if not chosen.n_hidden or chosen.gain is None:
        text = _("<b>{so_far}No hidden unit is needed.</b> None predicts bins that it has not seen better than lag 1 "
                 "by more than its error.", so_far=so_far)  # fmt: skip
        return text + _others(table, chosen)
    text = _(
        "<b>{so_far}{called}: {gain} {unit} better than lag 1</b> on blocks that it has not seen.",
        so_far=so_far,
        called=called(chosen),
        gain=chosen.gain.in_words(),
        unit=_(UNIT),
    )
    if chosen.n_hidden > 1 and chosen.step is not None:
        text += _(
            " The {ordinal} adds {step}.", ordinal=_(ORDINALS[min(chosen.n_hidden, 8)]), step=chosen.step.in_words()
        )
    if chosen.driven and (share := next((each for each in table.rows if each.driven and not each.n_hidden), None)):
        added = paired(share.judged, chosen.judged)
        text += _(
            " Of this, hidden units add {added} to h(t), which is the same in all trials.", added=added.in_words()
        )
    return text + _others(table, chosen)


def called(row: ScanRow) -> str:
    """A model in words, as a sentence begins."""
    driven = _(" beside h(t)") if row.driven else ""
    if not row.n_hidden:
        return _("No hidden unit{driven}", driven=driven)
    number = _(NUMBERS[row.n_hidden]) if row.n_hidden < len(NUMBERS) else str(row.n_hidden)
    memory = "" if not row.hidden_hidden else _(" with memory (M)")
    return _n("{number} hidden unit", "{number} hidden units", row.n_hidden, number=number) + memory + driven


def rows_table(table: Scan) -> str:
    """The rows, the chosen one marked, with lag 2 and what repeats tell below."""
    heads = ("", _("gain on lag 1"), _("on one unit fewer"), "AIC", "BIC", *(_("couplings kept"),) * bool(table.l1))
    chosen, body = table.chosen, []
    lowest = [min((each for each in found if np.isfinite(each)), default=np.nan)
              for found in ([row.aic for row in table.rows], [row.bic for row in table.rows])]  # fmt: skip
    for each in table.rows:
        remarks = [_("chosen")] * (each is chosen) + [_("sampled")] * each.sampled
        model = of_engine(each.name)
        name = f"{model} ({', '.join(remarks)})" if remarks else model
        if each.note:
            note = escape(of_engine(each.note))
            body.append(f'<tr><th scope="row">{name}</th><td colspan="{len(heads) - 1}">{note}</td></tr>')
            continue
        first = each is table.rows[0]
        gain, step = ("–" if d is None or first else d.in_words() for d in (each.gain, each.step))
        above = (_above(each.aic, lowest[0]), _above(each.bic, lowest[1]))
        kept = (each.kept,) * bool(table.l1)
        body.append(_line(name, (gain, step, *above, *kept), ' class="best"' if each is chosen else ""))
    extra = {_("lag 2, no hidden unit"): table.lag2}
    if table.repeats is not None:
        extra[_("h(t) alone")] = table.repeats[0]
    body += [_line(name, (gain.in_words(), *("–",) * (len(heads) - 2))) for name, gain in extra.items()]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    caption = _(
        "Gains in {unit} on the judging blocks, ± one standard error of paired differences; AIC and "
        "BIC above the lowest of all, in the same unit, on the part learned from.",
        unit=_(UNIT),
    ) + _(" Couplings not kept are exactly zero, by an L1 penalty chosen for each model.") * bool(table.l1)
    return (
        f"<p>{caption} {escape(of_engine(table.how))}.</p>"
        '<div class="scroll" style="--best:currentColor"><table class="narrow">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _above(value: float, lowest: float) -> str:
    """By how much a criterion lies above the lowest, in thousandths of a nat per bin."""
    return f"{1000.0 * (value - lowest):,.0f}" if np.isfinite(value) else "–"


def _line(name: str, cells: tuple[str, ...], mark: str = "") -> str:
    return f'<tr{mark}><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _others(table: Scan, chosen: ScanRow) -> str:
    """What the choice must be read beside."""
    text = ""
    if (best := table.best) is not chosen:
        text += _(
            " {called} is ahead by {paired}, within its error.",
            called=called(best),
            paired=paired(chosen.judged, best.judged).in_words(),
        )
    gain = chosen.gain.mean if chosen.gain is not None and chosen.n_hidden else 0.0
    if np.isfinite(table.lag2.mean) and table.lag2.mean > max(gain, table.lag2.error):
        text += _(
            " But a second lag of the recorded units alone gains {lag2}, more than that.", lag2=table.lag2.in_words()
        )
    elif chosen.n_hidden:
        text += _(" A second lag of the recorded units alone gains {lag2}.", lag2=table.lag2.in_words())
    if table.repeats is not None and not chosen.driven and table.repeats[1].mean > gain:
        text += _(
            " What is the same in all trials, with lag 1, gains {repeats} and explains more: hidden "
            "units here may stand for a stimulus.",
            repeats=table.repeats[1].in_words(),
        )
    return text + _ends(table)


def _ends(table: Scan) -> str:
    return "".join(f" {escape(of_engine(remark))}" for remark in table.remarks)
