"""Handout: a lesson on one page to print, with room for the numbers that a student reads off and for answers."""

from __future__ import annotations

import re
from html import escape

from hidviz.ui.text.language import N_, _, language
from hidviz.ui.text.lesson import Step
from hidviz.ui.text.lessons import LESSONS
from hidviz.ui.text.status import question

_LOOK = """
@page { size: A4; margin: 14mm; }
body { max-width: 180mm; margin: 8mm auto; font: 11.5pt/1.45 Georgia, "Times New Roman", serif; color: #000;
  background: #fff; }
header { display: flex; gap: 8mm; align-items: flex-start; justify-content: space-between; }
h1 { margin: 0 0 1mm; font-size: 19pt; line-height: 1.15; }
header p { margin: 0 0 2mm; }
header svg { width: 30mm; height: 30mm; flex: none; }
code { font: 10pt monospace; overflow-wrap: anywhere; }
ol { padding-left: 6mm; margin: 4mm 0; }
li { margin-bottom: 2.6mm; break-inside: avoid; }
.choices { margin: 1mm 0 0; font-style: italic; }
.blank { display: inline-block; min-width: 17mm; border-bottom: 0.3mm solid #000; }
.why { margin: 1.5mm 0 0; height: 8mm; border-bottom: 0.3mm dotted #000; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.4mm 4mm; margin: 3mm 0 0; padding-top: 2mm; font-size: 10pt;
  border-top: 0.3mm solid #000; }
dt { font-weight: bold; }
dd { margin: 0; }
"""

_LETTERS = (
    ("J", N_("couplings from visible to visible units")),
    ("K", N_("from hidden to visible units")),
    ("L", N_("from visible to hidden units")),
    (N_("cost"), N_("minus the log likelihood for each time bin, in nats")),
    (N_("aligned"), N_("after the labels and signs of hidden units have been matched to the truth")),
)


def handout(key: str, link: str, code: str) -> str:
    """The page of a lesson as HTML.

    Args:
        key: of the lesson; empty for the question alone.
        link: where the lesson is.
        code: the same as a picture, in SVG.
    """
    lesson = LESSONS.get(key)
    title = _(lesson.title) if lesson else _("Hidden units")
    asked = question(lesson.knobs.n_hidden if lesson else 2)
    steps = "".join(map(_step, lesson.steps)) if lesson else ""
    letters = "".join(f"<dt>{_(letter)}</dt><dd>{_(meaning)}</dd>" for letter, meaning in _LETTERS)
    return (
        f'<!doctype html><html lang="{language()}"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_LOOK}</style>"
        f"<header><div><h1>{escape(title)}</h1><p>{escape(asked)}</p><p><code>{escape(link)}</code></p></div>{code}"
        f"</header><ol>{steps}</ol><dl>{letters}</dl></html>"
    )


def _step(step: Step) -> str:
    """A step with blanks for its numbers, and room for an answer where it asks."""
    said = re.sub(
        r"\{[^}]*\}",
        '<span class="blank">&nbsp;</span>',
        escape(" ".join(_(text) for text in (step.say, step.ask) if text)),
    )
    said = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", said)
    choices = " &emsp; ".join(f"☐ {escape(_(option))}" for option in step.options)
    return (
        f"<li>{said}" + (f'<p class="choices">{choices}</p><p class="why">{_("Why?")}</p>' if choices else "") + "</li>"
    )
