"""cpclean inspect: do the missing values matter?"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import percent
from cpclean.cli.mistakes import in_options
from cpclean.cli.options import Training, Validation, training_options, validation_options
from cpclean.cli.output import drawn, print_text, terminal, working
from cpclean.cli.sessions import open_session, table_of, tell_completions, tell_draws
from cpclean.cli.tasks import kinds_of, open_given

if TYPE_CHECKING:
    from cpclean.analysis.column_effects import ColumnEffect
    from cpclean.analysis.summary import Summary
    from cpclean.data.task import Task


@click.command(short_help="Do the missing values of a table matter, and where?")
@training_options
@validation_options
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How often the holes of a column are filled to see what cleaning it would achieve.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def inspect(training: Training, validation: Validation, samples: int, as_json: bool) -> None:
    """Does missingness matter here: for how many predictions, and which columns matter most?

    FILE is the training table, with holes. For each column: its holes, and the share of
    predictions that would be certain if this column alone were clean. Its true values are not
    known, so the holes are filled a few times, as likely as the prior says; the share is the mean,
    with the lowest and the highest. Then: what the first ten rows would achieve, and advice.

    \b
    Example:
      cpclean inspect train.csv --label y
      cpclean inspect train.csv --label y --val val.csv --json
    """
    from cpclean.analysis.advice import advice
    from cpclean.intake.formats import plain

    with working("Reading"):
        task = open_given(training, validation).task
    with working("Looking at the predictions"):
        facts = looked_at(task, training)
        tell_draws(task, training)
        tell_completions(task)
    with working("Looking at the columns") as say:
        effects = effects_of(
            task, training, samples, validation.seed, lambda name: say(f"Looking at {name}")
        )
    sentences = [*advice(facts, effects), *remarks(task, training)]
    if as_json:
        found = {"table": asdict(facts), "columns": list(map(asdict, effects)), "advice": sentences}
        print_text(json.dumps(plain(found), indent=2, ensure_ascii=False) + "\n")
        return
    _print(facts, effects, sentences)


def looked_at(task: Task, training: Training) -> Summary:
    """The facts about a task, with rows numbered as in the file."""
    from cpclean.analysis.summary import summary

    facts = summary(open_session(task, training))
    return replace(facts, first_rows=tuple(task.row_names[list(facts.first_rows)].tolist()))


def effects_of(
    task: Task, training: Training, samples: int, seed: int, progress: Any = None
) -> list[ColumnEffect]:
    """What cleaning each column of a task would achieve."""
    from cpclean.analysis.column_effects import column_effects
    from cpclean.queries.model import Model

    return column_effects(
        table_of(task),
        task.points,
        Model(training.neighbors, training.metric),
        samples,
        seed,
        progress=progress,
    )


def remarks(task: Task, training: Training) -> list[str]:
    """What was decided about columns, if a person might decide differently."""
    from cpclean.data.domains import plain_frame
    from cpclean.data.frames import columns_from
    from cpclean.intake.remarks import column_notes

    table = table_of(task)
    kinds = {name: kind for name, kind in kinds_of(training).items() if name in table.names}
    columns = columns_from(plain_frame(task.frame)[list(table.names)], kinds, training.null)
    notes = column_notes(columns, {one.name: one.decision for one in table.report})
    return [words[:1].upper() + words[1:] for words in map(in_options, notes)]


def _print(facts: Summary, effects: list[ColumnEffect], sentences: list[str]) -> None:
    import pandas as pd
    from rich.markup import escape

    console = terminal()
    worlds = "1 world" if facts.worlds == "1" else f"{facts.worlds} worlds"
    cells = "1 cell" if facts.cells_missing == 1 else f"{facts.cells_missing:,} cells"
    console.print(
        f"{facts.rows:,} rows to learn from, {facts.rows_with_holes:,} with holes; {cells} "
        f"missing: {worlds}.\n"
        f"{_certain(facts)}; mean entropy {facts.mean_entropy:.4f} nats."
    )
    with_holes = [one for one in effects if one.holes]
    if with_holes:
        shown = pd.DataFrame(
            {
                "column": [one.name for one in with_holes],
                "kind": [one.kind for one in with_holes],
                "holes": [one.holes for one in with_holes],
                "certain if clean": [percent(one.certain_if_clean) for one in with_holes],
                "lowest-highest": [
                    f"{percent(one.low)} to {percent(one.high)}" for one in with_holes
                ],
            }
        )
        console.print(drawn(shown, right=("certain if clean", "lowest-highest")))
    if 0 < len(with_holes) < len(effects):
        others = len(effects) - len(with_holes)
        console.print(f"{_columns(others)} no holes.")
    mark = "*" if console.options.ascii_only else "•"
    for sentence in sentences:
        console.print(f"{mark} {escape(sentence)}", soft_wrap=False)


def _certain(facts: Summary) -> str:
    from cpclean.analysis.certain_words import certain_words

    share = f"[bold]{percent(facts.certain_share)}[/]"
    if not facts.points_with_holes:
        return f"{share} of {facts.points:,} predictions are certain"
    told = (facts.certain, facts.points, facts.certain_share, facts.points_with_holes)
    return certain_words(*told).replace(percent(facts.certain_share), share, 1)


def _columns(number: int) -> str:
    return "1 other column has" if number == 1 else f"{number:,} other columns have"
