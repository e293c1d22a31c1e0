"""The command line, as a person calls it."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hidviz import Experiment, Recording, aligned, divide, hide_unit, simulate
from hidviz.cli import DONE, FAILED, REFUSED, main
from hidviz.experiments.fit_recording import Settings
from hidviz.sweeps.paper_figures import FIGURES
from tests.recordings import SHIPPED

ROOT = Path(__file__).parent.parent


def called(*arguments, timeout=120):
    return subprocess.run(
        [sys.executable, "-m", "hidviz", *map(str, arguments)],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=timeout,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of a small network in a file, and the network."""
    truth = Experiment(n_visible=4, n_hidden=1, model="stochastic").truth()
    recording, _ = simulate(truth, 3000, np.random.default_rng(3), hidden="stochastic")
    path = tmp_path_factory.mktemp("data") / "states.npy"
    np.save(path, recording.trials[0])
    return path, truth


@pytest.mark.slow
def test_help_teaches():
    shown = called("--help")
    assert shown.returncode == 0
    for command in ("serve", "figure", "fit"):
        assert f"hidviz {command}" in shown.stdout
    assert "goes on from here" in called("figure", "--help").stdout


def test_wrong_words_are_answered_with_2():
    for words in ((), ("paint",), ("figure", "7", "--out", "x"), ("fit", "--hidden", "2"), ("figure", "4")):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == REFUSED


def test_fit_writes_couplings_and_costs(recorded, tmp_path):
    path, truth = recorded
    out = tmp_path / "fit.npz"
    ran = called("fit", path, "--hidden", 1, "--starts", 2, "--out", out)
    assert ran.returncode == DONE, ran.stderr
    assert ran.stdout.split() == [str(out), str(out.with_suffix(".json"))]
    assert "start 1 of 2" in ran.stderr
    with np.load(out) as found:
        assert found["K"].shape == (4, 1)
        assert np.abs(found["J"] - truth.J).mean() < 0.15  # a standard error is about 1/sqrt(2400), a few of them here
    costs = json.loads(out.with_suffix(".json").read_text())
    assert costs["held_out"] < costs["baselines_held_out"]["visible"]
    assert costs["stop"] == min(costs["starts"])
    assert costs["gains"]["visible"] == pytest.approx(costs["baselines_held_out"]["visible"] - costs["held_out"])
    assert costs["gains"]["visible"] > 2.0 * costs["gain_errors"]["visible"] > 0.0
    assert costs["n_transitions"] == 1776  # of 40 blocks of 75 bins, three of five
    assert costs["names"] == ["u1", "u2", "u3", "u4"]


def test_fit_refuses_to_overwrite(recorded, tmp_path, capsys):
    path, _ = recorded
    out = tmp_path / "fit.npz"
    out.write_text("precious")
    words = ["fit", str(path), "--hidden", "1", "--out", str(out), "--learner", "visible"]
    assert main(words) == REFUSED
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert main([*words, "--force"]) == DONE


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.npy", "--hidden", "1", "--out", "a.npz"], "no file nowhere.npy"),
        (["DATA", "--hidden", "1", "--out", "a.txt"], "must end in .npz"),
        (["DATA", "--hidden", "-1", "--out", "a.npz"], "hidden units must lie between 0 and 200"),
        (["DATA", "--hidden", "1", "--blocks", "2", "--out", "a.npz"], "at least 5 blocks"),
        (["DATA", "--hidden", "1", "--transpose", "--out", "a.npz"], "If time runs across, add --transpose"),
    ],
)
def test_fit_says_what_it_cannot_do(words, sentence, recorded, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [str(recorded[0]) if word == "DATA" else word for word in words]
    assert main(["fit", *words]) == REFUSED
    assert sentence in capsys.readouterr().err


def test_fit_fails_with_the_learners_own_sentence(recorded, tmp_path, capsys):
    assert main(["fit", str(recorded[0]), "--hidden", "40", "--out", str(tmp_path / "a.npz")]) == FAILED
    assert "use mean field or gibbs" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_learner_fits(recorded, tmp_path):
    for learner in ("visible", "visible-lag2", "backprop", "mean-field", "gibbs"):
        out = tmp_path / f"{learner}.npz"
        words = ["fit", str(recorded[0]), "--hidden", "1", "--learner", learner, "--starts", "1", "--steps", "5"]
        assert main([*words, "--box", "2", "--out", str(out)]) == DONE
        assert json.loads(out.with_suffix(".json").read_text())["held_out"] > 0.0


def test_settings_are_checked():
    for knobs in ({"learner": "oracle"}, {"starts": 0}, {"box": 0.0}, {"penalty": -1.0}, {"max_steps": 0}):
        with pytest.raises(ValueError, match="must"):
            Settings(**{"learner": "exact", "n_hidden": 1} | knobs)


def test_figure_refuses_to_overwrite_and_checks_its_numbers(tmp_path, capsys):
    (tmp_path / "figure4.svg").write_text("precious")
    assert main(["figure", "4", "--quick", "--out", str(tmp_path)]) == REFUSED
    assert "figure4.svg exists" in capsys.readouterr().err
    assert main(["figure", "3", "--quick", "--workers", "0", "--out", str(tmp_path)]) == REFUSED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure4.svg"]


@pytest.mark.slow
def test_figure_3_is_made_kept_and_made_again(tmp_path):
    ran = called("figure", 3, "--quick", "--workers", 1, "--out", tmp_path, timeout=300)
    assert ran.returncode == DONE, ran.stderr
    names = {Path(line).name for line in ran.stdout.split()}
    assert {"figure3.csv", "figure3-traces.csv", "figure3.json", "figure3.html", "figure3.svg", "figure3.png"} <= names
    page = (tmp_path / "figure3.html").read_text()
    assert re.search(r'<(script|link)[^>]* (src|href)="http', page) is None
    assert "<image" not in (tmp_path / "figure3.svg").read_text()
    assert (tmp_path / "figure3.png").read_bytes().startswith(b"\x89PNG")
    settings = json.loads((tmp_path / "figure3.json").read_text())
    assert settings["rules"] == FIGURES["3"].rules
    assert len(settings["experiments"]) == 2
    for path in tmp_path.glob("figure3*"):
        if path.suffix != ".jsonl":
            path.unlink()
    again = called("figure", 3, "--quick", "--workers", 1, "--out", tmp_path, timeout=300)
    assert again.returncode == DONE
    assert "[##############################] 2 of 2" in again.stderr  # at once: nothing is computed twice


@pytest.mark.slow
def test_page_is_served():
    program = subprocess.Popen(
        [sys.executable, "-m", "hidviz", "serve", "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        line = next(line for line in program.stdout if "http://" in line)
        url = line[line.index("http://") :].split()[0]
        with urllib.request.urlopen(url, timeout=60) as page:
            assert "hidviz" in page.read().decode()
    finally:
        program.terminate()
        program.wait(30)
        program.stdout.close()


def test_estimate_of_a_fit_is_comparable_with_a_truth(recorded, tmp_path):
    from hidviz import Couplings

    path, truth = recorded
    out = tmp_path / "fit.npz"
    assert main(["fit", str(path), "--hidden", "1", "--starts", "1", "--no-bias", "--out", str(out)]) == DONE
    with np.load(out) as found:
        estimate = aligned(Couplings(**{name: found[name] for name in found.files}), truth)
    assert np.abs(estimate.K - truth.K).mean() < 0.3


def test_look_shows_units_rates_and_what_binning_loses(capsys):
    assert main(["look", str(SHIPPED), "--bin", "20ms", "--to", "998"]) == DONE
    shown = capsys.readouterr().out
    assert "16 units, spike times; 49,900 bins of 20 ms, 998 s, in 1 trial" in shown
    assert "35,086 spikes, 8,052 of them lost to the binning" in shown
    assert "5 ms 5.5 %" in shown
    assert "u11" in shown.splitlines()[5]  # the busiest comes first


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["SHIPPED"], "--bin 20ms"),
        (["SHIPPED", "--bin", "20ms", "--units", "u99"], "There is no unit u99; there are u01"),
        (["SHIPPED", "--bin", "20ms", "--names", "a,b"], "--names must give 16 different names"),
        (["DATA", "--bin", "20ms", "--to", "3"], "cut the array itself"),
        (["nowhere.csv"], "nowhere.csv is no file"),
    ],
)
def test_look_says_what_it_cannot_do(words, sentence, recorded, capsys):
    words = [{"SHIPPED": str(SHIPPED), "DATA": str(recorded[0])}.get(word, word) for word in words]
    assert main(["look", *words]) == REFUSED
    assert sentence in capsys.readouterr().err


def test_fit_reads_spike_times(tmp_path):
    out = tmp_path / "fit.npz"
    words = ["fit", str(SHIPPED), "--bin", "20ms", "--to", "40", "--units", "u06,u11,u13", "--hidden", "0"]
    assert main([*words, "--learner", "visible", "--starts", "1", "--out", str(out)]) == DONE
    with np.load(out) as found:
        assert found["J"].shape == (3, 3)


def test_fit_scans_a_range_and_hides_a_unit(recorded, tmp_path, capsys):
    path, _ = recorded
    out = tmp_path / "fit.npz"
    words = ["fit", str(path), "--hidden", "0-2", "--starts", "1", "--steps", "30", "--hide", "u2, u1"]
    assert main([*words, "--chart", "--out", str(out)]) == DONE
    shown = capsys.readouterr()
    said = shown.err
    assert shown.out.split() == [str(out.with_suffix(f".{kind}")) for kind in ("npz", "json", "html", "svg", "png")]
    costs = json.loads(out.with_suffix(".json").read_text())
    assert [row["n_hidden"] for row in costs["scan"]] == [0, 1, 2]
    assert costs["chosen"] in said
    chosen = next(row for row in costs["scan"] if row["chosen"])
    assert f"Next: which of its couplings are there? --hidden {chosen['n_hidden']} --l1" in said
    with np.load(out) as found:
        assert found["K"].shape == (4, chosen["n_hidden"])
    assert [each["name"] for each in costs["hide"]] == ["u2", "u1"]
    for each in costs["hide"]:
        assert f"{each['name']}: r {each['r']:.2f}" in said
        assert f"AUC {each['auc']:.2f}" in said


@pytest.mark.parametrize(
    ("words", "sampled", "penalty"),
    [(["--hidden", "1", "--learner", "gibbs"], True, 0.0), (["--hidden", "0-1", "--penalty", "0.02"], False, 0.02)],
)
def test_units_are_hidden_by_the_learner_and_the_penalty_of_the_fit(words, sampled, penalty, recorded, tmp_path):
    out = tmp_path / "fit.npz"
    words = ["fit", str(recorded[0]), *words, "--hide", "u1", "--starts", "1", "--steps", "5", "--out", str(out)]
    assert main(words) == DONE
    (told,) = json.loads(out.with_suffix(".json").read_text())["hide"]
    parts = divide(Recording(np.load(recorded[0])))
    found = hide_unit(
        parts, 0, n_hidden=1, hidden_hidden=False, starts=1, penalty=penalty, max_steps=5, sampled=sampled
    )
    assert told["r"] == pytest.approx(found.r)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--hidden", "0-2", "--learner", "mean-field"], "A scan needs the exact learner"),
        (["--hidden", "1", "--chart"], "A chart shows a scan"),
        (["--hidden", "1", "--l1", "--learner", "gibbs"], "take exact or mean-field"),
        (["--hidden", "1", "--hide", "u9"], "no unit u9 to hide; there are u1, u2, u3, u4"),
    ],
)
def test_fit_says_what_a_scan_cannot_do(words, sentence, recorded, tmp_path, capsys):
    assert main(["fit", str(recorded[0]), *words, "--out", str(tmp_path / "a.npz")]) == REFUSED
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_fit_writes_a_table_with_error_bars(recorded, tmp_path):
    path, _ = recorded
    out = tmp_path / "fit.npz"
    words = ["fit", str(path), "--hidden", "1", "--starts", "1", "--steps", "30", "--error-bars", "--out", str(out)]
    assert main(words) == DONE
    lines = out.with_suffix(".csv").read_text().splitlines()
    assert lines[0] == "block,to,from,value,standard_error"
    assert len(lines) == 1 + 16 + 4 + 4 + 4 + 1  # J, K, L, h, g
    block, to, sender, value, error = lines[2].split(",")
    with np.load(out) as found:
        assert (block, to, sender, float(value)) == ("J", "u1", "u2", found["J"][0, 1])
    assert 0.0 < float(error) < 0.2


def test_fit_tells_by_name_which_couplings_an_l1_penalty_sets_to_zero(recorded, tmp_path, capsys):
    out = tmp_path / "fit.npz"
    words = ["fit", str(recorded[0]), "--hidden", "1", "--starts", "1", "--steps", "40", "--l1", "0.2"]
    assert main([*words, "--out", str(out)]) == DONE
    said = capsys.readouterr().err
    table = pd.read_csv(out.with_suffix(".csv"))
    assert list(table.columns) == ["block", "to", "from", "value", "outlives"]
    told = json.loads(out.with_suffix(".json").read_text())["l1"]
    with np.load(out) as found:
        for name, (n, size) in told["zero"].items():
            assert n == (found[name] == 0.0).sum() == (table["value"][table["block"] == name] == 0.0).sum()
            assert f"{name} {n} of {size}" in said
    assert 5 < sum(n for n, _ in told["zero"].values()) < 24
    bias = table["block"].isin(["h", "g"])
    assert set(table["outlives"][~bias]) == {0.0, 0.2}
    assert (table["outlives"][~bias & (table["value"] != 0.0)] == 0.2).all()
    assert table["outlives"][bias].isna().all()


def test_fit_scans_with_an_l1_penalty_and_gives_errors_to_what_it_keeps(recorded, tmp_path, capsys):
    out = tmp_path / "fit.npz"
    words = [
        "fit",
        str(recorded[0]),
        "--hidden",
        "0-1",
        "--starts",
        "1",
        "--steps",
        "40",
        "--l1",
        "0.05",
        "--error-bars",
    ]
    assert main([*words, "--out", str(out)]) == DONE
    said = capsys.readouterr().err
    assert "couplings kept" in said
    assert "L1 penalty 0.05, as asked" in said
    assert "take the zeros for known" in said
    told = json.loads(out.with_suffix(".json").read_text())
    assert [row["l1"]["weight"] for row in told["scan"]] == [0.05, 0.05]
    table = pd.read_csv(out.with_suffix(".csv"))
    assert list(table.columns) == ["block", "to", "from", "value", "standard_error", "outlives"]
    zero = (table["value"] == 0.0) & ~table["block"].isin(["h", "g"])
    assert 0 < zero.sum() == sum(n for n, _ in told["l1"]["zero"].values()) < 24
    assert table["standard_error"][zero].isna().all()
    assert (table["standard_error"][~zero] > 0.0).all()


@pytest.mark.parametrize(("option", "word"), [("--penalty", "learned"), ("--l1", "chosen")])
def test_a_weight_that_is_no_number_is_told_the_word_that_it_may_be(option, word, capsys):
    with pytest.raises(SystemExit):
        main(["fit", "a.npy", "--hidden", "1", "--out", "a.npz", option, "much"])
    assert f"argument {option}: must be a number or the word “{word}”, got 'much'" in capsys.readouterr().err


def test_fit_takes_what_repeats_for_a_field_and_keeps_it(tmp_path, capsys):
    rng, out = np.random.default_rng(1), tmp_path / "fit.npz"
    field = 1.5 * np.sin(np.arange(40) / 4.0)[:, None] * rng.choice([-1.0, 1.0], 3)
    np.save(tmp_path / "cube.npy", np.where(rng.random((40, 40, 3)) < 0.5 + 0.5 * np.tanh(field), 1, 0))
    words = ["fit", str(tmp_path / "cube.npy"), "--starts", "1", "--steps", "30", "--out", str(out), "--force"]
    assert main(["look", str(tmp_path / "cube.npy")]) == DONE
    assert "40 trials of 40 bins" in capsys.readouterr().out
    assert main([*words, "--hidden", "1", "--repeats", "--error-bars"]) == DONE
    assert "without, under h(t)" in capsys.readouterr().err
    with np.load(out) as found:
        assert found["external_field"].shape == (39, 3)
    assert main([*words, "--hidden", "0-1"]) == DONE
    said = capsys.readouterr().err
    assert "1 hidden unit, h(t)" in said
    assert "no hidden unit beside h(t)" in said
    rows = json.loads(out.with_suffix(".json").read_text())["scan"]
    assert [(row["n_hidden"], row["repeats"]) for row in rows] == [(0, False), (0, True), (1, False), (1, True)]
    assert main([*words, "--hidden", "0-1", "--repeats", "no"]) == DONE
    assert ", h(t)" not in capsys.readouterr().err
    short = ["fit", str(SHIPPED), "--bin", "20ms", "--to", "20", "--hidden", "0", "--learner", "visible"]
    assert main([*short, "--repeats", "--out", str(tmp_path / "b.npz")]) == FAILED
    assert "h(t) is told from 20 trials or more of one length" in capsys.readouterr().err
