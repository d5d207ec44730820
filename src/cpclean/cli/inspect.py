"""cpclean inspect: does missingness matter here?"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import percent
from cpclean.cli.options import Training, Validation, training_options, validation_options
from cpclean.cli.output import drawn, plain, print_text, terminal, working
from cpclean.cli.sessions import open_session
from cpclean.cli.tables import Problem, kinds_of, open_problem

if TYPE_CHECKING:
    from cpclean.analysis.column_effects import ColumnEffect
    from cpclean.analysis.summary import Summary
    from cpclean.data.columns import Column

# What text looks like that was perhaps meant otherwise, and how to say so.
_LOOKS = (
    (re.compile(r"\d{4}-\d\d-\d\d([ T].*)?"), "a date", "--kind {named}"),
    (
        re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2,4}( .*)?"), "a date",
        "write it as 2024-05-31 and say --kind {named}",
    ),
    (re.compile(r"[+-]?\d+(,\d+)?"), "a number", "--decimal ,"),
)  # fmt: skip
# Categories that often stand for a hole.
MAYBE_NULL = {"?", "-", "--", ".", "unknown", "missing", "nil"}


@click.command(short_help="Does missingness matter in a table, and where?")
@training_options
@validation_options
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How often the holes of a column are filled to see what cleaning it would bring.",
)
@click.option("--json", "as_json", is_flag=True, help="Everything, for machines.")
def inspect(training: Training, validation: Validation, samples: int, as_json: bool) -> None:
    """Does missingness matter here: for how many predictions, and which columns bring most?

    FILE is the training table, with holes. For each column: its holes, and the share of
    predictions that would be certain if this column alone were clean. What its holes hold is not
    known, so they are filled a few times, as the prior has it; the share is the mean, with the
    lowest and the highest. Then: what the first ten rows would bring, and advice in words.

    \b
    Example:
      cpclean inspect train.csv --label y
      cpclean inspect train.csv --label y --val val.csv --json
    """
    from cpclean.analysis.advice import advice

    with working("Reading"):
        problem = open_problem(training, validation)
    with working("Looking at the predictions"):
        facts = looked_at(problem, training)
    with working("Looking at the columns") as say:
        effects = effects_of(
            problem, training, samples, validation.seed, lambda name: say(f"Looking at {name}")
        )
    told = [*advice(facts, effects), *remarks(problem, training)]
    if as_json:
        found = {"table": asdict(facts), "columns": list(map(asdict, effects)), "advice": told}
        print_text(json.dumps(plain(found), indent=2, ensure_ascii=False) + "\n")
        return
    _print(facts, effects, told)


def looked_at(problem: Problem, training: Training) -> Summary:
    """The facts about a problem; rows are numbered as in the file."""
    from cpclean.analysis.summary import summary

    facts = summary(open_session(problem, training))
    return replace(facts, first_rows=tuple(problem.rows[list(facts.first_rows)].tolist()))


def effects_of(
    problem: Problem, training: Training, samples: int, seed: int, progress: Any = None
) -> list[ColumnEffect]:
    """What each column of a problem would bring."""
    from cpclean.analysis.column_effects import column_effects
    from cpclean.queries.model import Model

    return column_effects(
        problem.table,
        problem.table.points(problem.points),
        Model(training.neighbors, training.metric),
        samples,
        seed,
        progress=progress,
    )


def remarks(problem: Problem, training: Training) -> list[str]:
    """What was decided about columns, where a person might decide otherwise."""
    from cpclean.data.decisions import DOUBTS, IGNORED
    from cpclean.data.frames import columns_from

    # Looked at in the whole file: a row number is hard to tell once rows are held out.
    kinds = {name: kind for name, kind in kinds_of(training).items() if name != training.label}
    whole = problem.whole[list(problem.table.names)]
    columns = columns_from(whole, kinds, training.null)
    doubts = {one.name: one.decision for one in columns}
    found = [
        f"Column {one.name!r} holds {token!r} {one.frequencies[token]:,} times. If it stands for "
        f"nothing, say so: --null {shlex.quote(str(token).strip())}."
        for one in columns
        if one.kind == "categorical"
        for token in one.frequencies
        if str(token).strip().lower() in MAYBE_NULL
    ]
    found += [told for one in columns if (told := _misread(one))]
    for column in problem.table.report:
        doubt = doubts[column.name]
        if column.decision.code in IGNORED:
            reason = column.treatment.removeprefix("ignored: ")
            found.append(f"Column {column.name!r} plays no part: {reason}.")
        elif doubt.code in DOUBTS:
            why = doubt.words.removeprefix("kept, but ")
            found.append(
                f"Column {column.name!r} {why}. If it tells nothing about the label, leave it "
                f"out: --drop {shlex.quote(column.name)}."
            )
    return found


def _misread(column: Column) -> str | None:
    """A remark on dates or numbers that were read as text; None where text is what it is."""
    values = [str(value).strip() for value in column.frequencies]
    if column.kind != "categorical" or len(values) < 2:
        return None
    for look, what, way_out in _LOOKS:
        if all(look.fullmatch(value) for value in values):
            named = shlex.quote(f"{column.name}=date")
            return (
                f"Column {column.name!r} is text such as {values[0]!r}, every one a category of "
                f"its own. If it is {what}: {way_out.format(named=named)}."
            )
    return None


def _print(facts: Summary, effects: list[ColumnEffect], told: list[str]) -> None:
    import pandas as pd
    from rich.markup import escape

    console = terminal()
    worlds = "1 world" if facts.worlds == "1" else f"{facts.worlds} worlds"
    cells = "1 cell" if facts.cells_missing == 1 else f"{facts.cells_missing:,} cells"
    console.print(
        f"{facts.rows:,} rows to learn from, {facts.rows_with_holes:,} with holes; {cells} "
        f"missing: {worlds}.\n"
        f"[bold]{percent(facts.certain_share)}[/] of {facts.points:,} predictions are certain; "
        f"mean entropy {facts.mean_entropy:.4f} nats."
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
    for sentence in told:
        console.print(f"{mark} {escape(sentence)}", soft_wrap=False)


def _columns(number: int) -> str:
    return "1 other column has" if number == 1 else f"{number:,} other columns have"
