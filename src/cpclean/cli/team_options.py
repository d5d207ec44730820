"""What the owner of a served project says about the team: experts, gold questions, a web hook."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import count, listed
from cpclean.cli.mistakes import Mistake, note
from cpclean.cli.options import Command, packed_as
from cpclean.errors import CPCleanError, offenders

if TYPE_CHECKING:
    from cpclean.projects.project import Project
    from cpclean.storage.contract import Storage
    from cpclean.web.desk.project_rows import ProjectRows

ROW = "row"  # the column with the number of a row in the file, as exports have it


@dataclass(frozen=True)
class TeamOptions:
    """What was given, by the names of the options."""

    expert: tuple[str, ...] = ()
    gold: str | None = None
    gold_rate: float | None = None
    notify: str | None = None


def team_options(command: Command) -> Command:
    """Add the options; the command gets them as `team`."""
    return packed_as(
        command,
        "team",
        TeamOptions,
        click.option(
            "--expert", multiple=True, metavar="NAME=COLUMN,...",
            help="A person who is asked about these columns only; may be repeated.",
        ),
        click.option(
            "--gold", metavar="FILE",
            help="A CSV file with the truth about some rows, which are mixed in to see how well "
            "people answer.",
        ),
        click.option(
            "--gold-rate", type=click.FloatRange(0, 0.5), metavar="SHARE",
            help="The share of each person's questions that are gold.  [default: 0.1]",
        ),
        click.option(
            "--notify", metavar="URL",
            help="An address that gets one small JSON message when the target is reached.",
        ),
    )  # fmt: skip


def check_team(given: TeamOptions) -> None:
    """Refuse what cannot be meant, before anything else is done."""
    from cpclean.web.desk.notifying import NotifyError, checked_address

    if given.notify is not None:
        try:
            checked_address(given.notify)
        except NotifyError as problem:
            raise Mistake(str(problem)) from problem


def save_team(storage: Storage | None, given: TeamOptions) -> None:
    """Save what was given where all servers of the project find it."""
    if not given.expert and given.gold is None and given.gold_rate is None:
        return
    project = None if storage is None else storage.project()
    if storage is None or project is None:
        raise Mistake("--expert and --gold are about a table: name FILE.")
    from cpclean.web.desk.project_rows import ProjectRows
    from cpclean.web.desk.team_settings import TeamSettings

    rows = ProjectRows(project)
    team = TeamSettings(storage, rows.columns_with_holes)
    if given.expert:
        try:
            team.set_experts(given.expert, keep=True)
        except CPCleanError as problem:
            raise Mistake(f"--expert: {problem}") from problem
        if nobodys := team.experts.nobodys(team.columns):
            note(
                f"no expert is asked about {listed(list(map(repr, nobodys)))}: only people who are "
                "not named with --expert are."
            )
    if given.gold is not None:
        _save_gold(storage, project, rows, given.gold)
    if given.gold_rate is not None:
        team.set_gold_rate(given.gold_rate)


# -- gold ------------------------------------------------------------------------------------------


def _save_gold(storage: Storage, project: Project, rows: ProjectRows, file: str) -> None:
    """Append the truths of a file to the log; each once, however often it is given."""
    from cpclean.storage.events import NewEvent
    from cpclean.web.desk.gold import WHO

    if project.files is not None:
        raise Mistake("--gold is for tables of one file; this one has many.")
    events = storage.events()
    answered = {one.row for one in events if one.kind in ("answer", "correction", "skip")}
    before = {one.row for one in events if one.kind == "truth"}
    whole = incomplete = late = clean = 0
    for number, cells in _truths(file, rows):
        row = None if number is None else rows.row_of(number)
        if row is None:
            clean += 1
            continue
        values = {name: cells[name] for name in rows.holes(row) if cells.get(name, "").strip()}
        if len(values) < len(rows.holes(row)):
            incomplete += 1
        elif row in answered - before:
            late += 1
        else:
            entry = _entry(project, rows, row, values, file)
            said = json.dumps([row, entry["value"]], sort_keys=True)
            mark = hashlib.sha256(said.encode()).hexdigest()[:32]
            storage.append(NewEvent("truth", WHO, row, value=entry["value"]), f"gold-{mark}")
            whole += 1
    left = [
        f"{count(number, 'row')} {words}"
        for number, words in (
            (clean, "that the table does not have, or without holes"),
            (incomplete, "without a value for every hole"),
            (late, "that people had answered before"),
        )
        if number
    ]
    ignored = f"; ignored: {listed(left)}" if left else ""
    if not whole:
        raise Mistake(f"no row of {file} can be a gold question{ignored}.")
    note(f"{count(whole, 'row')} of {file} {'is' if whole == 1 else 'are'} gold{ignored}.")


def _entry(
    project: Project, rows: ProjectRows, row: int, values: Mapping[str, str], file: str
) -> dict[str, Any]:
    from cpclean.intake.typed_values import values_typed

    number, decimal = rows.numbers[row], "." if project.text is None else project.text.decimal
    try:
        typed = values_typed(project.table, number, rows.holes(row), values, decimal)
        return project.entry(row, None, typed)
    except CPCleanError as problem:
        raise Mistake(f"{file}, row {number} of the table: {problem}") from problem


def _truths(file: str, rows: ProjectRows) -> Iterable[tuple[int | None, dict[str, str]]]:
    """The numbers of the rows in the table, None for others, and their cells in the file."""
    header, lines = _read(file)
    named_by = rows.named_by
    if named_by and set(named_by) <= set(header):
        known = rows.by_name()
        for at, cells in enumerate(lines, start=2):
            key = tuple(cells[name].strip() for name in named_by)
            numbers = known.get(key, [])
            if len(numbers) > 1:
                shown = ", ".join(f"{a} {b!r}" for a, b in zip(named_by, key, strict=True))
                raise Mistake(
                    f"{file}, line {at}: {len(numbers)} rows of the table have {shown}. Name "
                    f"columns that tell rows apart with --id, or add a column {ROW!r}."
                )
            yield numbers[0] if numbers else None, cells
    elif ROW in header:
        for at, cells in enumerate(lines, start=2):
            text = cells[ROW].strip()
            if not text.isascii() or not text.isdigit() or int(text) >= rows.n_in_file:
                raise Mistake(
                    f"{file}, line {at}: {ROW} must be the number of a row of the table, from 0 "
                    f"(the first below the header) to {rows.n_in_file - 1:,}; got {text[:40]!r}."
                )
            yield int(text), cells
    else:
        by = f"the columns {listed(named_by)}, which identify a row, or " if named_by else ""
        raise Mistake(
            f"{file} needs {by}a column {ROW!r} with the number of each row in the table, 0 for "
            f"the first below the header; it has {offenders(map(repr, header))}."
        )


def _read(file: str) -> tuple[list[str], list[dict[str, str]]]:
    try:
        text = Path(file).expanduser().read_text("utf-8-sig")
    except FileNotFoundError as problem:
        raise Mistake(f"there is no file {file!r}.") from problem
    except (OSError, UnicodeDecodeError) as problem:
        raise Mistake(f"{file} cannot be read as CSV in UTF-8: {problem}") from problem
    first = text.partition("\n")[0]
    sep = max(",;\t", key=first.count)
    table = [one for one in csv.reader(text.splitlines(keepends=True), delimiter=sep) if one]
    if len(table) < 2:
        raise Mistake(f"{file} needs a header and at least one row.")
    header = [name.strip() for name in table[0]]
    odd = [at for at, cells in enumerate(table[1:], start=2) if len(cells) != len(header)]
    if odd:
        raise Mistake(
            f"{file} must have {count(len(header), 'cell')} in every line; others are in line "
            f"{offenders(map(str, odd))}."
        )
    return header, [dict(zip(header, cells, strict=True)) for cells in table[1:]]
