"""What trials on a table found, in a sentence and in tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cpclean.analysis.trial_run import (
    ACCURACY,
    AIM,
    CLEANING,
    OURS,
    OURS_TRUE,
    PREDICTIONS,
    RIVALS,
)
from cpclean.analysis.words import count, listed, percent
from cpclean.queries.sureness import CERTAIN, OPEN, SURE

_BOOSTING = RIVALS[0]
# Shares of fewer predictions than this are off by several points.
_FEW_PREDICTIONS = 200


@dataclass(frozen=True)
class Figure:
    """What was measured in each trial.

    Attributes
    ----------
    name : tuple of str
        What it is about, beginning with its group: "predictions", "accuracy" or "cleaning".
    values : tuple of float or None
        One for each trial; None where there was nothing to measure.
    """

    name: tuple[str, ...]
    values: tuple[float | None, ...]

    @property
    def mean(self) -> float | None:
        """The mean over trials; None if there was nothing to measure in any."""
        known = [value for value in self.values if value is not None]
        return math.fsum(known) / len(known) if known else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over trials; None of a single one."""
        known = [value for value in self.values if value is not None]
        if len(known) < 2:
            return None
        mean = math.fsum(known) / len(known)
        return math.sqrt(math.fsum((one - mean) ** 2 for one in known) / (len(known) - 1))


@dataclass(frozen=True)
class TrustTable:
    """A table of words: a title, the heads of its columns, and its rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TrustFindings:
    """What `cpclean.trust` found; its text is the sentence and the tables.

    Attributes
    ----------
    level : float
        At which predictions are sure.
    strategies : tuple of str
        The orders of cleaning that were tried.
    figures : tuple of Figure
        Everything that was measured.
    n_rows, n_complete : int
        Rows of the table, and those without holes.
    share_with_holes : float
        Of the table's rows.
    n_trials : int
    n_train, n_points, train_with_holes, points_with_holes : float
        Rows of a trial to learn from and to predict, and those of them that got holes: means.
    interrupted : bool
        Whether trials were interrupted.
    left_out : tuple
        Labels without a complete row, which no trial has.
    """

    level: float
    strategies: tuple[str, ...]
    figures: tuple[Figure, ...]
    n_rows: int
    n_complete: int
    share_with_holes: float
    n_trials: int
    n_train: float
    n_points: float
    train_with_holes: float
    points_with_holes: float
    interrupted: bool = False
    left_out: tuple[Any, ...] = ()

    def figure(self, *name: str) -> Figure:
        """A figure by its name; without values if it was not measured."""
        return next((one for one in self.figures if one.name == name), Figure(name, ()))

    @property
    def sentence(self) -> str:
        """The most important of it in one sentence."""
        parts = [self._sure_words(), self._cleaning_words(), self._boosting_words()]
        return f"On your table, {'; '.join(part for part in parts if part)}."

    @property
    def tables(self) -> tuple[TrustTable, ...]:
        """All of it, as words: predictions, accuracy, rows to clean."""
        found = (self._predictions(), self._accuracies(), self._cleaning())
        return tuple(one for one in found if one.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known to read the tables."""
        found = [
            f"{count(self.n_trials, 'trial')}, each with {count(round(self.n_train), 'row')} to "
            f"learn from and {count(round(self.n_points), 'row')} to predict, out of "
            f"{count(self.n_complete, 'complete row')}. {round(self.train_with_holes):,} and "
            f"{round(self.points_with_holes):,} of them got the holes of other rows; "
            f"{percent(self.share_with_holes)} of the table's rows have holes."
        ]
        found += self._sizes()
        if self.points_with_holes:
            found.append(
                "Cleaning training rows fills no hole of a row to predict: in the table of rows to "
                "clean, each way of filling such holes counts as a prediction of its own, by its "
                "weight."
            )
        among = self.figure(PREDICTIONS, "listed").mean
        kept = self.figure(PREDICTIONS, CERTAIN, "kept").mean
        if among is not None:
            words = f"The true value is a candidate of {percent(among)} of the holes."
            if kept is not None and kept < 1.0:
                words += (
                    " What is certain is so for all candidates; where the true value is none of "
                    "them, a certain label can turn out otherwise."
                )
            found.append(words)
        if self.left_out:
            labels = listed([repr(label) for label in self.left_out])
            found.append(f"No complete row has the label {labels}: no trial has it, either.")
        return tuple(found)

    def _sizes(self) -> Iterator[str]:
        """Where not all rows were looked at, how many were."""
        made = self.figure(PREDICTIONS, "made").mean
        if made is not None and round(made) < round(self.n_points):
            yield (
                f"These have many ways of filling their holes: {round(made):,} of them were "
                "predicted, by every model."
            )
        rows = self.figure(CLEANING, "rows").mean
        if rows is not None and round(rows) < round(self.n_train):
            points = self.figure(CLEANING, "predictions").mean or 0.0
            yield (
                f"Cleaning takes longer, and was tried on {count(round(rows), 'row')} of each "
                f"trial, {self._n_cleaned:,} of them with holes, for "
                f"{count(round(points), 'prediction')}."
            )
        total = round(self.n_trials * (self.n_points if made is None else made))
        if total < _FEW_PREDICTIONS:
            yield (f"{count(total, 'prediction')} in all are few: take the figures as rough ones.")

    def __str__(self) -> str:
        return "\n\n".join([self.sentence, *map(_text, self.tables), *self.notes])

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, for JSON."""
        return {
            "sentence": self.sentence,
            "notes": list(self.notes),
            "level": self.level,
            "rows": self.n_rows,
            "complete_rows": self.n_complete,
            "share_with_holes": self.share_with_holes,
            "trials": self.n_trials,
            "interrupted": self.interrupted,
            "each_trial": {
                "training_rows": self.n_train,
                "training_rows_with_holes": self.train_with_holes,
                "points": self.n_points,
                "points_with_holes": self.points_with_holes,
            },
            "figures": [
                {"name": " / ".join(one.name), "mean": one.mean, "spread": one.spread,
                 "values": list(one.values)}
                for one in self.figures
            ],
        }  # fmt: skip

    @property
    def _n_cleaned(self) -> int:
        """How many rows with holes cleaning was tried on."""
        mean = self.figure(CLEANING, "rows with holes").mean
        return round(self.train_with_holes if mean is None else mean)

    # -- the sentence ------------------------------------------------------------------------------

    def _sure_words(self) -> str:
        share = self.figure(PREDICTIONS, SURE).mean or 0.0
        kept = self.figure(PREDICTIONS, SURE, "kept").mean
        if kept is None:
            return "no prediction is sure without cleaning"
        return (
            f"{percent(share)} of predictions are sure without cleaning anything, and "
            f"{percent(kept)} of those keep their label when the truth is known"
        )

    def _cleaning_words(self) -> str:
        if not self.strategies:
            return ""
        rows = self.figure(CLEANING, self.strategies[0], SURE, "most").mean
        if rows is None:
            return ""
        own = ", apart from their own holes" if self.points_with_holes else ""
        if rows == 0:
            return f"nothing has to be cleaned to settle {AIM:.0%} of predictions{own}"
        some = f"{max(1, round(rows)):,} of {count(self._n_cleaned, 'row')}"
        return f"cleaning about {some} with holes settles {AIM:.0%} of predictions{own}"

    def _boosting_words(self) -> str:
        gap = self._ahead(_BOOSTING)
        mean, spread = gap.mean, gap.spread
        if mean is None:
            return ""
        if abs(mean) < 0.05:
            return "gradient boosting is as accurate"
        words = f"{abs(mean):.1f} {'point' if f'{abs(mean):.1f}' == '1.0' else 'points'}"
        chance = spread is None or abs(mean) < spread * _within(len(gap.values))
        comparison = "more" if mean > 0 else "less"
        return f"gradient boosting is {words} {comparison} accurate" + (
            ", which may be chance" if chance else ""
        )

    # -- the tables --------------------------------------------------------------------------------

    def _predictions(self) -> TrustTable:
        names = {
            CERTAIN: "certain",
            SURE: f"{100 * self.level:g}% sure, or certain",
            OPEN: "open",
        }
        rows = [
            (
                words,
                _share(self.figure(PREDICTIONS, name)),
                _share(self.figure(PREDICTIONS, name, "kept")),
                _share(self.figure(PREDICTIONS, name, "right")),
            )
            for name, words in names.items()
            if self.figure(PREDICTIONS, name).values
        ]
        head = ("predictions", "share", "same label in truth", "right")
        return TrustTable("Predictions with nothing cleaned", head, tuple(rows))

    def _accuracies(self) -> TrustTable:
        rows = [
            (name, _share(own), "" if name == OURS else _points(self._ahead(name)))
            for name in (OURS, *RIVALS, OURS_TRUE)
            if (own := self.figure(ACCURACY, name)).values
        ]
        return TrustTable("Accuracy", ("model", "accuracy", "points ahead"), tuple(rows))

    def _ahead(self, model: str) -> Figure:
        """By how many points a model is more accurate than ours, trial by trial."""
        pairs = zip(
            self.figure(ACCURACY, model).values, self.figure(ACCURACY, OURS).values, strict=False
        )
        found = [100 * (one - own) for one, own in pairs if one is not None and own is not None]
        return Figure((ACCURACY, model, "ahead"), tuple(found))

    def _cleaning(self) -> TrustTable:
        holes = self._n_cleaned
        cases = [(promise, which) for promise in (SURE, CERTAIN) for which in ("most", "all")]
        head = [f"{f'{AIM:.0%}' if which == 'most' else 'all'}, {one}" for one, which in cases]
        rows = [
            (strategy, *(_rows(self.figure(CLEANING, strategy, *case)) for case in cases))
            for strategy in self.strategies
            if any(one.name[:2] == (CLEANING, strategy) for one in self.figures)
        ]
        title = f"Rows to clean, of {holes:,} with holes, until so many predictions are settled"
        return TrustTable(title, ("order", *head), tuple(rows))


def _within(size: int) -> float:
    """How many standard deviations of one trial the mean of so many may be off by chance, at 95%.

    >>> round(_within(5), 2)
    1.24
    """
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(size - 1, 0.975)) / math.sqrt(size)


def _share(figure: Figure) -> str:
    if figure.mean is None:
        return ""
    spread = "" if figure.spread is None else f" ± {100 * figure.spread:.1f}"
    return f"{percent(figure.mean)}{spread}"


def _points(figure: Figure) -> str:
    spread = "" if figure.spread is None else f" ± {figure.spread:.1f}"
    return "" if figure.mean is None else f"{figure.mean:+.1f}{spread}"


def _rows(figure: Figure) -> str:
    if figure.mean is None:
        return "not reached" if figure.values else ""
    return f"{figure.mean:.1f}" + ("" if figure.spread is None else f" ± {figure.spread:.1f}")


def _text(table: TrustTable) -> str:
    lines = [table.head, *table.rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.head))]
    rows = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return "\n".join([f"{table.title}:", *rows])
