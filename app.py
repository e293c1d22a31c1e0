"""Open the page: panel serve app.py."""
from hidviz.ui import page; page.servable()  # noqa: E702
