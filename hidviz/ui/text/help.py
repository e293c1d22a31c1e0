"""The help sheet: what is seen, what can be done, which keys do it, and what terms and letters mean."""

from __future__ import annotations

from hidviz.ui.text.glossary import glossary_html
from hidviz.ui.text.language import N_, _

KEYS = (
    (N_("space"), N_("run or pause")),
    ("s", N_("one step")),
    ("h", N_("half a step: M-step or E-step")),
    ("r", N_("rewind")),
    ("1 … 9", N_("flip hidden unit 1 … 9; while a lesson asks, answer")),
    ("a", N_("align to truth, on or off")),
    ("u, U", N_("undo, redo")),
    ("← →", N_("in a lecture: steps of the lesson")),
    ("?", N_("this sheet")),
    ("Esc", N_("close it")),
)

PARAGRAPHS = (
    N_("A network runs, and some of its units are hidden from the learner. From the visible ones alone it infers "
       "<b>J</b> (visible to visible), <b>K</b> (hidden to visible), <b>L</b> (visible to hidden) and, if wanted, "
       "<b>M</b> (hidden to hidden)."),
    N_("<b>Look</b> at the errors of K and L before alignment (thin) and after it (bold). Where they part, a hidden "
       "unit came out with its sign flipped, or under another label. <b>Flip</b> it, and the cost does not move: no "
       "data can tell the two apart."),
    N_("A cost is −log likelihood per time bin, in nats. It ends <i>below</i> the cost at the truth on the training "
       "data, and above it on held-out data: that gap is what learning from finite data costs. A ring marks the lowest "
       "held-out cost, a triangle something that was done: point at it."),
    N_("The paper is Joanna Tyrcha and John Hertz, <i>Network inference with hidden units</i>, Mathematical "
       "Biosciences and Engineering 11 (2014) 149–165; presets and figures named “Fig.” are its own."),
)  # fmt: skip


def help_html() -> str:
    """The sheet, as HTML."""
    paragraphs = "".join(f"<p>{_(text)}</p>\n" for text in PARAGRAPHS)
    rows = "".join(f"<tr><td><kbd>{_(key)}</kbd></td><td>{_(act)}</td></tr>" for key, act in KEYS)
    return f"""
{paragraphs}<table aria-label="{_("Keys")}">{rows}</table>
<details><summary>{_("Words and letters")}</summary>{glossary_html()}</details>
"""
