"""What a scan of an own recording says: how far it has come, its answer in a sentence, and its rows in numbers."""

from __future__ import annotations

from html import escape

import numpy as np

from hidviz.evaluation import paired
from hidviz.experiments import Scan, ScanRow
from hidviz.units import duration

NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
UNIT = "thousandths of a nat per bin"


def progress_in_words(table: Scan) -> str:
    """What is being done, and how long all of it may take."""
    left = f"; about {duration(table.seconds_left)} left" if table.seconds_left else ""
    doing = table.doing[:1].upper() + table.doing[1:]
    return f"{doing}: {len(table.rows)} of {table.n} models are there{left}."


def end_in_words(table: Scan, *, stopped: bool) -> str:
    """How it ended."""
    if not stopped:
        return f"All {table.n} models are there."
    return f"Stopped: {len(table.rows)} of {table.n} models are there and stay."


def answer(table: Scan, *, complete: bool) -> str:
    """The answer in two or three sentences of HTML."""
    so_far = "" if complete else "So far: "
    chosen = table.chosen
    if len(table.rows) == 1:
        return "Lag 1, the model without hidden units, is there: what others gain on it comes next."
    if chosen.driven and not chosen.n_hidden and chosen.gain is not None:
        text = (
            f"<b>{so_far}No hidden unit is needed beside h(t):</b> what is the same in all trials, with lag 1, gains "
        )
        return text + f"{chosen.gain.in_words()} {UNIT} on lag 1, and none adds more than its error." + _ends(table)
    if not chosen.n_hidden or chosen.gain is None:
        text = f"<b>{so_far}No hidden unit is needed.</b> None predicts bins that it has not seen better than lag 1 by "
        return text + "more than its error." + _others(table, chosen)
    text = (
        f"<b>{so_far}{called(chosen)}: {chosen.gain.in_words()} {UNIT} better than lag 1</b> on blocks that it has not "
        "seen."
    )
    if chosen.n_hidden > 1 and chosen.step is not None:
        text += f" The {ORDINALS[min(chosen.n_hidden, 8)]} adds {chosen.step.in_words()}."
    if chosen.driven and (share := next((each for each in table.rows if each.driven and not each.n_hidden), None)):
        added = paired(share.judged, chosen.judged)
        text += f" Of this, hidden units add {added.in_words()} to h(t), which is the same in all trials."
    return text + _others(table, chosen)


def called(row: ScanRow) -> str:
    """A model in words, as a sentence begins."""
    driven = " beside h(t)" if row.driven else ""
    if not row.n_hidden:
        return f"No hidden unit{driven}"
    number = NUMBERS[row.n_hidden] if row.n_hidden < len(NUMBERS) else str(row.n_hidden)
    memory = "" if not row.hidden_hidden else " with memory (M)"
    return f"{number} hidden unit{'s' * (row.n_hidden > 1)}{memory}{driven}"


def rows_table(table: Scan) -> str:
    """The rows, the chosen one marked, with lag 2 and what repeats tell below."""
    heads = ("", "gain on lag 1", "on one unit fewer", "AIC", "BIC", *("couplings kept",) * bool(table.l1))
    chosen, body = table.chosen, []
    lowest = [min((each for each in found if np.isfinite(each)), default=np.nan)
              for found in ([row.aic for row in table.rows], [row.bic for row in table.rows])]  # fmt: skip
    for each in table.rows:
        remarks = ["chosen"] * (each is chosen) + ["sampled"] * each.sampled
        name = f"{each.name} ({', '.join(remarks)})" if remarks else each.name
        if each.note:
            body.append(f'<tr><th scope="row">{name}</th><td colspan="{len(heads) - 1}">{escape(each.note)}</td></tr>')
            continue
        first = each is table.rows[0]
        gain, step = ("–" if d is None or first else d.in_words() for d in (each.gain, each.step))
        above = (_above(each.aic, lowest[0]), _above(each.bic, lowest[1]))
        kept = (each.kept,) * bool(table.l1)
        body.append(_line(name, (gain, step, *above, *kept), ' class="best"' if each is chosen else ""))
    extra = {"lag 2, no hidden unit": table.lag2}
    if table.repeats is not None:
        extra["h(t) alone"] = table.repeats[0]
    body += [_line(name, (gain.in_words(), *("–",) * (len(heads) - 2))) for name, gain in extra.items()]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    caption = (
        f"Gains in {UNIT} on the judging blocks, ± one standard error of paired differences; AIC and BIC above the "
        "lowest of all, in the same unit, on the part learned from."
        + " Couplings not kept are exactly zero, by an L1 penalty chosen for each model."
        * bool(table.l1)
    )
    return (
        f"<p>{caption} {escape(table.how)}.</p>"
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
        text += f" {called(best)} is ahead by {paired(chosen.judged, best.judged).in_words()}, within its error."
    gain = chosen.gain.mean if chosen.gain is not None and chosen.n_hidden else 0.0
    if np.isfinite(table.lag2.mean) and table.lag2.mean > max(gain, table.lag2.error):
        text += f" But a second lag of the recorded units alone gains {table.lag2.in_words()}, more than that."
    elif chosen.n_hidden:
        text += f" A second lag of the recorded units alone gains {table.lag2.in_words()}."
    if table.repeats is not None and not chosen.driven and table.repeats[1].mean > gain:
        text += (
            f" What is the same in all trials, with lag 1, gains {table.repeats[1].in_words()} and explains more: "
            "hidden units here may stand for a stimulus."
        )
    return text + _ends(table)


def _ends(table: Scan) -> str:
    return "".join(f" {escape(remark)}" for remark in table.remarks)
