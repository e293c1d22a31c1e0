"""What a person may say about files that they do not say themselves."""

from __future__ import annotations

from dataclasses import dataclass

MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Options:
    """How to read a file.

    Args:
        transpose: the file has units down the rows and time across.
        variable: which variable of a .mat, .npz or .h5 file to read, where there are several.
        rate: ticks per second of spike times that are samples (1000 for milliseconds); None for seconds.
        trials: the table of intervals of an .nwb file that are the trials ("none" for none); "trials" if there is one.
        bin: seconds per bin of counts.
    """

    transpose: bool = False
    variable: str | None = None
    rate: float | None = None
    trials: str | None = None
    bin: float | None = None

    @property
    def tick(self) -> float:
        """Seconds per unit of the file's times."""
        return 1.0 if self.rate is None else 1.0 / self.rate
