"""`open_storage`: from a URL or a path to a storage."""

from __future__ import annotations

import os

from cpclean.errors import StorageError
from cpclean.storage.contract import Storage


def open_storage(url: str | os.PathLike[str], create: bool = True) -> Storage:
    """Open a storage, and create it if it does not exist.

    Parameters
    ----------
    url : str or path
        "memory://", a path such as "train.cpclean.db", "sqlite:///train.cpclean.db" (with a fourth
        slash for a path from the root), or "postgresql://user:password@host:5432/database".
    create : bool
        Whether it may be created; otherwise a location without a project is an error.

    Returns
    -------
    Storage

    Examples
    --------
    >>> with open_storage("memory://") as storage:
    ...     print(storage.project())
    None
    """
    text = os.fspath(url)
    scheme, mark, rest = text.partition("://")
    if not mark:
        return _file(text, create)
    if scheme == "memory":
        from cpclean.storage.memory import MemoryStorage

        return MemoryStorage()
    if scheme == "sqlite":
        if rest in ("", "/") or rest.endswith(":memory:"):
            raise StorageError(
                "sqlite:/// needs a file after it, as in sqlite:///train.cpclean.db; for a storage "
                "in memory use memory://."
            )
        return _file(rest.removeprefix("/"), create)
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        from cpclean.storage.postgres import PostgresStorage

        return PostgresStorage(text, create)
    raise StorageError(
        f"a storage is a path, or a URL that starts with memory://, sqlite:/// or postgresql://; "
        f"got {scheme}://."
    )


def _file(path: str, create: bool) -> Storage:
    from cpclean.storage.sqlite import SqliteStorage

    if not path.strip() or "\0" in path:
        raise StorageError(f"a storage needs a path, such as train.cpclean.db; got {path!r}.")
    return SqliteStorage(path, create)
