"""What a project was made from: the frames and the text file, as they were given; or the files.

Nothing is computed from them any more; they are there for people and for exports. Those of a saved
project are only unpacked when somebody asks: a frame may be large, and needs its own library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from cpclean.data.streamed.table_files import TableFiles
from cpclean.intake.textfile import TextFile
from cpclean.projects.file_sources import pack_files, unpack_files
from cpclean.projects.frame_bytes import pack_frame, unpack_frame
from cpclean.projects.packing import Packer, Unpacker


@dataclass(frozen=True, eq=False)
class Sources:
    """Frames and text file in memory.

    Attributes
    ----------
    frame : frame, DomainTable or None
        The training table.
    raw_points : frame or array
        The validation points.
    text : TextFile or None
        The file that the frame was read from.
    files : TableFiles or None
        The files that the rows of the table are in, if it has some of them only.
    """

    frame: Any
    raw_points: Any
    text: TextFile | None
    files: TableFiles | None = None


@dataclass(frozen=True, eq=False)
class PackedSources:
    """The same, unpacked anew each time."""

    plain: Mapping[str, Any]
    source: Unpacker

    @property
    def frame(self) -> Any:
        stored = self.plain["frame"]
        return None if stored is None else unpack_frame(stored, self.source)

    @property
    def raw_points(self) -> Any:
        return unpack_frame(self.plain["points"], self.source)

    @property
    def text(self) -> TextFile | None:
        stored = self.plain.get("text")
        if stored is None:
            return None
        return TextFile(**{**stored, "content": self.source.blob(stored["content"])})

    @cached_property
    def files(self) -> TableFiles | None:
        stored = self.plain.get("files")
        return None if stored is None else unpack_files(stored)


def pack_sources(sources: Sources | PackedSources, into: Packer) -> dict[str, Any]:
    """All sources; text and files only if there are any, as versions without them did."""
    frame = sources.frame
    plain = {
        "frame": None if frame is None else pack_frame(frame, into),
        "points": pack_frame(sources.raw_points, into),
    }
    if (text := sources.text) is not None:
        layout = {one.name: getattr(text, one.name) for one in fields(TextFile)}
        plain["text"] = {**layout, "content": into.blob(text.content)}
    if (files := sources.files) is not None:
        plain["files"] = pack_files(files)
    return plain
