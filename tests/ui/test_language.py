"""Languages: every text of the page has its translation, which fills in the same; each page speaks its own."""

import re
import threading
from string import Formatter

import pytest

from hidviz.ui.state.link import View, language_of, read_query, write_link
from hidviz.ui.text.glossary import TERMS
from hidviz.ui.text.language import ENGLISH, LANGUAGES, N_, _, _n, read_catalogue, speaking, words_of_scripts
from hidviz.ui.text.status import question
from tests.catalogue import found, missing, template

OTHERS = [name for name in LANGUAGES if name != ENGLISH]
SAME = {
    "sv": {
        "L-BFGS", "Momentum", "Bias", "Block", "Data", "Start", "rms", "J", "K", "L", "M", "T", "Nv", "Nh", "h(t)",
        "gauge", r"h\(t\)", "N[v\u1d65]", "N[h\u2095]",
    },
}  # fmt: skip


def forms(text):
    return text if isinstance(text, tuple) else (text,)


def pairs(name):
    """Every text and its translation, form by form."""
    for each in read_catalogue(name):
        if each.id:
            yield from zip(forms(each.id), forms(each.string), strict=True)


def places(text):
    """What is to be filled in, and how; nothing of a text that is no template."""
    try:
        return sorted((name, how, kind or "") for _text, name, how, kind in Formatter().parse(text) if name is not None)
    except ValueError:
        return []


@pytest.mark.parametrize("name", OTHERS)
def test_the_catalogue_has_every_text_of_the_page_and_no_other(name):
    texts = {each.id for each in template() if each.id}
    assert {each.id for each in read_catalogue(name) if each.id} == texts, "run python -m tests.catalogue"
    assert missing(read_catalogue(name)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_fills_in_what_its_text_does(name):
    differing = [(text, other) for text, other in pairs(name) if places(text) != places(other)]
    assert differing == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_begins_and_ends_with_the_same_space_and_keeps_what_is_bold(name):
    for text, other in pairs(name):
        assert [text[:1].isspace(), text[-1:].isspace()] == [other[:1].isspace(), other[-1:].isspace()], text
        assert text.count("**") == other.count("**"), text
        assert re.findall(r"</?\w+", text) == re.findall(r"</?\w+", other), text


@pytest.mark.parametrize("name", OTHERS)
def test_no_translation_is_english(name):
    same = {text for text, other in pairs(name) if text == other and re.search(r"[A-Za-z]{2}", places_out(text))}
    assert same <= SAME[name] | {text for text in same if not re.search(r"[a-z]{2}", places_out(text))}


def places_out(text):
    """A text without what is filled in."""
    return re.sub(r"\{[^}]*\}", "", text)


def test_texts_are_looked_for_in_python_scripts_and_the_template():
    texts = {text for _file, text in found()}
    assert {"Flip hidden unit {unit}", "Opening …", "Half step", (" and {n:,} other", " and {n:,} others")} <= texts
    assert "Words and letters" in texts, "in formatted strings too"


def test_english_is_what_is_written():
    assert _("step {place} of {n}", place=1, n=7) == "step 1 of 7"
    assert _n("{n} run pinned", "{n} runs pinned", 1) == "1 run pinned"
    assert _n("{n} run pinned", "{n} runs pinned", 2) == "2 runs pinned"
    assert N_("a text") == "a text"
    assert words_of_scripts(ENGLISH) == {}


def test_a_text_is_in_the_language_that_is_spoken_where_it_is_made():
    with speaking("sv"):
        assert question(2) == "Två enheter är dolda. Kan de andra avslöja deras kopplingar?"
        assert _("a text that nobody has translated") == "a text that nobody has translated"
        with speaking(ENGLISH):
            assert question(2).startswith("Two units are hidden.")
        heard = []
        worker = threading.Thread(target=lambda: heard.append(question(2)))
        worker.start()
        worker.join()
        assert heard[0].startswith("Two units"), "a thread is of no page"
    assert question(1) == "One unit is hidden. Can the others reveal its wiring?"


def test_scripts_are_given_what_they_say():
    assert words_of_scripts("sv")["Flip hidden unit {unit}"] == "Vänd dold enhet {unit}"
    assert "Half step" not in words_of_scripts("sv")


@pytest.mark.parametrize("name", OTHERS)
def test_a_term_of_the_glossary_is_found_as_its_translation_writes_it(name):
    with speaking(name):
        for term in TERMS:
            assert re.fullmatch(_(term.written), _(term.name)), term.name
            assert re.compile(_(term.written)).groups == 0, "the browser counts the groups of all terms"


def test_the_language_is_part_of_a_link():
    assert read_query("?language=sv").view == View(language="sv")
    assert write_link(read_query("?language=sv").experiment, view=View(language="sv")) == "language=sv"
    assert read_query("?language=en").view == View(), "which is what a link without one gives"
    link = read_query("?language=xx")
    assert link.view == View()
    assert "language" in link.notices[0]
    assert language_of({"language": [b"sv"]}) == "sv"
    assert language_of({"language": [b"xx"]}) == language_of({}) == ENGLISH
