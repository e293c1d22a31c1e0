"""The Compare tab, without a browser: which frame of a run is pinned."""

from hidviz import Experiment
from hidviz.experiments import Frame, iter_run
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.compare import CompareTab

SMALL = Experiment(n_visible=3, n_hidden=1, n_steps=100, n_held_out=0, max_steps=2)


class EndsMeanwhile:
    """A runner that publishes its last frame and ends as soon as somebody has looked at the one before."""

    version, failure = 1, None

    def __init__(self, frames):
        self._frames = list(frames)

    @property
    def ended(self):
        return len(self._frames) == 1

    @property
    def latest(self):
        return self._frames.pop(0) if len(self._frames) > 1 else self._frames[0]

    def stop(self):
        pass


def test_a_run_that_ends_while_the_tab_looks_is_pinned_with_its_last_frame():
    frames = [item for item in iter_run(SMALL) if isinstance(item, Frame)]
    session = Session(SMALL, frames[-1])
    tab = CompareTab(session)
    tab._learner, tab._pending = EndsMeanwhile(frames[-2:]), True
    for _ in range(2):
        tab._take_learned()
    session.close()
    assert [pin.frame for pin in tab._pins] == [frames[-1]]
    assert tab.buttons.disabled == []
