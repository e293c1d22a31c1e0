"""Knobs and their form, without a browser: one copy of a value, and a refusal at the field that it belongs to."""

from dataclasses import replace

import pytest

from hidviz import Experiment
from hidviz.experiments.experiment import LIVE
from hidviz.ui.shell.controls import Controls, learner_aside
from hidviz.ui.state.knobs import KNOBS, shown


class Page:
    """The experiment, as a session would have it."""

    def __init__(self):
        self.wanted = Experiment()
        self.controls = Controls(lambda: self.wanted, self.change)

    def change(self, **knobs):
        self.wanted = replace(self.wanted, **knobs)
        self.controls.show()

    def typed(self, name, text):
        self.controls.form._handle_msg({"turned": name, "value": text})
        knobs = {knob.name: getattr(self.controls.knobs, knob.name) for knob in KNOBS}
        assert knobs == shown(self.wanted)
        assert self.controls.form.values.items() <= knobs.items()
        return self.controls.form.errors.get(name, "")


@pytest.fixture
def page():
    return Page()


def test_what_is_typed_turns_the_knob(page):
    assert page.typed("n_visible", "7") == page.typed("variance", "0,5") == page.typed("n_steps", "20,000") == ""
    assert page.typed("hidden_hidden", True) == page.typed("learner", "exact") == ""
    assert page.wanted == Experiment(
        n_visible=7, variance=0.5, n_steps=20_000, hidden_hidden=True, learner="exact"
    )  # fmt: skip


def test_a_knob_can_be_set_as_any_parameter(page):
    page.controls.knobs.seed = 5
    assert page.wanted == Experiment(seed=5)
    page.controls.knobs.param.update(n_visible=6, n_hidden=3)
    assert page.wanted == Experiment(seed=5, n_visible=6, n_hidden=3)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("n_visible", "5000", "Visible units must lie between 1 and 200, got 5000."),
        ("n_visible", "1,5", "Visible units must be a whole number such as 10,000, got “1,5”, which is 1.5."),
        ("variance", "much", "Coupling variance must be a number such as 0.5, got “much”."),
        ("patience", "-1", "Held-out patience must lie between 1 and 1e+06, got -1."),
    ],
)
def test_what_is_refused_is_told_and_changes_nothing(page, name, text, why):
    assert page.typed(name, text) == page.typed(name, text) == why
    assert page.wanted == Experiment()
    assert page.typed("seed", "3") == ""
    assert page.wanted == Experiment(seed=3)


def test_typing_what_stands_takes_a_refusal_back(page):
    assert page.typed("n_visible", "5000") != ""
    assert page.typed("n_visible", "18") == ""
    assert page.wanted == Experiment()


def test_a_value_that_no_menu_offers_is_refused(page):
    assert "oracle" in page.typed("learner", "oracle")
    assert page.wanted == Experiment()


def test_knobs_say_when_they_apply():
    assert {knob.name for knob in KNOBS if knob.acts == "now"} == LIVE
    assert {knob.name for knob in KNOBS} == set(vars(Experiment()))


def test_the_menu_says_what_each_learner_costs_at_these_settings():
    small = Experiment(n_visible=8, n_hidden=8, n_steps=1_000, model="stochastic")
    large = replace(small, n_hidden=30, n_steps=1_000_000)
    assert learner_aside("exact", small).endswith(" ms a step")
    assert learner_aside("exact", large).endswith(" h a step")
    assert learner_aside("mean-field-naive", small) == "for comparison"
