"""Every reference to the paper gives the number of the printed equation and its label in the source, and both agree."""

import re
from pathlib import Path

import pytest

from tests.oracle.equations import ALSO_CODE, NUMBERS

ENGINE = Path(__file__).parents[1] / "hidviz"
FILES = [path for path in sorted(ENGINE.rglob("*.py")) if ENGINE / "ui" not in path.parents]
REFERENCE = r"(\d+) \(`(\w+)`\)"
LIST = rf"{REFERENCE}(?:(?:, and|,| and| to) {REFERENCE})*"


def text_of(path):
    """The whole file on one line, since a reference may be wrapped."""
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))


def faults(text):
    """What is wrong with the references in a text, each with the words around it."""
    for match in re.finditer(r"\beqs?\. ", text):
        if not re.match(LIST, text[match.end() :]):
            yield f"no number and label: {text[match.start() : match.end() + 40]}"
    for number, label in re.findall(REFERENCE, text):
        if NUMBERS.get(label) != int(number):
            yield f"{label} is {NUMBERS.get(label, 'no label')}, not {number}"
    for match in re.finditer(r"(\d+ \()?`(\w+)`", text):
        if match[2] in NUMBERS and match[2] not in ALSO_CODE and not match[1]:
            yield f"without its number: {text[max(0, match.start() - 30) : match.end()]}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ENGINE)))
def test_references_have_the_right_numbers(path):
    assert not list(faults(text_of(path)))


def test_the_method_of_every_part_of_the_paper_refers_to_it():
    cited = {label for path in FILES for _, label in re.findall(REFERENCE, text_of(path))}
    assert {"visdyn", "LL", "dLresult", "vislikelihood", "dJ", "dM", "nMF", "correctedEH", "result", "MFmu"} <= cited


def test_the_numbers_run_through():
    assert sorted(NUMBERS.values()) == list(range(1, 52))


@pytest.mark.parametrize("wrong", ["eq. `MFmu`", "eq. 41 (`MFmu`)", "eq. 42", "as in `dJMFT`", "eq. 42 (`MFm`)"])
def test_a_wrong_reference_is_found(wrong):
    assert list(faults(f"See {wrong} there."))
    assert not list(faults("See eqs. 42 (`MFmu`), 43 (`dJMF`) to 46 (`dMMF`) and `entropy` there."))
