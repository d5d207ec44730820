"""The outcome at a glance: one sentence or two, and a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

from cpclean.analysis.certain_words import level_words, promise
from cpclean.analysis.forecast import Course
from cpclean.analysis.predictions import Accuracy, Predictions
from cpclean.analysis.summary import worlds_exponent
from cpclean.analysis.words import count, percent
from cpclean.data.incomplete import IncompleteDataset


@dataclass(frozen=True)
class KeyNumber:
    """A number and what it counts; a number that is too large to print is a power of ten."""

    value: str
    words: str
    exponent: str | None = None


def verdict(found: Predictions, course: Course, data: IncompleteDataset) -> str:
    """Which predictions are certain, and how many answers are expected to settle the others."""
    n, certain = found.n_points, found.n_certain
    if certain == n == 1:
        return "The only prediction is certain: it is the same however the holes are filled."
    if certain == n:
        return (
            f"All {count(n, 'prediction')} are certain: they are the same however the remaining "
            "holes are filled. Nothing more needs to be cleaned for their sake."
        )
    if found.until_sure and found.n_settled == n:
        return (
            f"All {count(n, 'prediction')} are {promise(found.level)}: {certain:,} "
            f"{'is' if certain == 1 else 'are'} certain, {found.n_sure:,} more "
            f"{'is' if found.n_sure == 1 else 'are'} {level_words(found.level)}. That is what this "
            "session was to reach: nothing more needs to be cleaned for it."
        )
    told = f"{certain:,} of {count(n, 'prediction')} ({percent(certain / n)}) "
    if n == 1:
        told = "The only prediction is open: it depends on what is missing."
    elif certain == 0:
        told += "are certain: every one depends on what is missing."
    else:
        are, they = ("is", "it is") if certain == 1 else ("are", "they are")
        other = "other one depends" if n - certain == 1 else f"other {n - certain:,} depend"
        told += (
            f"{are} certain: {they} the same however the holes are filled. The {other} on what is "
            "missing."
        )
    if sure := found.n_sure:
        of = "It is" if n - certain == 1 else f"{sure:,} of them {'is' if sure == 1 else 'are'}"
        told += f" {of} {level_words(found.level)}, though."
    split = found.n_split
    if split:
        has, label = ("has", "its label depends") if split == 1 else ("have", "their labels depend")
        told += (
            f" {split:,} of them {has} holes in the point itself, and {label} on these alone: no "
            "answer about a row changes that."
        )
    if course.finished and course.mean[-1] == 1.0 and split < n - certain:
        them = "it" if n - certain == 1 else "the others" if split else "all of them"
        if found.until_sure:
            them = "the open one" if found.n_open == 1 else "the open ones"
        told += f" {_needed(course)} expected to settle {them}; "
        told += f"{count(data.n_dirty_in_all, 'row has', 'rows have')} holes."
    return told


def key_numbers(
    found: Predictions, course: Course, data: IncompleteDataset, right: Accuracy | None
) -> list[KeyNumber]:
    """The numbers that matter most; the share that is certain comes first."""
    exponent = worlds_exponent(data.n_worlds)
    worlds = "world is left" if data.n_worlds == 1 else "worlds: ways to fill the holes"
    numbers = [
        KeyNumber(percent(float(found.certain.mean())), "of the predictions are certain"),
        *_sure_number(found),
        KeyNumber(
            f"{data.n_dirty_in_all:,}", f"of {count(data.n_rows_in_all, 'row')} have holes now"
        ),
        KeyNumber(f"{data.n_worlds:,}" if exponent is None else "10", worlds, exponent),
    ]
    more = len(course.answers) - 1
    if right is not None:
        numbers.append(KeyNumber(percent(right.all), "of the predictions are right"))
    elif more:
        settled = "settled" if found.until_sure else "certain"
        words = f"expected to be {settled} after {count(more, 'more answer')}"
        numbers.append(KeyNumber(percent(float(course.mean[-1])), words))
    return numbers


def _sure_number(found: Predictions) -> list[KeyNumber]:
    if found.sure is None or found.n_certain == found.n_points:
        return []
    share = (found.n_certain + found.n_sure) / found.n_points
    return [KeyNumber(percent(share), f"are {promise(found.level)}")]


def _needed(course: Course) -> str:
    """ "About 3 to 5 more answers are"."""
    needed = sorted(one for one in course.needed if one is not None)
    least = "" if needed[0] == needed[-1] else f"{needed[0]:,} to "
    return f"About {least}{count(needed[-1], 'more answer is', 'more answers are')}"
