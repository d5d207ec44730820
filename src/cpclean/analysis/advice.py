"""Advice in words: what the facts about a table with holes suggest to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cpclean.analysis.summary import ColumnEffect, Summary
from cpclean.analysis.words import percent

# From here on nearly all predictions are certain; below the other, few are.
NEARLY_ALL = 0.9
FEW = 0.5
# A column that settles this share of what is open brings most; below the other, next to nothing.
MOST = 0.5
LITTLE = 0.1
# A vote that beats the most frequent label by less has hardly learnt anything.
HARDLY = 0.02


def advice(facts: Summary, effects: Sequence[ColumnEffect] = ()) -> list[str]:
    """What to do about the holes, as a few sentences; rows are numbered as in `facts`.

    Parameters
    ----------
    facts : Summary
    effects : sequence of ColumnEffect, optional
        Of the same table and validation points.
    """
    return [*_about_certainty(facts, effects), *_about_accuracy(facts)]


def _about_certainty(facts: Summary, effects: Sequence[ColumnEffect]) -> Iterator[str]:
    if not facts.cells_missing:
        yield "The table has no holes: there is nothing to clean."
        return
    if facts.certain_share == 1.0:
        yield (
            f"All {facts.points:,} predictions are the same in every world: for their sake, "
            "nothing has to be cleaned. Fill the holes as you like."
        )
        return
    uncertain = round((1 - facts.certain_share) * facts.points)
    if facts.certain_share >= NEARLY_ALL:
        yield (
            f"Nearly all predictions are certain; {_are(uncertain)} not. Clean for these, or "
            "take them with care."
        )
    elif facts.certain_share < FEW:
        yield (
            f"Most predictions, {uncertain:,} of {facts.points:,}, hang on what the holes hold. "
            "A few answers will not settle that: clean by columns, narrow down what a hole might "
            "hold, or leave out a column that is mostly empty."
        )
    else:
        hang = "hangs" if uncertain == 1 else "hang"
        yield f"{uncertain:,} of {facts.points:,} predictions {hang} on what the holes hold."
    yield from _about_rows(facts)
    yield from _about_columns(facts, effects)


def _about_rows(facts: Summary) -> Iterator[str]:
    if 0 < facts.rows_that_help < facts.rows_with_holes:
        yield (
            f"Only {facts.rows_that_help:,} of the {facts.rows_with_holes:,} rows with holes "
            f"{'is' if facts.rows_that_help == 1 else 'are'} expected to help these predictions; "
            "leave the others."
        )
    if facts.first_rows and facts.mean_entropy > 0:
        share = min(facts.expected_fall / facts.mean_entropy, 1.0)
        rows = ", ".join(map(str, facts.first_rows[:3]))
        many = len(facts.first_rows)
        first = f"row {rows}" if many == 1 else f"the first {many} rows ({rows}, ...)"
        first = first if many != 2 and many != 3 else f"rows {rows}"
        yield f"Cleaning {first} is expected to take away {_about(share)} of the doubt."


def _about_columns(facts: Summary, effects: Sequence[ColumnEffect]) -> Iterator[str]:
    with_holes = [one for one in effects if one.holes]
    if len(with_holes) < 2:
        return
    best = max(with_holes, key=lambda one: one.certain_if_clean)
    settled = (best.certain_if_clean - facts.certain_share) / (1 - facts.certain_share)
    share = percent(best.certain_if_clean)
    told = f"if it alone were clean, {share} of the predictions would be certain"
    if settled >= MOST:
        yield f"Column {best.name!r} brings most: {told}."
    elif settled < LITTLE:
        yield "No column alone brings much: go row by row, not column by column."
    else:
        yield f"Among the columns, {best.name!r} brings most: {told}."


def _about_accuracy(facts: Summary) -> Iterator[str]:
    if facts.accuracy is None or facts.majority is None:
        return
    told = f"The vote over all worlds is right for {percent(facts.accuracy)} of the points"
    if facts.accuracy < facts.majority + HARDLY:
        yield (
            f"{told}, and the most frequent label alone for {percent(facts.majority)}: as it "
            "stands, the table tells little about the label, whatever the holes hold."
        )
    else:
        yield f"{told} already now, before any cleaning."


def _about(share: float) -> str:
    if share < 0.01:
        return "less than 1%"
    return "nearly all" if share > 0.99 else f"about {share:.0%}"


def _are(number: int) -> str:
    return "one is" if number == 1 else f"{number:,} are"
