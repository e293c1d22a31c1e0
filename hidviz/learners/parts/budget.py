"""What an exact evaluation costs, predicted before it is begun, and the refusal of what would take too long.

Sums over 2**Nh hidden states are exact and grow fast: a page that starts one should know when it will end. Seconds are
those of one core of a common machine, a rough guide. Memory grows with the bins, and with the distinct states among
them; sums over hidden states are made in blocks, which keep theirs small.
"""

from __future__ import annotations

from hidviz.learners.protocol import Infeasible

LONGEST_EVALUATION = 60.0
MOST_HIDDEN = {False: 16, True: 10}  # without and with hidden-to-hidden couplings


def exact_seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """Predicted seconds for the exact likelihood and its gradient."""
    n_states = 2.0**n_hidden
    n_present = min(n_transitions, 2.0**n_visible)
    tables = 2.5e-9 * n_present * n_states
    if hidden_hidden:
        steps = n_transitions * (1e-6 + 2e-8 * n_states + 2.5e-10 * n_states**2)
        return 1e-3 + tables * 1.5 * (n_visible + n_hidden) + steps
    n_triples = min(n_transitions, 2.0 ** (3 * n_visible))
    counting = 1.3e-6 * n_present + n_triples * (2e-7 + 2e-8 * n_visible)
    return 5e-4 + tables * n_visible + counting + 2.5e-10 * n_triples * n_states


def exact_memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """Predicted bytes for the exact likelihood and its gradient."""
    if hidden_hidden:
        block = 6.0 * 8.0 * 2**21  # messages and factors of a block of time, and of the one before
        return block + n_transitions * (13.0 * n_visible + 32.0 * n_hidden + 150.0)
    return distinct_memory(n_visible, n_hidden, n_transitions) + 8.0 * n_hidden * min(n_transitions, 4e5)


def expected_distinct(n: int, n_possible: float) -> float:
    """A guess at how many of so many possible are met in n: some come back often, others are never seen."""
    return n / (1.0 + n / n_possible)


def distinct_memory(n_visible: int, n_hidden: int, n_transitions: int) -> float:
    """Predicted bytes for counting distinct transitions: the codes of all bins, and tables over distinct states."""
    n_states = expected_distinct(n_transitions, 2.0**n_visible)
    tables = 24.0 * (n_visible + 1) + 16.0 * n_hidden + 32.0 * 2.0 ** (n_hidden - n_hidden // 2)
    return n_transitions * (3.0 * n_visible + 8.0 * min(n_visible + 1, 30) + 70.0) + n_states * tables


def refuse_if_long(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> None:
    """Raise `Infeasible` if one exact evaluation would take too long.

    Raises:
        Infeasible: with the number of terms, the predicted seconds, and what to do instead.
    """
    if _feasible(n_visible, n_hidden, n_transitions, hidden_hidden):
        return
    predicted = exact_seconds(n_visible, n_hidden, n_transitions, hidden_hidden)
    most = max((n for n in range(n_hidden) if _feasible(n_visible, n, n_transitions, hidden_hidden)), default=0)
    what = (
        f"with hidden-to-hidden couplings needs 4**{n_hidden} transitions a step"
        if hidden_hidden
        else f"needs 2**{n_hidden} hidden states a step"
    )
    raise Infeasible(
        f"exact {what} (about {predicted:.2g} s an evaluation); use mean field or gibbs, "
        f"or at most {most} hidden units."
    )


def _feasible(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> bool:
    within = n_hidden <= MOST_HIDDEN[hidden_hidden]
    return within and exact_seconds(n_visible, n_hidden, n_transitions, hidden_hidden) <= LONGEST_EVALUATION
