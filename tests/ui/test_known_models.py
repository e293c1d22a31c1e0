"""Messages name the models that a browser knows and bring those that it does not, asked for or gathered in a table."""

from importlib import import_module

import pytest
from bokeh.core.serialization import Deserializer, Serializer, UnknownReferenceError
from bokeh.document import Document
from bokeh.document import document as reading
from bokeh.document.models import DocumentModelManager
from bokeh.models import Column, ColumnDataSource, Range1d, Slider
from panel.io import model as held

from hidviz.ui.known_models import ask_for_known_models

writing = import_module("bokeh.protocol.messages.patch_doc")


@pytest.fixture(autouse=True)
def bokehs_own(monkeypatch):
    monkeypatch.setattr(writing, "Serializer", Serializer)
    monkeypatch.setattr(held, "Serializer", Serializer)
    monkeypatch.setattr(reading, "Deserializer", Deserializer)
    monkeypatch.setattr(DocumentModelManager, "synced_references", _GATHERED)


_GATHERED = DocumentModelManager.synced_references


def messages():
    """What is sent as a page changes: a known model, one that refers to it, a new one twice, a root, one taken away."""
    document = Document()
    column, known, source = Column(), Range1d(), ColumnDataSource(data={"x": [1.0, 2.0]})
    document.add_root(column)
    column.tags = [known, source]
    document.models.flush_synced()
    sent = []

    def send(event):
        message = writing.patch_doc.create([event])
        names = {model.id: f"model {k}" for k, model in enumerate((column, known, source, new, second, third))}
        text = str(message.content)
        for name, word in names.items():
            text = text.replace(repr(name), word)
        sent.append(text)

    new, second, third = (Slider(start=0, end=end, value=0.5, name=f"slider {end}") for end in (1, 2, 3))
    document.on_change_dispatch_to(Listener(send))
    known.start = 1.0
    source.data = {"x": [3.0]}
    column.children = [new]
    new.value = 0.25
    column.children = [new, second]
    column.children = [second]
    second.on_change("value", lambda attr, old, new: column.update(children=[second, third]))  # noqa: ARG005
    document.apply_json_patch(change(second.id, "value", 0.75))  # what a browser has sent, and what follows from it
    third.value = 1.0
    return sent


def change(name, attr, new):
    return {"events": [{"kind": "ModelChanged", "model": {"id": name}, "attr": attr, "new": new}]}


class Listener:
    def __init__(self, send):
        self._document_patched = send


def test_messages_are_the_same():
    gathered = messages()
    ask_for_known_models()
    assert writing.Serializer is not Serializer
    assert messages() == gathered
    for name in ("slider 1", "slider 2", "slider 3"):
        assert sum(name in text for text in gathered) == 1, "a new model comes whole, and once"


def test_what_a_browser_sends_is_applied_and_a_name_that_nobody_has_is_dropped():
    ask_for_known_models()
    document, slider = Document(), Slider(start=0, end=1, value=0.5)
    document.add_root(slider)

    document.apply_json_patch(change(slider.id, "value", 0.75))
    assert slider.value == 0.75
    column = Column()
    document.add_root(column)
    brought = {"type": "object", "name": "Slider", "id": "brought", "attributes": {"start": 0, "end": 1, "value": 1}}
    document.apply_json_patch(change(column.id, "children", [brought, {"id": slider.id}]))
    assert [child.id for child in column.children] == ["brought", slider.id]
    with pytest.raises(UnknownReferenceError, match="nobody"):
        document.apply_json_patch(change("nobody", "value", 0.5))
    assert slider.value == 0.75


def test_it_is_done_once_and_another_bokeh_is_left_as_it_is(monkeypatch, caplog):
    ask_for_known_models()
    asking = writing.Serializer
    ask_for_known_models()
    assert writing.Serializer is asking
    monkeypatch.setattr(writing, "Serializer", Serializer)
    monkeypatch.delattr(reading, "Deserializer")
    with caplog.at_level("INFO"):
        ask_for_known_models()
    assert "Deserializer" in caplog.text
    assert writing.Serializer is Serializer
