"""Lessons: what is taught on the page, as data that `hidviz.ui.state.lesson_run` plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hidviz.experiments import Experiment
from hidviz.ui.text.lesson import Lesson, Seen, Step


def _ran(seen: Seen) -> bool:
    return seen.finished and seen.frame is not seen.entered


def _ran_by(learner: str) -> Callable[[Seen], bool]:
    return lambda seen: _ran(seen) and seen.frame.experiment.learner == learner


def _read_ours(seen: Seen) -> bool:
    return seen.own.ours and seen.own.read is not seen.entered_own.read


def _scanned(seen: Seen) -> bool:
    return seen.own.complete and seen.own.scan is not seen.entered_own.scan and not seen.own.working


def _hid_units(seen: Seen) -> bool:
    return bool(seen.own.hidden) and seen.own.hidden is not seen.entered_own.hidden and not seen.own.working


def _answered(seen: Seen) -> bool:
    return bool(seen.answer)


_COST, _ERRORS, _INFERRED = "Cost per bin", "Errors of the couplings", "Inferred"
_DIFFERENCE = "Inferred − true"
_YES_NO = ("Yes", "No")

_TWIN = Lesson(
    "The hidden twin",
    Experiment(),
    (
        Step("Of twenty units two are hidden. From the activity of the other eighteen alone, all the wiring is "
             "inferred. Press **Run**, and watch the cost fall.", _ran, look=(_COST, _INFERRED)),
        Step("The error of J, between units that were seen, ended at {J:.3f}. Those of K and L before alignment, the "
             "thin lines, ended at {K:.2f} and {L:.2f}.", _answered, "Was this a good inference?", _YES_NO,
             "Both can be said. In the map of the differences one row and one column stand out, and each is wrong "
             "by twice its value: a hidden unit came out as its own mirror image.",
             look=(_ERRORS, _DIFFERENCE), then=(_DIFFERENCE, _ERRORS)),
        Step("Press {flips}, and watch the differences: a column of K and a row of L.",
             lambda seen: seen.frame.gauge.signs.min() > 0, look=(_DIFFERENCE, _ERRORS)),
        Step("A row and a column changed their signs, the error of K fell to {K:.3f}, and the cost stayed at "
             "{cost:.5f}.", _answered, "Would more data tell the two networks apart?", _YES_NO,
             "No. Both make every recording equally likely, however long it is: they are twins.", "No",
             (_ERRORS, _COST, _DIFFERENCE)),
        Step("Is every change of sign free? The cost was {was_cost:.5f} nats per bin. **Flip K only** changes K of one "
             "hidden unit and leaves its L. Press it, and watch the differences and the cost.",
             lambda seen: seen.frame.snapshot.cost > seen.entered.snapshot.cost + 0.01, look=(_DIFFERENCE, _COST)),
        Step("The cost rose by {jump:.3f} nats per bin: half a flip makes another model, and a worse one. "
             "Press **Undo**.",
             lambda seen: seen.frame.snapshot.cost < seen.entered.snapshot.cost - 0.01, look=(_DIFFERENCE, _COST)),
        Step("Two hidden units have 2² = 4 choices of sign and 2! = 2 orders: eight twins. The tab **Symmetry** "
             "shows them all."),
    ),
    at_step_0=True,
)  # fmt: skip

_ALIGNED = Lesson(
    "Why the error looks bad",
    Experiment(),
    (
        Step("Hidden units have no names of their own. Thin lines are errors before alignment; bold ones are those "
             "of the same couplings, labels and signs matched to the truth. Switch on **Align to truth**.",
             lambda seen: seen.aligned, look=(_DIFFERENCE, _ERRORS)),
        Step("The differences are nearly gone.", _answered,
             "Have the inferred couplings become better?", _YES_NO,
             "No: only the picture changed. Alignment needs the truth, so it can judge a method, and cannot help "
             "it.", "No", (_DIFFERENCE,)),
        Step("Switch **Align to truth** off, and press **New start**: another random start on the same data.",
             lambda seen: not seen.aligned and _ran(seen)
             and seen.frame.experiment.start_index != seen.entered.experiment.start_index, look=(_ERRORS,)),
        Step("The first start came to {old_cost:.5f} nats per bin, this one to {cost:.5f}. Before alignment the "
             "error of K was {old_K:.3f} and is {K:.3f}; aligned it was {old_AK:.3f} and is {AK:.3f}. Which signs "
             "and labels come out is chance. The tab **Restarts** makes eight starts.", look=(_ERRORS,)),
    ),
)  # fmt: skip

_LENGTH = Lesson(
    "How much data",
    Experiment(n_steps=2_000),
    (
        Step("This network is recorded for {T:,} bins. Press **Run**, and wait for the end.", _ran, look=(_ERRORS,)),
        Step("The aligned error of J, the bold line, is {AJ:.4f}.", _answered,
             "What will it be with four times as many bins?",
             ("The same", "About half", "About a quarter"),
             "An error falls as one over the root of T, its square as one over T.", "About half", (_ERRORS,)),
        Step("Set **Data length T** to 8,000, and press **Run**.",
             lambda seen: _ran(seen) and seen.frame.experiment.n_steps == 8_000, look=(_ERRORS,),
             sets={"n_steps": 8_000}),
        Step("The aligned error of J was {old_AJ:.4f} with {old_T:,} bins, and is {AJ:.4f} with {T:,}. "
             "In the tab **Data length**, Fig. 6 follows the errors over decades.", look=(_ERRORS,)),
    ),
)  # fmt: skip

_MEAN_FIELD = Lesson(
    "Mean field against exact",
    Experiment(n_visible=5, n_hidden=5, n_steps=3_000, model="stochastic", learner="exact", penalty=0.05, patience=30),
    (
        Step("Here hidden units are stochastic. Five of them have 2⁵ = 32 states, and the exact learner sums over "
             "all. Press **Run**, and wait for the end.", _ran, look=(_ERRORS,)),
        Step("The aligned error of K is {AK:.3f}. Mean field treats the hidden units as independent of each other.",
             _answered, "With one visible unit for each hidden one, will its error be larger?", _YES_NO,
             "Let us see: what is neglected are correlations that the data cannot average away when so few units "
             "are visible.", "Yes", (_ERRORS,)),
        Step("Set **Learner** to “Mean field, lowest order”, and press **Run**.",
             _ran_by("mean-field"), look=(_ERRORS,), sets={"learner": "mean-field"}),
        Step("Exact: K {old_AK:.3f}, L {old_AL:.3f}. Mean field: K {AK:.3f}, L {AL:.3f}. With more data the exact "
             "errors go on falling, those of mean field do not: Fig. 6 in the tab **Data length**. The cost of mean "
             "field is lower, but it is no likelihood: that is the number beside “exact”.", look=(_ERRORS,)),
    ),
)  # fmt: skip

_IMPOSSIBLE = Lesson(
    "What the paper calls impossible",
    Experiment(
        n_visible=12, n_hidden=3, n_steps=3_000, model="stochastic", hidden_hidden=True, learner="gibbs",
        penalty="learned", max_steps=250, n_held_out=0,
    ),
    (
        Step("Here three hidden units also act on each other, by couplings M. What they did in one bin depends on all "
             "bins before: 8 · 8 · … · 8 hidden histories, a factor for each of {T:,} bins. The paper says: “exact "
             "calculations are never possible, even for just one hidden unit”.", _answered,
             "Can M be inferred all the same?", _YES_NO,
             "Let us see. Monte Carlo EM draws one hidden history at a time, as likely as the data and the couplings "
             "so far make it, and improves the couplings as if that had been recorded.", "Yes"),
        Step("Press **Run**, and watch the bold line of M among the errors. It ends after 250 steps.",
             _ran_by("gibbs"), look=(_ERRORS,)),
        Step("The aligned error of M is {AM:.3f}, and the true couplings have a typical size of {true_M:.2f}: M was "
             "found by sampling.", _answered,
             "Could a sum over all hidden histories be exact, and still come to an end?", _YES_NO,
             "Yes, if it goes bin by bin: given one bin, the next does not depend on those before. Three hidden "
             "units have 8 states, so 8 · 8 = 64 passages from a bin to the next take the place of all histories.",
             "Yes", (_ERRORS,)),
        Step("Set **Learner** to “Exact”, and press **Run**.", _ran_by("exact"), look=(_ERRORS,),
             sets={"learner": "exact"}),
        Step("Sampling: K {old_AK:.3f}, M {old_AM:.3f}. Exact: K {AK:.3f}, M {AM:.3f}. They agree; what either "
             "misses is what the data do not say. The exact sum takes four times as long for each further hidden "
             "unit and ends at ten; sampling goes on beyond.", look=(_ERRORS,)),
    ),
)  # fmt: skip

_SPIKES = Lesson(
    "Your own spikes",
    Experiment(),
    (
        Step("This tab takes recordings of real cells. Press **Try ours**: 16 units of a hippocampus, 998 s long.",
             _read_ours),
        Step("{n_units} units, in bins of {ms:g} ms. In the raster many of them fire together, in bursts.",
             _answered, "How many hidden units will it take to predict the next bin?",
             ("None", "One", "Two or more"),
             "Let the data say: a scan fits models with none, one, two, and judges each by bins that it has not "
             "seen."),
        Step("Press **Start scan**, and wait until all models are there.", _scanned),
        Step("The fewest that predict as well as the best: {chosen}, {gain} nats per bin better than lag 1.",
             _answered, "Is such a hidden unit a cell that was missed, or a state that all share?",
             ("A missed cell", "A shared state"),
             "There is a way to ask: hide a cell that was recorded, and see whether it is found again."),
        Step("Under **Units to hide in turn** leave one unit or more, press **Check model**, and wait for the end.",
             _hid_units),
        Step("{unit} was hidden and inferred from the others. What was inferred follows it with a correlation of "
             "{r:.2f}, the mere number of other units that fire with {r_count:.2f}; given that number, {partial:.2f} "
             "is left. {verdict} Now drop a file of your own."),
    ),
    tab="mydata",
)  # fmt: skip

LESSONS: Mapping[str, Lesson] = MappingProxyType({
    "hidden-twin": _TWIN,
    "why-the-error": _ALIGNED,
    "how-much-data": _LENGTH,
    "mean-field": _MEAN_FIELD,
    "impossible": _IMPOSSIBLE,
    "own-spikes": _SPIKES,
})  # fmt: skip
