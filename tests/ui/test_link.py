from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.experiments.experiment import CHOICES, Experiment
from hidviz.experiments.presets import PRESETS
from hidviz.ui.state.link import Link, read_link, write_link


def read(text):
    return read_link({key: [value.encode() for value in values] for key, values in parse_qs(text, True).items()})


EXPERIMENTS = st.builds(
    Experiment,
    n_visible=st.integers(1, 200),
    n_hidden=st.integers(0, 200),
    n_steps=st.integers(10, 10_000_000),
    variance=st.floats(0.0, 25.0),
    model=st.sampled_from(CHOICES["model"]),
    hidden_hidden=st.booleans(),
    learner=st.sampled_from(CHOICES["learner"]),
    n_hidden_assumed=st.none() | st.integers(0, 200),
    optimiser=st.none() | st.sampled_from(CHOICES["optimiser"]),
    rate=st.none() | st.floats(1e-6, 1e3),
    box=st.none() | st.floats(1e-3, 100.0),
    start=st.sampled_from(CHOICES["start"]),
    patience=st.none() | st.integers(1, 1000),
    seed=st.integers(0, 2**31 - 1),
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(experiment=EXPERIMENTS, step=st.none() | st.integers(0, 100_000))
def test_a_link_reads_back_to_the_same_run_and_stays_short(experiment, step):
    text = write_link(experiment, step=step, tab="inspector")
    assert len(text) < 500
    link = read(text)
    assert link == Link(experiment, "", step, "inspector")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_with_one_knob_turned_keeps_both(name):
    turned = replace(PRESETS[name], seed=77)
    assert read(write_link(turned, preset=name)).experiment == turned


def test_nothing_asked_for_is_the_default():
    assert read("") == Link(Experiment())


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("nv=-3", "nv"),
        ("nv=2.5", "nv"),
        ("nv=ten", "nv"),
        ("T=1e12", "T"),
        ("T=nan", "T"),
        ("g2=inf", "g2"),
        ("m=maybe", "m"),
        ("learner=oracle", "learner"),
        ("preset=fig9", "preset"),
        ("step=-1", "step"),
        ("tab=secret", "tab"),
        ("x=<script>", "x"),
        ("nv=" + "9" * 5000, "nv"),
    ],
)
def test_a_bad_value_is_named_and_the_default_stands_in(text, key):
    link = read(text)
    assert link.experiment == Experiment()
    assert len(link.notices) == 1
    assert key in link.notices[0]
    assert len(link.notices[0]) < 400


def test_good_values_survive_beside_bad_ones():
    link = read("nv=7&nh=lots&seed=3")
    assert (link.experiment.n_visible, link.experiment.seed) == (7, 3)
    assert [notice[:3] for notice in link.notices] == ["nh:"]
