"""Access: the page for those who hear it or use no mouse."""

from __future__ import annotations

import param

from hidviz.ui.components.base import Component


class Access(Component):
    """A way past the head of the page, names for what the libraries leave nameless, and words for every figure."""

    event = param.String(doc="What happened last; whenever it changes, figures are put into words anew.")

    _shared = ("shadows", "named")
