"""The help sheet: what is seen, what can be done, and which keys do it."""

HELP = """
A network runs, and some of its units are hidden from the learner. From the visible ones alone it infers **J** (visible
to visible), **K** (hidden to visible), **L** (visible to hidden) and, if wanted, **M** (hidden to hidden).

**Look** at the errors of K and L as found (thin) and after alignment (bold). Where they part, a hidden unit came out
with its sign flipped, or under another label. **Flip** it, and the cost does not move: no data can tell the two apart.

| key | does | key | does |
| --- | --- | --- | --- |
| space | run or pause | 1 … 9 | flip hidden unit 1 … 9 |
| s | one step | a | align to truth, on or off |
| r | rewind | u, U | undo, redo |
| ? | this sheet | Esc | close it |

A cost is −log likelihood per time bin, in nats. It ends *below* the cost at the truth on the training data, and above
it on held-out data: that gap is what learning from finite data costs.
"""
