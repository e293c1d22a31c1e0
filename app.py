"""The page, for `panel serve app.py`."""

from hidviz.ui import page

page().servable(location=False)
