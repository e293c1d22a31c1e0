"""Languages: every text of the page has its translation, which fills in the same; each page speaks its own."""

import ast
import re
import threading
from pathlib import Path
from string import Formatter

import pytest

import hidviz
from hidviz.experiments import Experiment, advice
from hidviz.learning import Remark
from hidviz.ui.state.link import View, language_of, read_query, write_link
from hidviz.ui.text.engine import KNOWN, of_engine
from hidviz.ui.text.glossary import TERMS
from hidviz.ui.text.language import ENGLISH, LANGUAGES, N_, _, _n, read_catalogue, speaking, words_of_scripts
from hidviz.ui.text.status import question, sentences_of
from tests.catalogue import found, missing, template

OTHERS = [name for name in LANGUAGES if name != ENGLISH]
SAME = {
    "sv": {
        "L-BFGS", "Momentum", "Bias", "Block", "Data", "Start", "rms", "J", "K", "L", "M", "T", "Nv", "Nh", "h(t)",
        "gauge", r"h\(t\)", "momentum", "block", "start", "Raster", "Log–log", "Stimulus h(t)",
        "{model}, h(t)", "N[v\u1d65]", "N[h\u2095]",
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
def test_no_translation_is_english_but_for_words_that_both_languages_have(name):
    same = {text for text, other in pairs(name) if text == other}
    assert {text for text in same if re.search(r"[A-Za-z]", re.sub(r"\{[^}]*\}", "", text))} == SAME[name]


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


def engine_texts():
    """What the engine and the threads of the page say, strings and pieces of formatted ones, joined."""
    own = {("text", "engine.py"), ("text", "language.py")}
    paths = [path for path in Path(hidviz.__file__).parent.rglob("*.py") if path.parts[-2:] not in own]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    said = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "\n".join(said).lower()


def test_every_sentence_of_the_engine_that_is_known_is_one_that_it_says():
    said = engine_texts()
    for text in KNOWN:
        words = re.findall(r"[^\W\d]{3,}", re.sub(r"\{\w+\}", " ", text).lower())
        assert all(word in said for word in words), text


def test_sentences_of_the_engine_are_known_again_with_what_is_filled_in():
    finished = Remark("finished", "Finished: 250 steps made.")
    assert sentences_of([finished]) == "Finished: 250 steps made."
    with speaking("sv"):
        assert sentences_of([finished]) == "Klar: 250 steg tagna."
        assert of_engine("Simulating 10,000 bins") == "Simulerar 10,000 tidssteg"
        assert of_engine(advice(Experiment(learner="mean-field", model="stochastic")).reason).startswith("Medelfältet")
        assert (
            of_engine("5 visible + 3 hidden units, gradient ascent") == "5 synliga + 3 dolda enheter, gradientstigning"
        )
        assert of_engine("rate must lie between 0 and 1e+06, got -1") == "rate must lie between 0 and 1e+06, got -1"


def calls():
    """Every call that gives a text values to fill in: where it is, its texts, the names of the values, if it counts."""
    for path in sorted((Path(hidviz.__file__).parent / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "_n"):
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                names = {each.arg for each in node.keywords}
                if texts and None not in names and (names or node.func.id == "_n"):
                    yield f"{path.name}:{node.lineno}", texts, names, node.func.id == "_n"


def test_a_text_is_given_what_it_fills_in():
    differing = [
        (where, names)
        for where, texts, names, counted in calls()
        if {name for text in texts for name, *_rest in places(text)} - ({"n"} if counted else set()) != names
    ]
    assert differing == []
