"""The Symmetry tab, without a browser: for which estimate its costs are evaluated."""

import pytest

from hidviz import Experiment
from hidviz.experiments import Frame, iter_run
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.equivalent import EquivalentTab

SMALL = Experiment(n_visible=4, n_hidden=1, n_steps=200, n_held_out=0, seed=3, max_steps=6)


class Ran(Session):
    """A session of which a test says whether its run goes on."""

    running = False


@pytest.fixture
def frames():
    return [item for item in iter_run(SMALL) if isinstance(item, Frame)]


def test_a_run_that_pauses_where_it_was_looked_at_is_evaluated_there(frames):
    session = Ran(SMALL, frames[-1])
    tab = EquivalentTab(session, on_gauge=lambda _: None)
    try:
        for frame, running in ((frames[0], False), (frames[3], True), (frames[3], False)):
            session.frame, session.running = frame, running
            assert tab.stirred
            tab.look()
            assert tab._base is (frames[0] if running else frame)
    finally:
        tab.close()
        session.close()
