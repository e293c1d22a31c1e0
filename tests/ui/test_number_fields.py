"""Numbers in fields are read as they are written, and what cannot be used is answered at its field."""

import pytest

from hidviz.ui.components.number_fields import NumberField, NumberFields


@pytest.fixture
def told():
    return []


@pytest.fixture
def fields(told):
    return NumberFields(
        {
            "n": NumberField("Seeds", "How many.", 1, bounds=(1, 20)),
            "value": NumberField("New value", "Of the coupling.", 0.0, whole=False),
        },
        lambda: told.append(1),
        width=110,
    )


def typed(fields, name, text):
    fields.form._handle_msg({"turned": name, "value": text})


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ("0,5", 0.5), ("−1.25", -1.25), ("1e-3", 1e-3), (" 2 ", 2.0)]
)
def test_a_number_is_taken_as_it_was_written(fields, told, text, value):
    typed(fields, "value", text)
    assert fields["value"] == value
    assert told == [1]
    typed(fields, "value", text)
    assert told == [1], "the same value again is no change"


@pytest.mark.parametrize("text", ["9" * 5000, "<b>5</b>", "", "inf", "nan", "1e999", "١٢"])
@pytest.mark.parametrize(("name", "label", "value"), [("n", "Seeds", 1), ("value", "New value", 0.0)])
def test_what_is_no_number_is_answered_and_changes_nothing(fields, told, text, name, label, value):
    typed(fields, name, text)
    assert fields.form.errors[name].startswith(f"{label} must be a ")
    assert fields.refused
    assert fields[name] == value
    assert told == []
    typed(fields, name, "3")
    assert not fields.refused
    assert fields[name] == 3


@pytest.mark.parametrize(("text", "got"), [("0", "0"), ("21", "21"), ("10,000", "10,000")])
def test_a_number_beyond_its_bounds_is_answered_with_them(fields, text, got):
    typed(fields, "n", text)
    assert fields.form.errors == {"n": f"Seeds must lie between 1 and 20, got {got}."}
    assert fields["n"] == 1


def test_half_a_unit_is_none(fields):
    typed(fields, "n", "2,5")
    assert "which is 2.5" in fields.form.errors["n"]


def test_what_the_page_puts_in_takes_a_refusal_away_and_tells_nobody(fields, told):
    typed(fields, "n", "x")
    fields.show(n=7)
    assert (fields["n"], fields.refused, told) == (7, False, [])


def test_other_bounds_move_a_value_that_lies_beyond_them(fields):
    fields.show(n=15)
    fields.bound("n", 1, 20)
    assert fields["n"] == 15
    fields.bound("n", 1, 10)
    assert fields["n"] == 10
    typed(fields, "n", "15")
    assert "between 1 and 10" in fields.form.errors["n"]


def test_an_answer_of_the_engine_stands_at_its_field_until_another_value_comes(fields):
    fields.answer("n", "Too many.")
    fields.answer("value", "Too large.")
    assert fields.form.errors == {"n": "Too many.", "value": "Too large."}
    typed(fields, "n", "2")
    assert fields.form.errors == {"value": "Too large."}
    fields.answer("value", "")
    assert not fields.refused
