"""The version of hidviz, as results carry it."""

__version__ = "0.1.0"
