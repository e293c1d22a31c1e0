"""What ships with hidviz of the paper's Fig. 3 beside one finished run: eight starts of it, and how its fit scores.

They are to be looked at before anything has been made: a tab without work of its own shows what it is about.
`python -m hidviz.experiments.shipped` makes them anew; recomputing confirms them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hidviz.evaluation import Candidate, Criteria, Evidence, Judgement, judge
from hidviz.experiments.bundle import load_bundle, save_bundle
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.reopen import ASSETS, ended_frame, shipped_frame
from hidviz.experiments.restarts import Restarts, Start, restarts

N_STARTS = 8
SCORES = "fig3-scores.json"


def start_path(index: int) -> Path:
    """Where a start after the first, which is the shipped run itself, is kept."""
    return ASSETS / "fig3-starts" / f"{index}.zip"


@lru_cache(maxsize=1)
def shipped_restarts() -> Restarts:
    """Eight starts of Fig. 3 at their ends, runs that can be loaded and gone on with; shared by all sessions."""
    first = shipped_frame("fig3")
    bundles = [load_bundle(start_path(k)) for k in range(2, N_STARTS + 1)]
    others = [ended_frame(bundle, first.data, first.setup) for bundle in bundles]
    return Restarts(tuple(map(Start, (first, *others))), N_STARTS)


@lru_cache(maxsize=1)
def shipped_scores() -> Judgement:
    """How the shipped run of Fig. 3 scores beside models without hidden units."""
    read = json.loads((ASSETS / SCORES).read_text(encoding="utf-8"))
    candidates = tuple(
        Candidate(
            **each | {name: None if each[name] is None else Evidence(**each[name]) for name in ("training", "held_out")}
            | {"criteria": None if each["criteria"] is None else Criteria(**each["criteria"])}
        )
        for each in read
    )  # fmt: skip
    return Judgement(candidates, len(candidates), "")


def score_fig3() -> Judgement:
    """The same, worked out."""
    frame = shipped_frame("fig3")
    experiment, couplings, learned = frame.experiment, frame.snapshot.couplings, frame.setup.learner.learned
    name = "The run of Fig. 3"
    return list(
        judge(
            {name: couplings}, frame.data.recording, np.random.default_rng(experiment.seed), learner=experiment.learner,
            held_out=frame.data.held_out, truth=frame.data.truth, model=experiment.model,
            penalties={name: frame.snapshot.penalty.vector(couplings, learned)},
        )
    )[-1]  # fmt: skip


def _plain(candidate: Candidate) -> dict[str, Any]:
    plain = asdict(candidate)
    for name in ("training", "held_out"):
        if plain[name] is not None and np.isinf(plain[name]["fewest"]):  # no number of JSON; what it is by default
            del plain[name]["fewest"]
    return plain


if __name__ == "__main__":
    (ASSETS / SCORES).write_text(
        json.dumps([_plain(each) for each in score_fig3().candidates], indent=1) + "\n", encoding="utf-8"
    )
    *_, table = restarts(Experiment(), N_STARTS, shipped_frame("fig3").data)
    assert isinstance(table, Restarts)
    start_path(2).parent.mkdir(exist_ok=True)
    for start in table.starts[1:]:
        save_bundle(start_path(start.index), start.frame)
