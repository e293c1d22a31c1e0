"""The catalogue of terms: each is one plain sentence, is found where a text writes it, and is written on the page."""

import re

import pytest

from hidviz.ui.text.glossary import TERMS, glossary_html
from tests.ui.test_words import texts

ANY = re.compile(rf"(?<![\w-])(?:{'|'.join(f'({term.written})' for term in TERMS)})(?![\w-])")


def found(text):
    """Names of the terms in a text, as the browser finds them."""
    return [TERMS[each.lastindex - 1].name for each in ANY.finditer(text)]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_is_one_sentence_that_stands_alone(term):
    assert re.fullmatch(r"[A-Z][^.;]+\.", re.sub(r"\d\.\d", "0", term.says)), "one sentence"
    assert len(term.says) < 100, "read at a glance"
    assert set(found(term.says)) <= {term.name}, "without another term"


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_is_written_on_the_page(term):
    assert any(term.name in found(text) for where, text in texts() if not where.startswith("glossary"))


def test_names_are_those_that_were_asked_for_and_each_stands_once():
    names = [term.name for term in TERMS]
    assert len(set(names)) == len(names)
    assert {"bin", "nats", "held-out", "gauge", "lag 1", "E-step", *"JKLMT", "Nv", "Nh"} <= set(names)
    assert all(f"<dt>{name}</dt>" in glossary_html() for name in names)


def test_letters_are_found_where_they_stand_alone_only():
    assert found("an M-step by L-BFGS at MK-2 with L2 and T = 3") == ["M-step", "T"]
    assert found("nats/bin, K → cK, L → L/c") == ["nats", "bin", "K", "L", "L"]
    assert found("Held-out bins of lag-1 beside h(t)") == ["held-out", "bin", "lag 1", "h(t)"]
