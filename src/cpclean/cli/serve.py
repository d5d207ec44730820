"""cpclean serve: the page where people clean together."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.listening import check_proxies, check_tokens, root_of_option
from cpclean.cli.many_files import is_many
from cpclean.cli.mistakes import Mistake
from cpclean.cli.options import (
    Training,
    Validation,
    level_of,
    optional_training_options,
    sure_option,
    validation_options,
)
from cpclean.cli.output import working
from cpclean.cli.project_places import SUFFIX, Beside, Within, open_projects, with_project
from cpclean.cli.served_demo import demo_project
from cpclean.cli.team_options import TeamOptions, check_team, save_team, team_options
from cpclean.cli.told_before import take_in

if TYPE_CHECKING:
    from cpclean.projects.project import Project
    from cpclean.storage.contract import Storage

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
    help="The owner's secret; also $CPCLEAN_TOKEN.  [default: a new random one]",
)
@click.option(
    "--answer-token",
    envvar="CPCLEAN_ANSWER_TOKEN",
    metavar="TEXT",
    help="The secret with which people can only answer; also $CPCLEAN_ANSWER_TOKEN.  [default: one "
    "that follows from the owner's]",
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
    "--image",
    metavar="COLUMN",
    help="A column with pictures of rows: files in or below the folder of FILE (.png, .jpg, .gif, "
    ".webp), or addresses.",
)
@click.option(
    "--projects",
    multiple=True,
    metavar="PLACE",
    help="Serve several projects: all of a folder, or one in a file or database (NAME=PLACE); may "
    "be repeated.",
)
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="What stands before all paths where people reach the server through a proxy: /cpclean",
)
@click.option(
    "--trust-proxy",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy that says truly in X-Forwarded-For and -Proto who asks, and whether over https; "
    "may be repeated.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A host name by which people reach this machine; may be repeated.",
)
@team_options
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
    answer_token: str | None,
    named_by: tuple[str, ...],
    link: str | None,
    image: str | None,
    projects: tuple[str, ...],
    root_path: str,
    trust_proxy: tuple[str, ...],
    allow_host: tuple[str, ...],
    team: TeamOptions,
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
      cpclean serve --projects folder
      cpclean serve --demo
    """
    from cpclean.web.guard.tokens import answer_token_of, new_token
    from cpclean.web.server.process import run

    token = new_token() if token is None else token
    if answer_token is None:
        answer_token = answer_token_of(token) if token else ""
    check_tokens(host, token, answer_token)
    root = root_of_option(root_path)
    check_proxies(trust_proxy)
    check_team(team)
    if training.cluster is not None:
        from cpclean.cluster.dask_cluster import connected

        connected(training.cluster)  # nobody may answer
    here = None if "://" in training.file else Path(training.file).expanduser().parent
    names = (named_by, link or "", image or "", here)
    how = _How(level_of(sure), sure is not None, answers_per_row, *names)
    if (named_by or link or image) and not training.file:
        raise Mistake("--id, --link and --image are about a table: name FILE.")
    if projects:
        opened = _several(training, projects)
    else:
        opened = _opened(training, validation, demo, storage, how)
    only = None if isinstance(opened.storage, dict) else opened.storage
    if log is not None and not projects:
        take_in(only, log)
    save_team(only, team)
    run(
        opened.storage,
        token,
        answer_token=answer_token,
        host=host,
        port=PORT if port is None else port,
        exact_port=port is not None,
        browser=not no_browser,
        hosts=allow_host,
        start_project=opened.place,
        lease_seconds=lease,
        answers_per_row=answers_per_row,
        cluster=training.cluster,
        root=root,
        proxies=trust_proxy,
        notify=team.notify,
        told=click.echo,
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
    image: str = ""
    folder: Path | None = None


@dataclass(frozen=True)
class _Opened:
    """A storage with a project; or None, and where one that is set up in the browser is put."""

    storage: Storage | dict[str, Storage] | None
    place: Callable[[Project], Storage] | None = None


def _several(training: Training, places: tuple[str, ...]) -> _Opened:
    given = "FILE" if training.file else _table_option()
    others = ("demo", "storage", "log", "named_by", "link", "image", "expert", "gold", "gold_rate")
    given = given or next((f"--{one}" for one in others if _is_given(one)), "")
    if given:
        given = given.replace("named_by", "id").replace("_", "-")
        raise Mistake(f"--projects has projects that were started before: leave out {given}.")
    found = open_projects(places)
    return _Opened(found.storages, found.place)


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
            space = training.space if _is_given("space") else "plain"
            kept.create(demo_project(training, validation.seed, space, **_new(how)))
        return _Opened(kept)
    if training.file and _is_storage(training.file):
        if storage is not None:
            raise Mistake("FILE is a project itself: leave out --storage.")
        if given := _table_option():
            raise Mistake(
                "FILE is a project, which has the table and the settings that it was started with: "
                f"leave out {given}, or name a table, and another place with --storage."
            )
        return _Opened(with_project(open_storage(training.file, create=False)))
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
            return with_project(kept)
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
    from cpclean.web.pages.drafting import kept_notes

    if not training.label:
        raise Mistake("name the label column with --label.")
    text = files = None
    notes: dict[str, list[str]] = {}
    with working("Reading"):
        if is_many(training.file):
            many = files_given(training, validation, lasting=True)
            task, files = many.task, many.table.files
        else:
            opened = open_given(training, validation, compared=True)
            task, text = opened.task, opened.original.text
            notes = kept_notes(opened.notes, 100 * validation.val_share)
        tell_draws(task, training)
        tell_completions(task)
    about = {
        "file": os.path.basename(training.file.rstrip("/")),
        "repairs": training.repairs,
        "prior": training.prior,
        **notes,
    }
    settings = Settings(model_of(task, training), random_state=validation.seed, about=about, **how)
    return Project.make(task, settings, text=text, files=files)


def _named(project: Project, how: _How) -> Project:
    """The project with what people recognise its rows by."""
    from cpclean.data.domains import plain_frame
    from cpclean.web.desk.naming_rows import naming
    from cpclean.web.desk.row_images import chosen_image

    if not how.named_by and not how.link and not how.image:
        return project
    frame = project.frame
    columns = project.table.names if frame is None else plain_frame(frame).columns
    chosen = naming(how.named_by, how.link, columns)
    chosen |= chosen_image(how.image, columns, how.folder)
    about = {**(project.settings.about or {}), **chosen}
    return project.with_settings(replace(project.settings, about=about))
