"""Planted faults that no test can notice, each with its kind and the reason.

An entry is a module, a piece of the line as it stands and the piece of the changed line that takes its place, both as
`ast.unparse` writes them. `tests.mutants` runs the tests on these all the same: one that they notice has been
explained wrongly.
"""

from typing import NamedTuple


class Explained(NamedTuple):
    """One fault: its module, what stands there, what would, the kind of fault, and why it changes no answer."""

    module: str
    before: str
    after: str
    kind: str
    reason: str


BOUND = "a bound hit exactly"
WORK = "more or less work, the same answer"
SAME = "another way to write the same"

EXPLAINED = (
    Explained(
        "hidviz/background/runner.py", "self._due > 0.0", "self._due >= 0.0", BOUND,
        "A wait of no seconds is over before it has begun.",
    ),
    Explained(
        "hidviz/background/runner.py", "version=0", "version=1", SAME,
        "A version is compared with the one before; where it begins nobody asks.",
    ),
    Explained(
        "hidviz/background/runner.py", "self._job.version + 1", "self._job.version + 2", SAME,
        "A version is compared with the one before; by how much it grows nobody asks.",
    ),
    Explained(
        "hidviz/experiments/archive.py", "read(largest + 1)", "read(largest + 2)", WORK,
        "One byte too many is enough to refuse; one more is read and refused all the same.",
    ),
    Explained(
        "hidviz/experiments/archive.py", "allow_pickle=False", "allow_pickle=True", SAME,
        "Only arrays of 64-bit floats come so far, which are never pickled; a second bolt on the door.",
    ),
    Explained(
        "hidviz/experiments/memory.py", "max(left, 0.0)", "max(left, 1.0)", SAME,
        "Both are written 0 MB.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "int(700.0 /", "int(701.0 /", WORK,
        "How many factors one logarithm takes; 709 would be too many.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "2.0 * largest", "3.0 * largest", WORK,
        "Fewer factors for each logarithm, of the same product.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "(1.0 + 2.0 * largest)", "(2.0 + 2.0 * largest)", WORK,
        "Fewer factors for each logarithm, of the same product.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "n_rows, 64)", "n_rows, 65)", WORK,
        "The size of a block of bins, any of which gives the same sample.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "2.0 ** (-54)", "3.0 ** (-54)", BOUND,
        "A random number is 0 or at least 2**-53; this only keeps 0 out.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "2.0 ** (-54)", "2.0 ** (-55)", BOUND,
        "A random number is 0 or at least 2**-53; this only keeps 0 out.",
    ),
    Explained(
        "hidviz/learners/parts/gibbs_sweep.py", "gain > needed[a]", "gain >= needed[a]", BOUND,
        "No random number equals a probability to the last digit.",
    ),
    Explained(
        "hidviz/learners/mean_field_correlated.py", "_SWEEPS_A_PASS = (40, 30)", "_SWEEPS_A_PASS = (41, 30)", WORK,
        "One pass more over bins that did not settle; how far they are off is told either way.",
    ),
    Explained(
        "hidviz/learners/mean_field_correlated.py", "_SWEEPS_A_PASS = (40, 30)", "_SWEEPS_A_PASS = (40, 31)", WORK,
        "How often some bins are solved before the others have their turn; they settle at the same values.",
    ),
    Explained(
        "hidviz/learners/exact.py", "LARGEST_INPUT = 250.0", "LARGEST_INPUT = 251.0", WORK,
        "Two ways to the same sums; the quick one has room for inputs up to 300.",
    ),
    Explained(
        "hidviz/learners/exact.py", "bound < LARGEST_INPUT", "bound <= LARGEST_INPUT", BOUND,
        "Two ways to the same sums.",
    ),
    Explained(
        "hidviz/learners/exact.py", "n_left = n_hidden // 2", "n_left = n_hidden // 3", WORK,
        "Where the hidden units are cut in two groups; the sums over both are the same.",
    ),
    Explained(
        "hidviz/learners/mean_field.py", "counts[gaps > tolerance]", "counts[gaps >= tolerance]", BOUND,
        "No computed gap equals the tolerance to the last digit.",
    ),
    Explained(
        "hidviz/learners/visible.py", "n_senders, 256)", "n_senders, 257)", WORK,
        "How many bins are taken at a time.",
    ),
    Explained(
        "hidviz/learning/optimisers.py", "(direction < 0.0)", "(direction <= 0.0)", SAME,
        "An entry that does not move may be held or not.",
    ),
    Explained(
        "hidviz/learning/optimisers.py", "(direction > 0.0)", "(direction >= 0.0)", SAME,
        "An entry that does not move may be held or not.",
    ),
    Explained(
        "hidviz/learning/loop.py", "max(initial=0.0) <= bound", "max(initial=1.0) <= bound", SAME,
        "The bound is 150 at least.",
    ),
    Explained(
        "hidviz/learners/smoothing.py", "back[block.ends.ravel()] = 0.0", "back[block.ends.ravel()] = 1.0", SAME,
        "The next line takes off the largest of each row, and here all are equal.",
    ),
    Explained(
        "hidviz/learners/mean_field_correlated.py", "counts[gaps > tolerance]", "counts[gaps >= tolerance]", BOUND,
        "No computed gap equals the tolerance to the last digit.",
    ),
    Explained(
        "hidviz/learners/mean_field_correlated.py", "solve(everything, 1)", "solve(everything, 2)", WORK,
        "One sweep more over bins that did not settle; how far they are off is told either way.",
    ),
    Explained(
        "hidviz/sweeps/measurement.py", "experiment.bias > 0.0", "experiment.bias >= 0.0", SAME,
        "It says which couplings would be learned; a likelihood is asked for its value alone.",
    ),
    Explained(
        "hidviz/sweeps/measurement.py", "experiment.bias > 0.0", "experiment.bias > 1.0", SAME,
        "It says which couplings would be learned; a likelihood is asked for its value alone.",
    ),
    Explained(
        "hidviz/ui/last_message.py", "block[document] = True", "block[document] = False", SAME,
        "Panel looks whether the document is a key, and not at what stands there.",
    ),
    Explained(
        "hidviz/ui/state/session.py", "max(1, beliefs.nbytes)", "max(2, beliefs.nbytes)", SAME,
        "One belief has eight bytes; the 1 stands for none at all, of which as many are kept as there may be.",
    ),
    Explained(
        "hidviz/ui/state/session.py", "ROOM = 250000000.0", "ROOM = 250000001.0", BOUND,
        "One byte more of 250 million.",
    ),
    Explained(
        "hidviz/ui/state/changes.py", "self._stale = False", "self._stale = True", SAME,
        "Before the first drawing all is new, stale or not, and the drawing sets it.",
    ),
)  # fmt: skip


def explanation(module, before, after):
    """Why a change of these lines of a module changes nothing; None if nobody has said."""
    for each in EXPLAINED:
        if each.module == module and before.replace(each.before, each.after) == after != before:
            return each
    return None
