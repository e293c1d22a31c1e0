"""Words and the table of the Data length tab."""

from __future__ import annotations

import os
from html import escape

import pandas as pd

from hidviz.background import SCHEDULER
from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS
from hidviz.sweeps import SweepState, optimiser_words
from hidviz.units import duration

COLUMNS = {
    "n_steps": "T", "seed": "seed", "block": "block", "mse_raw": "error² as found", "mse_aligned": "error² aligned",
    "cost": "training", "held_out": "held-out", "aic": "AIC", "bic": "BIC", "steps": "steps", "state": "ended",
    "largest": "largest", "flag": "flag", "seconds": "seconds",
}  # fmt: skip
MOST_ROWS = 600


def name_of(experiment: Experiment) -> str:
    """An experiment in a few words, telling those of a figure apart."""
    e = experiment
    ending = "" if e.patience is None else ", stopped"
    by = f", {optimiser_words(e.optimiser)}" if e.optimiser else ""
    learned = ", learned penalty" if e.penalty == "learned" else ""
    start = "" if e.start == "random" and e.start_index == 1 else f", {e.start} {e.start_index}"
    seed = "" if e.seed == 1 else f", seed {e.seed}"
    variance = "" if e.variance == Experiment().variance else f", g² = {e.variance:g}"
    size = f"{e.n_visible} + {e.n_hidden}, {LEARNERS[e.learner].title}, T = {e.n_steps:,}"
    return f"{size}{variance}{by}{learned}{ending}{start}{seed}"


def html_table(table: pd.DataFrame) -> str:
    """The table for people and screen readers: a row per experiment and block."""
    heads = "".join(f'<th scope="col">{escape(words)}</th>' for words in ("network, learner", *COLUMNS.values()))
    rows = [
        f'<tr><th scope="row">{row["n_visible"]} + {row["n_hidden"]}, {escape(LEARNERS[row["learner"]].title)}</th>'
        + "".join(f"<td>{escape(_number(name, row[name]))}</td>" for name in COLUMNS)
        + "</tr>"
        for row in table.head(MOST_ROWS).to_dict("records")
    ]
    caption = f"{len(table)} rows; costs in nats per bin" + ("" if len(table) <= MOST_ROWS else f"; {MOST_ROWS} shown")
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _number(name: str, value: object) -> str:
    if isinstance(value, str):
        return value or "–"
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
    return (
        f"Experiments with the knobs at the side ({e.n_visible} visible and {e.n_hidden} hidden units, {e.model}), for "
        "these learners and lengths."
    )


def own_rules(experiment: Experiment) -> str:
    """Stopping rule, penalty and box of a sweep of your own."""
    e = experiment
    ending = (
        "to convergence"
        if e.patience is None
        else f"the best held-out step, and a run ends {e.patience} steps after it"
    )
    most = "" if e.max_steps is None else f", {e.max_steps} steps at most"
    box = "no box" if e.box is None else f"box ±{e.box:g}"
    weight = e.penalty if isinstance(e.penalty, str) else f"{e.penalty:g}"
    penalty = f"penalty {weight}" if e.penalty else "no penalty"
    return f"How: each learner's own optimiser, {ending}{most}; {penalty}, {box}."


def progress_in_words(state: SweepState | None) -> str:
    """How far a sweep has come; None stands for one that has not said anything yet."""
    if state is None:
        return "Starting."
    if state.ahead:
        who = "another sweep" if state.ahead == 1 else f"{state.ahead} other sweeps"
        done = f"{state.n_done} of {state.n_total} done; waiting" if state.n_done else "Waiting"
        place = "This one is next." if state.ahead == 1 else f"This one is number {state.ahead} in line."
        return f"{done} for {who} on this server; sweeps take turns of a minute, or of one long experiment. {place}"
    left = "" if state.seconds_left is None else f"; about {duration(state.seconds_left)} left"
    under_way = ", ".join(name_of(experiment) for experiment in state.running[:2])
    where = f" on {os.environ[SCHEDULER]}" if os.environ.get(SCHEDULER) else ""
    now = f" Now{where}: {under_way}." if under_way else " Starting the worker processes."
    return f"{state.n_done} of {state.n_total} done{left}.{now}"


def end_in_words(state: SweepState) -> str:
    """How a sweep ended."""
    seconds = sum(measurement.seconds for measurement in state.measurements)
    failures = "".join(f" Failed: {sentence}" for sentence in dict.fromkeys(state.failed.values()))
    return f"Done: {len(state.finished)} of {state.n_total} in {duration(seconds)} of work.{failures}"
