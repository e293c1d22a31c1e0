"""What ships of Fig. 3 is what comes out when it is made again."""

import numpy as np
import pytest

from hidviz.experiments import Experiment, restarts, shipped_frame, shipped_restarts, shipped_scores
from hidviz.experiments.shipped import N_STARTS, score_fig3

pytestmark = pytest.mark.slow


def test_the_starts_that_ship_are_those_that_are_run():
    *_, made = restarts(Experiment(), N_STARTS, shipped_frame("fig3").data)
    shipped = shipped_restarts()
    assert [each.index for each in shipped.starts] == [each.index for each in made.starts]
    assert [each.state for each in shipped.starts] == [each.state for each in made.starts]
    assert [each.gauge for each in shipped.starts] == [each.gauge for each in made.starts]
    assert [each.cost for each in shipped.starts] == pytest.approx([each.cost for each in made.starts], abs=1e-9)
    for one, other in zip(shipped.starts, made.starts, strict=True):
        assert one.experiment == other.experiment
        assert one.aligned == pytest.approx(other.aligned, abs=1e-5)
        assert len(one.frame.trace["cost"]) == one.step + 1


def test_the_scores_that_ship_are_those_that_are_worked_out():
    made, shipped = score_fig3(), shipped_scores()
    assert [each.name for each in shipped.candidates] == [each.name for each in made.candidates]
    assert shipped.best.kind == made.best.kind == "fit"
    for one, other in zip(shipped.candidates, made.candidates, strict=True):
        assert one.n_parameters == other.n_parameters
        for name in ("training", "held_out"):
            assert getattr(one, name).cost == pytest.approx(getattr(other, name).cost, abs=1e-6)
            assert getattr(one, name).fewest == getattr(other, name).fewest == np.inf
