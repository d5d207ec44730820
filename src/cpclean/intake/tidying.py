"""Cells as they are meant: numbers, days, values for nothing, spellings, ranges of a label.

Nothing of this touches the original, which keeps every cell as it was written. What is done to the
training rows is done to the rows to predict, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from cpclean.data.nulls import is_token, stripped
from cpclean.data.rows import Bools
from cpclean.errors import near, offenders
from cpclean.intake.choices import Choices
from cpclean.intake.notes import Note
from cpclean.intake.odd_numbers import with_numbers
from cpclean.intake.sentences import refusal

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?")


@dataclass(frozen=True)
class Tidying:
    """What was done to the training rows.

    Attributes
    ----------
    choices : Choices
    numbers : frozenset of str
        Columns that are numbers.
    spellings : dict from column to dict from folded text to text
        The one spelling of each category.
    edges : tuple of float
        Between the ranges of the label; none if it is no range.
    """

    choices: Choices
    numbers: frozenset[str] = frozenset()
    spellings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    edges: tuple[float, ...] = ()

    def of(self, frame: Any) -> tuple[Any, list[Note]]:
        """Other rows of the same kind, and notes on them."""
        choices = self.choices
        but = {choices.label, *choices.kinds}
        expected = self.numbers - but
        made, notes = with_numbers(frame, but, expected, _sep(choices))
        return self._finished(with_days(made, but)), notes

    def _finished(self, frame: Any) -> Any:
        made = frame.copy(deep=False)
        for name, spelt in self.spellings.items():
            if name in made.columns:
                made[name] = made[name].map(
                    lambda one, spelt=spelt: spelt.get(folded(one), one), na_action="ignore"
                )
        for name, gone in cells(made, self.choices.nothing).items():
            made[name] = made[name].mask(gone)
        if self.edges and self.choices.label in made.columns:
            made[self.choices.label] = ranges(made[self.choices.label], self.edges)
        return made


def tidied(frame: Any, choices: Choices) -> tuple[Any, list[Note], Tidying]:
    """The training rows, without columns that are dropped; notes on them; and what was done."""
    if choices.domains:
        return frame, [], Tidying(choices)
    names = [str(name) for name in frame.columns]
    asked = [*choices.fold, *(name for name, _ in (*choices.nothing, *choices.suspects))]
    if absent := [name for name in asked if name not in names]:
        raise refusal("no_such_column", absent[0], names=named(names), near=near(absent[0], names))
    but = {choices.label, *choices.kinds}
    made, notes = with_numbers(frame, but, (), _sep(choices))
    made = with_days(made, but)
    spellings = {name: one_spelling(made[name].dropna().tolist()) for name in choices.fold}
    edges = _edges(made, choices) if choices.bins else ()
    numbers = frozenset(str(name) for name in made.select_dtypes("number").columns)
    done = Tidying(choices, numbers, spellings, edges)
    notes += [
        Note("no_such_cell", column=name, values={"value": text})
        for name, text in (*choices.nothing, *choices.suspects)
        if not cells(made, [(name, text)])
    ]
    return done._finished(made), notes, done


def with_days(frame: Any, but: Collection[str]) -> Any:
    """A frame in which columns of days and moments in ISO's text are dates."""
    import pandas as pd

    made = frame.copy(deep=False)
    for name in frame.columns:
        texts = frame[name].dropna()
        types = pd.api.types
        text = types.is_object_dtype(texts) or types.is_string_dtype(texts)
        if str(name) in but or not len(texts) or not text:
            continue
        distinct = texts.unique().tolist()
        if not all(isinstance(one, str) and DAY.fullmatch(one.strip()) for one in distinct):
            continue
        days = pd.to_datetime(frame[name].str.strip(), format="ISO8601", errors="coerce")
        if days.notna().sum() == len(texts):  # 2024-02-31 is no day, and the column stays text
            made[name] = days
    return made


def named(names: list[str]) -> str:
    """Columns, as a message lists them."""
    return offenders(map(repr, names), 8)


def folded(text: Any) -> str:
    """What spellings have in common that differ in case and blanks alone."""
    return " ".join(str(text).split()).casefold()


def one_spelling(texts: list[Any]) -> dict[str, str]:
    """The commonest spelling of each category, by its folded text.

    >>> one_spelling(["male", "Male", "male ", "male", "female"])
    {'male': 'male', 'female': 'female'}
    """
    found: dict[str, Any] = {}
    for text, _ in Counter(texts).most_common():
        found.setdefault(folded(text), text.strip() if isinstance(text, str) else text)
    return found


def ranges(numbers: Any, edges: tuple[float, ...]) -> Any:
    """The range that each number is in, as text; null where there is none.

    >>> import pandas as pd
    >>> ranges(pd.Series([1.0, 2.0, 5.0, None]), (1.5, 4.0)).fillna("none").tolist()
    ['1: up to 1.5', '2: 1.5 to 4', '3: above 4', 'none']
    """
    import pandas as pd

    values = pd.to_numeric(numbers, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    known = ~np.isnan(values)
    words = [f"1: up to {edges[0]:.6g}"]
    words += [f"{n}: {low:.6g} to {high:.6g}" for n, (low, high) in enumerate(pairwise(edges), 2)]
    words.append(f"{len(edges) + 1}: above {edges[-1]:.6g}")
    found = np.full(len(values), None, dtype=object)
    places = np.searchsorted(np.array(edges), values[known], side="left")
    found[known] = np.array(words, dtype=object)[places]
    return pd.Series(found, index=numbers.index, name=numbers.name)


def _edges(frame: Any, choices: Choices) -> tuple[float, ...]:
    """Between ranges of about as many rows each."""
    import pandas as pd

    label, count = choices.label, choices.bins
    assert count is not None
    values = pd.to_numeric(frame[label], errors="coerce").dropna().to_numpy(dtype=np.float64)
    if not len(values):
        raise refusal("bins_text", label)
    wanted = np.quantile(values, np.arange(1, count) / count, method="inverted_cdf")
    edges = tuple(dict.fromkeys(float(one) for one in wanted if one < values.max()))
    if not edges:
        raise refusal("bins_equal", label, count=count)
    return edges


def cells(frame: Any, named: Iterable[tuple[str, str]]) -> dict[str, Bools]:
    """Where columns of a frame hold values that are named by column and text; only if some do."""
    texts: dict[str, list[str]] = {}
    for name, text in named:
        texts.setdefault(name, []).append(text)
    found = {}
    for name in texts.keys() & set(frame.columns):
        tokens = stripped(texts[name])
        there = [is_token(_shown(one), tokens) for one in frame[name].tolist()]
        if any(there):
            found[name] = np.array(there)
    return found


def _shown(cell: Any) -> Any:
    """A moment as people write it: its day, if it is midnight."""
    if hasattr(cell, "isoformat"):
        text = str(cell)
        return text.removesuffix(" 00:00:00")
    return cell


def _sep(choices: Choices) -> str:
    return "," if choices.layout is None else choices.layout.sep
