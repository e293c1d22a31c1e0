from dataclasses import replace

import numpy as np

from hidviz import Couplings, Recording, prepare, random_couplings, random_start, simulate
from hidviz.evaluation import error_bars
from hidviz.learning import Penalty, learn
from hidviz.learning.scales import LOOSE, scale_errors, with_scales


def fitted(variance, n_steps, learner="exact", **settings):
    truth = random_couplings(5, 2, np.random.default_rng(2), variance=variance)
    recording, _ = simulate(truth, n_steps, np.random.default_rng(3))
    prepared = prepare(learner, recording, n_hidden=2)
    start = random_start(5, 2, np.random.default_rng(4), scale=0.3, learned=prepared.learned)
    *_, last = learn(prepared, start, **settings)
    return last, prepared, recording


def test_scale_errors_are_the_curvature_along_the_valley_and_bound_those_of_the_error_bars():
    last, learner, recording = fitted(1.0, 4000)
    assert last.state == "converged"

    def cost(log_c, a):
        K, L = last.couplings.K.copy(), last.couplings.L.copy()
        K[:, a] *= np.exp(log_c)
        L[a] *= np.exp(-log_c)
        return -learner(Couplings(last.couplings.J, K, L)).objective

    step = 1e-2
    curvature = [(cost(step, a) - 2.0 * cost(0.0, a) + cost(-step, a)) / step**2 for a in range(2)]
    found = scale_errors(last, learner)
    np.testing.assert_allclose(found, np.power(curvature, -0.5), rtol=1e-3)
    assert (found <= error_bars(last.couplings, recording).scale_errors * (1.0 + 1e-6)).all()


def test_a_penalty_holds_scales_as_far_as_it_weighs():
    last, learner, _ = fitted(1.0, 4000)
    held = replace(last, penalty=Penalty({"K": 0.1, "L": 0.1}))
    size = (last.couplings.K**2).sum(axis=0) + (last.couplings.L**2).sum(axis=1)
    curvature = scale_errors(last, learner) ** -2.0 + 0.1 * learner.n_transitions * size
    np.testing.assert_allclose(scale_errors(held, learner), curvature**-0.5, rtol=1e-6)


def test_open_scales_are_told_before_it_is_called_converged():
    """At couplings so weak that the data tell only the products of K and L."""
    last, learner, _ = fitted(1.0, 4000)
    assert [each.kind for each in last.remarks] == ["converged"]
    weak = random_couplings(5, 2, np.random.default_rng(5), variance=0.02)
    ended = with_scales(replace(last, couplings=weak), learner)
    assert (scale_errors(ended, learner) > LOOSE).all()
    assert [each.kind for each in ended.remarks] == ["converged", "open scale"]
    assert "hidden units 1, 2 is open: along K → cK, L → L/c" in ended.message
    assert dict(ended.remarks[1].cure.knobs) == {"penalty": "learned"}
    assert ended.evaluations == last.evaluations + 4
    learned = with_scales(replace(last, couplings=weak, penalty=Penalty({"J": 1.0}, learned=True)), learner)
    assert learned.remarks[1].cure is None


def test_a_silent_unit_has_no_scale():
    last, learner, _ = fitted(1.0, 1000, max_steps=5)
    silent = replace(last, couplings=Couplings(last.couplings.J, 0.0 * last.couplings.K, 0.0 * last.couplings.L))
    assert np.isinf(scale_errors(silent, learner)).all()


def test_runs_that_have_not_converged_and_models_without_scales_are_left_alone():
    last, learner, _ = fitted(0.02, 500, max_steps=3)
    assert with_scales(last, learner) is last
    recording = Recording(np.random.default_rng(0).choice([-1, 1], (500, 3)))
    visible = prepare("visible", recording, n_hidden=0)
    *_, end = learn(visible, Couplings(np.zeros((3, 3)), np.zeros((3, 0)), np.zeros((0, 3))))
    assert end.state == "converged"
    assert [each.kind for each in end.remarks] == ["converged"]
