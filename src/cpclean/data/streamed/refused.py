"""What a table of files does not take, because it would need all rows at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cpclean.data.column_values import ColumnValues
from cpclean.data.priors import check_streamed_prior
from cpclean.data.repairs import repair_named
from cpclean.errors import TableError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}  # fmt: skip
LEAST_MEMORY = 2**20


def checked_repair(repairs: Any, prior: Any) -> ColumnValues:
    """The repair for a user's choice, if it can be learnt from what is counted."""
    check_streamed_prior(prior, "prior")
    reason = ""
    if isinstance(repairs, str) and repairs == "holoclean":
        reason = "HoloClean's model looks at whole rows"
    elif isinstance(repairs, Mapping):
        functions = [name for name, given in repairs.items() if callable(given)]
        if functions:
            reason = f"the function for column {functions[0]!r} sees all values at once"
    elif not isinstance(repairs, str):
        reason = "it looks at whole rows"
    if reason:
        raise TableError(
            'repairs of a StreamedTable must be "default", "observed", or a dict from column to '
            f"values; got {repairs!r}: {reason}.",
            "Use IncompleteTable for a part of the rows.",
            field="repairs",
        )
    repair = repair_named(repairs)
    assert isinstance(repair, ColumnValues)
    return repair


def memory_limit(memory: Any) -> int:
    """A number of bytes, or a text such as "256 MB", in bytes.

    >>> memory_limit("1.5 GB")
    1500000000
    """
    found = None
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory)
        if match and match[2].upper() in _UNITS:
            found = int(float(match[1]) * _UNITS[match[2].upper()])
    elif isinstance(memory, int) and not isinstance(memory, bool):
        found = memory
    if found is None or found < LEAST_MEMORY:
        raise TableError(
            f'memory must be at least {LEAST_MEMORY:,} bytes, as a number or as in "256 MB"; got '
            f"{memory!r}.",
            field="memory",
        )
    return found
