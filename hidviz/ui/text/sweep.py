"""Words and the table of the Data length tab."""

from __future__ import annotations

import os
from html import escape

import pandas as pd

from hidviz.background import SCHEDULER
from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS
from hidviz.sweeps import SweepState, optimiser_words
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _, _n
from hidviz.units import duration

COLUMNS = {
    "n_steps": "T", "seed": N_("seed"), "block": N_("block"), "mse_raw": N_("error² unaligned"),
    "mse_aligned": N_("error² aligned"), "cost": N_("training"), "held_out": N_("held-out"), "aic": "AIC", "bic": "BIC",
    "steps": N_("steps"), "state": N_("ended"), "largest": N_("largest"), "flag": N_("flag"), "seconds": N_("seconds"),
}  # fmt: skip
MOST_ROWS = 600


def name_of(experiment: Experiment) -> str:
    """An experiment in a few words, telling those of a figure apart."""
    e = experiment
    ending = "" if e.patience is None else _(", stopped")
    by = f", {of_engine(optimiser_words(e.optimiser))}" if e.optimiser else ""
    learned = _(", learned penalty") if e.penalty == "learned" else ""
    start = "" if e.start == "random" and e.start_index == 1 else f", {of_engine(e.start)} {e.start_index}"
    seed = "" if e.seed == 1 else _(", seed {seed}", seed=e.seed)
    variance = "" if e.variance == Experiment().variance else f", g² = {e.variance:g}"
    size = f"{e.n_visible} + {e.n_hidden}, {_(LEARNERS[e.learner].title)}, T = {e.n_steps:,}"
    return f"{size}{variance}{by}{learned}{ending}{start}{seed}"


def html_table(table: pd.DataFrame) -> str:
    """The table for people and screen readers: a row per experiment and block."""
    heads = "".join(
        f'<th scope="col">{escape(words)}</th>' for words in map(_, (N_("network, learner"), *COLUMNS.values()))
    )
    rows = [
        f'<tr><th scope="row">{row["n_visible"]} + {row["n_hidden"]}, {escape(_(LEARNERS[row["learner"]].title))}</th>'
        + "".join(f"<td>{escape(_number(name, row[name]))}</td>" for name in COLUMNS)
        + "</tr>"
        for row in table.head(MOST_ROWS).to_dict("records")
    ]
    caption = _("{n} rows; costs in nats per bin", n=len(table)) + (
        "" if len(table) <= MOST_ROWS else _("; {most_rows} shown", most_rows=MOST_ROWS)
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _number(name: str, value: object) -> str:
    if isinstance(value, str):
        return of_engine(value) or "–"
    if value is None or value != value:
        return "–"
    if name in ("n_steps", "seed", "steps"):
        return f"{int(value):,}"  # type: ignore[call-overload]
    if name.startswith("mse"):
        return f"{value:.2e}"
    return f"{value:.1f}" if name == "seconds" else f"{value:.4f}"


def own_look_for(experiment: Experiment) -> str:
    """What a sweep of your own is made of."""
    e = experiment
    return _(
        "Experiments with the knobs at the side ({n_visible} visible and {n_hidden} hidden units, "
        "{model}), for these learners and lengths.",
        n_visible=e.n_visible,
        n_hidden=e.n_hidden,
        model=_(e.model),
    )


def own_rules(experiment: Experiment) -> str:
    """Stopping rule, penalty and box of a sweep of your own."""
    e = experiment
    ending = (
        _("to convergence")
        if e.patience is None
        else _("the best held-out step, and a run ends {patience} steps after it", patience=e.patience)
    )
    most = "" if e.max_steps is None else _(", {max_steps} steps at most", max_steps=e.max_steps)
    box = _("no box") if e.box is None else _("box ±{box:g}", box=e.box)
    weight = e.penalty if isinstance(e.penalty, str) else f"{e.penalty:g}"
    penalty = _("penalty {weight}", weight=weight) if e.penalty else _("no penalty")
    return _(
        "How: each learner's own optimiser, {ending}{most}; {penalty}, {box}.",
        ending=ending,
        most=most,
        penalty=penalty,
        box=box,
    )


def progress_in_words(state: SweepState | None) -> str:
    """How far a sweep has come; None stands for one that has not said anything yet."""
    if state is None:
        return _("Starting.")
    if state.ahead:
        who = _n("another sweep", "{n} other sweeps", state.ahead)
        done = (
            _("{n_done} of {n_total} done; waiting", n_done=state.n_done, n_total=state.n_total)
            if state.n_done
            else _("Waiting")
        )
        place = (
            _("This one is next.") if state.ahead == 1 else _("This one is number {ahead} in line.", ahead=state.ahead)
        )
        return _(
            "{done} for {who} on this server; sweeps take turns of a minute, or of one long experiment. {place}",
            done=done,
            who=who,
            place=place,
        )
    left = "" if not state.seconds_left else _("; about {seconds_left} left", seconds_left=duration(state.seconds_left))
    under_way = ", ".join(name_of(experiment) for experiment in state.running[:2])
    where = _(" on {cluster}", cluster=os.environ[SCHEDULER]) if os.environ.get(SCHEDULER) else ""
    now = "" if state.n_done else _(" Starting the worker processes.")
    if under_way:
        now = _(" Now{where}: {under_way}.", where=where, under_way=under_way)
    return _("{n_done} of {n_total} done{left}.{now}", n_done=state.n_done, n_total=state.n_total, left=left, now=now)


def end_in_words(state: SweepState) -> str:
    """How a sweep ended."""
    seconds = sum(measurement.seconds for measurement in state.measurements)
    failures = "".join(_(" Failed: {sentence}", sentence=sentence) for sentence in dict.fromkeys(state.failed.values()))
    return _(
        "Done: {n} of {n_total} in {seconds} of work.{failures}",
        n=len(state.finished),
        n_total=state.n_total,
        seconds=duration(seconds),
        failures=failures,
    )
