from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.experiments.experiment import CHOICES, OPTIONAL, Experiment
from hidviz.experiments.presets import PRESETS
from hidviz.ui.state.link import Link, View, language_of, read_link, read_query, write_link


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


def test_the_defaults_are_said_once_more_here():
    plain = View(
        tab="learn", theme="", hide="", speed="", align=False, log=False, mode="", lesson="", language="", lock=False,
        students="",
    )  # fmt: skip
    assert read("") == Link(Experiment(), step=None, view=plain, notices=())


@pytest.mark.parametrize("key", ["align", "log", "lock"])
def test_switches_are_on_off_or_refused(key):
    assert getattr(read(f"{key}=1").view, key) is True
    assert getattr(read(f"{key}=0").view, key) is False
    assert read(f"{key}=yes") == Link(Experiment(), notices=(f"{key}: must be 1 or 0, got “yes”.",))
    assert read(f"{key}=") == Link(Experiment())
    assert write_link(Experiment(), view=View(**{key: True})) == f"{key}=1"


def test_a_knob_that_is_a_switch_may_be_written_in_words():
    for text in ("1", "true", "Yes"):
        assert read(f"m={text}") == Link(Experiment(hidden_hidden=True))
    for text in ("0", "False", "no"):
        assert read(f"m={text}") == Link(Experiment())
    (notice,) = read("m=maybe").notices
    assert notice == "m: must be 1 or 0, got “maybe”."
    assert write_link(Experiment(hidden_hidden=True)) == "m=1"


def test_a_step_is_a_whole_number_up_to_a_hundred_thousand():
    for step in (0, 1, 100_000):
        assert read(f"step={step}") == Link(Experiment(), step=step)
        assert write_link(Experiment(), step=step) == f"step={step}"
    for text in ("-1", "100001", "ten", ""):
        said = f"step: must be a whole number from 0 to 100,000, got “{text}”."
        assert read(f"step={text}") == Link(Experiment(), notices=(said,))


def test_the_last_value_counts_and_none_is_none():
    assert read_link({"nv": ["5", b"7"], "nh": []}) == Link(Experiment(n_visible=7))
    assert [language_of(given) for given in ({"language": ["en", b"sv"]}, {"language": ["sv", "xx"]}, {})] == [
        "sv", "en", "en"
    ]  # fmt: skip
    assert read("language=sv").view.language == "sv"
    assert read("language=en") == Link(Experiment())


def test_an_optional_knob_may_be_given_up():
    assert read("preset=&rate=&box=").experiment == Experiment(rate=None, box=None)
    assert all(getattr(Experiment(), name) is None for name in OPTIONAL), "so that none has to be written"
    base = Experiment(rate=0.5, box=2.0)
    assert write_link(base) == "rate=0.5&box=2.0"
    assert "“”" in read("nv=").notices[0]


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("hide=tabs,,tabs,settings", View(hide="tabs,settings")),
        ("hide=,", View()),
        ("hide=controls", View(hide="controls")),
        ("students=lock,tabs", View(students="lock,tabs")),
        ("theme=&tab=&hide=", View()),
        ("speed=&mode=lecture&theme=light", View(mode="lecture", theme="light")),
    ],
)
def test_a_view_is_read_without_a_word(text, view):
    assert read(text) == Link(Experiment(), view=view)


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("hide=lock", "hide: “lock” is not one of settings, tabs, transport."),
        ("students=tabs,controls", "students: “controls” is not one of settings, tabs, transport."),
        ("theme=neon", "theme: “neon” is not one of light, dark."),
        ("x=1", "“x” is not a key that this page knows."),
        ("x=1&y=2", "“x”, “y” are not keys that this page knows."),
        ("preset=fig9", f"preset: “fig9” is not one of {', '.join(PRESETS)}."),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(text, notice):
    assert read(text) == Link(Experiment(), notices=(notice,))


def test_bytes_that_are_no_text_are_refused_like_any_other_value():
    (notice,) = read_link({"theme": [b"\xff"]}).notices
    assert notice.endswith("is not one of light, dark.")


def test_a_reason_that_would_be_long_is_left_out():
    notices = [read(f"learner={'x' * n}").notices[0].removeprefix("learner: ") for n in range(1, 300)]
    told = [len(notice) for notice in notices if not notice.startswith("cannot be “x")]
    assert told == list(range(told[0], 300))
    assert len(told) < len(notices)
