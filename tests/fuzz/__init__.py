"""Seeded fuzz of the page in a real browser: `python -m tests.fuzz SEED EVENTS`."""
