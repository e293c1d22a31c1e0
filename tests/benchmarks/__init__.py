"""Measurements, run by hand: engine, growth, training, load. None is a test, and no test asserts a time."""
