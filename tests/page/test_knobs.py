"""Every knob in a real Chromium: Run works right after it was turned, and the link says that it was."""

import pytest

from hidviz.ui.state.knobs import KNOB, TITLES
from tests.pages import choose, enter, press, state, until, visiting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TURNS = {
    "n_visible": "5",
    "n_hidden": "3",
    "variance": "0.8",
    "n_steps": "3000",
    "n_held_out": "1500",
    "seed": "8",
    "bias": "0.1",
    "n_hidden_assumed": "2",
    "start": "right-signed",
    "start_index": "2",
    "start_scale": "0.2",
    "optimiser": "momentum",
    "rate": "0.05",
    "penalty": "0.01",
    "box": "3",
    "patience": "900000",
    "max_steps": "9000000",
    "hidden_hidden": "1",
    "model": "stochastic",
    "learner": "mean-field",
}


@pytest.fixture(scope="module")
def tab(browser, server):
    with visiting(browser, server) as opened:
        tab = opened("?nv=4&nh=2&T=2000&out=1000&box=2")  # so that none runs away, however far it comes
        yield tab


def turn(tab, name, value):
    """Turn a knob as a person would."""
    label = KNOB[name].label
    tab.get_by_text("More knobs").evaluate("(summary) => { summary.parentElement.open = true }")
    if name == "rate":  # which the optimiser of a fresh page does not use
        choose(tab, KNOB["optimiser"].label, TITLES["optimiser"]["momentum"])
    if name in TITLES:
        choose(tab, label, TITLES[name][value])
    elif name == "hidden_hidden":
        tab.get_by_label(label, exact=True).first.click()
    elif name == "start_index":
        press(tab, "New start")
    else:
        enter(tab, label, value)


@pytest.mark.parametrize("name", TURNS)
def test_run_works_right_after_a_knob_was_turned(tab, name):
    if state(tab)["running"]:
        press(tab, "Pause")
        wait_for(tab, lambda now: not now["running"], "the pause")
    turn(tab, name, TURNS[name])
    until(tab, lambda: f"{KNOB[name].key}={TURNS[name]}" in tab.url, f"{name} in the link")
    if name != "start_index":  # New start runs by itself
        press(tab, "Run")
    now = wait_for(tab, lambda now: now["step"] > 2 and (now["running"] or now["state"] != "learning"), "steps")
    assert now["error"] == ""


def test_every_knob_is_turned_here():
    assert set(TURNS) == set(KNOB)


ANSWERED = """(values) => {
    const form = [...Bokeh.documents[0]._all_models.values()].find((each) => each.values && "seed" in each.values)
    form.setv({ values: { ...form.values, ...values } }, { sync: false })
}"""


def test_what_is_being_typed_or_switched_is_not_undone_by_the_answer_to_another_field(tab):
    seed, length, switch = (tab.locator(f"#knob-{name}") for name in ("seed", "n_steps", "hidden_hidden"))
    was = seed.input_value()
    seed.fill("12")
    before = switch.is_checked()
    switch.evaluate("(each) => { each.checked = !each.checked }")  # as pressed, and not heard of yet
    tab.evaluate(ANSWERED, {"n_steps": 777})
    until(tab, lambda: length.input_value() == "777", "the answer")
    assert (seed.input_value(), switch.is_checked()) == ("12", not before)
    tab.evaluate(ANSWERED, {"seed": 9, "hidden_hidden": not before})
    tab.evaluate(ANSWERED, {"seed": int(was), "hidden_hidden": before})
    until(tab, lambda: (seed.input_value(), switch.is_checked()) == (was, before), "what is told of it")
