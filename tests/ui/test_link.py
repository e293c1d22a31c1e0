from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.experiments.experiment import CHOICES, Experiment
from hidviz.experiments.presets import PRESETS
from hidviz.ui.state.link import Link, View, read_link, read_query, write_link


def read(text):
    return read_link({key: [value.encode() for value in values] for key, values in parse_qs(text, True).items()})


EXPERIMENTS = st.builds(
    Experiment,
    n_visible=st.integers(1, 200),
    n_hidden=st.integers(0, 200),
    n_steps=st.integers(10, 10_000_000),
    variance=st.floats(0.0, 25.0),
    model=st.sampled_from(sorted(CHOICES["model"])),
    hidden_hidden=st.booleans(),
    learner=st.sampled_from(sorted(CHOICES["learner"])),
    n_hidden_assumed=st.none() | st.integers(0, 200),
    optimiser=st.none() | st.sampled_from(sorted(CHOICES["optimiser"])),
    rate=st.none() | st.floats(1e-6, 1e3),
    box=st.none() | st.floats(1e-3, 100.0),
    start=st.sampled_from(sorted(CHOICES["start"])),
    patience=st.none() | st.integers(1, 1000),
    seed=st.integers(0, 2**31 - 1),
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(experiment=EXPERIMENTS, step=st.none() | st.integers(0, 100_000))
def test_a_link_reads_back_to_the_same_run_and_stays_short(experiment, step):
    view = View(
        tab="inspector", theme="dark", hide="controls", align=True, log=True, mode="lecture", lesson="hidden-twin"
    )
    text = write_link(experiment, step=step, view=view)
    assert len(text) < 500
    assert read(text) == read_query("?" + text) == Link(experiment, step, view)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_with_one_knob_turned_keeps_both(name):
    turned = replace(PRESETS[name], seed=77)
    assert read(write_link(turned)).experiment == turned
    assert read(f"preset={name}&seed=77").experiment == turned
    assert write_link(PRESETS[name]) in (f"preset={name}", "")


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
        ("theme=neon", "theme"),
        ("hide=everything", "hide"),
        ("align=yes", "align"),
        ("lesson=<b>", "lesson"),
        ("mode=" + "a" * 50, "mode"),
        ("step=" + "9" * 5000, "step"),
        ("step=%D9%A3", "step"),
        ("nv=1_0", "nv"),
        ("nv=%EF%BC%98", "nv"),
        ("T=10.000", "T"),
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


def test_a_decimal_comma_is_read_or_refused_and_never_dropped():
    assert read("g2=0,5&rate=1,5&T=10,000").experiment == Experiment(variance=0.5, rate=1.5)
    link = read("nv=1,5")
    assert link.experiment == Experiment()
    assert link.notices == ("nv: Visible units must be a whole number such as 10,000, got “1,5”, which is 1.5.",)


def test_many_unknown_keys_are_one_sentence():
    for n, others in ((3, ""), (4, " and 1 other"), (300, " and 297 others")):
        link = read("&".join(f"x{k}=1" for k in range(n)))
        assert link.notices == (f"“x0”, “x1”, “x2”{others} are not keys that this page knows.",)
