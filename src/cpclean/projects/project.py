"""A project: a task, the settings and the source file; all of it as bytes and back.

A project that is opened from its bytes, on any machine, has the same encoded dataset bit for bit; a
session over it gives the same answers and asks the same next question.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cpclean.cleaning.answers import news
from cpclean.cleaning.answers import said as answer_of
from cpclean.cleaning.costs import checked_costs, questions_of
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.settings import checked_labels
from cpclean.cleaning.subject import TableSubject
from cpclean.data.domains import DomainTable
from cpclean.data.incomplete import Ints
from cpclean.data.streamed.table_files import TableFiles
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import AnswerError, FutureError, QueryError, StorageError, TableError, offenders
from cpclean.intake.textfile import TextFile
from cpclean.projects.fingerprint import answers_belong, fingerprint
from cpclean.projects.packing import Packer, Unpacker
from cpclean.projects.point_bytes import are_complete, pack_points, point_arrays, unpack_points
from cpclean.projects.project_settings import AS_BEFORE, Settings
from cpclean.projects.sources import PackedSources, Sources, pack_sources
from cpclean.projects.table_bytes import dataset_arrays, pack_table, unpack_table
from cpclean.queries.geometry import ask

__all__ = ["Project", "RowEvent", "Settings"]

# Format 2 has rows that are drawn, or completions of points, format 3 has trees, format 4 has a
# level of sureness or another prior in gains, and format 5 has some rows of files: earlier versions
# would go on without, or fail. What has none of these is saved in format 1.
FORMAT = 5


class RowEvent(Protocol):
    """An answer, a correction or a skip: an event of a log, for instance."""

    @property
    def kind(self) -> str: ...
    @property
    def row(self) -> int: ...
    @property
    def candidate(self) -> int | None: ...
    @property
    def value(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Project:
    """What is cleaned, for the sake of what, and how. Made by `Project.make`.

    Attributes
    ----------
    task : Task
        The table, the points and their labels, encoded. It leaves out the frames they came from,
        which are only read when somebody asks: `frame` and `raw_points`.
    settings : Settings
    belongs : dict
        What identifies the project, as `fingerprint` gives it: equal for the same files and
        settings.
    """

    task: Task
    settings: Settings
    belongs: dict[str, Any]
    sources: Sources | PackedSources = field(repr=False)

    @classmethod
    def make(
        cls,
        task: Task,
        settings: Settings | None = None,
        *,
        text: TextFile | None = None,
        files: TableFiles | None = None,
    ) -> Project:
        """A project of a task.

        Parameters
        ----------
        task : Task
            With a table, made with any repairs and prior, even your own: what they propose is
            saved. With the points as a frame or array: ``Task.of(table, frame)``.
        settings : Settings, optional
        text : TextFile, optional
            The file that the table was read from, so that the cleaned table can be the same file
            with only the answered cells changed.
        files : TableFiles, optional
            The files whose rows were gathered, so that they can be written anew; none of their
            rows is saved besides those that were gathered.

        Examples
        --------
        >>> import pandas as pd
        >>> from cpclean import IncompleteTable
        >>> frame = pd.DataFrame({"age": [18, None, 65], "pets": [0, 2, 1], "y": [0, 1, 1]})
        >>> points = pd.DataFrame({"age": [20, 50], "pets": [1, 1]})
        >>> task = Task.of(IncompleteTable(frame, label="y"), points, frame=frame)
        >>> project = Project.from_bytes(Project.make(task).to_bytes())
        >>> project.dirty_rows.tolist(), project.cells(1)
        ([1], ('age',))
        """
        if task.table is None:
            raise TableError(
                f"a project needs an IncompleteTable; got {type(task.data).__name__}. Wrap a frame:"
                ' IncompleteTable(frame, label="y").'
            )
        if task.raw_points is None:
            raise TableError(
                "a project needs its validation points in the columns of the table; got encoded "
                "points. Make the task with the frame itself: Task.of(table, frame)."
            )
        saved = (settings or Settings()).checked()
        labels = checked_labels(task.labels, task.points.n_points, task.dataset.classes)
        made = cls(
            replace(task, labels=labels, frame=None, raw_points=None),
            saved,
            _belongs(task.table, task.raw_points, saved),
            Sources(task.frame, task.raw_points, text, files),
        )
        made._check()
        return made

    def _check(self) -> None:
        """Refuse now what cannot be asked, not when people are waiting."""
        own = self.settings
        if not self.task.points.n_points:
            raise QueryError("validation needs at least one point; got none.")
        ask(self.task.dataset, self.task.points, own.model)
        if own.strategy == "cost" and own.costs is None:
            raise TableError(
                'strategy "cost" needs costs: one per row, or a dict from column to cost.'
            )
        by_cell = own.strategy == "cells"
        checked_costs(own.costs, self._subject, questions_of(self._subject, by_cell))

    def with_settings(self, settings: Settings) -> Project:
        """The same project with other settings; it still belongs to the same answers."""
        return replace(self, settings=settings.checked())

    # -- looking ---------------------------------------------------------------------------

    @property
    def table(self) -> IncompleteTable:
        found = self.task.table
        assert found is not None, "checked when the project was made"
        return found

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def dirty_rows(self) -> Ints:
        """The rows that people can be asked about."""
        return self.task.dataset.dirty_rows

    def cells(self, row: int) -> tuple[str, ...]:
        """The columns in which a row has holes that count."""
        return tuple(self._subject.cells(self.task.dataset.row_number(row)))

    @property
    def frame(self) -> Any:
        """The table as it was given; None if it was not saved."""
        return self.sources.frame

    @property
    def raw_points(self) -> Any:
        """The validation points as they were given."""
        return self.sources.raw_points

    @property
    def text(self) -> TextFile | None:
        """The file that the table was read from; None if it was not a text file or not saved."""
        return self.sources.text

    @property
    def files(self) -> TableFiles | None:
        """The files that the rows are in, if the table has some of their rows only."""
        return self.sources.files

    @property
    def journal_belongs(self) -> dict[str, Any]:
        """What identifies the project in a file of answers, as `cpclean clean` writes it."""
        about = self.settings.about or {}
        return answers_belong(
            self.belongs,
            label=self.table.label,
            model=self.settings.model,
            repairs=about.get("repairs"),
            prior=about.get("prior"),
            strategy=self.settings.strategy,
            seed=self.settings.random_state,
            sure=self.settings.sure,
            gains_by=self.settings.gains_by,
        )

    def digest(self) -> str:
        """A hash of all bits of the encoded dataset and of the points."""
        points, data = point_arrays(self.task.points), self.task.dataset
        found = hashlib.sha256(points.pop("vectors").tobytes())
        for name, one in [*sorted(points.items()), *sorted(dataset_arrays(data).items())]:
            if one.dtype.kind != "O":
                found.update(name.encode() + np.ascontiguousarray(one).tobytes())
        if not data.is_exact:
            found.update(repr((data.drawing, data.row_names.tolist())).encode())
        if data.space is not None:
            found.update(data.space.digest.encode())
        return found.hexdigest()

    # -- bytes -----------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Everything about the project; the same project gives the same bytes."""
        into, task = Packer(), self.task
        plain = {
            "cpclean": "project",
            "format": self._format,
            "table": pack_table(self.table, into),
            "settings": self._packed_settings(),
            "labels": None if task.labels is None else into.array(task.labels, "the labels"),
            **pack_points(task.points, into),
            "belongs": self.belongs,
            **pack_sources(self.sources, into),
        }
        if task.point_names.tolist() != list(range(task.points.n_points)):
            plain["point_names"] = task.point_names.tolist()
        return into.done(plain)

    @property
    def _format(self) -> int:
        """The lowest one that has what the project has."""
        if self.table.all_rows is not None:
            return 5
        if self.settings.plain().keys() & AS_BEFORE.keys():
            return 4
        if self.task.dataset.space is not None:
            return 3
        return 1 if self.task.dataset.is_exact and are_complete(self.task.points) else 2

    def _packed_settings(self) -> dict[str, Any]:
        """The settings; format 1 has the names of rows among them."""
        plain = self.settings.plain()
        if not np.array_equal(self.task.row_names, self.table.rows_kept):
            plain["about"] = {**(plain["about"] or {}), "rows": self.task.row_names.tolist()}
        return plain

    @classmethod
    def from_bytes(cls, content: bytes) -> Project:
        """The project whose bytes these are."""
        source = Unpacker(content)
        plain = source.plain
        if not isinstance(plain, dict) or plain.get("cpclean") != "project":
            raise StorageError("these bytes are not a saved project.")
        if plain["format"] > FORMAT:
            raise FutureError(
                f"the project was saved by a newer cpclean (format {plain['format']}; this one "
                f"reads formats up to {FORMAT}). Upgrade cpclean."
            )
        table = unpack_table(plain["table"], source)
        settings, row_names = _unpacked_settings(plain["settings"], table)
        task = Task.of(
            table,
            unpack_points(plain, source),
            None if plain["labels"] is None else source.array(plain["labels"]),
            row_names=row_names,
            point_names=plain.get("point_names"),
        )
        return cls(task, settings, plain["belongs"], PackedSources(plain, source))

    # -- use -------------------------------------------------------------------------------

    def session(
        self,
        log: Iterable[Mapping[str, Any]] = (),
        n_jobs: int | None = None,
        cluster: Any = None,
    ) -> CleaningSession:
        """A session over the project that knows a log, such as `Ledger.log`."""
        own = self.settings
        session = CleaningSession(
            self.table,
            self.task.points,
            own.model.n_neighbors,
            own.strategy,
            self.task.labels,
            own.random_state,
            metric=own.model.metric,
            costs=own.costs,
            budget=own.budget,
            target_share=own.target_share,
            min_gain=own.min_gain,
            sure=own.sure,
            gains_by=own.gains_by,
            n_jobs=n_jobs,
            cluster=cluster,
        )
        session.replay(log)
        return session

    def entry(self, row: int, candidate: int | None = None, value: Any = None) -> dict[str, Any]:
        """An answer in plain values, or an `AnswerError` that says what is wrong with it.

        Call it before an event is appended: the log must not have answers that are not possible.
        The file that the row is in, if any, must be as it was.
        Where several people have to agree, an answer has to name all holes of its row.
        """
        row = self.task.dataset.row_number(row)
        if self.files is not None:
            self.files.check(int(self.task.row_names[row]))
        known, entry = answer_of(self._subject, row, candidate, value)
        if self.settings.answers_per_row > 1 and candidate is None:
            said = {*known.raw, *known.rough}
            lacking = [name for name in self.cells(row) if name not in said]
            if lacking:
                raise AnswerError(
                    f"several people have to agree on row {row}, so the value must name all its "
                    f"holes; missing: {offenders(map(repr, lacking))}. Skip the row if you do not "
                    "know them all.",
                    column=lacking[0],
                    rows=(row,),
                )
        return entry

    def spelling(self, event: RowEvent) -> Hashable:
        """Equal for answers that mean the same, for `ledger_of`: a candidate is its values.

        An answer that is not possible for this table is an error, as in `entry`.
        """
        row = self.task.dataset.row_number(event.row)
        if event.kind == "skip":
            return "skip"
        value = None if event.value is None else json.dumps(event.value, sort_keys=True)
        key = (row, event.candidate, value)
        if key not in self._spelled:
            known, _ = answer_of(self._subject, row, event.candidate, event.value)
            self._spelled[key] = json.dumps(self._subject.plain(known), sort_keys=True)
        return self._spelled[key]

    def news(self, log: Sequence[Mapping[str, Any]]) -> list[int]:
        """The places of the entries of a log that add something new.

        Where several people gave the same answer, a session knows it from the first of them.
        """
        return news(self._subject, [dict(entry) for entry in log])

    @cached_property
    def _subject(self) -> TableSubject:
        return TableSubject(self.table)

    @cached_property
    def _spelled(self) -> dict[Hashable, str]:
        """Spellings so far: a log is read again and again."""
        return {}


def _unpacked_settings(plain: Mapping[str, Any], table: IncompleteTable) -> tuple[Settings, Any]:
    """The settings, and the names of the rows that format 1 has among them."""
    about = plain["about"]
    names = about.get("rows") if isinstance(about, dict) else None
    if not isinstance(names, list) or len(names) != table.n_rows:
        return Settings.from_plain(plain), table.rows_kept
    rest = {name: one for name, one in about.items() if name != "rows"}
    return Settings.from_plain({**plain, "about": rest or None}), names


def _belongs(table: IncompleteTable, points: Any, settings: Settings) -> dict[str, Any]:
    plain = points.frame if isinstance(points, DomainTable) else points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about columns: they were shown with the table
        return fingerprint(table, plain, **settings.identifying)
