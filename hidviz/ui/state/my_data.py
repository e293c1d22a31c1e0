"""My data: the recording that a session looks at, and what is learned from it, step after step in the background.

Each step has a Runner of its own: reading, the scan, the checks. What one of them has found stays until the next takes
its place; a file that cannot be read takes nothing's place. Nothing here outlives the session.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hidviz.background import Runner
from hidviz.experiments import ScanRow
from hidviz.ui.state.own_checks import Checked, iter_checks
from hidviz.ui.state.own_files import OUR_SOURCE, How, Looked, Source, iter_look
from hidviz.ui.state.own_scan import Plan, Scanned, iter_scan

LOG = logging.getLogger(__name__)
WIDTH = 0.02  # seconds: the bin to begin with


class Found(NamedTuple):
    """What has been found so far, each None before: what was read, the scan of it, the checks of one of its models."""

    looked: Looked | None = None
    scanned: Scanned | None = None
    checked: Checked | None = None


class MyData:
    """One session's own recording."""

    def __init__(self) -> None:
        self._n_restored = 0
        self.n_problems = 0  # refusals so far: the same sentence may be meant a second time
        self._source: Source | None = None  # that was handed in last: being read, read, or refused
        self._reading: Source | None = None  # that is being read, or was last
        self._fresh()
        self.width = WIDTH
        self.looked: Looked | None = None
        self.scanned: Scanned | None = None
        self.checked: Checked | None = None

    def _fresh(self) -> None:
        """Nothing under way, nothing wrong."""
        self._reader: Runner[Looked] = Runner()
        self._scanner: Runner[Scanned] = Runner()
        self._checker: Runner[Checked] = Runner()
        self._told: tuple[int, ...] = self.version
        self.problem = ""
        self._refusal: BaseException | None = None  # that ended a reading, as said last
        self.scan_problem = ""
        self.check_problem = ""

    @property
    def version(self) -> tuple[int, ...]:
        """Another one whenever something was found, has ended, or was begun."""
        runners = self._reader, self._scanner, self._checker
        return self._n_restored, self.n_problems, *(runner.version for runner in runners)

    @property
    def reading(self) -> bool:
        """Whether files are being read."""
        return not self._reader.ended

    @property
    def scanning(self) -> bool:
        """Whether a scan is under way."""
        return not self._scanner.ended

    @property
    def checking(self) -> bool:
        """Whether checks are under way."""
        return not self._checker.ended

    @property
    def rests(self) -> bool:
        """Whether what was found is all there is: nothing is under way, or found and not taken in."""
        return not (self.reading or self.scanning or self.checking) and self.version == self._told

    @property
    def opened(self) -> bool:
        """Whether files were handed in, read or not."""
        return self._source is not None

    @property
    def found(self) -> Found:
        """All that is there now."""
        return Found(self.looked, self.scanned, self.checked)

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
        self.n_problems += 1

    def read_as(self, how: How) -> None:
        """Read the same files in another way."""
        if self._source is not None:
            self._read(replace(self._source, how=how))

    def bin_by(self, width: float) -> None:
        """Look at the same spikes, or at those that are being read, in bins of another width, in seconds."""
        reading = self._reading if self.reading else None  # asked first: what ends by then is taken in by the next line
        self.poll()
        self.width, looked = width, self.looked
        if reading is not None:
            self._begin(reading)
        elif looked is not None and looked.bin is not None and looked.bin != width:
            self._begin(looked.source)

    def scan(self, plan: Plan) -> None:
        """Find out how many hidden units it takes; the rows of an earlier scan give way to the new ones."""
        if self.looked is not None:
            self.stop_checks()
            self.scanned, self.scan_problem = None, ""
            self._scanner.start(iter_scan(self.looked, plan))

    def stop_scan(self) -> None:
        """Give the scan up; the rows that are there stay."""
        self._scanner.stop()

    def check(self, row: ScanRow, hide: Sequence[str] | None = None) -> None:
        """Find out whether a model of the scan can be relied on; earlier checks give way to the new ones.

        Args:
            row: the model.
            hide: names of units to hide in turn; None for the busiest.
        """
        if self.scanned is not None:
            self.checked, self.check_problem = None, ""
            self._checker.start(iter_checks(self.scanned, row, hide))

    def stop_checks(self) -> None:
        """Give the checks up; what is known stays."""
        self._checker.stop()

    def restore(self, found: Found) -> None:
        """Go back to what was there once, bit for bit; whatever is under way is given up."""
        self.close()
        self._n_restored += 1
        self._fresh()
        self.looked, self.scanned, self.checked = found
        self._source = None if found.looked is None else found.looked.source
        if found.looked is not None and found.looked.bin is not None:
            self.width = found.looked.bin

    def close(self) -> None:
        """Give up whatever is under way."""
        for runner in (self._reader, self._scanner, self._checker):
            runner.stop()

    # Taking in what was found

    def poll(self) -> bool:
        """Take in what has been found since the last call; whether there was anything."""
        version = self.version
        if version == self._told:
            return False
        self._told = version
        if (refusal := self._reader.failure) is not None and refusal is not self._refusal:
            LOG.info("an own file was refused")
            self._refusal = refusal
            self.refuse(str(refusal) or type(refusal).__name__)
        elif (found := self._reader.latest) is not None:
            self.looked = found
        if failure := self._scanner.failure:
            self.scan_problem = str(failure) or type(failure).__name__
        if (rows := self._scanner.latest) is not None:
            self.scanned = rows
        if failure := self._checker.failure:
            self.check_problem = str(failure) or type(failure).__name__
        if (known := self._checker.latest) is not None:
            self.checked = known
        return True

    def _read(self, source: Source) -> None:
        self._source = source
        self._begin(source)

    def _begin(self, source: Source) -> None:
        """Read files and bin them; those that are shown have been read."""
        known = self.looked.spikes if self.looked is not None and self.looked.source is source else None
        self.problem, self._reading = "", source
        self._reader.start(iter_look(source, self.width, known))
