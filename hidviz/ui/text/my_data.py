"""What the tab of own recordings says: what was read, and the words of the command line in those of the page."""

from __future__ import annotations

import re
import shlex
from html import escape

import numpy as np

from hidviz.network import Preview, Spikes
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.units import duration

LABELS = {
    "variable": N_("Variable"),
    "rate": N_("Ticks a second"),
    "trials": N_("Trials"),
    "transpose": N_("Transpose"),
    "from": N_("From, s"),
    "to": N_("To, s"),
    "units": N_("Units to keep"),
}
"""The options of the command line that are fields of the page, and what they are called there."""

FEW_REMARKS = 8
NEXT = N_(
    "Next: <b>Start scan</b>, below the figures. (<b>Run</b>, in the bar above, is for the network of the other tabs.)"
)


def on_the_page(sentence: str) -> str:
    """A sentence that was written for the command line, with its options called as the page calls them."""
    sentence = (
        sentence.replace(" (keep it with --keep-silent)", "").replace(" HZ,", ":").replace("Say --rate", "Set --rate")
    )
    sentence = sentence.replace("add --transpose", "switch --transpose on").replace(" (--blocks 0)", "")
    sentence = re.sub(r"--(\w+) (none|\d+)\b", lambda said: f"{said[2]} in --{said[1]}", sentence)
    sentence = sentence.replace("such as --", "such as in --")
    return re.sub(r"--(\w+)", lambda found: f"“{_(LABELS[found[1]]) if found[1] in LABELS else found[1]}”", sentence)


def head_in_words(title: str, spikes: Spikes, preview: Preview) -> str:
    """What was read, in two sentences of HTML."""
    what = _("spike times") if spikes.are_times else _("counts")
    trials = "" if len(preview.n_bins) == 1 else _(" in {n} trials", n=len(preview.n_bins))
    long = "" if preview.seconds is None else f", {duration(preview.seconds)}"
    wide = "" if preview.bin is None else _(" of {bin:g} ms", bin=1000 * preview.bin)
    total, lost = int(preview.n_spikes.sum()), int(preview.lost.sum())
    part = (
        _("{lost:.1f} % of them lost, as they share a bin with another of their unit", lost=100 * lost / total)
        if lost
        else ""
    )
    return _(
        "<b>{title}</b>: {n} units, {what}{long}; {sum:,} bins{wide}{trials}. {total:,} spikes",
        title=escape(title),
        n=len(preview.names),
        what=what,
        long=long,
        sum=sum(preview.n_bins),
        wide=wide,
        trials=trials,
        total=total,
    ) + (f", {part}." if part else ".")


def remarks_html(remarks: tuple[str, ...]) -> str:
    """What looks wrong and what to do, as a list; the units dropped come with it."""
    if not remarks:
        return f"<p>{_('Nothing looks wrong.')}</p>"
    told = [of_engine(on_the_page(remark)) for remark in remarks]
    more = [_("And {n} remarks like these.", n=len(told) - FEW_REMARKS)] if len(told) > FEW_REMARKS else []
    items = "".join(f"<li>{escape(text)}</li>" for text in [*told[:FEW_REMARKS], *more])
    return f'<ul style="margin:4px 0;padding-left:20px">{items}</ul>'


def units_table(preview: Preview) -> str:
    """A row for each unit, the busiest first."""
    hertz = preview.rates
    heads = [_("unit"), _("spikes"), _("bins with one"), _("lost"), *([] if hertz is None else ["Hz"])]
    rows = []
    for k in np.argsort(-preview.n_spikes, kind="stable"):
        lost = preview.lost[k] / max(int(preview.n_spikes[k]), 1)
        cells = [f"{preview.n_spikes[k]:,}", f"{preview.fired[k]:.2%}", f"{lost:.1%}"]
        cells += [] if hertz is None else [f"{hertz[k]:.3g}"]
        name = f'<th scope="row">{escape(preview.names[k])}</th>'
        rows.append(f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def command_words(*parts: str) -> str:
    """A command for a terminal, quoted as it must be."""
    return shlex.join(["hidviz", *parts])
