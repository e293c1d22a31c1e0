"""What hands can do to a network in a real Chromium: costs and errors as the engine has them, twice, and undone."""

import numpy as np
import pytest

from hidviz import Experiment
from hidviz.evaluation.equivalent_models import cost_per_bin, flip_half
from hidviz.evaluation.errors import rms_errors
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_run
from hidviz.network.gauge import Gauge, best_gauge, flip, regauge, swap
from hidviz.ui.state.link import write_link
from tests.pages import enter, front, press, rest_at, state, visiting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXPERIMENT = Experiment(n_visible=6, n_hidden=2, n_steps=500, n_held_out=100, seed=3)
STEPS = 8


@pytest.fixture(scope="module")
def frame():
    frames = [item for item in _until(EXPERIMENT, STEPS) if isinstance(item, Frame)]
    return frames[-1]


def _until(experiment, step):
    for item in iter_run(experiment):
        yield item
        if isinstance(item, Frame) and item.snapshot.step == step:
            return


@pytest.fixture(scope="module")
def page(browser, server):
    with visiting(browser, server) as opened:
        yield opened("?" + write_link(EXPERIMENT))


@pytest.fixture
def tab(page):
    """The page at rest at the same step of the same run."""
    rest_at(page, STEPS)
    return page


def is_these(now, couplings, frame):
    """Whether the page shows the numbers of these couplings, by the engine."""
    truth = frame.data.truth
    assert now["cost"] == pytest.approx(cost_per_bin(frame.setup.learner, couplings), abs=1e-9)
    assert now["held_out"] == pytest.approx(cost_per_bin(frame.setup.held_out, couplings), abs=1e-9)
    for kind, align in (("rms", False), ("rms_aligned", True)):
        errors = rms_errors(couplings, truth, align=align)
        assert now[kind] == pytest.approx({block: errors[block] for block in "JKLM"}, abs=1e-9)
    gauge = best_gauge(couplings, truth)
    assert Gauge(now["gauge"]["order"], now["gauge"]["signs"]) == gauge
    return True


def bits(now):
    """Everything that the page says of the estimate, every digit of it."""
    return {name: now[name] for name in ("step", "cost", "held_out", "rms", "rms_aligned", "gauge")}


def changed(tab, before, what):
    return wait_for(tab, lambda now: now["rms"] != before["rms"], what)


def undone_and_done(tab, before, after):
    press(tab, "Undo")
    assert bits(wait_for(tab, lambda now: now["rms"] == before["rms"], "undo")) == bits(before)
    press(tab, "Redo")
    assert bits(wait_for(tab, lambda now: now["rms"] == after["rms"], "redo")) == bits(after)


SYMMETRIES = {
    "Flip hidden unit 1": flip(2, 0),
    "Flip hidden unit 2": flip(2, 1),
    "Swap hidden units": swap(2, 0, 1),
}


@pytest.mark.parametrize("name", SYMMETRIES)
def test_a_symmetry_keeps_the_cost_moves_the_errors_as_found_and_is_its_own_inverse(tab, frame, name):
    before = state(tab)
    assert is_these(before, frame.snapshot.couplings, frame)
    press(tab, name)
    once = changed(tab, before, name)
    assert is_these(once, regauge(frame.snapshot.couplings, SYMMETRIES[name]), frame)
    assert once["cost"] == before["cost"]
    assert once["rms_aligned"] == pytest.approx(before["rms_aligned"], abs=1e-9)
    press(tab, name)
    assert bits(wait_for(tab, lambda now: now["rms"] == before["rms"], "twice")) == bits(before)
    press(tab, name)
    undone_and_done(tab, before, changed(tab, before, "again"))


@pytest.mark.parametrize("block", ["K", "L"])
def test_half_a_flip_costs_what_the_engine_says_and_twice_is_nothing(tab, frame, block):
    before = state(tab)
    press(tab, f"Flip {block} only")
    once = changed(tab, before, "half a flip")
    assert is_these(once, flip_half(frame.snapshot.couplings, 0, block), frame)
    assert once["cost"] > before["cost"] + 1e-3
    tab.get_by_text(f"which is not a symmetry: the cost changed by {once['cost'] - before['cost']:+.4f}").wait_for()
    press(tab, f"Flip {block} only")
    twice = wait_for(tab, lambda now: now["rms"] == before["rms"], "twice")
    assert twice["cost"] == pytest.approx(before["cost"], abs=1e-12)
    press(tab, "Undo")
    wait_for(tab, lambda now: now["rms"] == once["rms"], "undo")
    undone_and_done(tab, before, once)


def test_a_coupling_set_by_hand_is_in_the_estimate_until_undone(tab, frame):
    before = state(tab)
    front(tab, "Inspect")
    tab.get_by_role("button", name="K, to visible 3 from hidden 1", exact=True).click()
    enter(tab, "New value", "0.75")
    press(tab, "Set coupling")
    once = changed(tab, before, "the edit")
    found = frame.snapshot.couplings
    K = found.K.copy()
    K[2, 0] = 0.75
    assert is_these(once, type(found)(found.J, K, found.L, found.M, found.h, found.g), frame)
    front(tab, "Learn")
    undone_and_done(tab, before, once)


def test_aligning_the_picture_moves_nothing_and_is_told(tab):
    before = state(tab)
    press(tab, "Flip hidden unit 1")
    flipped = changed(tab, before, "the flip")
    switch = tab.get_by_label("Align to truth", exact=True).first
    switch.click()
    tab.wait_for_timeout(300)
    assert switch.is_checked()
    assert bits(state(tab)) == bits(flipped)
    order, signs = np.array(flipped["gauge"]["order"]), np.array(flipped["gauge"]["signs"])
    minus = [str(unit + 1) for unit in sorted(order[signs < 0])]
    if minus:
        tab.get_by_text(f"flips hidden unit{'s' if len(minus) > 1 else ''} {', '.join(minus)}").first.wait_for()
    switch.click()


def test_the_keys_do_what_the_buttons_do(tab):
    tab.get_by_text("Cost per bin", exact=True).click()  # away from the button that was pressed last
    before = state(tab)
    tab.keyboard.press("2")
    flipped = changed(tab, before, "the flip by key")
    assert flipped["cost"] == before["cost"]
    tab.keyboard.press("u")
    wait_for(tab, lambda now: now["rms"] == before["rms"], "undo by key")
    tab.keyboard.press("Shift+U")
    wait_for(tab, lambda now: now["rms"] == flipped["rms"], "redo by key")
    tab.keyboard.press("s")
    wait_for(tab, lambda now: now["step"] == STEPS + 1, "a step by key")
    tab.keyboard.press("r")
    wait_for(tab, lambda now: now["step"] == 0, "rewinding by key")
    switch = tab.get_by_label("Align to truth", exact=True).first
    was = switch.is_checked()
    tab.keyboard.press("a")
    tab.wait_for_function("([e, was]) => e.checked !== was", arg=[switch.element_handle(), was])
    tab.keyboard.press("a")
    tab.keyboard.press(" ")
    wait_for(tab, lambda now: now["step"] > 2, "running by key")
    tab.keyboard.press("?")
    tab.get_by_role("dialog").get_by_text("run or pause").wait_for()
    tab.keyboard.press("Escape")
    tab.get_by_role("dialog").wait_for(state="hidden")
