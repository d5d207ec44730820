"""cpclean report: one HTML page about a table with holes and its predictions."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import percent
from cpclean.cli.inspect import others_of, remarks_on, sentence, telling
from cpclean.cli.many_files import OpenedFiles, is_many
from cpclean.cli.mistakes import Mistake
from cpclean.cli.options import (
    STRATEGIES,
    Training,
    Validation,
    sure_option,
    training_options,
    validation_options,
)
from cpclean.cli.output import check_writable, print_text, working
from cpclean.cli.questions import progress
from cpclean.cli.sessions import WayOfAsking, belongings, open_session, tell_completions, tell_draws
from cpclean.cli.tasks import files_given, open_given
from cpclean.cli.trials import trust_in

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.task import Task
    from cpclean.intake.open_task import Opened

_TYPED = "cpclean.cli.report.typed"


class _Kept(click.Command):
    """Keeps what was typed, for the page to repeat."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed = ["cpclean", "report", "--trust", *args]
        ctx.meta[_TYPED] = shlex.join(typed)
        return super().parse_args(ctx, args)


@click.command(cls=_Kept, short_help="One HTML page: what is certain, and what to clean.")
@training_options
@validation_options
@sure_option
@click.option("--out", "-o", required=True, metavar="FILE", help="The page to write; - prints it.")
@click.option(
    "--static",
    is_flag=True,
    help="Pictures that are not interactive: a small file instead of one of 5 MB.",
)
@click.option(
    "--title", metavar="TEXT", help="The title of the page.  [default: the name of the file]"
)
@click.option(
    "--rows",
    type=click.IntRange(min=0, max=100),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the rows that matter most are explained.",
)
@click.option(
    "--log",
    metavar="FILE",
    help="Include the answers that cpclean clean saved there, or that a page exported.",
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="What to ask about next.  [default: the one that needs fewest answers, or as in the log]",
)
@click.option(
    "--simulate",
    "truth",
    metavar="FILE",
    help="The same rows without holes: adds what true answers achieve, against random order.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="With --simulate: how many random orders.",
)
@click.option(
    "--trust",
    "tried",
    is_flag=True,
    help="Adds trials on the complete rows of the table, where the truth is known, as in "
    "cpclean simulate without --truth; they take up to a minute.",
)
def report(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    out: str,
    static: bool,
    title: str | None,
    rows: int,
    log: str | None,
    strategy: str | None,
    truth: str | None,
    runs: int,
    tried: bool,
) -> None:
    """Write one HTML page: what is certain, what is not, and which rows to clean.

    FILE is the training table, with missing values, or a folder or pattern of many files. The page
    shows where they are, which predictions are certain, sure and open, a forecast of what more
    answers bring, the rows and columns that matter most, accuracy if labels are known, and how to
    read all of it. It needs no network and no other file.

    \b
    Example:
      cpclean report train.csv --label y --val val.csv -o report.html
      cpclean report train.csv --label y --simulate truth.csv --static -o report.html
      cpclean report train.csv --label y --trust -o report.html
    """
    from cpclean.analysis.findings import Aside
    from cpclean.report.page import report as report_on

    _check_places(training, validation, _Files(out, log, truth))
    opened: Opened | OpenedFiles
    many = is_many(training.file)
    if many and (truth or tried):
        raise Mistake("--simulate and --trust are about one file; leave them out for several.")
    with working("Reading"):
        if many:
            opened = files_given(training, validation, lasting=True)
        else:
            opened = open_given(training, validation, compared=True)
        task = opened.task
        known = _truth(truth, training, task)
    with working(f"Looking at {len(task.point_names)} predictions"):
        asking = WayOfAsking.of(sure, strategy, log)
        session = open_session(task, training, seed=validation.seed, **asdict(asking))
        tell_draws(task, training)
        tell_completions(task)
        if log is not None:
            _take_in(session, log, belongings(task, training, validation, asking))
    found, row_names, command = None, task.row_names.tolist(), ""
    if isinstance(opened, OpenedFiles):
        row_names = opened.row_names
    elif tried:
        found = trust_in(opened, training, validation, session.sure)
    if not isinstance(opened, OpenedFiles) and not opened.original.domains:
        command = click.get_current_context().meta[_TYPED]
    remarks = remarks_on(opened, training)
    aside = Aside(
        {} if isinstance(opened, OpenedFiles) else others_of(task),
        list(map(sentence, remarks)),
        telling(remarks),
        None if isinstance(opened, OpenedFiles) else opened.lines.at,
    )
    with working("Looking ahead") as say:
        made = report_on(
            session,
            title=title or _name(training.file),
            interactive=not static,
            n_rows=rows,
            row_names=row_names,
            point_names=task.point_names.tolist(),
            truth=known,
            n_random=runs,
            random_state=validation.seed,
            settings=_settings(training, validation),
            trust=found,
            command=command,
            aside=aside,
            progress=lambda step: say(step[:1].upper() + step[1:]),
        )
    if out == "-":
        print_text(made.html)
        return
    path = made.save(out)
    click.echo(f"{progress(session)}.")
    click.echo(f"Report: {path} ({_size(path.stat().st_size)})")


@dataclass(frozen=True)
class _Files:
    """The other files that were named."""

    out: str
    log: str | None
    truth: str | None


def _check_places(training: Training, validation: Validation, files: _Files) -> None:
    """Refuse files before any work is done."""
    if [training.file, validation.val, files.truth].count("-") > 1:
        raise Mistake("only one file can be standard input.")
    if files.log is not None and not Path(files.log).expanduser().is_file():
        raise Mistake(
            f"there is no log of answers {files.log!r}. Name another one, or leave out --log."
        )
    if files.out == "-":
        return
    out = Path(files.out).expanduser()
    check_writable(out)
    for name in (training.file, validation.val, files.truth, files.log):
        place = None if name is None else Path(name).expanduser()
        if place is not None and place.exists() and out.exists() and out.samefile(place):
            raise Mistake(f"--out would overwrite {name}. Name another file.")


def _truth(file: str | None, training: Training, task: Task) -> Any:
    if file is None:
        return None
    from cpclean.cli.oracle import true_rows

    return true_rows(file, training, task)


def _take_in(session: CleaningSession, log: str, belongs: dict[str, Any]) -> None:
    """Replay the answers of a log; it is only read, and may be open in cpclean clean."""
    from cpclean.storage.journal import read_answers
    from cpclean.storage.saved_session import replay_journal

    replay_journal(session, read_answers(log, belongs), log)


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e6 else f"{max(1, round(bytes_ / 1e3))} kB"


def _name(file: str) -> str:
    return "A table with holes" if file == "-" else Path(file).name


def _settings(training: Training, validation: Validation) -> dict[str, Any]:
    """Lines for the page: the options of the command."""
    points = (
        f"{percent(validation.val_share)} of the rows, held out"
        if validation.val is None
        else validation.val
    )
    return {
        "training table": training.file,
        "label": training.label,
        "validation points": points,
        "candidates": training.repairs,
        "prior": training.prior,
    }
