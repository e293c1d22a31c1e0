"""The help sheet: what is seen, what can be done, which keys do it, and what terms and letters mean."""

from __future__ import annotations

from hidviz.ui.text.glossary import glossary_html

KEYS = (
    ("space", "run or pause"),
    ("s", "one step"),
    ("h", "half a step: M-step or E-step"),
    ("r", "rewind"),
    ("1 … 9", "flip hidden unit 1 … 9"),
    ("a", "align to truth, on or off"),
    ("u, U", "undo, redo"),
    ("?", "this sheet"),
    ("Esc", "close it"),
)

_ROWS = "".join(f"<tr><td><kbd>{key}</kbd></td><td>{act}</td></tr>" for key, act in KEYS)

HELP = f"""
<p>A network runs, and some of its units are hidden from the learner. From the visible ones alone it infers <b>J</b>
(visible to visible), <b>K</b> (hidden to visible), <b>L</b> (visible to hidden) and, if wanted, <b>M</b> (hidden to
hidden).</p>
<p><b>Look</b> at the errors of K and L as found (thin) and after alignment (bold). Where they part, a hidden unit came
out with its sign flipped, or under another label. <b>Flip</b> it, and the cost does not move: no data can tell the two
apart.</p>
<p>A cost is −log likelihood per time bin, in nats. It ends <i>below</i> the cost at the truth on the training data, and
above it on held-out data: that gap is what learning from finite data costs.</p>
<table aria-label="Keys">{_ROWS}</table>
<details><summary>Words and letters</summary>{glossary_html()}</details>
"""
