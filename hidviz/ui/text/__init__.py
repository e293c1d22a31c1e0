"""Sentences and tables in words."""
