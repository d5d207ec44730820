"""Forecasts and comparisons in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpclean.analysis.forecast import Comparison, Course
from cpclean.analysis.words import count, percent

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def course_in_words(course: Course) -> str:
    """How a forecast was made, and whether it is whole."""
    if len(course.answers) == 1:
        return "There is nothing more to ask, so nothing is expected to change."
    made = (
        f"The dashed line is an estimate: {count(course.runs, 'copy', 'copies')} of the session "
        "went on asking, and their answers were drawn at random from the prior. The band runs "
        "from the lowest to the highest of them."
    )
    if course.finished:
        return made
    more = count(len(course.answers) - 1, "answer")
    return f"{made} The estimate was cut short after {more} to save time."


def progress_in_words(
    shares: Sequence[float],
    n_answers: int,
    ahead: Course | None = None,
    comparison: Comparison | None = None,
    settled: str = "certain",
) -> str:
    """What the settled share did so far, and how it is expected to go on.

    Parameters
    ----------
    shares : sequence of float
        The settled share so far, the first one at the start where that is known.
    settled : {"certain", "settled"}
        What settled predictions are called: the second in a session with a level.
    """
    told = []
    if shares and n_answers:
        after = f"After {count(n_answers, 'answer')} the {settled} share"
        told.append(
            f"{after} is {percent(shares[-1])}, as before."
            if shares[-1] == shares[0]
            else f"{after} went from {percent(shares[0])} to {percent(shares[-1])}."
        )
    elif shares:
        told.append(f"Before any answer, {percent(shares[-1])} of the predictions are {settled}.")
    if ahead is not None and len(ahead.answers) > 1:
        more = count(len(ahead.answers) - 1, "more answer")
        told.append(
            f"After {more}, {percent(float(ahead.mean[-1]))} are expected to be {settled}, if "
            "answers are as likely as the prior says."
        )
    if comparison is not None:
        told.append(comparison_in_words(comparison, settled))
    return " ".join(told)


def comparison_in_words(comparison: Comparison, settled: str = "certain") -> str:
    """How many answers the two orders need, or how far they get."""
    own, random = comparison.own, comparison.random
    if own.needed[0] is not None and random.finished:
        mean = float(np.mean([one for one in random.needed if one is not None]))
        return (
            f"With the true answers, this order needs {count(own.needed[0], 'more answer')}; "
            f"random order needs {mean:,.0f} on average."
        )
    at = min(len(own.mean), len(random.mean)) - 1
    return (
        f"{count(at, 'more true answer makes', 'more true answers make')} "
        f"{percent(float(own.mean[at]))} of the predictions {settled} in this order and "
        f"{percent(float(random.mean[at]))} in random order."
    )


def comparison_in_numbers(comparison: Comparison) -> list[tuple[str, str, str]]:
    """For some shares above the present one: the answers that each of the orders needs."""
    now = float(comparison.own.mean[0])

    def needed(course: Course, share: float) -> str:
        found = course.reach(share)
        return f"more than {len(course.answers) - 1:,}" if found is None else f"{found:,}"

    return [
        (percent(share), needed(comparison.own, share), needed(comparison.random, share))
        for share in SHARES
        if share > now
    ]
