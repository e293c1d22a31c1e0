"""Offline: a figure of Bokeh as one page that asks nothing of a network, nor of files beside it."""

from __future__ import annotations

import re

from bokeh.embed import file_html
from bokeh.models import Model
from bokeh.resources import INLINE

SERVED = re.compile(r'\s*<script src="static/extensions/[^"]*"></script>')  # Panel's own, which only a server has


def offline_page(figure: Model, title: str) -> str:
    """The page.

    Args:
        figure: any model of Bokeh.
        title: of the page.
    """
    return SERVED.sub("", str(file_html(figure, INLINE, title)))
