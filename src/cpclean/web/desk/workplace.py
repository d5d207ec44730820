"""The project that a server works on: none until one is set up, then a desk over its storage."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock
from typing import Protocol, runtime_checkable

from cpclean.errors import RefusedError
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.web.desk.desk import Desk

UPLOAD_LIMIT = 50 * 2**20


@runtime_checkable
class NamedPlace(Protocol):
    """Makes the storage of a project, and can say where it is."""

    def __call__(self, project: Project) -> Storage: ...

    def where(self, file: str) -> str:
        """Where the answers about an uploaded file will be saved, as a sentence."""


class Workplace:
    """What all requests share.

    Parameters
    ----------
    open_place : function from Project to Storage, optional
        Makes the storage of a project that is set up in the browser; may be a `NamedPlace`.
    lease_seconds, answers_per_row, cluster, notify
        As in `Desk`.

    Attributes
    ----------
    desk : Desk or None
        None until a project is set up.
    storage : Storage or None
    stopping : threading.Event
        Set when the server is about to end; whoever streams looks at it.
    upload_limit : int
        The most bytes that the files of a new project may have together.
    at_close : list of functions
        What else is tidied up in the end.
    """

    def __init__(
        self,
        open_place: NamedPlace | Callable[[Project], Storage] | None,
        lease_seconds: float,
        answers_per_row: int | None,
        cluster: str | None = None,
        notify: str | None = None,
    ) -> None:
        self.storage: Storage | None = None
        self.desk: Desk | None = None
        self.stopping = Event()
        self.upload_limit = UPLOAD_LIMIT
        self._open_place = open_place
        self._lease_seconds, self._answers_per_row = lease_seconds, answers_per_row
        self._cluster, self._notify = cluster, notify
        self._lock = Lock()
        self.at_close: list[Callable[[], object]] = []

    def place_of(self, name: str) -> str:
        """Where the answers about an uploaded file will be saved, as a sentence; "" if unknown."""
        return self._open_place.where(name) if isinstance(self._open_place, NamedPlace) else ""

    def start_project(self, project: Project) -> None:
        """Save a project and begin with it; refused if there is one already."""
        with self._lock:
            if self.desk is not None or self._open_place is None:
                raise RefusedError(
                    "this server has a project already. Start another server for another project."
                )
            storage = self._open_place(project)
            storage.create(project)
            self.open(storage)

    def open(self, storage: Storage) -> None:
        """Begin with the project of a storage."""
        desk = Desk(
            storage,
            lease_seconds=self._lease_seconds,
            answers_per_row=self._answers_per_row,
            cluster=self._cluster,
            notify=self._notify,
        )
        desk.start()
        self.storage, self.desk = storage, desk

    def close(self) -> None:
        """Let the engine and the streams end."""
        self.stopping.set()
        if self.desk is not None:
            self.desk.stop()
        for one in self.at_close:
            one()
