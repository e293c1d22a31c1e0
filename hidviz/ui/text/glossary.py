"""Glossary: the terms and letters of the page, each in one plain sentence; the browser marks where they are written.

A term is found where its pattern stands for itself, no letter, digit or hyphen beside it, so that M is not found in
M-step. Where a longer term begins with a shorter one, the longer stands first.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from hidviz.ui.text.language import _


@dataclass(frozen=True)
class Term:
    """One term.

    Args:
        name: what it is called in the list of all terms.
        written: how a text may write it, as a regular expression that means the same to Python and to a browser.
        says: what it means, one sentence that needs no other term.
    """

    name: str
    written: str
    says: str


TERMS = (
    Term("bin", "[Bb]ins?", "One time step: in each bin every unit is either active or silent."),
    Term(
        "the paper",
        r"[Tt]he paper|Fig\. \d",
        "Tyrcha and Hertz, “Network inference with hidden units”, 2014: its figures are live here.",
    ),
    Term("nats", "nats?", "The unit of surprise, by natural logarithms: 0.69 nats are one yes-or-no answer."),
    Term("held-out", "[Hh]eld-out", "Data kept aside: the learner never fits them, so they show how well it predicts."),
    Term("gauge", "[Gg]auges?", "One of the equally good ways to label the hidden units and choose their signs."),
    Term(
        "lag 1", "[Ll]ag[ -]1", "A model without hidden units: each unit answers to what all did one time step before."
    ),
    Term("lag 2", "[Ll]ag[ -]2", "A model without hidden units that also looks two time steps back."),
    Term(
        "E-step", "E-step", "Half of a learning step: it works out what the hidden units did, the couplings held fixed."
    ),
    Term(
        "M-step", "M-step", "Half of a learning step: it improves the couplings, what the hidden units did held fixed."
    ),
    Term(
        "alignment",
        "[Aa]lignment|[Uu]naligned|[Aa]ligned",
        "Hidden units have no names and no signs of their own: it gives them those that fit the truth best.",
    ),
    Term(
        "replica theory",
        "[Rr]eplica theory",
        "A calculation of statistical physics: what many units do on the average over all random couplings.",
    ),
    Term("rms", "rms", "Root mean square: the typical size of many numbers, whatever their signs."),
    Term("J", "J", "The couplings from visible units to visible units."),
    Term("K", "K", "The couplings from hidden units to visible units."),
    Term("L", "L", "The couplings from visible units to hidden units."),
    Term("M", "M", "The couplings among the hidden units themselves."),
    Term("T", "T", "How many time steps were recorded."),
    Term("Nv", "N[v\u1d65]", "The number of visible units, those that are recorded."),
    Term("Nh", "N[h\u2095]", "The number of hidden units, those that nobody records."),
    Term("h(t)", r"h\(t\)", "An outside drive of each unit that changes in time, the same in every repeat."),
)


def glossary_html() -> str:
    """All terms as a list for the help sheet."""
    rows = "".join(f"<dt>{escape(_(term.name))}</dt><dd>{escape(_(term.says))}</dd>" for term in TERMS)
    return f'<dl aria-label="{_("Words and letters")}">{rows}</dl>'
