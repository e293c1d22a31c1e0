"""Words and drawings of one path of back-propagation: its picture, its factors one by one, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from hidviz.evaluation import Excerpt, Path, by_delay, n_paths
from hidviz.network import Couplings
from hidviz.ui.text.language import _, _n
from hidviz.ui.text.picture import Link, Mark, Picture, block_of, unit_name
from hidviz.units import MINUS

SHOWN_DELAYS = 8  # in the list of shares by delay


class Choice(NamedTuple):
    """What is looked at: receiving hidden unit, sending unit (hidden ones after the visible), its bin t, the delay."""

    receiver: int
    sender: int
    t: int
    q: int


class Factor(NamedTuple):
    """One factor of a path: what it is, at which bin, its value, and the product up to it."""

    name: str
    bin: int
    value: float
    product: float


def path_picture(seen: Excerpt, path: Path, choice: Choice) -> Picture:
    """The path as a drawing: time runs down, the error runs up."""
    couplings, q = seen.couplings, choice.q
    n_visible = couplings.n_visible
    chain = [choice.sender, *[n_visible + c for c in reversed(path.units)], path.source]  # a unit per row, t to t+q+2
    links, marks = [], [Mark(0, choice.sender, f"{_letter(choice, n_visible)} = {number(sent(seen, choice))}")]
    for row, (before, after) in enumerate(pairwise(chain)):
        block, strength = coupling(couplings, after, before)
        gain = _("adds {product} to Δ{block}", product=number(path.product * sent(seen, choice)), block=block)
        links.append(Link(row, before, after, block, strength, f"{block} = {number(strength)}" if row else gain))
        if row:
            marks.append(Mark(row, before, f"1 − μ² = {seen.X[row, before - n_visible]:.3f}"))
    marks.append(Mark(q + 2, path.source, f"ε = {number(path.factors[0])}"))
    return Picture(
        n_visible=n_visible,
        n_hidden=couplings.n_hidden,
        rows=("t", *[f"t + {k}" for k in range(1, q + 3)]),
        links=tuple(links),
        largest=max([abs(link.strength) for link in links if link.strength] or [1.0]),
        marks=tuple(marks),
        backwards=True,
        says=_(
            "From {unit_name} at t + {q} back to hidden {receiver} at t + 1, product {product}.",
            unit_name=unit_name(path.source, n_visible),
            q=q + 2,
            receiver=choice.receiver + 1,
            product=number(path.product),
        ),
    )


def factors(seen: Excerpt, path: Path, choice: Choice) -> list[Factor]:
    """Every factor of the path in its order, and that of the sender last."""
    n_visible, last = seen.couplings.n_visible, choice.t + choice.q + 1
    named = [(_("ε of visible {source}", source=path.source + 1), last + 1)]
    for k, unit in enumerate(path.units):
        named.append((_("{block} from hidden {unit}", block="M" if k else "K", unit=unit + 1), last - k))
        named.append((_("1 − μ² of hidden {unit}", unit=unit + 1), last - k))
    named.append(
        (_("{letter} of {unit}", letter=_letter(choice, n_visible), unit=unit_name(choice.sender, n_visible)), choice.t)
    )
    rows, product = [], 1.0
    for (name, at), value in zip(named, (*path.factors, sent(seen, choice)), strict=True):
        product *= value
        rows.append(Factor(name, at, value, product))
    return rows


def sums(seen: Excerpt, choice: Choice, gradient: Couplings) -> list[tuple[str, float]]:
    """From one delay to the whole gradient: what is summed, and the sum."""
    n_visible, n_hidden = seen.couplings.n_visible, seen.couplings.n_hidden
    shares = by_delay(seen, choice.receiver)
    back = float(shares.sum())
    block, whole = coupling(gradient, n_visible + choice.receiver, choice.sender)
    target = _(
        "Δ{block}, {unit_name} to hidden {receiver}",
        block=block,
        unit_name=unit_name(choice.sender, n_visible),
        receiver=choice.receiver + 1,
    )
    return [
        (
            _("all {n_paths:,} paths of delay {q}", n_paths=n_paths(n_visible, n_hidden, choice.q), q=choice.q),
            float(shares[choice.q]),
        ),
        (_("all delays up to {n}", n=len(shares) - 1) if seen.couplings.M.any() else _("all delays"), back),
        (
            _(
                "× {letter}: what bin {t:,} adds to {target}",
                letter=_letter(choice, n_visible),
                t=choice.t,
                target=target,
            ),
            back * sent(seen, choice),
        ),
        (_("all bins: {target} (nats)", target=target), whole),
    ]


def shares_in_words(seen: Excerpt, choice: Choice) -> str:
    """What each of the first delays contributes; empty when there is only one."""
    shares = by_delay(seen, choice.receiver)[: SHOWN_DELAYS + 1]
    if not shares[1:].any():
        return ""
    listed = " · ".join(f"q\u00a0=\u00a0{q}: {number(float(share))}" for q, share in enumerate(shares))
    return _("What each delay adds: {listed}", listed=listed)


def explanation(choice: Choice, recurrent: bool) -> str:
    """What a path of this delay is."""
    if not recurrent:
        return _(
            "**M = 0**: hidden units get no input from each other, so a path has no intermediate hidden "
            "step. From the error at t + 2 it leads to the receiving unit at t + 1, and q\u00a0=\u00a00 is all "
            "there is."
        )
    n = choice.q + 1
    back = _n(
        "An error at t + {later} comes back through {n} hidden unit.",
        "An error at t + {later} comes back through {n} hidden units.", n, later=n + 1,
    )  # fmt: skip
    return f"{back} {_('Every further step multiplies by a coupling of M and a slope 1 − μ² of at most 1.')}"


def sent(seen: Excerpt, choice: Choice) -> float:
    """The state of the sender at t."""
    n_visible = seen.couplings.n_visible
    return float(seen.s[0, choice.sender] if choice.sender < n_visible else seen.mu[0, choice.sender - n_visible])


def coupling(couplings: Couplings, receiver: int, sender: int) -> tuple[str, float]:
    """The block and the strength between two units, hidden ones counted after the visible."""
    n_visible = couplings.n_visible
    block = block_of(receiver, sender, n_visible)
    row = receiver if receiver < n_visible else receiver - n_visible
    column = sender if sender < n_visible else sender - n_visible
    return block, float(getattr(couplings, block)[row, column])


def number(value: float) -> str:
    """A signed number with three significant figures; 0 and ±1 as they are."""
    text = f"{value:+.0f}" if abs(value) == 1.0 else f"{value:+#.3g}".removesuffix(".")
    return text.replace("-", MINUS) if value else "0"


def table(name: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML, words at the left and numbers at the right; the cells are the page's own words."""
    line = "border-bottom:1px solid rgba(128,128,128,.3)"

    def cells(tag: str, texts: Sequence[str]) -> str:
        sides = [
            "text-align:left;padding:3px 16px 3px 0",
            *["text-align:right;padding:3px 0 3px 12px"] * (len(texts) - 1),
        ]
        return "".join(f'<{tag} style="{side};{line}">{text}</{tag}>' for side, text in zip(sides, texts, strict=True))

    head = f"<tr>{cells('th', titles)}</tr>" if titles else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    style = "font-size:14px;border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%;margin-bottom:16px"
    return f'<table style="{style}" aria-label="{name}">{head}{body}</table>'


def _letter(choice: Choice, n_visible: int) -> str:
    return "s" if choice.sender < n_visible else "μ"
