"""The Data tab, without a browser: what is counted of a recording, and what is told of its hidden states."""

import time
from dataclasses import replace

import pytest

from hidviz import Experiment
from hidviz.experiments import Frame, iter_run
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.data import DataTab

THREE = Experiment(
    n_visible=4, n_hidden=3, n_steps=200, n_held_out=0, model="stochastic", learner="exact", max_steps=1
)  # fmt: skip


def last_frame_of(experiment):
    *_, frame = (item for item in iter_run(experiment) if isinstance(item, Frame))
    return frame


@pytest.fixture
def looking():
    session = Session(THREE, last_frame_of(THREE))
    tab = DataTab(session)
    yield session, tab
    tab.close()
    session.close()


def look_until(tab, holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        if tab.stirred:
            tab.look()
        time.sleep(0.01)


def test_fewer_hidden_units_are_drawn_and_counted_while_they_are_revealed(looking):
    session, tab = looking
    tab.reveal.value = True
    look_until(tab, lambda: tab._told is not None and tab._counted is not None)
    session.frame = last_frame_of(replace(THREE, n_hidden=2))
    tab.look()
    look_until(tab, lambda: tab._told is not None and tab._counted is not None)
    assert len(tab._counted.hidden_rates) == tab._told.states.shape[1] == 2
