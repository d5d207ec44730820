"""From the files and options that a person names to a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cpclean.cli.many_files import (
    PAPER_SETTING,
    OpenedFiles,
    is_many,
    open_files,
    refuse_many,
)
from cpclean.cli.mistakes import Mistake, in_options, note, tell
from cpclean.cli.options import KINDS, Training, Validation

if TYPE_CHECKING:
    from cpclean.data.task import Task
    from cpclean.intake.choices import Choices
    from cpclean.intake.layout import Layout
    from cpclean.intake.notes import Note
    from cpclean.intake.open_task import Opened
    from cpclean.queries.model import Model

# Remarks on columns that are told before anything is computed: such a column takes much time, and
# says nothing about a new row.
AT_ONCE = ("row_number", "identifier", "free_text")
# Points by which spaces are compared beside other work; `inspect` takes all.
MOST_COMPARED = 500


def open_given(
    training: Training,
    validation: Validation,
    *,
    for_session: bool = True,
    compared: bool = False,
    whole: bool = True,
) -> Opened:
    """Open the training table, with points from a file or held out; notes are printed.

    Among leaves, the space is, too; if it is to be compared, with the validation accuracy there and
    in the plain space. Of a large table, only a sample is looked at unless the whole is asked for.
    """
    from cpclean.intake.choices import HoldOut, PointsFile
    from cpclean.intake.open_task import open_task
    from cpclean.intake.sampling import Bounds
    from cpclean.intake.source_file import SourceFile

    if validation.val == training.file == "-":
        raise Mistake("only one file can be standard input.")
    _connect(training)
    to_predict: HoldOut | PointsFile = HoldOut(validation.val_share, validation.seed)
    if validation.val is not None:
        points = SourceFile.at(validation.val, points=True)
        to_predict = PointsFile(points, _layout(points.suffix, training))
    refuse_many(training.file)
    choices = replace(choices_of(training), seed=validation.seed)
    bounds = None if whole or training.domains else Bounds()
    opened = open_task(
        SourceFile.at(training.file), choices, to_predict, for_session=for_session, bounds=bounds
    )
    for one in opened.notes:
        note(_with_lines(one, opened))
    _tell_space(opened, training, compared)
    for one in column_remarks(opened.task, training):
        if one.code in AT_ONCE:
            note(one)
    return opened


def _with_lines(about: Note | Warning, opened: Opened) -> Note | Warning | str:
    """What was noted; where it is about cells of the training file, with their lines."""
    code, where = getattr(about, "code", None), getattr(about, "values", {}).get("where")
    if code != "odd_numbers" or where:
        return about
    return f"{in_options(about)}{opened.lines.of_rows(getattr(about, 'rows', ()))}"


def task_given(
    training: Training, validation: Validation, *, for_session: bool = True, compared: bool = False
) -> Task:
    """The task alone, as `open_given` opens it; the training table may be in several files."""
    if is_many(training.file):
        return files_given(training, validation, for_session=for_session).task
    return open_given(training, validation, for_session=for_session, compared=compared).task


def files_given(
    training: Training, validation: Validation, *, for_session: bool = True, lasting: bool = False
) -> OpenedFiles:
    """Open a training table of several files; as `many_files.open_files` does it."""
    from cpclean.intake.choices import Choices, PointsFile
    from cpclean.intake.source_file import SourceFile

    _connect(training)
    points = None
    if validation.val is not None:
        source = SourceFile.at(validation.val, points=True)
        points = PointsFile(source, _layout(source.suffix, training))
    kinds = kinds_of(training)
    choices = Choices(training.label, training.drop, kinds, null_tokens=training.null)
    return open_files(
        training, validation, choices, points, for_session=for_session, lasting=lasting
    )


def _connect(training: Training) -> None:
    """Reach the cluster before anything takes time: nobody may answer."""
    if training.cluster is not None:
        from cpclean.cluster.dask_cluster import connected

        connected(training.cluster)


def model_of(task: Task, training: Training) -> Model:
    """How many neighbours vote, and the metric: as given, or as usual in the space."""
    from cpclean.queries.model import usual_model

    return usual_model(task.dataset, training.neighbors, training.metric)


def _tell_space(opened: Opened, training: Training, compared: bool) -> None:
    """Print in which leaves distances are measured; nothing in the plain space."""
    from cpclean.analysis.space_words import space_words
    from cpclean.analysis.words import count

    task = opened.task
    assert task.table is not None, "files contain tables"
    if task.table.leaves is not None:
        neighbors = count(model_of(task, training).n_neighbors, "neighbour")
        right = _accuracies(opened, training) if compared else ""
        tell(f"Space: {space_words(task.table.leaves)}, {neighbors}; {right}{PAPER_SETTING}.")


def _accuracies(opened: Opened, training: Training) -> str:
    """The validation accuracy there and in the plain space, in words; "" without labels."""
    from cpclean.analysis.predictions import accuracy_of
    from cpclean.analysis.words import about_percent, percent
    from cpclean.queries.model import usual_model

    if opened.task.labels is None or (plain := opened.in_space("plain")) is None:
        return ""
    shown = percent if opened.task.points.n_points <= MOST_COMPARED else about_percent
    beside = usual_model(plain.dataset, training.neighbors)
    own = accuracy_of(opened.task, model_of(opened.task, training), MOST_COMPARED)
    other = accuracy_of(plain, beside, MOST_COMPARED)
    return f"validation accuracy {shown(own)}, in the plain space {shown(other)}; "


def column_remarks(task: Task, training: Training) -> list[Note]:
    """What was decided about columns, if a person might decide differently."""
    from cpclean.data.domains import plain_frame
    from cpclean.data.frames import columns_from
    from cpclean.intake.remarks import column_notes

    table = task.table
    assert table is not None, "files contain tables"
    kinds = {name: kind for name, kind in kinds_of(training).items() if name in table.names}
    frame = plain_frame(task.frame)
    columns = columns_from(frame[list(table.names)], kinds, training.null)
    labels = frame[training.label].astype(object).where(frame[training.label].notna(), None)
    decisions = {one.name: one.decision for one in table.report}
    notes = column_notes(columns, decisions, labels.tolist())
    return [one for one in notes if not _doubted(one, suspects_of(training))]


def _doubted(note: Note, suspects: Iterable[tuple[str, str]]) -> bool:
    """Whether a value that may stand for nothing, or be misspelt, is doubted already."""
    if note.code == "maybe_misspelt":
        return note.values["cell"] in {f"{name}={text}" for name, text in suspects}
    if note.code != "maybe_sentinel":
        return False
    texts = [text for name, text in suspects if name == note.column]
    return any(_same_number(text, str(note.values["value"])) for text in texts)


def _same_number(first: str, second: str) -> bool:
    try:
        return first == second or float(first) == float(second)
    except ValueError:
        return False


def choices_of(training: Training) -> Choices:
    """The options about the training table."""
    from cpclean.intake.choices import Choices
    from cpclean.intake.source_file import SourceFile

    return Choices(
        label=training.label,
        drop=training.drop,
        kinds=kinds_of(training),
        null_tokens=training.null,
        layout=_layout(SourceFile.at(training.file).suffix, training),
        domains=training.domains,
        repairs=training.repairs,
        prior=training.prior,
        space=training.space,
        drop_unlabelled=training.drop_unlabelled is not False,
        drop_empty=training.drop_empty,
        nothing=training.nothing,
        suspects=suspects_of(training),
        fold=training.fold,
        bins=training.bins,
        max_exact=training.max_exact,
        n_draws=training.draws,
    )


def read_frame(file: str, training: Training) -> Any:
    """Another file with the rows of the training table, such as their true values."""
    from cpclean.data.domains import plain_frame
    from cpclean.intake.checking import check_width
    from cpclean.intake.source_file import SourceFile
    from cpclean.intake.tidying import Tidying

    source = SourceFile.at(file)
    layout = _layout(source.suffix, training)
    found = source.read(
        layout, null_tokens=training.null, kinds=kinds_of(training), domains=training.domains
    )
    check_width(plain_frame(found), source, layout)
    return Tidying(choices_of(training)).of(plain_frame(found))[0]


def _layout(suffix: str, training: Training) -> Layout | None:
    from cpclean.intake.layout import Layout
    from cpclean.intake.textfile import text_suffix, usual_sep

    kind = text_suffix(suffix)
    if kind is None:
        return None
    return Layout(training.sep or usual_sep(kind), training.encoding, training.decimal)


def suspects_of(training: Training) -> tuple[tuple[str, str], ...]:
    """The cells that are doubted, by column and value."""
    found = []
    for text in training.suspect:
        column, _, value = text.partition("=")
        if not column or not value:
            raise Mistake(f"--suspect must be COLUMN=VALUE, such as weight=0; got {text!r}.")
        found.append((column, value))
    return tuple(found)


def kinds_of(training: Training) -> dict[str, str]:
    """The kinds that were named for columns."""
    found = {}
    for text in training.kind:
        column, _, kind = text.rpartition("=")
        if not column or kind not in KINDS:
            raise Mistake(
                f"--kind must be COLUMN=KIND, with a kind of {', '.join(KINDS)}; got {text!r}."
            )
        found[column] = kind
    return found
