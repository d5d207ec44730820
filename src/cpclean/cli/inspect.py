"""cpclean inspect: do the missing values matter?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from cpclean.analysis.words import about_percent, listed, percent, words_first
from cpclean.cli.many_files import OpenedFiles, is_many
from cpclean.cli.mistakes import in_options
from cpclean.cli.options import (
    Training,
    Validation,
    level_of,
    sure_option,
    training_options,
    validation_options,
)
from cpclean.cli.output import drawn, print_text, terminal, working
from cpclean.cli.sessions import (
    WayOfAsking,
    open_session,
    table_of,
    tell_draws,
)
from cpclean.cli.tasks import AT_ONCE, column_remarks, files_given, model_of, open_given
from cpclean.errors import offenders

if TYPE_CHECKING:
    from cpclean.analysis.column_effects import ColumnEffect
    from cpclean.analysis.summary import Summary
    from cpclean.data.table import IncompleteTable
    from cpclean.data.task import Task
    from cpclean.intake.file_lines import FileLines
    from cpclean.intake.notes import Note
    from cpclean.intake.open_task import Opened

TELLING = ("tells_label", "holes_tell_label")
# Columns with holes that are named where none of them matters.
MOST_NAMED = 6
# Columns in the list; of more, those that settle most.
MOST_SHOWN = 12


@click.command(short_help="Do the missing values of a table matter, and where?")
@training_options
@validation_options
@sure_option
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    help="How often the holes of a column are filled to see what cleaning it would achieve.  "
    "[default: 10, or 5 if rows are represented by draws, 3 among leaves]",
)
@click.option(
    "--whole",
    is_flag=True,
    help="Look at all rows of a large table. Without it, a random sample is looked at if there are "
    "very many ways of filling its rows; its size is said.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def inspect(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    samples: int | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Does missingness matter here: for how many predictions, and which columns matter most?

    FILE is the training table, with holes. Predictions are certain, 95% sure, or open. For each
    column: its holes, the share of predictions that would be certain if this column alone were
    clean, and how many of the open ones would be settled: certain or, with --sure, that sure. Its
    true values are not known, so the holes are filled a few times, as likely as the prior says; the
    share is the mean, with the lowest and the highest. Then: what the first rows would achieve, and
    advice.

    \b
    Example:
      cpclean inspect train.csv --label y
      cpclean inspect train.csv --label y --sure 0.95
      cpclean inspect train.csv --label y --val val.csv --json
    """
    from cpclean.analysis.advice import advice
    from cpclean.analysis.next_step import next_step
    from cpclean.intake.doubts import gathered
    from cpclean.intake.file_lines import FileLines
    from cpclean.intake.formats import plain

    opened: Opened | OpenedFiles
    with working("Reading"):
        if is_many(training.file):
            opened = files_given(training, validation)
        else:
            opened = open_given(training, validation, whole=whole)
        task = opened.task
    with working("Looking at the predictions"):
        level = level_of(sure)
        lines = FileLines() if isinstance(opened, OpenedFiles) else opened.lines
        facts, first = looked_at(task, training, level, lines)
        tell_draws(task, training)
    accuracies = accuracies_of(opened, training, facts.accuracy)
    others = {} if isinstance(opened, OpenedFiles) else others_of(task)
    effects = effects_of(task, training, samples or samples_for(task), validation.seed, level)
    remarks = remarks_on(opened, training)
    said = advice(facts, effects, others)
    step = next_step(facts, effects, telling(remarks), others)
    remarks = gathered(remarks)
    last = [step] if step else []
    sample = sample_of(opened)
    if as_json:
        everything = {
            "headline": first,
            "table": asdict(facts),
            "sample": sample,
            "space": space_of(table_of(task)),
            "validation_accuracy": accuracies,
            "accuracy_beside": others,
            "columns": list(map(asdict, effects)),
            "advice": [*said, *map(sentence, remarks), *last],
        }
        print_text(json.dumps(plain(everything), indent=2, ensure_ascii=False) + "\n")
        return
    few = few_ways(task)
    # Those that were told at once are on the screen already.
    left = [one for one in remarks if one.code not in AT_ONCE or isinstance(opened, OpenedFiles)]
    _print(first, facts, sample, few, accuracies, effects, [*said, *map(sentence, left), *last])


def looked_at(
    task: Task, training: Training, sure: float | None = None, lines: FileLines | None = None
) -> tuple[Summary, str | None]:
    """Facts about a task, with rows and lines as in the file; and whether the holes matter."""
    from cpclean.analysis.headline import headline, open_by_own_holes
    from cpclean.analysis.predictions import Predictions
    from cpclean.analysis.summary import summary

    # What `clean` would ask about first, and not what another strategy would.
    session = open_session(task, training, **asdict(WayOfAsking.of(sure, None)))
    facts = summary(session)
    rows = task.row_names[list(facts.first_rows)].tolist()
    found = [] if lines is None else [lines.at(row) for row in rows]
    known = tuple(line for line in found if line is not None)
    facts = replace(facts, first_rows=tuple(rows), first_lines=known)
    if not facts.cells_missing and not facts.points_with_holes:
        return facts, None
    verdicts = Predictions.of(session.view)
    return facts, headline(verdicts, open_by_own_holes(session.view, verdicts))


def sample_of(opened: Opened | OpenedFiles) -> dict[str, int] | None:
    """How many rows were looked at, and of how many; None if all were."""
    notes = () if isinstance(opened, OpenedFiles) else opened.notes
    about = [one for one in notes if not isinstance(one, Warning)]
    found = [one.values for one in about if one.code == "sampled"]
    if not found:
        return None
    names = {"rows": "count", "of_rows": "total", "points": "seen", "of_points": "to_predict"}
    return {name: int(found[0][value]) for name, value in names.items()}


def few_ways(task: Task) -> str:
    """Why `check`, which looks at more ways of filling a row, may count otherwise; "" if not so."""
    points = task.points
    if points.is_exact:
        return ""
    ways = int((points.owner == points.drawn[0]).sum())
    return (
        f"Rows to predict with many holes are looked at in {ways} ways here; cpclean check looks "
        "at more and may count a few of them otherwise."
    )


def samples_for(task: Task) -> int:
    """How often columns are filled: less often where it takes longer to see what that achieves."""
    if task.dataset.is_exact:
        return 10
    return 5 if task.dataset.space is None else 3


def space_of(table: IncompleteTable) -> str:
    """The name of a table's space."""
    return "plain" if table.leaves is None else table.leaves.kind


def accuracies_of(
    opened: Opened | OpenedFiles, training: Training, accuracy: float | None
) -> dict[str, float]:
    """Validation accuracy in the space of a task and, beside it, in the plain space or the forest.

    Nothing without labels; nothing beside the plain space if the table cannot have a forest, and
    nothing beside the space of several files, which would have to be read again.
    """
    from cpclean.analysis.predictions import accuracy_of
    from cpclean.progress_bar import progress_bar
    from cpclean.queries.model import usual_model

    if accuracy is None:
        return {}
    own = space_of(table_of(opened.task))
    found = {own: accuracy}
    if isinstance(opened, OpenedFiles):
        return found
    other = "forest" if own == "plain" else "plain"
    console = terminal(stderr=True)
    with progress_bar(2, f"Learning the {other} space", console=console, transient=True) as follow:
        beside = opened.in_space(other)
        if beside is None:
            return found
        follow(1, f"Predicting in the {other} space")
        model = usual_model(beside.dataset, training.neighbors)
        return {**found, other: accuracy_of(beside, model)}


def others_of(task: Task) -> dict[str, float]:
    """The validation accuracy of other models, with a bar; nothing without labels."""
    from cpclean.analysis.beside import WORDS, accuracies_beside
    from cpclean.progress_bar import progress_bar

    names = list(WORDS.values())
    words, console = "Fitting other models", terminal(stderr=True)
    with progress_bar(len(names), words, console=console, transient=True) as follow:
        return accuracies_beside(task, lambda one: follow(names.index(one), f"Fitting {one}"))


def effects_of(
    task: Task, training: Training, samples: int, seed: int, sure: float | None = None
) -> list[ColumnEffect]:
    """What cleaning each column of a task would achieve, with a bar that shows how far it is."""
    from cpclean.analysis.column_effects import column_effects
    from cpclean.progress_bar import progress_bar

    names = list(table_of(task).names)
    words = "Looking at the columns"
    with progress_bar(len(names), words, console=terminal(stderr=True), transient=True) as follow:
        return column_effects(
            table_of(task),
            task.points,
            model_of(task, training),
            samples,
            seed,
            sure=sure,
            progress=lambda name: follow(names.index(name), f"Looking at {name}"),
        )


def remarks_on(opened: Opened | OpenedFiles, training: Training) -> list[Note]:
    """What is doubtful about the columns of what was opened."""
    if isinstance(opened, OpenedFiles):
        return opened.remarks()
    return column_remarks(opened.task, training)


def telling(remarks: Iterable[Note]) -> list[str]:
    """The columns that say the label by themselves."""
    return [one.column for one in remarks if one.code in TELLING and one.column is not None]


def sentence(about: Note) -> str:
    """A remark as a sentence, with the command line's options in it."""
    words = in_options(about)
    return words[:1].upper() + words[1:]


def _print(
    first: str | None,
    facts: Summary,
    sample: dict[str, int] | None,
    few: str,
    accuracies: dict[str, float],
    effects: list[ColumnEffect],
    sentences: list[str],
) -> None:
    import pandas as pd
    from rich.markup import escape

    from cpclean.analysis.certain_words import ways_words
    from cpclean.analysis.column_effects import sample_in_words

    console = terminal()
    worlds = "1 world" if facts.worlds == "1" else f"{facts.worlds} worlds"
    cells = "1 cell" if facts.cells_missing == 1 else f"{facts.cells_missing:,} cells"
    if first:
        console.print(f"[bold]{escape(first)}[/]\n", soft_wrap=False)
    rows = f"{facts.rows:,} training rows"
    if sample and sample["rows"] < sample["of_rows"]:
        rows = f"A sample: {facts.rows:,} of {sample['of_rows']:,} training rows"
    console.print(f"{rows}, {facts.rows_with_holes:,} with holes; {cells} missing: {worlds}.")
    said = facts.certain_share == 1 or not (facts.points_with_holes or facts.until_sure)
    if not said:
        has_ways = facts.points_with_holes and not facts.until_sure
        standing = ways_words(facts.standing) if has_ways else f"{facts.standing}."
        console.print(standing, soft_wrap=False)
    if few:
        console.print(few, soft_wrap=False)
    if accuracies:
        each = [f"{words_first(one)} in the {space} space" for space, one in accuracies.items()]
        console.print(f"Validation accuracy: {', '.join(each)}.", soft_wrap=False)
    with_holes, n_open = [one for one in effects if one.holes], facts.unsettled
    if with_holes and facts.certain == facts.points:
        names = [repr(one.name) for one in with_holes]
        named = listed(names) if len(names) <= MOST_NAMED else offenders(names, MOST_NAMED)
        console.print(f"Whatever is in the holes of {named}, these predictions stay.")
    elif with_holes:
        listed_here = most_settling(with_holes)
        shown = pd.DataFrame(
            {
                "column": [one.name for one in listed_here],
                "holes": [one.holes for one in listed_here],
                "certain if clean": [_if_clean(one, facts.points) for one in listed_here],
                "lowest-highest": [
                    f"{percent(one.low)} to {percent(one.high)}" for one in listed_here
                ],
                "settles": [f"{one.of_open(n_open):,} of {n_open:,}" for one in listed_here],
            }
        )
        console.print(drawn(shown, right=tuple(shown.columns[2:])))
        if more := len(with_holes) - len(listed_here):
            console.print(f"{more:,} more with holes settle no more; --json lists all.")
    if words := sample_in_words(effects, facts.points_with_holes):
        console.print(words)
    if 0 < len(with_holes) < len(effects):
        others = len(effects) - len(with_holes)
        console.print(f"{_columns(others)} no holes.")
    mark = "*" if console.options.ascii_only else "•"
    for sentence in sentences:
        console.print(f"{mark} {escape(sentence)}", soft_wrap=False)


def most_settling(effects: list[ColumnEffect]) -> list[ColumnEffect]:
    """The columns that are shown: all in the table's order, or those that settle most, best first.

    >>> from cpclean.analysis.column_effects import ColumnEffect
    >>> some = [ColumnEffect(f"c{n}", "numeric", 1, n / 20, 0, 1) for n in range(14)]
    >>> [one.name for one in most_settling(some)][:2], len(most_settling(some))
    (['c13', 'c12'], 12)
    >>> [one.name for one in most_settling(some[:3])]
    ['c0', 'c1', 'c2']
    """
    if len(effects) <= MOST_SHOWN:
        return effects
    best = sorted(effects, key=lambda one: (-one.settled_if_clean, -one.certain_if_clean))
    return best[:MOST_SHOWN]


def _if_clean(effect: ColumnEffect, points: int) -> str:
    share = (about_percent if effect.sample else percent)(effect.certain_if_clean)
    return f"{round(effect.certain_if_clean * points):,} of {points:,} ({share})"


def _columns(number: int) -> str:
    return "1 other column has" if number == 1 else f"{number:,} other columns have"
