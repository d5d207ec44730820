"""Advice in words: what the facts about a table with holes suggest doing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from cpclean.analysis.beside import BOOSTING, WORDS
from cpclean.analysis.certain_words import level_words, promise
from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.summary import Summary
from cpclean.analysis.words import listed, percent, share_words, words_first

# From here on nearly all predictions are certain; below the other, few are.
NEARLY_ALL = 0.9
FEW = 0.5
# A column that settles this share of what is open matters most; below the other, hardly at all.
MOST = 0.5
LITTLE = 0.1
# If so many of the rows with holes help, the others are not worth a word.
NEARLY_EVERY = 0.9
# Answers that remove this share of the doubt are worth giving for their own sake.
WORTH_IT = 0.25
# A vote that beats the most frequent label by less has hardly learnt anything.
HARDLY = 0.02


def advice(
    facts: Summary,
    effects: Sequence[ColumnEffect] = (),
    beside: Mapping[str, float] | None = None,
) -> list[str]:
    """What to do about the holes, in a few sentences; rows are numbered as in `facts`.

    Parameters
    ----------
    facts : Summary
    effects : sequence of ColumnEffect, optional
        For the same table and validation points.
    beside : dict from name to accuracy, optional
        Of other models on the same rows, as `accuracies_beside` finds them.
    """
    said = [*_about_certainty(facts, effects), *_about_accuracy(facts, beside or {})]
    return [*said, *_about_others(facts, beside or {})]


def _about_certainty(facts: Summary, effects: Sequence[ColumnEffect]) -> Iterator[str]:
    if not facts.cells_missing:
        yield "The table has no holes: there is nothing to clean."
        return
    if facts.certain == facts.points and facts.points_with_holes:
        yield (
            f"No answer can change any of the {facts.points:,} predictions, however the holes of "
            "the rows to predict are filled: nothing has to be cleaned for their sake."
        )
        return
    if facts.certain == facts.points:
        yield (
            f"All {facts.points:,} predictions are the same in every world: nothing has to be "
            "cleaned for their sake. Fill the holes however you like."
        )
        return
    if facts.settled == facts.points:
        yield (
            f"All {facts.points:,} predictions are {promise(facts.sure_level)}: nothing has to be "
            "cleaned until they are."
        )
        return
    uncertain = facts.points - facts.certain
    share = facts.certain / facts.points
    if share >= NEARLY_ALL:
        yield (
            "Nearly all predictions are certain; one is not. Clean what it depends on, or treat it "
            "with care."
            if uncertain == 1
            else f"Nearly all predictions are certain; {uncertain:,} are not. Clean what they "
            "depend on, or treat them with care."
        )
    else:
        depend = "depends" if uncertain == 1 else "depend"
        where = " in the training rows" if facts.points_with_holes else ""
        yield f"{uncertain:,} of {facts.points:,} predictions {depend} on what is missing{where}."
        if share < FEW and removed(facts) < WORTH_IT:
            yield (
                "A few answers will not settle that: clean whole columns, or narrow down what a "
                "hole might hold."
            )
    if facts.sure:
        yield _about_sure(facts, uncertain)
    yield from _about_rows(facts)
    yield from _about_columns(facts, effects)


def _about_sure(facts: Summary, uncertain: int) -> str:
    sure = level_words(facts.sure_level)
    though = ", though"
    if facts.points_with_holes:
        though = ", however the holes of the row to predict are filled"
    if uncertain == 1:
        said = f"It is {sure}{though}"
    else:
        of = f"{facts.sure:,} of these" if facts.open else "All of these"
        said = f"{of} {'is' if facts.sure == 1 else 'are'} {sure}{though}"
    if facts.until_sure:
        return f"{said}; {facts.open:,} {'is' if facts.open == 1 else 'are'} open."
    return f"{said}. If that is enough, fewer answers are needed: see --sure."


def _about_rows(facts: Summary) -> Iterator[str]:
    if 0 < facts.rows_that_help < NEARLY_EVERY * facts.rows_with_holes:
        yield (
            f"Only {facts.rows_that_help:,} of the {facts.rows_with_holes:,} rows with holes "
            f"{'is' if facts.rows_that_help == 1 else 'are'} expected to help these predictions; "
            "the others can stay as they are."
        )
    if facts.first_rows and facts.mean_entropy > 0:
        names, many = list(map(str, facts.first_rows)), len(facts.first_rows)
        rows = f"rows {listed(names)}" if many <= 3 else f"rows {', '.join(names[:3])}, ...,"
        rows = f"row {names[0]}" if many == 1 else rows
        if lines := list(map(str, facts.first_lines)):
            rows = rows.removesuffix(",")
            more = ", ..." if many > 3 else ""
            rows += f" (line{'' if many == 1 else 's'} {', '.join(lines[:3])}{more} of the file)"
        what = f"An answer about {rows} is" if many == 1 else f"{many} answers about {rows} are"
        yield f"{what} expected to remove {_about(removed(facts))} of the doubt."


def removed(facts: Summary) -> float:
    """The share of the doubt that answers about the first rows are expected to remove."""
    if not facts.first_rows or facts.mean_entropy <= 0:
        return 0.0
    return min(facts.expected_fall / facts.mean_entropy, 1.0)


def _about_columns(facts: Summary, effects: Sequence[ColumnEffect]) -> Iterator[str]:
    with_holes = [one for one in effects if one.holes]
    if len(with_holes) < 2:
        return
    best, settled = best_column(facts, with_holes)
    share = words_first(best.certain_if_clean, estimated=bool(best.sample))
    by_weight = ""
    if facts.points_with_holes:
        by_weight = ", with every way of filling the rows to predict counted by its weight"
    then = f"if it alone were clean, {share} of the predictions would be certain{by_weight}"
    if facts.until_sure:
        n_open = facts.unsettled
        then = (
            f"if it alone were clean, about {best.of_open(n_open):,} of the {n_open:,} open "
            f"predictions would be settled: {promise(facts.sure_level)}"
        )
    if settled >= MOST:
        yield f"Column {best.name!r} matters most: {then}."
    elif settled < LITTLE:
        yield "No single column makes much difference: clean row by row, not column by column."
    else:
        yield f"Of the columns, {best.name!r} matters most: {then}."


def best_column(facts: Summary, with_holes: Sequence[ColumnEffect]) -> tuple[ColumnEffect, float]:
    """The column that settles most if it alone is clean, and the share of what is open."""
    if facts.until_sure:
        best = max(with_holes, key=lambda one: one.settled_if_clean)
        return best, best.settled_if_clean
    best = max(with_holes, key=lambda one: one.certain_if_clean)
    return best, (best.certain_if_clean - facts.certain_share) / (1 - facts.certain_share)


def says_little(facts: Summary) -> bool:
    """Whether the vote is hardly better than the most frequent label."""
    if facts.accuracy is None or facts.majority is None:
        return False
    return facts.accuracy < facts.majority + HARDLY


def could_say_more(facts: Summary) -> bool:
    """Whether it might be better if what is open were all right."""
    assert facts.accuracy is not None
    assert facts.majority is not None
    return facts.accuracy + 1 - facts.certain / facts.points >= facts.majority + HARDLY


def says_more(facts: Summary, beside: Mapping[str, float]) -> str | None:
    """The best of other models, if it beats the most frequent label by more than chance may do."""
    if facts.majority is None or not beside:
        return None
    name, best = max(beside.items(), key=lambda one: one[1])
    return (
        name if best - facts.majority > max(HARDLY, _chance(facts, best, facts.majority)) else None
    )


def _chance(facts: Summary, first: float, second: float) -> float:
    """Two standard errors of a difference, if two models are never wrong about the same point."""
    return 2 * math.sqrt((2 - first - second) / facts.points)


def _about_accuracy(facts: Summary, beside: Mapping[str, float]) -> Iterator[str]:
    if facts.accuracy is None or facts.majority is None:
        return
    right = (
        f"cpclean's vote over all worlds is right for {share_words(facts.accuracy)} of these rows "
        f"({percent(facts.accuracy)})"
    )
    if says_little(facts):
        more = could_say_more(facts)
        when = "as long as it has its holes" if more else "whatever the holes hold"
        little = f"{when}, the table says little about the label."
        if says_more(facts, beside):
            little = "it hardly uses what the table says about the label, and another model does."
        yield (
            f"{right}, and always predicting the most frequent label for "
            f"{words_first(facts.majority)}: {little}"
        )
    else:
        yield f"{right} before any cleaning."


def _about_others(facts: Summary, beside: Mapping[str, float]) -> Iterator[str]:
    """How the vote compares with other models; a gap that may be chance is called so."""
    if facts.accuracy is None or not beside:
        return
    each = [f"{WORDS[name]} for {words_first(right)}" for name, right in beside.items()]
    said = f"On the same rows, {each[0].replace(' for ', ' is right for ', 1)}"
    said = ", and ".join([said, *each[1:]])
    best = max(beside.values())
    gap = best - facts.accuracy
    chance = _chance(facts, best, facts.accuracy)
    if gap == 0:
        yield f"{said}: no more often than cpclean."
    elif abs(gap) <= chance:
        which = "" if len(beside) == 1 else " to the better of them"
        yield f"{said}; with {facts.points:,} rows, the difference{which} may be chance."
    elif gap < 0:
        yield f"{said}: less often than cpclean."
    elif best == beside.get(BOOSTING) and len(beside) > 1:
        yield (
            f"{said}: more often than cpclean. What is certain and sure here is true of a model "
            "that is less accurate on this table; another space or number of neighbours may help."
        )
    else:
        yield f"{said}: more often than cpclean. Another space or number of neighbours may help."


def _about(share: float) -> str:
    if share < 0.01:
        return "less than 1%"
    return "nearly all" if share > 0.99 else f"about {share:.0%}"
