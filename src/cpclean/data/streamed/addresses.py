"""Where the files of a table are: one file, a list, a pattern, a folder, or an address."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cpclean.errors import TableError, offenders

SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
_PATTERN = re.compile(r"[*?\[]")
# Tables that would be left out in silence.
_PACKED = re.compile(r"\.((csv|tsv|parquet)\.(gz|zip|bz2|xz|zst)|xlsx)$", re.IGNORECASE)


@dataclass(frozen=True)
class FoundFiles:
    """Files of one format in one place.

    Attributes
    ----------
    format : {"parquet", "csv"}
    filesystem : pyarrow.fs.FileSystem
    paths : tuple of str
        Within the file system, in the order of the rows.
    base : str
        The folder below which folders such as ``year=2024`` are columns.
    address : str
        By which the file system is opened again; "" for that of this machine.
    """

    format: str
    filesystem: Any
    paths: tuple[str, ...]
    base: str
    address: str


def find(files: Any) -> FoundFiles:
    """The files that a person means.

    Parameters
    ----------
    files : str, path, or list of them
        Names, patterns such as ``data/*.parquet``, folders, or addresses such as ``s3://...``.
        Files of a folder or pattern are in the order of their names, those of a list as listed.
    """
    given = _given(files)
    filesystems, paths, bases = [], [], []
    for one in given:
        filesystem, path = _opened(one)
        try:
            found, base = _listed(filesystem, path, os.fspath(one))
        except OSError as problem:
            raise TableError(
                f"{os.fspath(one)!r} cannot be looked into: {' '.join(str(problem).split())}."
            ) from problem
        filesystems.append(filesystem)
        paths += found
        bases.append(base)
    if any(not one.equals(filesystems[0]) for one in filesystems):
        raise TableError("files must all be in one place, such as one disk or one bucket.")
    if twice := _twice(paths, filesystems[0]):
        raise TableError(f"files must be named once; got {offenders(map(repr, twice))} twice.")
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise TableError("files must all be Parquet or all be CSV; got both.")
    base = os.path.commonpath(bases) if len(set(bases)) > 1 else bases[0]
    first = os.fspath(given[0])
    address = first if "://" in first else ""
    return FoundFiles(formats.pop(), filesystems[0], tuple(paths), base, address)


def _given(files: Any) -> list[Any]:
    """What a person names, one by one."""
    if hasattr(files, "columns"):
        raise TableError(
            f"files must be names of files; got a {type(files).__name__}, which is in memory.",
            "Make an IncompleteTable of it.",
        )
    single = isinstance(files, str | os.PathLike) or not isinstance(files, Iterable)
    given = [files] if single else list(files)
    for one in given:
        if not isinstance(one, str | os.PathLike) or one == "":
            raise TableError(
                "files must be a name, a pattern, a folder, an address or a list of these; got "
                f"{one!r}."
            )
    if not given:
        raise TableError("files must name at least one file; got an empty list.")
    return given


def _twice(paths: list[str], filesystem: Any) -> list[str]:
    """Files that are named more than once, perhaps by several ways through the folders."""
    local = filesystem.type_name == "local"
    times = Counter(os.path.realpath(path) if local else path for path in paths)
    return sorted(path for path, count in times.items() if count > 1)


def filesystem_at(address: str) -> Any:
    """The file system of an address; that of this machine if there is none."""
    return _opened(address or ".")[0]


def _opened(given: Any) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
        from pyarrow import fs  # type: ignore[import-untyped, unused-ignore]
    except ImportError as problem:
        raise TableError(
            'a StreamedTable reads files with pyarrow; install it: pip install "cpclean[files]".'
        ) from problem
    address = os.fspath(given)
    if "://" not in address:
        return fs.LocalFileSystem(), Path(address).expanduser().absolute().as_posix()
    try:
        filesystem, path = fs.FileSystem.from_uri(address)
        return filesystem, path
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    try:
        import fsspec  # type: ignore[import-untyped, import-not-found, unused-ignore]

        opened, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as problem:
        raise TableError(
            f"the address {address!r} cannot be opened: {problem}. pyarrow opens local files, "
            "s3://, gs:// and hdfs://; others need fsspec and its package for the place."
        ) from problem
    return fs.PyFileSystem(fs.FSSpecHandler(opened)), path


def _listed(filesystem: Any, path: str, given: str) -> tuple[list[str], str]:
    """The files that a path means, and the folder that partitions are below."""
    from pyarrow import fs

    info = filesystem.get_file_info(path)
    mark = _PATTERN.search(path)
    if mark and info.type == fs.FileType.NotFound:  # a name may have brackets in it, too
        base = path[: mark.start()].rpartition("/")[0]
        inside = _files_below(filesystem, base)
        found = [one for one in inside if _matches(one, path)]
        if not found:
            raise TableError(f"no file matches {given!r}.")
        return found, base
    if info.type == fs.FileType.NotFound:
        raise TableError(f"there is no file or folder {given!r}.")
    if info.type == fs.FileType.Directory:
        every = _files_below(filesystem, path)
        if packed := [one for one in every if _PACKED.search(one)]:
            raise TableError(
                f"file {packed[0]!r} cannot be read in parts: unpack or convert it, or take it out "
                "of the folder."
            )
        inside = [one for one in every if _suffix(one) in SUFFIXES]
        if not inside:
            raise TableError(
                f"the folder {given!r} has no files that end in {', '.join(sorted(SUFFIXES))}."
            )
        return inside, path
    return [path], path.rpartition("/")[0]


def _files_below(filesystem: Any, folder: str) -> list[str]:
    """All files in a folder and below; what begins with a dot or underscore is no data."""
    from pyarrow import fs

    selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
    found = [one.path for one in filesystem.get_file_info(selector) if one.is_file]
    start = len(folder)
    return sorted(
        one
        for one in found
        if not any(part[:1] in ("_", ".") for part in one[start:].strip("/").split("/"))
    )


def _matches(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern; ** stands for any folders."""
    ours, theirs = path.split("/"), pattern.split("/")
    if "**" not in theirs:
        return len(ours) == len(theirs) and all(map(fnmatchcase, ours, theirs))
    at = theirs.index("**")
    tail = theirs[at + 1 :]
    return (
        len(ours) >= len(theirs) - 1
        and all(map(fnmatchcase, ours[:at], theirs[:at]))
        and (not tail or all(map(fnmatchcase, ours[-len(tail) :], tail)))
    )


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _format(path: str) -> str:
    if _suffix(path) not in SUFFIXES:
        raise TableError(
            f"file {path!r} must end in {', '.join(sorted(SUFFIXES))}: unpack or convert it first."
        )
    return SUFFIXES[_suffix(path)]
