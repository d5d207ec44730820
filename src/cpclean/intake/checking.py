"""Tables that cannot be used are refused before they are built, by the rows of their file."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.errors import near, offenders
from cpclean.intake.choices import MIN_ROWS_OF_LEAVES, MOST_COLUMNS, Choices
from cpclean.intake.file_lines import FileLines
from cpclean.intake.layout import Layout
from cpclean.intake.notes import Note
from cpclean.intake.null_words import (
    not_of_numbers,
    null_words,
    texts_of,
    word_notes,
    words_for_no_label,
)
from cpclean.intake.sentences import refusal
from cpclean.intake.source_file import SourceFile

# From so many rows on, numbers that nearly all differ are measurements rather than labels.
MIN_MEASURED = 10
# Whole numbers are, too, if they are more than so many.
MOST_WHOLE = 30
_NAMED = 8  # columns that are listed
_HALF = 0.5
# Of so many rows, so large a share that equal others: then ties decide predictions.
MIN_SORTED, MIN_EQUAL = 30, 0.1


def check_width(frame: Any, source: SourceFile, layout: Layout | None) -> None:
    """Refuse too many columns, and a single one: its cells are separated otherwise."""
    names = [str(name) for name in frame.columns]
    if len(names) > MOST_COLUMNS:
        raise refusal("columns", file=source.called, count=len(names), most=MOST_COLUMNS)
    hints = source.hints(layout)
    if len(names) == 1 and (not source.points or hints.get("separator")):
        raise refusal("one_column", names[0][:40], file=source.called, **hints)


def check_columns(frame: Any, choices: Choices) -> None:
    """Refuse a label that is not there, and columns to drop that are not."""
    names = [str(name) for name in frame.columns]
    listed = offenders(map(repr, names), _NAMED)
    if absent := [name for name in choices.drop if name not in names]:
        raise refusal("not_there", absent[0], names=listed, near=near(absent[0], names))
    if choices.label in choices.drop:
        raise refusal("label_dropped", choices.label, label=choices.label)
    if choices.label not in names:
        meant = near(choices.label, names)
        raise refusal("no_label", label=choices.label, names=listed, near=meant)
    if len(names) - len(set(choices.drop)) < 2:
        raise refusal("only_label", label=choices.label)


def check_rows(frame: Any, source: SourceFile, choices: Choices) -> list[Note]:
    """Refuse rows that cannot be learnt from, and note those that are left out.

    Building the table would refuse them too, but numbers its rows without those held out.
    """
    labels, file = frame[choices.label], source.called
    _check_classes(labels, source)
    unlabelled = labels.isna().to_numpy()
    if unlabelled.all():
        raise refusal("no_labels", choices.label, file=file)
    about = _about_unlabelled(frame, unlabelled, source, choices)
    if unlabelled.any() and not choices.drop_unlabelled:
        raise refusal("unlabelled", choices.label, _where(unlabelled), file=file, **about)
    features = frame.drop(columns=choices.label)
    check_finite(features, source)
    empty = features.isna().all(axis=1).to_numpy() & ~unlabelled
    if choices.domains:
        empty = np.zeros_like(empty)  # what such a row can be is listed
    if empty.any() and not choices.drop_empty:
        raise refusal("nothing_known", None, _where(empty), file=file)
    return [
        Note(code, None, rows, {"count": len(rows), **about})
        for code, rows in (("left_out", _where(unlabelled)), ("left_out_empty", _where(empty)))
        if rows
    ]


def _about_unlabelled(
    frame: Any, unlabelled: Any, source: SourceFile, choices: Choices
) -> dict[str, str]:
    """What else there is to say about rows without a label: their lines, what is written there."""
    if not unlabelled.any():
        return {}
    text, label = source.text(choices.layout), choices.label
    texts = [*texts_of(frame), label]
    words = not_of_numbers(null_words(text, frame), label, texts)
    lines = FileLines.of(text, len(frame), source.suffix).of_rows(_where(unlabelled))
    mostly = f" These are most of the {len(frame):,} rows." if unlabelled.mean() > _HALF else ""
    return {"lines": lines, "words": words_for_no_label(words), "mostly": mostly}


def check_words(whole: Any, frame: Any, source: SourceFile, choices: Choices) -> list[Note]:
    """Words that were read as missing and may be values; the frame is tidied, the whole is not."""
    if choices.domains:
        return []
    used = [name for name in frame.columns if str(name) not in {choices.label, *choices.drop}]
    words = null_words(source.text(choices.layout), whole[used])
    named = {*choices.null_tokens, *(text for _, text in choices.nothing)}
    return word_notes(words, texts_of(frame[used]), named)


def leaves_notes(labels: Any, choices: Choices) -> list[Note]:
    """Why rows with these labels cannot be among leaves; nothing if they can, or need not."""
    if choices.space == "plain":
        return []
    if len(labels) < MIN_ROWS_OF_LEAVES:
        values = {"count": len(labels), "least": MIN_ROWS_OF_LEAVES}
        return [Note("leaves_rows", None, (), values)]
    if choices.space == "forest" and labels.nunique() < 2:
        return [Note("leaves_label")]
    return []


def check_finite(frame: Any, source: SourceFile) -> None:
    """Refuse infinite numbers: nothing is at a distance from them."""
    for name, column in frame.select_dtypes("number").items():
        infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if infinite.any():
            raise refusal("infinite", str(name), _where(infinite), file=source.called)


def sorted_notes(frame: Any, source: SourceFile, choices: Choices) -> list[Note]:
    """Whether rows are sorted by their label and many of them tie, in the space as it is used."""
    labels = frame[choices.label].to_numpy()
    runs = 1 + int((labels[1:] != labels[:-1]).sum())
    if len(labels) < MIN_SORTED or not 1 < runs == len(set(labels)):
        return []
    return tied_notes(frame, source, choices)


def tied_notes(frame: Any, source: SourceFile, choices: Choices) -> list[Note]:
    """Whether many of these rows tie, of a table that is sorted by its label."""
    if choices.space != "plain":
        return []
    labels = frame[choices.label]
    count = int(frame.drop(columns=choices.label).duplicated(keep=False).sum())
    if count < MIN_EQUAL * len(labels):
        return []
    values = {"file": source.called, "count": count, "total": len(labels)}
    return [Note("sorted_rows", choices.label, values=values)]


def _check_classes(labels: Any, source: SourceFile) -> None:
    """Refuse a column of measurements: what is predicted is one of a few labels."""
    import pandas as pd

    known = labels.dropna()
    types = pd.api.types
    if not types.is_numeric_dtype(known) or types.is_bool_dtype(known):
        return
    distinct, whole = known.nunique(), not bool((known % 1 != 0).any())
    most = max(MOST_WHOLE, len(known) / 10) if whole else len(known) / 2
    if len(known) >= MIN_MEASURED and distinct > most:
        raise refusal(
            "measured", str(labels.name), file=source.called, distinct=distinct, count=len(known)
        )


def _where(mask: Any) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())
