"""cpclean clean: a person is asked row by row, and every answer is saved at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import count
from cpclean.cli.many_files import (
    OpenedFiles,
    Places,
    is_many,
    places_of_files,
)
from cpclean.cli.mistakes import INTERRUPTED, Mistake, note
from cpclean.cli.options import (
    STRATEGIES,
    Training,
    Validation,
    sure_option,
    training_options,
    validation_options,
)
from cpclean.cli.output import (
    check_package,
    check_writable,
    print_text,
    table_suffix,
    terminal,
    working,
    write_bytes,
)
from cpclean.cli.questions import progress
from cpclean.cli.sessions import (
    WayOfAsking,
    belongings,
    open_session,
    table_of,
    tell_completions,
    tell_draws,
    tell_level,
)
from cpclean.cli.tasks import files_given, open_given
from cpclean.intake.formats import SUFFIXES

if TYPE_CHECKING:
    from rich.console import Console

    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.task import Task
    from cpclean.intake.file_lines import FileLines
    from cpclean.intake.open_task import Opened
    from cpclean.intake.writing import KnownCells
    from cpclean.storage.journal import Journal
    from cpclean.storage.saved_session import SavedSession


@click.command(short_help="Ask row by row, and write the cleaned table.")
@training_options
@validation_options
@sure_option
@click.option(
    "--log",
    metavar="FILE",
    help="Where answers are saved, or a log that a page exported.  [default: FILE.answers.jsonl]",
)
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    help=f"The cleaned table: {', '.join(SUFFIXES)}.  [default: beside FILE, as .cleaned]",
)
@click.option(
    "--fill",
    type=click.Choice(["default", "likely"]),
    help="Fill all other holes too: with the column's mean or most frequent value, or with the "
    "likeliest value; in rows held out, without looking at their label.  [default: "
    "leave them as they are]",
)
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="In a .csv or .tsv, put an apostrophe before texts that a spreadsheet would take for "
    "formulas. In .xlsx they are texts anyway.",
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="What to ask about next. cells: single cells instead of rows.  [default: the one that "
    "needs fewest answers, or as in the log]",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="N",
    help="Stop after this many answers, including those in the log.",
)
@click.option(
    "--until",
    type=click.FloatRange(0, 1),
    default=1.0,
    metavar="SHARE",
    help="Stop when this share of the predictions is settled.  [default: 1]",
)
@click.option(
    "--oracle",
    metavar="FILE",
    help="Answer from a file with the same rows and no holes, instead of asking.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="With --oracle: answer with true values, not the nearest candidates.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON at the end.")
def clean(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    log: str | None,
    out: str | None,
    fill: str | None,
    spreadsheet: bool,
    strategy: str | None,
    budget: int | None,
    until: float,
    oracle: str | None,
    exact: bool,
    as_json: bool,
) -> None:
    """Ask about the rows that matter most, and write the cleaned table.

    FILE is the training table, with holes, or a folder or pattern of many files; --out is a folder
    then. You are asked for the row whose true values would settle
    most predictions, until all of them are certain or you stop; with --sure 0.95, until all are
    certain or 95% sure, which takes far fewer answers. Every answer is saved in the log before the
    next question is asked: after Ctrl-C, or if the computer dies, the same command continues where
    it was, also with another --sure. Answers can be piped in, one per line.

    \b
    Example:
      cpclean clean train.csv --label y --val val.csv --sure 0.95
      cpclean clean train.csv --label y --oracle truth.csv --out cleaned.csv
    """
    from cpclean.cli.oracle import true_rows
    from cpclean.storage.journal import Journal, NotSavedError

    _check_files(training, validation, oracle, exact)
    many = is_many(training.file)
    if many and (oracle or fill or spreadsheet):
        given = "--oracle" if oracle else "--fill" if fill else "--spreadsheet"
        raise Mistake(f"{given} is about one file; several files are cleaned without.")
    places = places_of_files(training.file, log, out) if many else _Places.of(training, log, out)
    console = terminal(stderr=as_json)
    opened: Opened | OpenedFiles
    with working("Reading"):
        if many:
            opened = files_given(training, validation, lasting=True)
        else:
            opened = open_given(training, validation, compared=True)
        task = opened.task
        truth = None if oracle is None else true_rows(oracle, training, task)
    asking = WayOfAsking.of(sure, strategy, places.log)
    settings = {**asdict(asking), "budget": budget, "target_share": until}
    belongs = belongings(task, training, validation, asking)
    with Journal(places.log, belongs) as journal:
        tell_level(asking, places.log)
        try:
            kept = _kept(journal, task, training, validation, settings)
            _greet(console, kept, opened, training, validation, places.log)
            if truth is None:
                from cpclean.cli.dialogue import Dialogue

                Dialogue(kept, task, console, *_spelling(opened), _lines(opened)).run()
            else:
                from cpclean.cli.oracle import answer_all

                answer_all(kept, task, truth, exact, _lines(opened))
        except KeyboardInterrupt:
            _stopped_short(journal, places.log)
        except NotSavedError as error:  # not the person's mistake
            raise click.ClickException(f"{error} Free some space and run it again.") from error
        # A table from an earlier run may have answers that have been undone since.
        again = journal.resumed and Path(places.out).exists()
        places = replace(places, named=places.named or again)
        filling = _Filling(fill, training.prior, spreadsheet)
        summary = _end(kept.session, opened, places, filling)
        if not as_json:
            _tell(console, kept.session, summary, many=many)
    _look_back(console, kept.session, summary, task, as_json)


# -- before ------------------------------------------------------------------------------------


class _Places(Places):
    """Those of one file."""

    @classmethod
    def of(cls, training: Training, log: str | None, out: str | None) -> Places:
        """The places that are named, or else beside the table; checked before anybody answers."""
        table = Path(training.file).expanduser()
        suffix = next((one for one in (*SUFFIXES, ".csv.gz") if table.name.endswith(one)), ".csv")
        beside = table.with_name(f"{table.name.removesuffix(suffix)}.cleaned{suffix}")
        place = Path(out or beside).expanduser()
        if not str(place).lower().endswith((*SUFFIXES, ".csv.gz")):
            raise Mistake(
                f"the file to write must end in one of {', '.join(SUFFIXES)}; got {str(place)!r}."
            )
        check_package(str(place), "writing")
        check_writable(place)
        kept = Path(log or f"{table}.answers.jsonl").expanduser()
        for one, what in ((place, "--out"), (kept, "--log")):
            if one.exists() and table.exists() and one.samefile(table):
                raise Mistake(
                    f"{what} is {training.file} itself, which must stay as it is; name another "
                    "file."
                )
        return Places(kept, str(place), out is not None)


@dataclass(frozen=True)
class _Filling:
    """What holes are filled with that nobody answered, and whether it is for a spreadsheet."""

    fill: str | None
    prior: str
    spreadsheet: bool = False


def _check_files(
    training: Training, validation: Validation, oracle: str | None, exact: bool
) -> None:
    if "-" in (training.file, validation.val, oracle):
        raise Mistake(
            "cleaning can be continued later with the same files, and answers are read from "
            "standard input: name files instead of -."
        )
    if "://" in training.file:
        raise Mistake("cleaning can be continued later with the same table: download it first.")
    if exact and oracle is None:
        raise Mistake("--exact is about the answers of --oracle; name a file with --oracle.")


def _spelling(opened: Opened | OpenedFiles) -> tuple[Callable[[int], str], str]:
    """Where a row stands, in words after its number; and the decimal sign of the file."""
    if isinstance(opened, OpenedFiles):
        return opened.where, "."
    text = opened.original.text
    return opened.lines.words, "." if text is None else text.decimal


def _lines(opened: Opened | OpenedFiles) -> FileLines:
    from cpclean.intake.file_lines import FileLines

    return FileLines() if isinstance(opened, OpenedFiles) else opened.lines


def _kept(
    journal: Journal,
    task: Task,
    training: Training,
    validation: Validation,
    settings: dict[str, Any],
) -> SavedSession:
    """The session, with the answers of the log."""
    from cpclean.storage.saved_session import SavedSession

    again = f", with {count(len(journal.entries), 'answer')} of the log" if journal.entries else ""
    with working(f"Looking at {len(task.point_names)} predictions{again}"):
        session = open_session(task, training, seed=validation.seed, **settings)
        return SavedSession(session, journal)


def _greet(
    console: Console,
    kept: SavedSession,
    opened: Opened | OpenedFiles,
    training: Training,
    validation: Validation,
    log: Path,
) -> None:
    """Describe the table, how much is certain, and the answers so far."""
    from rich.markup import escape

    task, session, journal = opened.task, kept.session, kept.journal
    table = table_of(task)
    for words in journal.notes:
        note(words)
    tell_draws(task, training)
    tell_completions(task)
    points = (
        f"{_are(len(session.certain), 'of its rows')} held out to be predicted"
        if validation.val is None
        else f"{_are(len(session.certain), f'of the rows of {validation.val}')} predicted"
    )
    console.print(
        f"[bold]{escape(training.file)}[/]: {table.dataset.n_rows_in_all:,} rows with "
        f"{len(table.names)} columns, {table.dataset.n_dirty_in_all:,} of them with holes; "
        f"{escape(points)}."
    )
    console.print(f"{progress(session)}.")
    if journal.resumed:
        skipped = sum("skip" in entry for entry in journal.entries)
        also = f" and {skipped} skipped" if skipped else ""
        answers = _answers(journal)
        console.print(
            f"Continuing from {escape(str(log))}: {count(answers, 'answer')}{also} so far."
        )
    else:
        console.print(f"Every answer is saved in {escape(str(log))} at once.")


# -- after -------------------------------------------------------------------------------------


def _answers(journal: Journal) -> int:
    return sum("candidate" in entry or "value" in entry for entry in journal.entries)


def _stopped_short(journal: Journal, log: Path) -> None:
    have = _answers(journal)
    where = f"{log} has {count(have, 'answer')}; the same command continues from there."
    click.echo(f"\nInterrupted. {where if have else 'Nothing was answered.'}", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


def _end(
    session: CleaningSession, opened: Opened | OpenedFiles, places: Places, filling: _Filling
) -> dict[str, Any]:
    """Write the cleaned table, and sum up what there is now."""
    from cpclean.analysis.certain_words import Standing
    from cpclean.analysis.fill_words import fill_words
    from cpclean.cleaning.known_cells import filled_cells, rough_cells
    from cpclean.data.domains import plain_frame

    task, table = opened.task, table_of(opened.task)
    rough = rough_cells(session, table)
    filled = filled_cells(session, table, task.row_names.tolist(), filling.fill, task.frame)
    n_filled = sum(map(len, filled.cells.values()))
    if isinstance(opened, OpenedFiles):
        n_left = sum(table.counts.n_holes) - n_filled
    else:
        features = plain_frame(task.frame)[list(table.names)]
        n_left = int(features.isna().to_numpy().sum()) - n_filled
    written = places.out if filled.cells or places.named else None
    if written is not None and isinstance(opened, OpenedFiles):
        opened.write(session.known, written, rough)
    elif written is not None:
        assert not isinstance(opened, OpenedFiles)
        _write(opened, filled.cells, written, filling.spreadsheet)
    if filling.fill and (sources := fill_words(filled, filling.fill, filling.prior)):
        note(f"values of the filled holes: {'; '.join(sources)}.")
    answers = session.answers
    return {
        "answers": len(session.history),
        "rows_answered": len(session.known),
        "skipped": sum("skip" in entry for entry in answers),
        **Standing.of(session.view).numbers,
        "stopped": session.stopped,
        "holes_filled": n_filled,
        "holes_known_roughly": len(rough),
        "holes_left": n_left,
        "log": str(places.log) if answers else None,
        "table": written,
    }


def _write(opened: Opened, known: KnownCells, out: str, spreadsheet: bool) -> None:
    """Write the cleaned table, as the file that it came from if it can be."""
    rows = opened.task.row_names.tolist()
    original, suffix = opened.original, table_suffix(out)
    made = original.cleaned(table_of(opened.task), rows, known, suffix)
    if made.from_text and made.encoding != original.encoding:
        note(f"{original.encoding} lacks some letters of the answers, so {out} is UTF-8.")
    content = made.for_spreadsheets(original.text, suffix) if spreadsheet else made.content
    write_bytes(content, out)


def _tell(
    console: Console, session: CleaningSession, summary: dict[str, Any], *, many: bool
) -> None:
    from rich.markup import escape

    from cpclean.analysis.certain_words import can_stop

    console.print()
    if words := can_stop(session.view):
        console.print(f"[bold green]{words[0]}[/] {words[1]}")
    else:
        reason = f" No more questions: {session.stopped}." if session.stopped else ""
        console.print(f"{progress(session)} after {count(summary['answers'], 'answer')}.{reason}")
    if summary["table"] is not None:
        left = f", {summary['holes_left']:,} left as they were" if summary["holes_left"] else ""
        filled = summary["holes_filled"]
        holes = "1 hole" if filled == 1 else f"{filled:,} holes"
        console.print(f"Cleaned table: {escape(summary['table'])} ({holes} filled{left})")
    else:
        nothing = "No hole is known exactly" if summary["log"] else "Nothing is answered"
        console.print(f"{nothing}, so no table is written.")
    if n_rough := summary["holes_known_roughly"]:
        fills = "" if many else "; --fill likely fills them"
        console.print(
            f"{count(n_rough, 'hole')} {'is' if n_rough == 1 else 'are'} known only roughly, and "
            f"not filled with what was chosen{fills}."
        )
    if summary["log"] is not None:
        console.print(f"Answers: {escape(summary['log'])} (the same command continues from there)")


def _look_back(
    console: Console, session: CleaningSession, summary: dict[str, Any], task: Task, as_json: bool
) -> None:
    """Print what the answers were good for, and how new rows would fare; Ctrl-C ends it."""
    from cpclean.analysis.looking_back import looking_back

    found = looking_back(session)
    if as_json:
        back = found.as_dict(task.row_names.tolist())
        print_text(json.dumps({**summary, **back}, indent=2, ensure_ascii=False) + "\n")
        return
    for sentence in found.sentences:
        console.print(sentence)
    if found.interrupted:
        console.print("Looking back was interrupted. Everything is saved.")


def _are(n: int, of: str) -> str:
    return f"{n:,} {of} {'is' if n == 1 else 'are'}"
