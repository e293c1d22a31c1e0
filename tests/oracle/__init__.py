"""Slow, obvious re-derivations that import nothing they judge: each file takes arrays and returns numbers."""
