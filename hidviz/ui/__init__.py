"""The page: the only part of hidviz that knows Panel."""

from hidviz.ui.dashboard import Dashboard
from hidviz.ui.page import page

__all__ = ["Dashboard", "page"]
