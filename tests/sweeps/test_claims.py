"""Claims: judged by numbers over networks, and the table of the README is what the command prints."""

import re

import numpy as np
import pandas as pd
import pytest

from hidviz.cli.main import main
from hidviz.cli.terminal import DONE, REFUSED
from hidviz.experiments import ASSETS
from hidviz.sweeps.claims import Number, judged, markdown, one_of, percent, plain
from hidviz.sweeps.paper_claims import claims
from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.results import load
from hidviz.sweeps.spread import Estimate, estimate
from tests.test_readme import ROOT

RUNS = pd.DataFrame({"key": ["a", "a", "b"], "flag": ["box", "box", ""]})


def number(name, mean, error=0.01, networks=10):
    return Number(name, Estimate(mean, error, networks), -1.15, -0.85, plain)


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ([number("J", -1.0), number("K", -1.02)], "yes"),
        ([number("J", -0.5), number("K", -0.4)], "no"),
        ([number("J", -1.0, 0.2), number("K", -1.0, 0.3)], "not settled"),
        ([number("J", -1.0), number("K", -0.5), number("L", -0.9, 0.2)], "yes: J; no: K; not settled: L"),
        ([number("J", -1.0, 1e-6, networks=2)], "not settled"),
    ],
)
def test_a_claim_holds_as_far_as_its_numbers_do(numbers, verdict):
    assert judged("6", "falls as 1/T", numbers, RUNS).verdict == verdict


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        (["box", "box", "unconverged"], "yes"),
        (["box and unconverged", "unconverged", ""], "not settled"),
        (["unconverged", ""], "not settled"),
    ],
)
def test_runs_that_were_to_converge_and_have_not_settle_nothing(flags, verdict):
    runs = pd.DataFrame({"key": range(len(flags)), "flag": flags})
    assert judged("5", "falls as 1/T", [number("J", -1.0)], runs).verdict == verdict


@pytest.mark.parametrize(
    ("power", "verdict"),
    [
        (Estimate(-1.0, 0.05, 10), "∝ 1/Nh"),
        (Estimate(0.0, 0.05, 10), "stays"),
        (Estimate(-0.9, 0.2, 10), "falls; power not settled"),
        (Estimate(-1.87, 0.45, 10), "falls; power not settled"),  # nothing else is within its interval
        (Estimate(1.0, 0.2, 10), "rises; power not settled"),
        (Estimate(-0.08, 0.4, 10), "not settled"),
        (Estimate(-1.0, 1e-6, 2), "not settled"),
    ],
)
def test_a_power_is_told_where_its_whole_interval_says_so(power, verdict):
    ranges = {"stays": (-0.25, 0.25), "∝ 1/Nh": (-1.25, -0.75)}
    assert one_of("floors", "K's last error", "", power, ranges, RUNS).verdict == verdict


def test_a_claim_says_its_numbers_with_their_errors_and_networks():
    found = judged(
        "6", "alike", [Number("J", estimate(np.log([1.1, 1.2, 1.3])), -0.2, 0.2, percent), number("K", -1.0)], RUNS
    )
    assert found.found == "J +20 ± 6 %, K −1.00 ± .01"
    assert (found.networks, found.flagged) == ("3 to 10", "1 of 2")


def test_errors_are_written_whole():
    assert plain(Estimate(-1.0, 10.5, 3)) == "−1.00 ± 10.50"
    assert plain(Estimate(-1.0, 0.05, 3)) == "−1.00 ± .05"
    assert plain(Estimate(-1.0, np.nan, 1)) == "−1.00"


def parted(n, T, learner, seed, **more):
    """Rows of one network, mean field's twice the exact ones but for a spread of a few per cent over networks."""
    scale = (2.0 if learner == "mean-field" else 1.0) * np.exp(0.02 * np.cos(7 * seed + (learner == "exact")))
    return [
        {"n_visible": n, "n_hidden": n, "n_steps": T, "learner": learner, "seed": seed, "block": block,
         "mse_aligned": scale / T, "patience": 20.0, "optimiser": None, "penalty": 0.0, "start": "random",
         "max_steps": np.nan, "key": f"{n}{T}{learner}{seed}", "flag": ""} | more
        for block in "JKL"
    ]  # fmt: skip


def test_both_sides_of_a_comparison_have_one_rule():
    """By L-BFGS they differ twofold, by gradient ascent not at all."""
    rows = [
        row
        for n in (5, 8) for T in (300, 1_000, 3_000, 10_000, 30_000) for seed in range(1, 11)
        for learner in ("mean-field", "exact")
        for row in parted(n, T, learner, seed)
    ]  # fmt: skip
    rows += [
        row
        for n in (5, 8) for T in (300, 1_000) for seed in range(1, 6) for learner in ("mean-field", "exact")
        for row in parted(n, T, learner, seed, optimiser="gradient", mse_aligned=(1.0 + 0.01 * seed) / T)
    ]  # fmt: skip
    found = {claim.claim: claim for claim in claims({"6": pd.DataFrame(rows)})}
    ours, theirs = (
        found[f"5 + 5, T = 300, stopped, {how}: mean field about as good as exact"]
        for how in ("by L-BFGS", "by gradient ascent")
    )
    assert (ours.verdict, ours.networks) == ("no", "10")
    assert (theirs.verdict, theirs.networks) == ("yes", "5")


def test_flagged_are_counted_of_the_runs_behind_the_numbers_alone():
    """Monte Carlo EM of three networks beside exact learning of ten, one of the other seven at the box."""
    rows = [
        row
        for learner, seeds in (("gibbs", range(1, 4)), ("exact", range(1, 11))) for seed in seeds
        for row in parted(5, 30_000, learner, seed, patience=np.nan, flag="box" if seed > 9 else "")
    ]  # fmt: skip
    found = {claim.claim: claim for claim in claims({"6": pd.DataFrame(rows)})}
    beside = found["5 + 5, T = 3·10⁴, to the end: Monte Carlo EM about as good as exact"]
    assert (beside.networks, beside.flagged) == ("3", "0 of 6")


def test_the_table_of_the_readme_is_what_the_command_prints(capsys):
    assert main(["claims"]) == DONE
    printed = capsys.readouterr().out.strip()
    (written,) = re.findall(r"<!-- claims -->\n(.*?)\n<!-- end -->", (ROOT / "README.md").read_text(), re.DOTALL)
    assert written.strip() == printed


def test_the_command_judges_the_tables_of_a_directory(tmp_path, capsys):
    (tmp_path / "figure4.csv").write_bytes((ASSETS / "figure4.csv").read_bytes())
    (tmp_path / "figure4.json").write_bytes((ASSETS / "figure4.json").read_bytes())
    assert main(["claims", str(tmp_path)]) == DONE
    assert {line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()[2:]} == {"4"}
    assert main(["claims", str(tmp_path / "nowhere")]) == REFUSED
    assert "hidviz figure 4 --out" in capsys.readouterr().err


def test_claims_stand_on_the_networks_that_ship():
    tables = {name: load(ASSETS, figure.name).table for name, figure in FIGURES.items()}
    found = claims(tables)
    assert {claim.figure for claim in found} == set(FIGURES)
    assert markdown(found).count("\n") == len(found) + 1
    (alone,) = [claim for claim in found if claim.figure == "3"]
    assert (alone.networks, alone.verdict) == ("1", "not settled")
    assert {claim.networks for claim in found if claim.figure == "5"} == {"3", "5"}
