"""cpclean serve: the page where people clean together."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.many_files import is_many
from cpclean.cli.mistakes import Mistake, note
from cpclean.cli.options import (
    Training,
    Validation,
    level_of,
    optional_training_options,
    sure_option,
    validation_options,
)
from cpclean.cli.output import working
from cpclean.cli.project_places import SUFFIX, Beside, Within

if TYPE_CHECKING:
    from cpclean.projects.project import Project
    from cpclean.storage.contract import Storage
    from cpclean.storage.events import Event, NewEvent

PORT = 8421


@click.command(short_help="Open the page where people clean together.")
@optional_training_options
@validation_options
@sure_option
@click.option("--demo", is_flag=True, help="Serve the wine table of `cpclean demo`.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help=f"The port to listen on.  [default: {PORT}, or the next free one]",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option(
    "--answers-per-row",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of people who must agree on each row.  [default: 1]",
)
@click.option(
    "--lease",
    type=click.FloatRange(1, 86400),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="How long a question is reserved for the person who got it.",
)
@click.option(
    "--storage",
    metavar="URL",
    help=f"Where answers are saved: a file, or postgresql://...  [default: FILE{SUFFIX}]",
)
@click.option(
    "--log",
    metavar="FILE",
    help="Add the answers that cpclean clean saved here; each once.",
)
@click.option(
    "--token",
    envvar="CPCLEAN_TOKEN",
    metavar="TEXT",
    help="The secret that lets people in; also $CPCLEAN_TOKEN.  [default: a new random one]",
)
@click.option(
    "--id",
    "named_by",
    multiple=True,
    metavar="COLUMN",
    help="A column by which people recognise a row; may be repeated.  [default: the first that "
    "looks like an id]",
)
@click.option(
    "--link",
    metavar="URL",
    help="The address of a row's record, with columns in braces: https://records.example/{id}",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A host name by which people reach this machine; may be repeated.",
)
def serve(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    demo: bool,
    host: str,
    port: int | None,
    no_browser: bool,
    answers_per_row: int | None,
    lease: float,
    storage: str | None,
    log: str | None,
    token: str | None,
    named_by: tuple[str, ...],
    link: str | None,
    allow_host: tuple[str, ...],
) -> None:
    """Open a page where people answer the questions that matter most.

    FILE is the training table, with holes; every answer is saved in FILE.cpclean.db before it
    counts. FILE may also be a folder or pattern of many files, which need not fit into memory; name
    the rows to predict with --val then. Or FILE is a project that was started before: such a .db
    file, or the address of a database, which several servers may use at the same time. Without
    FILE, the page asks for one.

    \b
    Example:
      cpclean serve train.csv --label y --val val.csv
      cpclean serve train.csv --label y --log train.csv.answers.jsonl
      cpclean serve train.csv.cpclean.db --host 0.0.0.0 --answers-per-row 2
      cpclean serve --demo
    """
    from cpclean.web.guard.tokens import new_token
    from cpclean.web.server.process import run

    token = new_token() if token is None else token
    _check_token(host, token)
    if training.cluster is not None:
        from cpclean.cluster.dask_cluster import connected

        connected(training.cluster)  # nobody may answer
    how = _How(level_of(sure), sure is not None, answers_per_row, named_by, link or "")
    if (named_by or link) and not training.file:
        raise Mistake("--id and --link are about a table: name FILE.")
    opened = _opened(training, validation, demo, storage, how)
    if log is not None:
        _take_in(opened.storage, log)
    run(
        opened.storage,
        token,
        host=host,
        port=PORT if port is None else port,
        exact_port=port is not None,
        browser=not no_browser,
        hosts=allow_host,
        start_project=opened.place,
        lease_seconds=lease,
        answers_per_row=answers_per_row,
        cluster=training.cluster,
        told=click.echo,
    )


def _check_token(host: str, token: str) -> None:
    from cpclean.web.server.process import is_loopback

    if token and len(token) < 8:
        raise Mistake(f"--token must have at least 8 characters; got {len(token)}.")
    if not token and not is_loopback(host):
        raise Mistake(
            f"without a token, anybody who reaches {host} could read the table and answer. Leave "
            "out --token to get a random one, or listen on 127.0.0.1."
        )


# -- where the project is ----------------------------------------------------------------------


@dataclass(frozen=True)
class _How:
    """How a project is cleaned, as options name it."""

    sure: float | None
    sure_named: bool
    answers_per_row: int | None
    named_by: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class _Opened:
    """A storage with a project; or None, and where one that is set up in the browser is put."""

    storage: Storage | None
    place: Callable[[Project], Storage] | None = None


def _opened(
    training: Training,
    validation: Validation,
    demo: bool,
    storage: str | None,
    how: _How,
) -> _Opened:
    from cpclean.storage.opening import open_storage

    if demo:
        if training.file:
            raise Mistake("--demo has its own table: leave out FILE.")
        kept = open_storage(storage or "memory://")
        with working("Preparing the demo"):
            kept.create(_demo(training, validation, how))
        return _Opened(kept)
    if training.file and _is_storage(training.file):
        if storage is not None:
            raise Mistake("FILE is a project itself: leave out --storage.")
        if given := _table_option():
            raise Mistake(
                "FILE is a project, which has the table and the settings that it was started with: "
                f"leave out {given}, or name a table, and another place with --storage."
            )
        return _Opened(_with_project(open_storage(training.file, create=False)))
    if training.file:
        return _Opened(_of_table(training, validation, storage, how))
    if given := _table_option():
        raise Mistake(f"{given} needs a table: name FILE, or leave out {given}.")
    if storage is None:
        return _Opened(None, Beside())
    kept = open_storage(storage)
    if kept.project() is not None:
        return _Opened(kept)
    return _Opened(None, Within(kept))


def _table_option() -> str:
    """An option about the table that was given; "" if there is none."""
    names = {one.name for kind in (Training, Validation) for one in fields(kind)} - {
        "file",
        "cluster",
    }
    names.add("sure")
    for option in click.get_current_context().command.params:
        if option.name in names and _is_given(option.name):
            return option.opts[0]
    return ""


def _is_given(option: str) -> bool:
    """Whether a person named an option, rather than leaving it as it usually is."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.DEFAULT


def _is_storage(file: str) -> bool:
    """Whether FILE is a project rather than a table: the address of a database, or a database."""
    from cpclean.intake.reading import SUFFIXES

    scheme, mark, _ = file.partition("://")
    if mark:
        return scheme.split("+")[0] in ("sqlite", "postgresql", "postgres", "memory")
    if file.lower().endswith(SUFFIXES):
        return False  # a table, which is opened once, when it is read
    try:
        with Path(file).expanduser().open("rb") as there:
            return there.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _with_project(storage: Storage) -> Storage:
    project = storage.project()
    if project is None:
        raise Mistake(f"there is no project in {storage.name} yet. Start one with a table.")
    if project.files is not None:  # they may have changed since
        project.files.check()
    return storage


def _of_table(
    training: Training,
    validation: Validation,
    storage: str | None,
    how: _How,
) -> Storage:
    """The storage of a table, which is begun with it, or goes on with the same one."""
    from cpclean.storage.opening import open_storage

    if training.file == "-" or (storage is None and "://" in training.file):
        raise Mistake("answers are saved beside the table: name a file, or a place with --storage.")
    many = is_many(training.file)
    there = Path(training.file).expanduser().exists() or "://" in training.file
    if many and not there and storage is None:
        raise Mistake("a pattern has no place beside it: name one for the answers with --storage.")
    if not there and not many:
        raise Mistake(f"there is no file {training.file!r}.")
    place = storage or f"{training.file.rstrip('/')}{SUFFIX}"
    # Read before anything is made: a mistake leaves no empty project behind.
    project = None
    if _is_new(place):
        project = _named(_project(training, validation, _new(how)), how)
    kept = open_storage(place)
    try:
        before = kept.project()
        if before is not None and not training.label:
            if given := _table_option():
                raise Mistake(
                    f"{kept.name} has a project of this table already: add --label to {given} to "
                    f"compare them, or leave out {given} to continue with it."
                )
            return _with_project(kept)
        if before is not None and training.label != str(before.table.label):
            raise Mistake(
                f"{kept.name} belongs to something else: its label is {before.table.label!r}, not "
                f"{training.label!r}. Use that label, or choose another place with --storage."
            )
        if before is not None and how.sure_named and how.sure != before.settings.sure:
            raise _other_level(kept.name, before)
        if project is None:
            project = _named(_project(training, validation, _new(how, before)), how)
        if before is None:
            kept.create(project)
        else:
            _check_same(project, before, kept.name)
        return kept
    except BaseException:
        kept.close()
        raise


def _other_level(name: str, before: Project) -> Mistake:
    from cpclean.analysis.certain_words import promise

    then = before.settings.sure
    return Mistake(
        f"the people at {name} answer until predictions are {promise(then)}. Leave out --sure to "
        "continue with that. For another level, export their answers, and start with --storage, "
        "--sure and --log: they count there, too."
    )


def _is_new(place: str) -> bool:
    """Whether a place is a file that is not there yet."""
    return "://" not in place and not Path(place).expanduser().exists()


def _take_in(storage: Storage | None, log: str) -> None:
    """Append the answers of a log; what the same person said before is not said again."""
    import hashlib
    import json
    from collections import Counter

    from cpclean.storage.events import NewEvent
    from cpclean.storage.journal import read_answers

    project = None if storage is None else storage.project()
    if storage is None or project is None:
        raise Mistake("the answers of --log belong to a table: name it and its label.")
    known = Counter(_words(one) for one in storage.events() if one.kind != "undo")
    seen: Counter[str] = Counter()
    told, refits = [], 0
    for entry in read_answers(log, project.journal_belongs):
        if "refit" in entry:
            refits += 1
            continue
        row, skip, seconds = entry["row"], "skip" in entry, entry.get("seconds")
        plain = {} if skip else project.entry(row, entry.get("candidate"), entry.get("value"))
        said = NewEvent(
            "skip" if skip else "answer",
            str(entry.get("who") or "terminal"),
            row,
            plain.get("candidate"),
            plain.get("value"),
            seconds=seconds if isinstance(seconds, int | float) else None,
        )
        words = _words(said)
        seen[words] += 1
        if seen[words] > known[words]:
            mark = hashlib.sha256(json.dumps([words, seen[words]]).encode()).hexdigest()[:32]
            told.append((said, f"log-{mark}"))
    for said, request_id in told:
        storage.append(said, request_id)
    if refits:
        note(f"{log} has a refit, which the page does not repeat: it keeps the trees of the table.")


def _words(said: NewEvent | Event) -> str:
    """What somebody said of a row; a correction is an answer, too."""
    import json

    return json.dumps(
        [said.who, said.row, said.kind == "skip", said.candidate, said.value], sort_keys=True
    )


def _check_same(project: Project, before: Project, name: str) -> None:
    """Refuse to go on with another table or other settings than those that answers belong to."""
    from cpclean.errors import offenders
    from cpclean.projects.fingerprint import differences

    then = {**before.belongs, "answers_per_row": project.belongs["answers_per_row"]}  # may change
    if differs := differences(then, project.belongs):
        raise Mistake(
            f"{name} belongs to something else: {offenders(differs, limit=4)}. Use what it was "
            "started with, or choose another place with --storage."
        )


def _new(how: _How, before: Project | None = None) -> dict[str, Any]:
    """How a new project is cleaned: as options say, else as one before it, else as usual."""
    from cpclean.cleaning.settings import usual_gains_by, usual_strategy

    if before is not None:
        own = before.settings
        asked = {"sure": own.sure, "strategy": own.strategy, "gains_by": own.gains_by}
        return {**asked, "answers_per_row": how.answers_per_row or own.answers_per_row}
    return {
        "sure": how.sure,
        "strategy": usual_strategy(how.sure),
        "gains_by": usual_gains_by(how.sure),
        "answers_per_row": how.answers_per_row or 1,
    }


def _project(training: Training, validation: Validation, how: dict[str, Any]) -> Project:
    from cpclean.cli.sessions import tell_completions, tell_draws
    from cpclean.cli.tasks import files_given, model_of, open_given
    from cpclean.projects.project import Project, Settings

    if not training.label:
        raise Mistake("name the label column with --label.")
    text = files = None
    with working("Reading"):
        if is_many(training.file):
            many = files_given(training, validation, lasting=True)
            task, files = many.task, many.table.files
        else:
            opened = open_given(training, validation, compared=True)
            task, text = opened.task, opened.original.text
        tell_draws(task, training)
        tell_completions(task)
    about = {
        "file": os.path.basename(training.file.rstrip("/")),
        "repairs": training.repairs,
        "prior": training.prior,
    }
    settings = Settings(model_of(task, training), random_state=validation.seed, about=about, **how)
    return Project.make(task, settings, text=text, files=files)


def _named(project: Project, how: _How) -> Project:
    """The project with what people recognise its rows by."""
    from cpclean.data.domains import plain_frame
    from cpclean.web.desk.naming_rows import naming

    if not how.named_by and not how.link:
        return project
    frame = project.frame
    columns = project.table.names if frame is None else plain_frame(frame).columns
    chosen = naming(how.named_by, how.link, columns)
    about = {**(project.settings.about or {}), **chosen}
    return project.with_settings(replace(project.settings, about=about))


def _demo(training: Training, validation: Validation, how: _How) -> Project:
    from cpclean.cli.wines import wines
    from cpclean.data.task import Task
    from cpclean.projects.project import Project, Settings
    from cpclean.queries.model import usual_model

    example = wines(validation.seed, training.space if _is_given("space") else "plain")
    about: dict[str, Any] = {"file": "wines (demo)", "records": example.records(validation.seed)}
    model = usual_model(example.table.dataset, training.neighbors, training.metric)
    settings = Settings(model, about=about, **_new(how))
    return Project.make(Task.of(example.table, example.points, example.labels), settings)
