"""Sentences of the engine, which are English for whoever uses it from Python, in the language of the page.

Those listed here are known again by their form, with whatever is filled in; all others, refusals above all, are shown
as they are. What the page itself forms in a thread, which is of no page, is known again here too.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hidviz.ui.text.language import ENGLISH, N_, _, language, speaking

KNOWN = (
    # Why a run has ended, what a user should know of it, and what can be done
    N_("Converged: largest gradient below {gradient} nats per bin."),
    N_("Stopped: the held-out cost was best at step {step}, {cost} nats per bin."),
    N_("Finished: {steps} steps made."),
    N_("Stuck at gradient {gradient} nats per bin: no lower cost was found along it. The E-step may jump between "
       "solutions here, or lose them: set a box or a penalty, or stop at the best held-out cost."),
    N_("Stuck at gradient {gradient} nats per bin: no lower cost was found along it, within rounding error. The "
       "tolerance of {tolerance} may be finer than that."),
    N_("Diverged: the rate {rate} is too large. The last good step, {step}, is kept; take a smaller rate."),
    N_("Diverged: the rate {rate} is too large. The last good step, {step}, is kept; take a smaller rate, or "
       "L-BFGS, which needs none."),
    N_("Runaway: a coupling has reached {size}, where fields of order one need far less. Stop at the best "
       "held-out cost, or set a box or a penalty."),
    N_("The E-step lost its fixed point in 1 bin (residual {residual}). Set a box or a penalty, or use Monte "
       "Carlo EM."),
    N_("The E-step lost its fixed point in {n} bins (residual {residual}). Set a box or a penalty, or use Monte "
       "Carlo EM."),
    N_("Few data: {states} observed states for {parameters} parameters, so that the couplings are mostly noise. "
       "Record longer, or set a penalty."),
    N_("No unit ever changes in these data, so nothing can be learned from them."),
    N_("Visible unit {units} never changes: no finite couplings fit that best. Leave such units out, or set a "
       "penalty."),
    N_("{n} units ({units}) never change: no finite couplings fit that best. Leave such units out, or set a "
       "penalty."),
    N_("Learn on to convergence"), N_("Allow twice as many steps"), N_("Use a tenth"), N_("Use L-BFGS"),
    N_("Use Monte Carlo EM"), N_("Set a penalty of {weight}"), N_("Set a box of {size}"),
    # What is being done before the first step
    N_("Preparing the learner"), N_("Learning without hidden units, to compare"), N_("Simulating {n} bins"),
    # When to stop
    N_("The penalty of each block is learned from the data, so that learning may converge: it holds couplings "
       "that the data leave undetermined, and hardly matters for the others."),
    N_("The penalty of each block is learned from the data; the noisy steps shrink over {steps} and the last "
       "fifth is averaged."),
    N_("{why}: the penalty of each block is learned from the data, and the best held-out step is kept."),
    N_("{why}, and no exact held-out cost is affordable to stop by: a penalty that does not fall as data grow "
       "holds it."),
    N_("{why}: the penalty of each block is learned from the data, since no exact held-out cost is affordable to "
       "stop by."),
    N_("What {learner} maximises is no likelihood"),
    N_("Mean field runs away from networks like {sizes} if it is left to converge"),
    # Models that are scored, and error bars
    N_("Truth"), N_("Lag 1"), N_("Lag 2"), N_("The run of Fig. 3"),
    N_("the curvature of one logistic regression a unit"),
    N_("central differences of the exact gradient"), N_("the Louis identity"), N_("its second derivatives"),
    # A scan of an own recording, and the checks of its models
    N_("Measuring the speed of this machine"), N_("lag 1"), N_("1 hidden unit"),
    N_("{n} hidden units"), N_("1 hidden unit with M"), N_("{n} hidden units with M"), N_("{model}, h(t)"),
    N_("{model}, start {start} of {starts}, step {step}"), N_("{model}, L1 penalty"),
    N_("{n} trials: of every five three to learn from, one to stop by, one to judge by"),
    N_("{n} blocks of {bins} bins: of every five three to learn from, one to stop by, one to judge by"),
    N_("Letting the model run free"), N_("Letting lag 1 run free"), N_("Reading the hidden units off"),
    N_("Fitting two halves of the recording"), N_("Hiding {unit} and inferring it"),
    # What looks wrong with an own recording
    N_("{unit} never fires in {n} bins: dropped."), N_("{unit} fires in every one of {n} bins: dropped."),
    N_("{one} and {two} fire in the same bins: the same unit twice? Leave one out with “{field}”."),
    N_("{one} and {two} are correlated by more than {size} in the same bin: one unit sorted twice?"),
    N_("{above} of {n} units fire in more than half of the bins: are 0 and 1 swapped?"),
    N_("No unit predicts any other one bin later beyond chance: are these bins in order of time?"),
    N_("{part} % of the spikes share a bin with another of their unit and are lost; narrower bins would keep more."),
    N_("{part} % of the spikes share a {width} bin with another of their unit and are lost; narrower bins would keep "
       "more."),
    N_("{part} % of the spikes share a {width} bin with another of their unit and are lost; {narrower} would lose "
       "{less} %."),
    N_("The rate of {unit} drifts, and {n} more units: a spike in {least} % of the bins in the quietest eighth, in "
       "{most} % in the busiest. Blocks of time are dealt out in turn, but couplings that change are averaged."),
    N_("The rate of {unit} drifts: a spike in {least} % of the bins in the quietest eighth, in {most} % in the "
       "busiest. Blocks of time are dealt out in turn, but couplings that change are averaged."),
    N_("The median interval between two spikes of a unit is {median} s: if these times are in milliseconds, say so "
       "with {value} in “{field}”."),
    N_("Some states of {units} can be predicted perfectly at lag {lags}: a penalty keeps it finite."),
    # Figures over the data length
    N_("T (time bins)"), N_("mean square error, aligned"), N_("visible units"),
    N_("hidden units for each visible one"), N_("share of wrong signs"),
    N_("cost − the truth's + its limit (nats per bin)"), N_("{n_visible} visible + {n_hidden} hidden units"),
    N_("{n_visible} visible + {n_hidden} hidden units, {by}"), N_("coupling variance {variance}"),
    N_("Costs, {size}"), N_("Cost of every start"), N_("Errors, {start} start"), N_("training"), N_("true"),
    N_("learned"), N_("random"), N_("right-signed"), N_("wrong-signed"), N_("random {number}"),
    N_("{block} 1/T from the information at the true couplings"), N_("{block} unaligned"),
    N_("{block} aligned"), N_("stopped"), N_("learned penalty"), N_("gradient ascent"), N_("momentum"),
    N_("adam, decaying"), N_("l-bfgs"),
    N_("{n} of {runs} runs at the box"), N_("{n} of {runs} runs not converged"), N_("box"), N_("unconverged"),
    N_("box and unconverged"), N_("true couplings"), N_("learned couplings"),
    N_("replica theory of infinitely many units, true couplings"), N_("continuous"), N_("stochastic"),
    N_("{what}, {learner}, stopped"), N_("{what}, {learner}, converged"), N_("{what}, {learner}"),
)  # fmt: skip
"""Longer forms stand before shorter ones that would fit too."""


def of_engine(sentence: str) -> str:
    """A sentence of the engine in the language of the page, if it is known there; else as it is."""
    name = language()
    return sentence if name == ENGLISH else _translated(name, sentence)


@lru_cache(maxsize=2000)
def _translated(name: str, sentence: str) -> str:
    with speaking(name):
        if (plain := _(sentence)) != sentence:
            return plain
        for form, text in _forms():
            if found := form.fullmatch(sentence):
                return _(text, **{place: of_engine(value) for place, value in found.groupdict().items()})
    return sentence


@lru_cache
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """What each text with places to fill in looks like when they are filled."""
    return tuple((re.compile(_form(text)), text) for text in KNOWN if "{" in text)


def _form(text: str) -> str:
    pieces = re.split(r"\{(\w+)\}", text)
    return "".join(f"(?P<{piece}>.+?)" if k % 2 else re.escape(piece) for k, piece in enumerate(pieces))
