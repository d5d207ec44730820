"""What the owner says about the team while it works: experts, and how often gold is asked."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from cpclean.errors import LockedError
from cpclean.storage.contract import Storage
from cpclean.web.desk.experts import Experts
from cpclean.web.desk.gold import RATE

_EXPERTS, _GOLD = "experts", "gold"
LOOK_SECONDS = 1.0  # between two looks at what another server may have changed
_ATTEMPTS = 20


class TeamSettings:
    """The settings of a storage, read at most once in a second.

    Parameters
    ----------
    storage : Storage
    columns : the columns with holes
    """

    def __init__(self, storage: Storage, columns: Iterable[str]) -> None:
        self._storage, self.columns = storage, list(columns)
        self._looked = -LOOK_SECONDS
        self._experts, self._rate = Experts(), RATE

    @property
    def experts(self) -> Experts:
        """Who is asked about which columns."""
        self._look()
        return self._experts

    @property
    def gold_rate(self) -> float:
        """The share of each person's questions that are gold."""
        self._look()
        return self._rate

    def set_experts(self, lines: Iterable[str], keep: bool = False) -> None:
        """Save a list of experts; with `keep`, people who are not in it stay as they were."""
        new = Experts.read(lines, self.columns)
        self._set(_EXPERTS, lambda old: {**(old or {} if keep else {}), **new.columns} or None)

    def set_gold_rate(self, rate: float) -> None:
        """Save how often gold is asked."""
        self._set(_GOLD, lambda old: {"rate": rate})

    def _set(self, name: str, change: Any) -> None:
        for _ in range(_ATTEMPTS):
            before = self._storage.setting(name)
            if self._storage.change(name, before, change(before)):
                self._looked = -LOOK_SECONDS
                return
        raise LockedError("not saved: others are changing the same. Try again.")

    def _look(self) -> None:
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        experts, gold = self._storage.setting(_EXPERTS), self._storage.setting(_GOLD)
        self._experts = Experts(experts if isinstance(experts, dict) else {})
        self._rate = float(gold["rate"]) if isinstance(gold, dict) else RATE
        self._looked = time.monotonic()
