"""What is sent to the browser: small arrays in the text of their message, and of a component only what has changed."""

import json

import numpy as np
import param
import pytest
from bokeh.core.serialization import Deserializer, Serializer
from bokeh.models import ColumnDataSource

from hidviz.ui.components.base import Component
from hidviz.ui.plots.small_arrays import LARGEST, packed


class Lamp(Component):
    on = param.Boolean()
    text = param.String("")
    items = param.List([])


@pytest.mark.parametrize("values", [np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4).T, np.empty(0)])
def test_a_small_array_is_text_and_comes_back_as_it_was(values):
    source = ColumnDataSource({"image": [packed(values)]})
    serialized = Serializer(deferred=True).serialize(source)
    assert not serialized.buffers
    column = next(value for key, value in serialized.content["attributes"]["data"]["entries"] if key == "image")
    back = Deserializer().deserialize(json.loads(json.dumps(column)))
    np.testing.assert_array_equal(back[0], values.astype(np.float32))


def test_what_is_not_a_number_comes_back_too():
    sent = json.loads(json.dumps(Serializer(deferred=True).serialize(packed(np.array([1.0, np.nan, -np.inf]))).content))
    np.testing.assert_array_equal(Deserializer().deserialize(sent), np.array([1.0, np.nan, -np.inf], np.float32))


def test_a_large_array_goes_behind_its_message():
    few, many = (packed(np.zeros(LARGEST // 4 + extra)) for extra in (0, 1))
    assert [len(Serializer(deferred=True).serialize(each).buffers or []) for each in (few, many)] == [0, 1]


def test_only_what_is_another_value_now_is_put_and_all_of_it_at_once():
    lamp, told = Lamp(), []
    lamp.param.watch(lambda *events: told.append({each.name: each.new for each in events}), ["on", "text", "items"])
    lamp.put(on=True, text="lit", items=[1])
    lamp.put(on=True, text="lit", items=[1])
    lamp.put(on=True, text="dim")
    assert told == [{"on": True, "text": "lit", "items": [1]}, {"text": "dim"}]
    with pytest.raises(ValueError, match="on"):
        lamp.put(on="yes")
