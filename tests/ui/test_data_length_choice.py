"""What the Data length tab offers for each figure."""

from types import SimpleNamespace

from hidviz.experiments import Experiment
from hidviz.ui.tabs.data_length_choice import Choice


def test_each_kind_of_figure_begins_on_its_own_scale_and_keeps_the_one_chosen():
    choice = Choice(SimpleNamespace(wanted=Experiment()), lambda: None)
    assert choice.scale == "log"  # costs: their axis is never logarithmic
    choice._select.value = "6"
    assert choice.scale == "log-log"
    choice._scale.value = "linear"
    choice._select.value = "floors"
    assert choice.scale == "linear"
    choice._select.value = "3"
    assert dict(choice._scale.options) == {"Linear": "linear"}
    choice._select.value = "5"
    assert choice.scale == "log-log"
