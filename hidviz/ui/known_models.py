"""The models that a browser knows: Bokeh makes a table of all of them for every message that it writes or reads.

A frame is several messages, and a page whose tabs have all been seen has 1,800 models; one that is asked for by name is
found at once in what the document keeps.
"""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from bokeh.core.serialization import Deserializer, Ref, Serializer
from bokeh.document import document as reading
from bokeh.document.models import DocumentModelManager
from bokeh.model import Model
from panel.io import model as held

LOG = logging.getLogger(__name__)


class _Known:
    """The models of a document that its browser knows, gathered only by who goes through them."""

    def __init__(self, models: DocumentModelManager) -> None:
        self._models = models

    def __iter__(self) -> Iterator[Model]:
        return (model for model in self._models if model not in self._models._new_models)

    def __contains__(self, model: Model) -> bool:
        return self._models.get_by_id(model.id) is model and model not in self._models._new_models


class _Asking(Serializer):  # type: ignore[misc]  # bokeh has no types here
    """Asks whether a model is known."""

    def __init__(self, *, references: Any = frozenset(), **options: Any) -> None:
        asks = isinstance(references, _Known)
        super().__init__(references=set() if asks else references, **options)
        self._known = references if asks else frozenset()

    def has_ref(self, obj: Any) -> bool:
        return super().has_ref(obj) or (isinstance(obj, Model) and obj in self._known)

    def get_ref(self, obj: Any) -> Ref | None:
        found = super().get_ref(obj)
        if found is None and isinstance(obj, Model) and obj in self._known:
            return obj.ref
        return found


class _Reading(Deserializer):  # type: ignore[misc]
    """Finds the models that a message names among those that the document had when it came."""

    def __init__(self, references: Sequence[Model] | None = None, **options: Any) -> None:
        document = references[0].document if references else None
        super().__init__(None if document else references, **options)
        if document:  # its own table is put aside, not changed, as models come and go
            self._references = ChainMap({}, document.models._models)


def ask_for_known_models() -> None:
    """Let messages ask for the models that they name.

    Once a process, and left out where Bokeh or Panel are no longer as they were.
    """
    writing = import_module("bokeh.protocol.messages.patch_doc")  # its package has a class of that name
    try:
        there = (writing.Serializer, held.Serializer, reading.Deserializer)
        _ = DocumentModelManager.synced_references, DocumentModelManager.get_by_id, Serializer.get_ref
    except AttributeError as error:
        LOG.info("this Bokeh finds the models that a browser knows in another way: %s", error)
        return
    if there != (Serializer, Serializer, Deserializer):
        return
    vars(writing)["Serializer"] = vars(held)["Serializer"] = _Asking
    reading.Deserializer = _Reading
    DocumentModelManager.synced_references = property(_Known)
