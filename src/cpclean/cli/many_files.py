"""Training tables of many files, which need not fit into memory: a folder, or a pattern."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpclean.cli.mistakes import Mistake, note, tell
from cpclean.cli.options import Training, Validation

if TYPE_CHECKING:
    from cpclean.data.streamed.streamed_table import StreamedTable
    from cpclean.data.task import Task
    from cpclean.intake.choices import Choices, PointsFile
    from cpclean.intake.notes import Note

# Rows of the files that points are compared with, to see whether they have the same columns.
_HEAD = 1000
PAPER_SETTING = "--space plain --neighbors 3 --prior uniform is the paper's setting"
# Addresses of projects, which `serve` takes in the place of a file.
_STORAGES = ("memory", "sqlite", "postgresql", "postgres", "postgresql+psycopg")


def is_many(file: str) -> bool:
    """Whether what was named in place of a file stands for several, or is an address of files."""
    scheme, mark, _ = file.partition("://")
    if mark:
        return scheme not in _STORAGES
    return os.path.isdir(file) or (bool(re.search(r"[*?\[]", file)) and not os.path.exists(file))


def refuse_many(file: str) -> None:
    """Refuse several files for a command that reads one into memory."""
    if is_many(file):
        raise Mistake(
            f"this command reads one file; {file!r} stands for several. "
            "inspect, check, count, rank, report, clean and serve take them.",
        )


@dataclass(frozen=True)
class OpenedFiles:
    """A task out of many files, and the table of all of them."""

    task: Task
    table: StreamedTable

    def remarks(self) -> list[Note]:
        """What was decided about columns, if a person might decide differently."""
        from cpclean.intake.remarks import column_notes

        return column_notes(
            self.table.columns, {one.name: one.decision for one in self.table.report}
        )

    def where(self, row: int) -> str:
        """Which file a row is in, in words after its number."""
        return f", row {self.table.files.names([row])[0]}"

    @property
    def row_names(self) -> list[str]:
        """Where the rows of the task are, in words after "row"."""
        return self.table.files.names(self.task.row_names.tolist())

    def write(
        self,
        known: Mapping[int, Mapping[str, Any]],
        folder: str,
        rough: Collection[tuple[int, str]] = (),
    ) -> None:
        """Write the cleaned files, with what is known about rows of the task, and not roughly."""
        from cpclean.intake.cleaned_files import write_files

        names = self.task.row_names.tolist()
        named = {
            names[row]: {name: one for name, one in values.items() if (row, name) not in rough}
            for row, values in known.items()
        }
        write_files(self.table.files, self.table.columns, named, folder, over=True)


@dataclass(frozen=True)
class Places:
    """Where the log and the cleaned table are written."""

    log: Path
    out: str
    named: bool  # whether the table is written there even if nothing is answered


def places_of_files(files: str, log: str | None, out: str | None) -> Places:
    """The places that are named, or else beside a folder of files."""
    given = Path(files).expanduser()
    if not given.is_dir() and (log is None or out is None):
        raise Mistake("name --log FILE and --out FOLDER: a pattern has no place beside it.")
    beside = given.with_name(f"{given.name}.cleaned")
    place = Path(out or beside).expanduser()
    if place.is_file() or (given.is_dir() and place.exists() and place.samefile(given)):
        raise Mistake(f"--out must be another folder than that of the files; got {str(place)!r}.")
    kept = Path(log or given.with_name(f"{given.name}.answers.jsonl")).expanduser()
    return Places(kept, str(place), out is not None)


@contextmanager
def _in_options() -> Iterator[None]:
    """Name the option that leaves out rows which a table refuses."""
    from cpclean.errors import TableError

    try:
        yield
    except TableError as problem:
        if problem.field not in ("drop_unlabelled", "drop_empty"):
            raise
        option = f"--{problem.field.replace('_', '-')}"
        raise Mistake(f"{problem.what} Leave these rows out with {option}.") from problem


def open_files(
    training: Training,
    validation: Validation,
    choices: Choices,
    points: PointsFile | None,
    *,
    for_session: bool,
    lasting: bool = False,
) -> OpenedFiles:
    """The task of some files: the rows that matter to the points, by their numbers in all files.

    With `lasting`, they are enough whatever is answered, as far as that can be had. They are the
    same in every run: answers in a log name rows among them.
    """
    from cpclean.analysis.space_words import space_words
    from cpclean.analysis.words import count
    from cpclean.data.nulls import stripped
    from cpclean.data.streamed.opening_files import open_source
    from cpclean.data.streamed.pieces import n_rows
    from cpclean.data.streamed.streamed_table import StreamedTable
    from cpclean.data.streamed.text_parts import TextLayout
    from cpclean.data.task import Task
    from cpclean.intake.choices import EASIER, MIN_ROWS_OF_LEAVES
    from cpclean.intake.gathered_notes import gathered_notes
    from cpclean.intake.notes import Note
    from cpclean.intake.open_task import noted
    from cpclean.intake.predicting import as_classes, rows_to_predict
    from cpclean.intake.source_file import SourceFile
    from cpclean.intake.text_columns import text_columns
    from cpclean.intake.tidying import Tidying
    from cpclean.queries.near_scan import checked_model, gather, gather_for_answers

    if points is None:
        raise Mistake(
            "rows of several files cannot be held out: name a file of rows to predict with --val, "
            "such as one of the files that you take out of the folder."
        )
    if training.suspect or training.fold or training.bins or training.nothing:
        raise Mistake(
            "--suspect, --fold, --bins and --null COLUMN=TEXT are for one file; several files are "
            "read as they are. Change such cells where the files are written, leave a column out "
            "with --drop, or name a text that is a hole in every column: --null TEXT."
        )
    if training.domains:
        raise Mistake("--domains reads one file; several files cannot list what cells can be.")
    notes: list[Any] = []
    with noted(notes), _in_options():
        nulls = stripped(training.null)
        layout = TextLayout.checked(training.sep, training.encoding, training.decimal, nulls)
        source = open_source(training.file, training.label, choices.kinds, layout)
        texts = text_columns(source, {training.label, *choices.kinds, *training.drop}, nulls)
        for one in texts.notes:  # the reason of what may go wrong
            note(one)
        choices = replace(choices, kinds={**dict.fromkeys(texts.days, "date"), **choices.kinds})
        space, n_lines = training.space, n_rows(source)
        if space != "plain" and n_lines < MIN_ROWS_OF_LEAVES:
            values = {"count": n_lines, "least": MIN_ROWS_OF_LEAVES}
            space = "plain"
            note(Note("leaves_rows", values=values))
        table = StreamedTable(
            source,
            label=training.label,
            repairs=training.repairs,
            prior=training.prior,
            kinds=choices.kinds,
            null_tokens=training.null,
            space=space,
            max_exact=training.max_exact,
            n_draws=training.draws,
            random_state=validation.seed,
            drop_unlabelled=bool(training.drop_unlabelled),
            drop_empty=training.drop_empty,
            drop=training.drop,
        )
        if table.leaves is not None:  # where many rows tie, and files are often sorted
            table = table.shuffled()
        trained = SourceFile(repr(training.file), ".csv", bytes)
        numbers = frozenset(one.name for one in table.columns if one.kind == "numeric")
        tidying = Tidying(choices, numbers)
        found = rows_to_predict(_head(table), trained, tidying, points)
        labels, about_labels = as_classes(found, table.classes.tolist())
        if for_session:
            asked = table.session_points(found.frame)
        else:
            most = max(1, table.drawing.max_exact // EASIER)
            asked = table.points(found.frame, max_completions=most)
        model = checked_model(table, training.neighbors, training.metric)
        if lasting:
            near = gather_for_answers(table, asked, model, cluster=training.cluster)
        else:
            near = gather(table, asked, model.n_neighbors, model.metric, cluster=training.cluster)
        about = [one for one in found.notes if one.code != "points_in_training"]  # of the head
        used = replace(choices, space=space)
        about += gathered_notes(near, table, found, trained, used)
    for one in [*notes, *about, *about_labels]:
        note(one)
    if table.leaves is not None:
        neighbors = count(model.n_neighbors, "neighbour")
        tell(f"Space: {space_words(table.leaves)}, {neighbors}; {PAPER_SETTING}.")
    tell(
        f"{table.n_rows:,} rows in {count(len(table.source.files), 'file')}; {near.n_rows:,} of "
        f"them matter to these {asked.n_points:,} predictions."
    )
    task = Task.of(near, asked, labels, row_names=near.rows_kept, point_names=found.numbers)
    return OpenedFiles(replace(task, raw_points=found.frame), table)


def _head(table: StreamedTable) -> Any:
    """The first rows of the files as a pandas frame, with the label."""
    from cpclean.intake.writing import as_pandas

    names = (*table.names, table.label)
    frame = next(iter(table.source.frames(table.pieces[0], names, _HEAD)))
    return as_pandas(frame)
