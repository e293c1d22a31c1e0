"""The scan of My data: how many hidden units, asked of the recording that is looked at, in its bins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hidviz.experiments import Scan, scan
from hidviz.network import Parts, Recording, divide
from hidviz.ui.state.own_files import Looked

WHICH = {"both": (False, True), "no": (False,), "yes": (True,)}


@dataclass(frozen=True)
class Plan:
    """What to scan.

    Args:
        most: the largest number of hidden units.
        coupled: "both", "no" or "yes": whether hidden units are coupled to each other and themselves (M).
        repeats: "both", "no" or "yes": whether under h(t), which repeats tell; only where there are repeats.
        starts: random starts of each model.
        steps: most steps of a start.
        sparse: whether every model has an L1 penalty, chosen on the stopping part.
    """

    most: int = 2
    coupled: str = "both"
    repeats: str = "both"
    starts: int = 2
    steps: int = 250
    sparse: bool = False


@dataclass(frozen=True, eq=False)
class Scanned:
    """How far a scan has come.

    Args:
        looked: at what.
        plan: what was asked.
        recording: what the learners saw, units that never change left out.
        parts: what was learned from, stopped by and judged by.
        table: the rows so far.
    """

    looked: Looked
    plan: Plan
    recording: Recording
    parts: Parts
    table: Scan

    @property
    def complete(self) -> bool:
        """Whether all rows are there."""
        return len(self.table.rows) == self.table.n

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command line that do the same."""
        source, plan, how = self.looked.source, self.plan, self.looked.source.how
        words = ["fit", *source.names]
        for option, value in (
            ("--bin", None if self.looked.bin is None else f"{1000 * self.looked.bin:g}ms"),
            ("--variable", how.variable),
            ("--rate", None if how.rate is None else f"{how.rate:.15g}"),
            ("--trials", how.trials),
            ("--from", None if how.start is None else f"{how.start:.15g}"),
            ("--to", None if how.stop is None else f"{how.stop:.15g}"),
            ("--units", ",".join(how.units) or None),
        ):
            words += [] if value is None else [option, value]
        words += ["--transpose"] if how.transpose else []
        words += ["--hidden", f"0-{plan.most}", "--hidden-hidden", plan.coupled]
        words += [] if plan.repeats == "both" else ["--repeats", plan.repeats]
        words += ["--l1"] * plan.sparse
        return (*words, "--starts", str(plan.starts), "--steps", str(plan.steps), "--out", "fit.npz")


def iter_scan(looked: Looked, plan: Plan) -> Iterator[Scanned]:
    """Scan, for a Runner: the table whenever it has grown, or something else is being done.

    Raises:
        ValueError: the recording is too short, or nothing in it changes.
    """
    recording = looked.spikes.recording(looked.bin)
    parts = divide(recording)
    tables = scan(
        parts, hidden=range(plan.most + 1), hidden_hidden=WHICH[plan.coupled], driven=WHICH[plan.repeats],
        starts=plan.starts, max_steps=plan.steps, l1="chosen" if plan.sparse else 0.0,
    )  # fmt: skip
    first = None
    for table in tables:
        first = Scanned(looked, plan, recording, parts, table) if first is None else replace(first, table=table)
        yield first
