"""Where the advised rule for stopping and regularising ends, beside every other rule: aligned mean square errors.

    python -m tests.benchmarks.defaults [--networks N] [--store FILE] [--only NAME …] [--rules RULE …]

Each line of the store is one run, so that a run that was interrupted goes on where it stopped. For a baseline, whose K
is no coupling of hidden units, the held-out cost above the truth's stands in the place of its blocks.

Errors are geometric means over networks, and the best rule of a block is that of the least mean: the best of each
single network is the luckiest one's, and even a penalty with the truth's own variances is several times as far in some
block of some network. Each ratio to the best rule is made network by network and carries the standard error of its
mean. A rule passes at a setting if in every learned block its interval of 95 % lies within `WITHIN` of the best.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hidviz.experiments import Experiment
from hidviz.experiments.stopping_advice import advice
from hidviz.learners import LEARNERS
from hidviz.sweeps.measurement import Measurement, measure
from hidviz.sweeps.spread import Estimate, estimate
from tests.benchmarks.table import head, heading, line

WITHIN = 1.3
MOST_STEPS = 600  # of a deterministic run; 800 of a sampled one, over which its steps shrink


def _stochastic(n_visible: int, n_hidden: int, n_steps: int, learner: str, variance: float = 1.0) -> Experiment:
    return Experiment(
        n_visible=n_visible,
        n_hidden=n_hidden,
        n_steps=n_steps,
        variance=variance,
        model="stochastic",
        learner=learner,
    )


def _continuous(n_visible: int, n_hidden: int, n_steps: int, learner: str, variance: float = 1.0) -> Experiment:
    return replace(_stochastic(n_visible, n_hidden, n_steps, learner, variance), model="continuous")


SETTINGS: Mapping[str, Experiment] = {
    "8+8 exact, 3e4": _stochastic(8, 8, 30_000, "exact"),
    "80+20 mean field, 1e3": _stochastic(80, 20, 1000, "mean-field"),
    "30+10 mean field, 3e3": _stochastic(30, 10, 3000, "mean-field"),
    "18+2 backprop, 300": _continuous(18, 2, 300, "backprop"),
    "5+5 exact, 300": _stochastic(5, 5, 300, "exact"),
    "5+5 exact g² .25, 2e4": _stochastic(5, 5, 20_000, "exact", 0.25),
    "10+2 lag 2, 700": _stochastic(10, 2, 700, "visible-lag2"),
    "18+2 A data, mean field, 3e3": _continuous(18, 2, 3000, "mean-field"),
    "18+2 mean field g² 4, 3e3": _stochastic(18, 2, 3000, "mean-field", 4.0),
    "18+2 backprop g² 4, 3e3": _continuous(18, 2, 3000, "backprop", 4.0),
    "18+2 B data, backprop, 1e4": _stochastic(18, 2, 10_000, "backprop"),
    "5+5 gibbs, 1e3": _stochastic(5, 5, 1000, "gibbs"),
    "6+4 exact g² 9, 3e3": _stochastic(6, 4, 3000, "exact", 9.0),
    "18+2 backprop g² 9, 1e3": _continuous(18, 2, 1000, "backprop", 9.0),
    "10+2 lag 2 g² 4, 300": _stochastic(10, 2, 300, "visible-lag2", 4.0),
}


def rules(experiment: Experiment) -> Mapping[str, Experiment]:
    """The same experiment under every rule."""
    sampled = LEARNERS[experiment.learner].stochastic
    plain = replace(experiment, max_steps=800 if sampled else MOST_STEPS)
    units = max(min(experiment.n_visible, experiment.n_hidden_learned), 1)
    found = {
        "nothing": plain,
        "patience": replace(plain, patience=30),
        "penalty": replace(plain, penalty=experiment.n_visible / experiment.n_steps),
        "box": replace(plain, box=round(max(0.7, 4.0 / units**0.5), 1)),
        "learned": replace(plain, penalty="learned"),
    }
    given = {name: value for name, value in advice(experiment).knobs.items() if value is not None}
    return found | {"advice": replace(plain, **given)}


def scores(one: Measurement) -> dict[str, float]:
    """What a rule is judged by at a setting: the error of each block, or what a baseline costs above the truth."""
    if LEARNERS[one.experiment.learner].hidden == "none":
        assert one.held_out is not None
        assert one.held_out_at_truth is not None
        return {"+": one.held_out - one.held_out_at_truth}
    return {block: aligned for block, (_, aligned) in one.errors.items()}


def iter_runs(
    store: Path, only: Sequence[str], chosen: Sequence[str], n_networks: int
) -> Iterator[tuple[str, str, Measurement]]:
    """Every run that was asked for, from the store or made now."""
    known = {}
    if store.exists():
        known = {m.experiment: m for m in map(Measurement.from_json, store.read_text("utf-8").splitlines())}
    for name in only:
        for seed in range(1, n_networks + 1):
            for rule, experiment in rules(replace(SETTINGS[name], seed=seed)).items():
                if rule not in chosen:
                    continue
                if experiment not in known:
                    known[experiment] = measure(experiment)
                    with store.open("a", encoding="utf-8") as file:
                        file.write(known[experiment].to_json() + "\n")
                yield name, rule, known[experiment]


def against_the_best(by_rule: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, dict[str, Estimate]]:
    """For every rule and block the mean logarithm of its scores over those of the best rule, network by network.

    Args:
        by_rule: scores of each network, of the same networks in one order for all rules.
    """
    logs = {rule: {block: np.log([one[block] for one in each]) for block in each[0]} for rule, each in by_rule.items()}
    best = {
        block: min((of_rule[block] for of_rule in logs.values()), key=np.mean) for block in next(iter(logs.values()))
    }
    return {rule: {block: estimate(own[block] - best[block]) for block in own} for rule, own in logs.items()}


def verdict(ratios: Mapping[str, Estimate]) -> str:
    """Whether a rule is within `WITHIN` of the best in every block: yes, no, or the blocks that are not settled."""
    high = np.log(WITHIN)
    if any(one.networks == 1 for one in ratios.values()):
        return "yes" if all(one.mean <= high for one in ratios.values()) else "no"
    each = {block: one.verdict(-np.inf, float(high)) for block, one in ratios.items()}
    failed = [block for block, said in each.items() if said == "no"]
    unsettled = [block for block, said in each.items() if said == "not settled"]
    return f"no: {', '.join(failed)}" if failed else f"not settled: {', '.join(unsettled)}" if unsettled else "yes"


def _row(name: str, rule: str, runs: Sequence[Measurement], ratios: Mapping[str, Estimate]) -> str:
    own = [scores(one) for one in runs]
    cells = []
    for block in "JKL+":
        if block not in ratios:
            cells.append("")
            continue
        ratio, error = np.exp(ratios[block].mean), np.exp(ratios[block].mean) * ratios[block].error
        mean = float(np.exp(np.mean(np.log([each[block] for each in own]))))
        cells.append(f"{mean:.2g} ({ratio:.2f}" + (f" ± {error:.2f})" if np.isfinite(error) else ")"))
    above = [
        m.held_out - m.held_out_at_truth for m in runs if m.held_out is not None and m.held_out_at_truth is not None
    ]
    ends = [sum(m.state == state for m in runs) for state in ("converged", "finished")]
    ended = f"{ends[0]} converged, {ends[1]} finished, {len(runs) - sum(ends)} other"
    excess = f"{np.mean(above):+.3f}" if above else ""
    return line([name, rule, *cells, excess, f"{np.mean([m.steps for m in runs]):.0f}", ended, verdict(ratios)])


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("defaults.jsonl"))
    parser.add_argument("--networks", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--rules", nargs="*", default=["nothing", "patience", "penalty", "box", "learned", "advice"])
    given = parser.parse_args()
    os.nice(15)
    found: dict[str, dict[str, list[Measurement]]] = {name: {} for name in given.only}
    for name, rule, one in iter_runs(given.store, given.only, given.rules, given.networks):
        found[name].setdefault(rule, []).append(one)
    print(heading(), "\n")
    titles = ["setting", "rule", "J", "K", "L", "+ (baseline)", "held-out above truth", "steps", "ends", "within"]
    print(head(titles))
    for name, by_rule in found.items():
        ratios = against_the_best({rule: [scores(one) for one in runs] for rule, runs in by_rule.items()})
        for rule, runs in by_rule.items():
            print(_row(name, rule, runs, ratios[rule]))


if __name__ == "__main__":
    main()
