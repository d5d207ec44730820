"""Models compared: nearest neighbours in each space, and what people fit to such tables instead.

Every model learns from the same rows and is judged by the same others, split by split. Differences
are to gradient boosting, which treats holes itself: on each split first, then their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpclean.baselines.rivals import BOOSTING, RIVALS
from cpclean.data.rows import Floats
from cpclean.experiments import sure
from cpclean.experiments.fresh import RATE
from cpclean.experiments.inject import INJECTIONS
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table, named_tables
from cpclean.experiments.model_cases import (
    BUNDLED,
    MOST_ROWS,
    MOST_ROWS_OF,
    QUICK_ROWS,
    REAL,
    TEST_SHARE,
    case_keys,
    case_of,
)
from cpclean.experiments.model_runs import LEAST, OURS, figures, model_names, run_model
from cpclean.experiments.store import Figures, Key, Store, with_versions
from cpclean.queries.sureness import LEVEL

if TYPE_CHECKING:
    from rich.console import Console

KEYS = ("table", "holes", "seed", "model")
QUICK_SEEDS = 1

Lines = Sequence[Mapping[str, str]]


def jobs_for(folder: Path | None, seeds: int, quick: bool = False) -> list[Job]:
    """The cells of the table: one for each case and model."""
    return [
        Job((*key, model), partial(_measure, folder, key, model))
        for key in case_keys(folder, seeds, quick)
        for model in model_names(key[1])
    ]


def reproduce(
    folder: Path | None, out: Path, seeds: int, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Fill both tables, or until Ctrl-C; their Markdown, and whether they are complete."""
    if quick:
        seeds = min(seeds, QUICK_SEEDS)
    store = Store(out, "models", KEYS, _settings(folder, quick))
    surety = Store(out, "sure", sure.KEYS, _settings(folder, quick))
    finished = run_jobs(jobs_for(folder, seeds, quick), store, console, n_jobs)
    finished = finished and run_jobs(sure.jobs_for(folder), surety, console, n_jobs)
    text = f"{markdown(store.lines())}\n{sure.markdown(surety.lines())}"
    (out / "models.md").write_text(text, encoding="utf-8")
    return text, finished


def _settings(folder: Path | None, quick: bool) -> dict[str, Any]:
    return with_versions(
        {
            "data": "generated" if folder is None else "real, bundled and published",
            "quick": quick,
            "rows": QUICK_ROWS if folder is None else {"most": MOST_ROWS, **MOST_ROWS_OF},
            "rate": RATE,
            "test": TEST_SHARE,
            "level": LEVEL,
            "least": LEAST,
        }
    )


def _measure(folder: Path | None, key: Key, model: str) -> Figures:
    case = case_of(folder, key)
    return figures(run_model(model, case), case.y_test)


# -- the tables in Markdown -----------------------------------------------------------------------


def markdown(lines: Lines) -> str:
    """All tables, each after a comment with its name: means over groups of tables come first."""
    groups = dict(sorted(_grouped(lines).items(), key=_in_order))
    found = {"models in short": _summary(groups)}
    for holes in ("real", "published"):
        inside = {table: models for (table, kind), models in groups.items() if kind == holes}
        if inside:
            found[f"models, {holes}"] = _details(inside)
    for table in dict.fromkeys(table for table, holes in groups if holes in INJECTIONS):
        own = {holes: models for (name, holes), models in groups.items() if name == table}
        found[f"models, {table}"] = _by_holes(table, own)
    return f"{named_tables(found)}\n{_LEGEND}\n"


_LEGEND = (
    "Accuracy: mean over splits ± standard deviation. Difference: to gradient boosting on the same "
    "splits, in points of accuracy, ± the standard error of its mean. Log loss: no probability "
    f"below {LEAST}. Sure: the largest share, less its estimated error, is at least {LEVEL}. "
    "Seconds: CPU time of one split on one core, with kernels loaded."
)

Models = dict[str, dict[str, Mapping[str, str]]]
Groups = dict[tuple[str, str], Models]


def _grouped(lines: Lines) -> Groups:
    """(table, holes) -> model -> seed -> line."""
    groups: Groups = {}
    for line in lines:
        models = groups.setdefault((line["table"], line["holes"]), {})
        models.setdefault(line["model"], {})[line["seed"]] = line
    return groups


def paired_differences(ours: Mapping[str, Mapping[str, str]], rival: Mapping[str, Any]) -> Floats:
    """Accuracy less that of the rival, on the splits that both were measured on."""
    seeds = [seed for seed in ours if seed in rival]
    return np.array(
        [float(ours[seed]["accuracy"]) - float(rival[seed]["accuracy"]) for seed in seeds]
    )


def _summary(groups: Groups) -> str:
    """For each model the mean difference over tables with real, injected and published holes."""
    kinds = {"real holes": ("real",), "injected holes": INJECTIONS, "published": ("published",)}
    head = ["model"]
    columns = []
    for title, belonging in kinds.items():
        inside = [models for (_, holes), models in groups.items() if holes in belonging]
        if inside:
            head.append(f"{title} ({len(inside)} tables): mean; worst")
            columns.append(inside)
    rows = []
    for model in (*OURS, *RIVALS):
        cells = [_mean_and_worst(model, inside) for inside in columns]
        if any(cells):
            rows.append([model, *(cell or "" for cell in cells)])
    return markdown_table(head, rows, 1)


def _mean_and_worst(model: str, tables: Sequence[Mapping[str, Any]]) -> str:
    """Of the differences of a model; in brackets on how many tables, if it lacks some."""
    there = [models for models in tables if model in models and BOOSTING in models]
    found = [paired_differences(models[model], models[BOOSTING]) for models in there]
    means = [100 * one.mean() for one in found if len(one)]
    if not means:
        return ""
    if model == BOOSTING:
        lines = [list(models[model].values()) for models in there]
        return f"accuracy {np.mean([_values(own, 'accuracy').mean() for own in lines]):.3f}"
    lacking = f" ({len(means)} of {len(tables)})" if len(means) < len(tables) else ""
    return f"{np.mean(means):+.1f}; {min(means):+.1f}{lacking}"


def _details(tables: Mapping[str, Models]) -> str:
    head = ("table", "model", "splits", "accuracy", "difference", "log loss", "certain",
            "sure", "sure and right", "fit, s", "predict, s", "prove, s")  # fmt: skip
    rows = []
    for table, models in tables.items():
        for model in (*OURS, *RIVALS):
            if model in models:
                rows.append((table, model, *_figures(models[model], models)))
    return markdown_table(head, rows, 2)


def _by_holes(table: str, kinds: Mapping[str, Models]) -> str:
    """Of one table, a column for each way of injecting holes."""
    rows = []
    for model in (*OURS, *RIVALS):
        cells = [_mean_and_difference(models, model) for models in kinds.values()]
        if any(cells):
            rows.append((model, *cells))
    return markdown_table(("model", *(f"{table}, {holes}" for holes in kinds)), rows, 1)


def _mean_and_difference(models: Models, model: str) -> str:
    if model not in models:
        return ""
    mean = f"{_values(list(models[model].values()), 'accuracy').mean():.3f}"
    difference = paired_differences(models[model], models.get(BOOSTING, {}))
    if model == BOOSTING or not len(difference):
        return mean
    return f"{mean} ({100 * difference.mean():+.1f})"


def _in_order(item: tuple[tuple[str, str], Any]) -> tuple[int, int, str]:
    (table, holes), _ = item
    names = (*REAL, *BUNDLED)
    kinds = ("real", *INJECTIONS, "published")
    return kinds.index(holes), names.index(table) if table in names else len(names), table


def _figures(own: Mapping[str, Mapping[str, str]], models: Mapping[str, Any]) -> list[str]:
    lines = list(own.values())
    difference = paired_differences(own, models.get(BOOSTING, {}))
    sure_points = sum(int(line["sure_points"]) for line in lines if line.get("sure_points"))
    right = sum(int(line["sure_right"]) for line in lines if line.get("sure_right"))
    return [
        str(len(lines)),
        _spread(_values(lines, "accuracy"), 1.0, "{:.3f}", spread_of_mean=False),
        _spread(difference, 100.0, "{:+.1f}", spread_of_mean=True),
        _mean(lines, "log_loss", "{:.2f}"),
        _mean(lines, "certain", "{:.1%}"),
        _mean(lines, "sure", "{:.1%}"),
        f"{right / sure_points:.1%}" if sure_points else "",
        *(_mean(lines, name, "{:.2f}") for name in ("fit", "predict", "prove")),
    ]


def _values(lines: Lines, name: str) -> Floats:
    return np.array([float(line[name]) for line in lines if line.get(name)])


def _mean(lines: Lines, name: str, form: str) -> str:
    values = _values(lines, name)
    return form.format(values.mean()) if len(values) else ""


def _spread(values: Floats, unit: float, form: str, *, spread_of_mean: bool) -> str:
    if not len(values):
        return ""
    mean = form.format(unit * values.mean())
    if len(values) < 2:
        return mean
    deviation = unit * values.std(ddof=1) / (np.sqrt(len(values)) if spread_of_mean else 1.0)
    return f"{mean} ± {form.replace('+', '').format(deviation)}"
