"""The scan of `hidviz fit`: several numbers of hidden units, each row shown as it is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from hidviz.cli.terminal import Bar, Refused, say
from hidviz.evaluation import error_bars
from hidviz.experiments import Fitted, Scan, Settings, couplings_table, hide_units, scan, scan_summary
from hidviz.learners import LEARNERS, Infeasible
from hidviz.network import Couplings, Recording, divide, learned_blocks

ZEROS_HELD = (
    "  Couplings that are exactly zero have no standard error; those of the others take the zeros for known, and are "
    "too small, as the same data chose which are zero."
)
WHICH = {"yes": (True,), "no": (False,), "both": (False, True)}


def run_scan(recording: Recording, settings: Settings, hidden: Sequence[int], coupled: str, repeats: str) -> Scan:
    """Scan, and say the table.

    Args:
        recording: what to learn from.
        settings: of each fit; its penalty of 0 lets the scan choose.
        hidden: numbers of hidden units.
        coupled: "yes", "no" or "both": whether there is M.
        repeats: "yes", "no" or "both": whether there is h(t), where there are repeats.

    Raises:
        Refused: the settings are not those of a scan.
        ValueError: the recording is too short to be divided.
    """
    if settings.learner != "exact" or not settings.bias or not settings.blocks:
        raise Refused("A scan needs the exact learner, biases and held-out blocks: leave those options out.")
    bar, parts, table = Bar(), divide(recording, blocks=settings.blocks), None
    for table in scan(
        parts, hidden=hidden, hidden_hidden=WHICH[coupled], driven=WHICH[repeats],
        starts=settings.starts, penalty=_number(settings) or None, l1=settings.l1, box=settings.box,
        max_steps=settings.max_steps, seed=settings.seed,
    ):  # fmt: skip
        left = f", about {table.seconds_left:.0f} s left" if table.seconds_left else ""
        bar.show(len(table.rows) / table.n, f"{table.doing}{left}")
    bar.close()
    assert table is not None
    say(table.in_words())
    if table.chosen.n_hidden and not settings.l1:
        model = f"--hidden {table.chosen.n_hidden}{' --hidden-hidden' * table.chosen.hidden_hidden}"
        say(f"  Next: which of its couplings are there? {model}{' --repeats' * table.chosen.driven} --l1")
    return table


def chosen_fit(table: Scan, recording: Recording, settings: Settings) -> Fitted:
    """The model that a scan chooses, with all that is worth knowing of the scan."""
    chosen = table.chosen
    assert chosen.couplings is not None
    summary = scan_summary(table, recording, asdict(settings))
    return Fitted(chosen.couplings, summary, chosen.external_field, chosen.path)


def check_hidden(recording: Recording, units: Sequence[str]) -> None:
    """Refuse to hide units that are not there.

    Raises:
        ValueError: one is not.
    """
    names = [recording.name_of(k) for k in range(recording.n_visible)]
    for unit in units:
        if unit not in names or len(names) < 2:
            raise ValueError(f"There is no unit {unit} to hide; there are {', '.join(names)}.")


def hide(found: Fitted, recording: Recording, settings: Settings, units: Sequence[str]) -> None:
    """Hide recorded units in turn, infer as many hidden units as the fit has, say how they compare, and keep it."""
    size = max(found.couplings.n_hidden, 1)
    if settings.learner not in ("exact", "gibbs") or not settings.blocks:
        raise Refused("--hide needs the exact learner or gibbs, and held-out blocks: leave those options out.")
    say(f"hiding {', '.join(units)} in turn, to infer each from the others ...")
    found.summary["hide"] = []
    parts = divide(recording, blocks=settings.blocks).with_external_field(found.external_field)
    rows = found.summary.get("scan", ())
    sampled = settings.learner == "gibbs" or any(row["chosen"] and row["sampled"] for row in rows)
    for seen in hide_units(
        parts, units, n_hidden=size, sampled=sampled, hidden_hidden=_coupled(found),
        starts=settings.starts, penalty=found.summary.get("penalty", _number(settings)), l1=settings.l1,
        max_steps=settings.max_steps, seed=settings.seed,
    ):  # fmt: skip
        say(seen.in_words())
        found.summary["hide"].append({**asdict(seen), "is_the_unit": seen.is_the_unit})


def with_names(found: Fitted, recording: Recording, settings: Settings, *, errors: bool) -> str:
    """Couplings by name, as text of a .csv: with standard errors if wanted, and what each outlives under an L1 penalty.

    Without standard errors, and saying why, if they are too costly.
    """
    table = couplings_table(
        found.couplings, found.summary["names"], standard_errors=_bars(found, recording, settings) if errors else None,
        outlives=None if found.l1 is None else found.l1.outlives, blocks=_blocks(found, settings),
    )  # fmt: skip
    text: str = table.to_csv(index=False)
    return text


def _blocks(found: Fitted, settings: Settings) -> tuple[str, ...]:
    """The blocks that were learned; those of lag 2, whose hidden units are copies, without L."""
    couplings = found.couplings
    blocks = learned_blocks(couplings.n_hidden, hidden_hidden=_coupled(found), bias=settings.bias)
    if LEARNERS[settings.learner].copies:
        return tuple(name for name in blocks if name in ("J", "K", "h"))
    return blocks


def _coupled(found: Fitted) -> bool:
    """Whether M was learned, be it that an L1 penalty has left nothing of it."""
    return bool(found.couplings.M.any()) or (found.l1 is not None and "M" in found.l1.n_zero)


def _bars(found: Fitted, recording: Recording, settings: Settings) -> Couplings | None:
    """Standard errors of a fit; None, saying why, if there are none."""
    learn = divide(recording, blocks=settings.blocks).learn if settings.blocks else recording
    learn = learn.with_external_field(found.external_field)
    couplings, method = found.couplings, LEARNERS[settings.learner]
    if method.copies:
        say("Lag 2 has no error bars: its hidden units are copies of the visible ones.")
        return None
    hidden: Literal["continuous", "stochastic"] = "continuous" if method.hidden == "continuous" else "stochastic"
    say("finding error bars ...")
    try:
        bars = error_bars(
            couplings, learn, hidden=hidden, hidden_hidden=_coupled(found), bias=settings.bias,
            zeros_held=found.l1 is not None,
        )  # fmt: skip
    except Infeasible as refusal:
        say(str(refusal))
        return None
    found.summary["flat_directions"] = bars.n_flat
    if found.l1 is not None:
        say(ZEROS_HELD)
    return bars.standard_errors


def _number(settings: Settings) -> float:
    """The penalty of settings whose fits are compared with each other.

    Raises:
        Refused: it is learned, and so another one in every fit.
    """
    if settings.penalty == "learned":
        raise Refused("Fits that are compared need one penalty: give --penalty a number, or leave it out.")
    return settings.penalty
