"""Opening: a bundle that was handed in, read in the background, since a hostile one takes its time."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

from hidviz.background import Runner
from hidviz.experiments import Bundle, load_bundle

LOG = logging.getLogger(__name__)


class Opening:
    """The file that was handed in last."""

    def __init__(self) -> None:
        self._runner: Runner[Bundle] = Runner()
        self._awaited = False

    def open(self, content: bytes) -> None:
        """Begin to read a file; one that is being read is left."""
        self._runner.start(_read(content))
        self._awaited = True

    @property
    def stirred(self) -> bool:
        """Whether `take` would give something."""
        return self._awaited and self._runner.ended

    def take(self) -> Bundle | str | None:
        """What was read, or the sentence that refuses it, once; None while there is neither."""
        if not self.stirred:
            return None
        self._awaited, runner = False, self._runner
        if runner.failure:
            LOG.info("a file was refused")
        return str(runner.failure) if runner.failure else runner.latest

    def close(self) -> None:
        """Leave what is being read."""
        self._awaited = False
        self._runner.stop()


def _read(content: bytes) -> Iterator[Bundle]:
    yield load_bundle(io.BytesIO(content))
