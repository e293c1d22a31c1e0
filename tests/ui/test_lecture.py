"""What a lecturer hands out: links that are short and hide what they should, and a lesson on paper."""

import re
from urllib.parse import parse_qs

import pytest
import segno

from hidviz.experiments import Experiment
from hidviz.ui.components.teach_sheet import qr_code
from hidviz.ui.dashboard import Dashboard
from hidviz.ui.state.link import HIDEABLE, Link, View, read_link, read_query, write_link
from hidviz.ui.text.handout import handout
from hidviz.ui.text.lessons import LESSONS


@pytest.fixture
def dashboard():
    shown = Dashboard(Link(Experiment()))
    yield shown
    shown.close()


def test_groups_to_hide_go_through_a_link():
    view = View(hide="settings,tabs,transport", lock=True, mode="lecture", lesson="hidden-twin")
    assert read_query(write_link(Experiment(), view=view)).view == view
    assert "hide=settings,tabs,transport" in write_link(Experiment(), view=view)
    assert [view.hides(group) for group in HIDEABLE] == [True] * 3
    assert View(hide="controls").hides("settings")
    assert not View(hide="tabs").hides("settings")


def test_a_group_that_there_is_not_is_named():
    link = read_link({"hide": ["settings,everything"]})
    assert link.view.hide == ""
    assert link.notices == ("hide: “everything” is not one of settings, tabs, transport.",)


def test_the_link_of_the_class_is_short_and_has_what_it_hides(dashboard):
    mine, theirs = dashboard.address.for_class("hidden-twin", ["transport", "settings"], lock=True)
    assert parse_qs(mine[1:]) == {
        "lesson": ["hidden-twin"],
        "mode": ["lecture"],
        "hide": ["settings"],
        "students": ["settings,transport,lock"],
    }
    assert parse_qs(theirs[1:]) == {"lesson": ["hidden-twin"], "hide": ["settings,transport"], "lock": ["1"]}
    assert len(theirs) < 80
    assert dashboard.address.for_class("", [], lock=True)[1] == ""


def test_the_code_is_a_picture_of_the_link():
    code = qr_code("http://localhost:5006/hidviz?lesson=hidden-twin")
    assert code.startswith("<svg")
    assert code != qr_code("http://localhost:5006/hidviz?lesson=mean-field")


@pytest.mark.parametrize("length", [10, 80, 300])
def test_the_code_fills_its_place_however_long_the_link(length):
    link = "http://localhost:5006/hidviz?" + "x" * length
    code = qr_code(link)
    side = segno.make(link, error="m", micro=False).symbol_size(border=4)[0]
    assert f'viewBox="0 0 {side} {side}"' in code
    assert "width=" not in code.split(">")[0]


@pytest.mark.parametrize("key", LESSONS)
def test_a_handout_has_every_step_and_blanks_for_its_numbers(key):
    page = handout(key, "http://localhost:5006/hidviz?a=1&b=2", "<svg></svg>")
    lesson = LESSONS[key]
    assert page.count("<li>") == len(lesson.steps)
    assert page.count('class="blank"') == sum(len(re.findall(r"\{[^}]*\}", step.say)) for step in lesson.steps)
    assert page.count("☐") == sum(len(step.options) for step in lesson.steps)
    assert "a=1&amp;b=2" in page
    for step in lesson.steps:
        assert not step.reveal or step.reveal not in page, "the answer is given away"


def test_what_a_link_hides_comes_back_unless_it_is_locked():
    for lock in (False, True):
        shown = Dashboard(Link(Experiment(), view=View(hide="tabs,transport", lock=lock)))
        try:
            assert not shown.views.bar.visible
            assert shown.transport.bar.bare
            assert ("s" in shown.instrument.keys) is not lock
            shown.lecture.show_all()
            assert shown.views.bar.visible is not lock
            assert shown.transport.bar.bare is lock
            assert ("hide" in shown.address.query()) is lock
        finally:
            shown.close()
