"""All tabs of the page, in their order: first those that everybody sees, then those that stand back."""

from __future__ import annotations

from collections.abc import Callable

from hidviz.experiments import Frame
from hidviz.network import Gauge
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.compare import CompareTab
from hidviz.ui.tabs.data import DataTab
from hidviz.ui.tabs.data_length import LengthsTab
from hidviz.ui.tabs.equivalent import EquivalentTab
from hidviz.ui.tabs.inspector import InspectorTab
from hidviz.ui.tabs.learn import LearnTab
from hidviz.ui.tabs.my_data import MyDataTab
from hidviz.ui.tabs.restarts import RestartsTab
from hidviz.ui.tabs.scores import ScoresTab
from hidviz.ui.tabs.tab import Maker


def tab_makers(
    session: Session, own: MyData, learn: LearnTab, *, load: Callable[[Frame], None], go_to: Callable[[Gauge], None]
) -> tuple[Maker, ...]:
    """For each tab its class, and a function that builds it; in the order of `hidviz.ui.state.link.TABS`.

    Args:
        session: whose run they show.
        own: the session's own recording.
        learn: the first tab, which is always there.
        load: takes over a run that was made elsewhere.
        go_to: goes to an equivalent model.
    """
    return (
        (LearnTab, lambda: learn),
        (EquivalentTab, lambda: EquivalentTab(session, go_to)),
        (DataTab, lambda: DataTab(session)),
        (InspectorTab, lambda: InspectorTab(session, learn.coupling)),
        (MyDataTab, lambda: MyDataTab(own)),
        (RestartsTab, lambda: RestartsTab(session, load, lambda: session.data)),
        (LengthsTab, lambda: LengthsTab(session)),
        (CompareTab, lambda: CompareTab(session)),
        (ScoresTab, lambda: ScoresTab(session)),
    )
