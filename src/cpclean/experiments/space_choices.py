"""What was chosen for the forest space, measured: one choice made differently at a time.

Rows that `models` judges by take no part: of every table, only rows that are in none of its parts
to judge by; of the published spaces, only the training rows. These are cross-validated. A variant
is compared with the usual space on the same rows, so that its difference comes with an error.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpclean.classifier.forest import CertainForestClassifier
from cpclean.data.rows import Bools
from cpclean.data.table import IncompleteTable
from cpclean.experiments import refits
from cpclean.experiments.fresh import RATE, generated_table
from cpclean.experiments.inject import inject
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table, named_tables
from cpclean.experiments.model_cases import (
    MOST_ROWS,
    REAL,
    check_data,
    published_training,
    real_table,
    split,
)
from cpclean.experiments.model_runs import warm
from cpclean.experiments.space_files import Labels
from cpclean.experiments.space_variants import USUAL, VARIANTS, Variant, variant
from cpclean.experiments.store import Figures, Store, with_versions
from cpclean.queries.certain import is_certain
from cpclean.queries.shares import world_shares

if TYPE_CHECKING:
    from rich.console import Console

KEYS = ("table", "choice", "value")
TABLES = (*REAL, "Supreme", "Bank")
GENERATED = ("numbers", "mixed")
# The splits of `models` whose rows to judge by are left out here.
SPLITS = 5
FOLDS, MOST = 3, 1200
QUICK_FOLDS, QUICK_ROWS = 2, 160


@dataclass(frozen=True)
class ChoiceRows:
    """Rows that a choice may be made by: with holes to learn from, and to be judged by.

    The second are the first with the true values in holes where these are known.
    """

    learn: Any
    judge: Any
    labels: Labels


def jobs_for(folder: Path | None) -> list[Job]:
    """The cells of the table: one for each table and variant."""
    if folder is not None:
        check_data(folder)
    return [
        Job((table, choice, value), partial(_measure, folder, table, choice, value))
        for table in (GENERATED if folder is None else TABLES)
        for choice, values in VARIANTS.items()
        for value in values
    ]


def reproduce(
    folder: Path | None, out: Path, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Fill both tables, or until Ctrl-C; their Markdown, and whether they are complete."""
    settings = with_versions(
        {"folds": FOLDS, "rows": MOST, "generated": folder is None, "quick": quick}
    )
    store = Store(out, "space_choices", KEYS, settings)
    learnt = Store(out, "refits", refits.KEYS, settings)
    finished = run_jobs(jobs_for(folder), store, console, n_jobs)
    finished = finished and run_jobs(refits.jobs_for(folder), learnt, console, n_jobs)
    tables = {
        "space choices": markdown(store.lines()),
        "trees kept or learnt anew": refits.markdown(learnt.lines()),
    }
    text = named_tables(tables)
    (out / "spaces.md").write_text(text, encoding="utf-8")
    return text, finished


@lru_cache(maxsize=1)
def rows_of(folder: Path | None, table: str) -> ChoiceRows:
    """The rows of a table that no model is judged by; of many, a sample."""
    if folder is None:
        whole = generated_table(table, QUICK_ROWS)
        return ChoiceRows(inject(whole.frame, "random", RATE, 0).frame, whole.frame, whole.labels)
    if table in REAL:
        frame, labels = real_table(folder, REAL[table])
        judged = [split(labels, seed, MOST_ROWS)[1] for seed in range(SPLITS)]
        free = np.setdiff1d(np.arange(len(labels)), np.concatenate(judged))
        free = np.random.default_rng(0).permutation(free)[:MOST]  # in no order: ties go by row
        own = frame.iloc[free].reset_index(drop=True)
        return ChoiceRows(own, own, labels[free])
    dirty, true, labels = published_training(folder, table)
    return ChoiceRows(dirty[:MOST], true[:MOST], labels[:MOST])


@dataclass(frozen=True)
class CrossValidated:
    """What a variant says about every row when it was not among those to learn from."""

    right: Bools
    certain: Bools
    seconds: float


def answer(rows: ChoiceRows, made: Variant, folds: int) -> CrossValidated:
    """Cross-validate a variant."""
    from sklearn.model_selection import StratifiedKFold

    started = time.process_time()
    right, certain = (np.zeros(len(rows.labels), dtype=bool) for _ in range(2))
    parts = StratifiedKFold(folds, shuffle=True, random_state=0)
    for learn, judge in parts.split(rows.labels, rows.labels):
        if made.order:
            learn = learn[np.argsort(rows.labels[learn], kind="stable")[:: made.order]]
        X, y = rows.learn.iloc[learn], rows.labels[learn]
        some = X.notna().any(axis=1).to_numpy()
        X, y = X[some].reset_index(drop=True), y[some]
        table, number = _learnt(made, X, y)
        points = table.points(rows.judge.iloc[judge])
        shares = world_shares(table.dataset, points, number)
        right[judge] = table.dataset.classes[shares.argmax(axis=1)] == rows.labels[judge]
        certain[judge] = is_certain(table.dataset, points, number)
    return CrossValidated(right, certain, time.process_time() - started)


def _learnt(made: Variant, X: Any, y: Labels) -> tuple[IncompleteTable, int]:
    prior, seed = made.prior, made.random_state
    if made.n_neighbors is not None:
        table = IncompleteTable(X, y, prior=prior, space=made.space, random_state=seed)
        return table.shuffled(seed) if made.shuffled else table, made.n_neighbors
    model = CertainForestClassifier(prior=prior, random_state=seed).fit(X, y)
    assert model.table_ is not None
    return model.table_, model.n_neighbors_


@lru_cache(maxsize=1)
def _usual(folder: Path | None, table: str) -> CrossValidated:
    made = variant("", USUAL)
    return answer(rows_of(folder, table), made, QUICK_FOLDS if folder is None else FOLDS)


def _measure(folder: Path | None, table: str, choice: str, value: str) -> Figures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm()
        rows, usual = rows_of(folder, table), _usual(folder, table)
        folds = QUICK_FOLDS if folder is None else FOLDS
        made = usual if value == USUAL else answer(rows, variant(choice, value), folds)
    return {
        "rows": len(rows.labels),
        "accuracy": float(made.right.mean()),
        "better": int((made.right & ~usual.right).sum()),
        "worse": int((~made.right & usual.right).sum()),
        "certain": float(made.certain.mean()),
        "seconds": round(made.seconds, 3),
        "slower": round(made.seconds / usual.seconds, 2),
    }


# -- the table in Markdown ------------------------------------------------------------------------


def markdown(lines: Sequence[Mapping[str, str]]) -> str:
    """A line per variant: the difference on each table in points, and their mean."""
    tables = list(dict.fromkeys(line["table"] for line in lines))
    found = {(line["choice"], line["value"], line["table"]): line for line in lines}
    head = ("choice", "value", *tables, "mean", "certain", "time")
    rows = []
    for choice, values in VARIANTS.items():
        for value in values:
            own = [found.get((choice, value, table)) for table in tables]
            there = [line for line in own if line is not None]
            if there:
                cells = ["" if line is None else _cell(line, value) for line in own]
                rows.append((choice, value, *cells, *_means(there, value)))
    return markdown_table(head, rows, 2)


def _cell(line: Mapping[str, str], value: str) -> str:
    return f"{float(line['accuracy']):.3f}" if value == USUAL else f"{_difference(line)[0]:+.1f}"


def _means(lines: Sequence[Mapping[str, str]], value: str) -> tuple[str, str, str]:
    certain = np.mean([float(line["certain"]) for line in lines])
    slower = np.mean([float(line["slower"]) for line in lines])
    if value == USUAL:
        mean = f"{np.mean([float(line['accuracy']) for line in lines]):.3f}"
    else:
        each = [_difference(line) for line in lines]
        error = math.sqrt(sum(error**2 for _, error in each)) / len(each)
        mean = f"{np.mean([one for one, _ in each]):+.1f} ± {error:.1f}"
    return mean, f"{certain:.0%}", f"{slower:.1f}"


def _difference(line: Mapping[str, str]) -> tuple[float, float]:
    """The difference of accuracy to the usual space, in points, and its standard error."""
    rows, better, worse = (int(line[name]) for name in ("rows", "better", "worse"))
    mean = (better - worse) / rows
    return 100 * mean, 100 * math.sqrt(((better + worse) / rows - mean**2) / rows)
