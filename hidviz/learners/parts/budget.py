"""What an exact evaluation costs, predicted before it is begun, and the refusal of what would take too long.

Sums over 2**Nh hidden states are exact and grow fast: a page that starts one should know when it will end. Seconds are
those of one core of a common machine, a rough guide; not a limit on memory, which blocks keep small throughout.
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


def refuse_if_long(n_visible: int, n_hidden: int, n_transitions: int, *, hidden_hidden: bool) -> None:
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
