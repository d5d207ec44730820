"""The cheapest thing to do next about a table with holes, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cpclean.analysis.advice import (
    HARDLY,
    MOST,
    WORTH_IT,
    best_column,
    could_say_more,
    removed,
    says_little,
    says_more,
)
from cpclean.analysis.beside import WORDS
from cpclean.analysis.certain_words import level_words
from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.summary import Summary


def next_step(
    facts: Summary,
    effects: Sequence[ColumnEffect] = (),
    telling: Sequence[str] = (),
    beside: Mapping[str, float] | None = None,
) -> str | None:
    """The cheapest next step; None for a table without holes.

    Parameters
    ----------
    facts : Summary
    effects : sequence of ColumnEffect, optional
        For the same table and validation points.
    telling : sequence of str, optional
        Columns that say the label by themselves, by their values or by being missing.
    beside : dict from name to accuracy, optional
        Of other models on the same rows.
    """
    step = "Cheapest next step: "
    if telling:
        # Before anything else: what is said above may be about a column that nobody will have.
        return f"{step}find out whether {telling[0]!r} is known before the label is."
    if not facts.cells_missing:
        return None
    if says_little(facts) and not could_say_more(facts):
        if other := says_more(facts, beside or {}):
            return (
                f"{step}try another space or number of neighbours, or use {WORDS[other]}, which "
                "says more about the label on the same rows; no answer can do that."
            )
        return f"{step}look for columns that say more about the label; no answer can do that."
    if says_little(facts) and beside and not _beats_most_frequent(facts, max(beside.values())):
        return (
            f"{step}look for columns that say more about the label; no model here does better than "
            "always predicting the most frequent one, and answers may not change that."
        )
    if facts.settled == facts.points:
        return f"{step}none; use the table as it is."
    level = level_words(facts.sure_level)
    if facts.open == 0:
        return f"{step}none, if {level} is enough; otherwise, answer."
    if removed(facts) >= WORTH_IT:
        many = len(facts.first_rows)
        return f"{step}{'give this answer' if many == 1 else f'give these {many} answers'}."
    with_holes = [one for one in effects if one.holes]
    if with_holes:
        best, settled = best_column(facts, with_holes)
        if settled >= MOST:
            had = "if its values can be had for many rows at once"
            return f"{step}look up column {best.name!r}, {had}."
    if facts.points - facts.open >= facts.points / 2:
        return f"{step}use what is certain or {level}, and treat the rest with care."
    return (
        f"{step}narrow down what a hole might hold, or use another model; answers one by one take "
        "long here."
    )


def _beats_most_frequent(facts: Summary, accuracy: float) -> bool:
    return facts.majority is None or accuracy >= facts.majority + HARDLY
