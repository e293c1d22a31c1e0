"""Glossary: terms that are underlined with dots wherever the page writes them, and say what they mean."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import param

from hidviz.ui.components.base import Component
from hidviz.ui.text.glossary import TERMS
from hidviz.ui.text.language import _


class Glossary(Component):
    """Marks the first of each term in every text of the page; pointer, Tab key and tap show its sentence."""

    terms = param.List(doc="For each term: its name, how it may be written, and what it means.")

    _shared = ("shadows",)

    def __init__(self, **params: Any) -> None:
        super().__init__(terms=[[_(part) for part in astuple(term)] for term in TERMS], **params)
