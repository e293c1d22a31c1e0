"""My data: the recording that a session looks at, and what is learned from it, step after step in the background.

Each step has a Runner of its own: reading, the scan, the checks. What one of them has found stays until the next takes
its place; a file that cannot be read takes nothing's place. Nothing here outlives the session.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from hidviz.background import Runner
from hidviz.ui.state.own_files import OUR_SOURCE, How, Looked, Source, iter_look

LOG = logging.getLogger(__name__)
WIDTH = 0.02  # seconds: the bin to begin with


class MyData:
    """One session's own recording."""

    def __init__(self) -> None:
        self._reader: Runner[Looked] = Runner()
        self._source: Source | None = None  # that is being read, or was read last, or refused
        self._told = -1
        self.width = WIDTH
        self.looked: Looked | None = None
        self.problem = ""

    @property
    def version(self) -> int:
        """Grows with whatever has been read."""
        return self._reader.version

    @property
    def reading(self) -> bool:
        """Whether files are being read."""
        return not self._reader.ended

    @property
    def opened(self) -> bool:
        """Whether files were handed in, read or not."""
        return self._source is not None

    @property
    def how(self) -> How:
        """How the files are read."""
        return How() if self._source is None else self._source.how

    # What a user can do

    def try_ours(self) -> None:
        """Read the recording that ships with hidviz."""
        self._read(OUR_SOURCE)

    def open(self, files: Mapping[str, bytes]) -> None:
        """Read files that were handed in; what was there before stays until they are read."""
        self._read(Source(files, How()))

    def refuse(self, sentence: str) -> None:
        """Say why a file was not taken."""
        self.problem = sentence

    def read_as(self, how: How) -> None:
        """Read the same files in another way."""
        if self._source is not None:
            self._read(replace(self._source, how=how))

    def bin_by(self, width: float) -> None:
        """Look at the same spikes in bins of another width, in seconds."""
        self.width = width
        if self.looked is not None and self.looked.bin is not None and self.looked.bin != width:
            self._begin(self.looked.source, self.looked)

    def close(self) -> None:
        """Give up whatever is under way."""
        self._reader.stop()

    # Taking in what was found

    def poll(self) -> bool:
        """Take in what has been read since the last call; whether there was anything."""
        version = self._reader.version
        if version == self._told:
            return False
        self._told = version
        if failure := self._reader.failure:
            LOG.info("an own file was refused")
            self.problem = str(failure) or type(failure).__name__
        elif (found := self._reader.latest) is not None:
            self.looked = found
        return True

    def _read(self, source: Source) -> None:
        self._source = source
        self._begin(source, None)

    def _begin(self, source: Source, known: Looked | None) -> None:
        self.problem = ""
        self._reader.start(iter_look(source, self.width, None if known is None else known.spikes))
