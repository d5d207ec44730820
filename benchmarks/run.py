"""What every section of the run is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.report import Report
from benchmarks.spaces import Source

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """The settings of a run, its report so far, and a way to say what it is doing."""

    source: Source
    quick: bool
    repeat: int
    report: Report
    say: Callable[[str], None]

    @property
    def suffix(self) -> str:
        return " (generated)" if self.source.folder is None else ""

    def pick(self, full: T, quick: T) -> T:
        return quick if self.quick else full
