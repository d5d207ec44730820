"""What the answers were good for, in one sentence."""

from __future__ import annotations

from cpclean.analysis.random_order import RandomOrder
from cpclean.analysis.words import count
from cpclean.cleaning.effort import Effort


def effort_words(effort: Effort, random: RandomOrder | None = None) -> str:
    """How many answers were avoidable, how many nobody can avoid, and random order beside it.

    Parameters
    ----------
    effort : Effort
        Of `session.effort()`.
    random : RandomOrder, optional
        Of `random_order(session)`; for a session of which effort says nothing about random order:
        one with `sure`, or one whose bound is no larger than what was answered.

    Examples
    --------
    >>> effort = Effort(tuple(range(5)), (0, 1, 2), (3, 4), (0, 1), 20, True, at_least=3)
    >>> effort_words(effort)
    '2 of the 5 answered rows were avoidable in hindsight; every order has to clean at least 3 \
rows; a random order would have needed 14 or more on average.'
    >>> sure = Effort((0, 1, 2), (0, 1, 2), (), None, 20, False)
    >>> effort_words(sure, RandomOrder((9, 14), True))
    'For what is settled so far: none of the 3 answered rows was avoidable in hindsight; a random \
order would have needed about 12; how many rows every order needs cannot be told, for what is sure \
can become open again.'
    """
    if not effort.answered:
        return "No row has been answered yet."
    said = [_avoidable(len(effort.answered), len(effort.avoidable))]
    if effort.at_least:
        said.append(f"every order has to clean at least {count(effort.at_least, 'row')}")
    if random is not None:
        about = "about" if random.finished else "more than"
        said.append(f"a random order would have needed {about} {random.mean:,.0f}")
    elif bound_tells(effort):
        least = f"{effort.random_at_least:,.0f} or more on average"
        said.append(f"a random order would have needed {least}")
    if effort.needed is None:
        reason = "for what is sure can become open again"
        said.append(f"how many rows every order needs cannot be told, {reason}")
    sentence = "; ".join(said) + "."
    if not effort.all_settled:
        return f"For what is settled so far: {sentence}"
    return sentence[0].upper() + sentence[1:]


def bound_tells(effort: Effort) -> bool:
    """Whether the bound for random orders is more than the session itself has cleaned."""
    least = effort.random_at_least
    return least is not None and least > len(effort.answered)


def _avoidable(answered: int, avoidable: int) -> str:
    if answered == 1:
        return f"the answered row was {'' if avoidable else 'not '}avoidable in hindsight"
    were = "were" if avoidable > 1 else "was"
    number = f"{avoidable:,}" if avoidable else "none"
    return f"{number} of the {answered:,} answered rows {were} avoidable in hindsight"
