"""Bokeh figures, built once and shown again."""
