"""A project: a table with holes, the points that matter, the settings; all of it as bytes and back.

A project that is opened from its bytes, on whatever machine, has the same encoded dataset bit for
bit; a session over it gives the same answers and asks the same next question.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.answers import news
from cpclean.cleaning.answers import said as said_of
from cpclean.cleaning.costs import checked_costs, questions_of
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.settings import checked_labels, checked_limits, checked_seed
from cpclean.cleaning.subject import TableSubject
from cpclean.data.domains import DomainTable
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats, is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import AnswerError, FutureError, QueryError, StorageError, TableError, offenders
from cpclean.intake.textfile import TextFile
from cpclean.projects.fingerprint import answers_belong, fingerprint
from cpclean.projects.frame_bytes import pack_frame, unpack_frame
from cpclean.projects.packing import Packer, Unpacker
from cpclean.projects.table_bytes import (
    OpenedTable,
    Vectors,
    dataset_arrays,
    opened,
    pack_table,
    unpack_table,
)
from cpclean.queries.geometry import METRICS, ask
from cpclean.queries.model import Model

FORMAT = 1
# Only what has a name can be stored; distances that are given belong to no table.
_METRICS = tuple(name for name in METRICS if name != "precomputed")
_STRATEGIES = ("cpclean", "random", "cells", "cost")


class Said(Protocol):
    """What somebody said of a row: an event of a log, for instance."""

    @property
    def kind(self) -> str: ...
    @property
    def row(self) -> int: ...
    @property
    def candidate(self) -> int | None: ...
    @property
    def value(self) -> Any: ...


@dataclass(frozen=True)
class Settings:
    """How a project is cleaned; the names are those of `CleaningSession`.

    Parameters
    ----------
    answers_per_row : int
        How many people have to say the same of a row.
    costs : list of one number a row, or dict from column to cost, optional
    about : dict, optional
        Anything else that belongs to the project, such as JSON can hold: the name of the file, the
        repairs and the prior that were chosen.
    """

    n_neighbors: int = 3
    metric: str = "euclidean"
    strategy: str = "cpclean"
    answers_per_row: int = 1
    random_state: int = 0
    budget: int | None = None
    target_share: float = 1.0
    min_gain: float = 0.0
    costs: Any = None
    about: Any = None

    def checked(self) -> Settings:
        """The same in plain values, or an error about what cannot be kept."""
        for name, known in (("metric", _METRICS), ("strategy", _STRATEGIES)):
            given = getattr(self, name)
            if not isinstance(given, str) or given not in known:
                raise TableError(
                    f"the {name} of a project must be one of {', '.join(known)}: only what has a "
                    f"name can be stored; got {given!r}."
                )
        budget, target_share, min_gain = checked_limits(
            self.budget, self.target_share, self.min_gain
        )
        if not is_whole(self.answers_per_row) or self.answers_per_row < 1:
            raise TableError(
                f"answers_per_row must be an int of at least 1; got {self.answers_per_row!r}."
            )
        if self.answers_per_row > 1 and self.strategy == "cells":
            raise TableError(
                'strategy "cells" asks for single cells, but people can agree on whole rows only: '
                "take another strategy, or answers_per_row=1."
            )
        costs = self.costs.tolist() if hasattr(self.costs, "tolist") else self.costs
        plain = {**asdict(self), "costs": costs, "budget": None if budget is None else int(budget)}
        plain |= {
            "n_neighbors": int(self.n_neighbors)
            if is_whole(self.n_neighbors)
            else self.n_neighbors,
            "answers_per_row": int(self.answers_per_row),
            "random_state": checked_seed(self.random_state),
            "target_share": target_share,
            "min_gain": min_gain,
        }
        try:
            return Settings(**json.loads(json.dumps(plain, allow_nan=False)))
        except (TypeError, ValueError) as problem:
            raise TableError(
                f"the settings of a project must be something JSON can hold: {problem}."
            ) from problem


class Project:
    """What is cleaned, for the sake of what, and how. Made by `Project.make`.

    Attributes
    ----------
    table : IncompleteTable
    settings : Settings
    labels : ndarray or None
        The labels of the validation points, if they are known.
    vectors : ndarray of shape (n_points, n_features)
        The validation points in the table's space.
    belongs : dict
        What identifies the project, as `fingerprint` gives it: equal for the same files and
        settings.
    """

    table: OpenedTable
    settings: Settings
    labels: npt.NDArray[Any] | None
    vectors: Floats
    belongs: dict[str, Any]

    def __init__(self, **parts: Any) -> None:
        self.table, self.settings = parts["table"], parts["settings"]
        self.labels, self.vectors = parts["labels"], parts["vectors"]
        self.belongs = parts["belongs"]
        self._frame: Callable[[], Any] = parts["frame"]
        self._points: Callable[[], Any] = parts["points"]
        self._text: Callable[[], TextFile | None] = parts["text"]
        self._subject = TableSubject(self.table)
        self._spelled: dict[Hashable, str] = {}  # a log is looked at again and again

    @classmethod
    def make(
        cls,
        table: IncompleteTable,
        points: Any,
        labels: Any = None,
        settings: Settings | None = None,
        frame: Any = None,
        text: TextFile | None = None,
    ) -> Project:
        """A project of a table and its validation points.

        Parameters
        ----------
        table : IncompleteTable
            Made with any repairs and prior, also with your own: what they proposed is kept.
        points : frame or array
            The validation points, complete, with the table's columns.
        labels : sequence of labels, optional
            Of the validation points.
        settings : Settings, optional
        frame : frame or DomainTable, optional
            The table as it was given, for people: kept with its dtypes, and given back by `frame`.
        text : TextFile, optional
            The file that the frame was read from, so that the cleaned table can be one that differs
            in what was told only.
        """
        if not isinstance(table, IncompleteTable):
            raise TableError(
                f"a project needs an IncompleteTable; got {type(table).__name__}. Wrap a frame: "
                'IncompleteTable(frame, label="y").'
            )
        kept = (settings or Settings()).checked()
        vectors = np.ascontiguousarray(table.encode(points))
        named = {
            field.name: getattr(kept, field.name)
            for field in fields(Settings)
            if field.name not in ("about", "budget", "target_share", "min_gain")
        }
        made = cls(
            table=opened(table),
            settings=kept,
            labels=checked_labels(labels, len(vectors), table.dataset.classes),
            vectors=vectors,
            belongs=_belongs(table, points, named),
            frame=lambda: frame,
            points=lambda: points,
            text=lambda: text,
        )
        made._check()
        return made

    def _check(self) -> None:
        """Refuse what cannot be asked now, not when people are waiting."""
        own = self.settings
        if not len(self.vectors):
            raise QueryError("validation needs at least one point; got none.")
        ask(self.table.dataset, self.vectors, Model(own.n_neighbors, own.metric))
        if own.strategy == "cost" and own.costs is None:
            raise TableError(
                'strategy "cost" needs costs: one a row, or a dict from column to cost.'
            )
        by_cell = own.strategy == "cells"
        checked_costs(own.costs, self._subject, questions_of(self._subject, by_cell))

    @property
    def frame(self) -> Any:
        """The table as it was given; None if it was not put in."""
        return self._frame()

    @property
    def points(self) -> Any:
        """The validation points as they were given."""
        return self._points()

    @property
    def text(self) -> TextFile | None:
        """The file that the table was read from; None if it was no text file or was not put in."""
        return self._text()

    @property
    def journal_belongs(self) -> dict[str, Any]:
        """What identifies the project in a file of answers, as `cpclean clean` writes it."""
        about = self.settings.about if isinstance(self.settings.about, dict) else {}
        return answers_belong(
            self.belongs,
            label=self.table.label,
            neighbors=self.settings.n_neighbors,
            metric=self.settings.metric,
            repairs=about.get("repairs"),
            prior=about.get("prior"),
            strategy=self.settings.strategy,
            seed=self.settings.random_state,
        )

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def dirty_rows(self) -> Ints:
        """The rows that people can be asked for."""
        return self.table.dataset.dirty_rows

    # -- bytes -----------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Everything about the project; the same project gives the same bytes."""
        into = Packer()
        frame = self.frame
        plain = {
            "cpclean": "project",
            "format": FORMAT,
            "table": pack_table(self.table, into),
            "settings": asdict(self.settings),
            "labels": None if self.labels is None else into.array(self.labels, "the labels"),
            "vectors": into.array(self.vectors, "the points"),
            "belongs": self.belongs,
            "frame": None if frame is None else pack_frame(frame, into),
            "points": pack_frame(self.points, into),
        }
        if (text := self.text) is not None:  # what older versions of cpclean do not look for
            plain["text"] = _packed_text(text, into)
        return into.done(plain)

    @classmethod
    def from_bytes(cls, content: bytes) -> Project:
        """The project of which these are the bytes."""
        source = Unpacker(content)
        plain = source.plain
        if not isinstance(plain, dict) or plain.get("cpclean") != "project":
            raise StorageError("these bytes are not a saved project.")
        if plain["format"] > FORMAT:
            raise FutureError(
                f"the project was saved by a newer cpclean (format {plain['format']}; this one "
                f"reads formats up to {FORMAT}). Upgrade cpclean."
            )
        frame = plain["frame"]
        return cls(
            table=unpack_table(plain["table"], source),
            settings=Settings(**plain["settings"]),
            labels=None if plain["labels"] is None else source.array(plain["labels"]),
            vectors=source.array(plain["vectors"]),
            belongs=plain["belongs"],
            frame=lambda: None if frame is None else unpack_frame(frame, source),
            points=lambda: unpack_frame(plain["points"], source),
            text=lambda: _unpacked_text(plain.get("text"), source),
        )

    # -- use -------------------------------------------------------------------------------

    def session(
        self, log: Iterable[Mapping[str, Any]] = (), n_jobs: int | None = None
    ) -> CleaningSession:
        """A session over the project that has been told a log, such as `Ledger.log`."""
        own = self.settings
        session = CleaningSession(
            self.table,
            Vectors(self.vectors),
            own.n_neighbors,
            own.strategy,
            self.labels,
            own.random_state,
            metric=own.metric,
            costs=own.costs,
            budget=own.budget,
            target_share=own.target_share,
            min_gain=own.min_gain,
            n_jobs=n_jobs,
        )
        session.replay(log)
        return session

    def entry(self, row: int, candidate: int | None = None, value: Any = None) -> dict[str, Any]:
        """An answer in plain values, or an `AnswerError` about what is wrong with it.

        To be called before an event is appended: the log must hold nothing that cannot be told.
        Where several people have to agree, an answer has to say all about its row.
        """
        row = self.table.dataset.row_number(row)
        known, entry = said_of(self._subject, row, candidate, value)
        if self.settings.answers_per_row > 1 and candidate is None:
            lacking = [name for name in self._subject.cells(row) if name not in known.raw]
            if lacking:
                raise AnswerError(
                    f"several people have to agree on row {row}: the value must name all its holes;"
                    f" {offenders(map(repr, lacking))} is missing. Skip what you do not know.",
                    column=lacking[0],
                    rows=(row,),
                )
        return entry

    def spelling(self, event: Said) -> Hashable:
        """Equal for answers that say the same, for `ledger_of`: a candidate is its values.

        What cannot be told to a session of this table is an error, as in `entry`.
        """
        row = self.table.dataset.row_number(event.row)
        if event.kind == "skip":
            return "skip"
        value = None if event.value is None else json.dumps(event.value, sort_keys=True)
        key = (row, event.candidate, value)
        if key not in self._spelled:
            known, _ = said_of(self._subject, row, event.candidate, event.value)
            self._spelled[key] = json.dumps(self._subject.plain(known), sort_keys=True)
        return self._spelled[key]

    def news(self, log: Sequence[Mapping[str, Any]]) -> list[int]:
        """The places of the entries of a log that say something new.

        Where several people said the same of a row, a session keeps the first of them.
        """
        return news(self._subject, [dict(entry) for entry in log])

    def digest(self) -> str:
        """A hash of all bits of the encoded dataset and of the points."""
        found = hashlib.sha256(self.vectors.tobytes())
        for name, one in sorted(dataset_arrays(self.table.dataset).items()):
            if one.dtype.kind != "O":
                found.update(name.encode() + np.ascontiguousarray(one).tobytes())
        return found.hexdigest()


def _packed_text(text: TextFile, into: Packer) -> dict[str, Any]:
    layout = {field.name: getattr(text, field.name) for field in fields(TextFile)}
    return {**layout, "content": into.blob(text.content)}


def _unpacked_text(stored: Any, source: Unpacker) -> TextFile | None:
    if stored is None:
        return None
    return TextFile(**{**stored, "content": source.blob(stored["content"])})


def _belongs(table: IncompleteTable, points: Any, named: dict[str, Any]) -> dict[str, Any]:
    plain = points.frame if isinstance(points, DomainTable) else points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about columns, which were told when the table was made
        return fingerprint(table, plain, **named)
