"""The repair methods that BoostClean chooses from: each makes one whole version of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.baselines.filling import LAST, Filled, by_frame, by_imputer, by_rule, encoded
from cpclean.baselines.source import Source
from cpclean.baselines.worlds import imputed_rows
from cpclean.data.frames import is_frame
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError
from cpclean.intake.reading import read_csv

# The paper's candidates as rules for whole columns.
NUMBERS: dict[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "min": np.min,
    "25%": partial(np.percentile, q=25),
    "75%": partial(np.percentile, q=75),
    "max": np.max,
}
CATEGORIES = {"most frequent": 0, "2nd": 1, "3rd": 2, "4th": 3, "other": LAST}


@dataclass(frozen=True)
class Version:
    """One repaired version of the training rows."""

    name: str
    rows: Floats  # in the encoded space
    filled: Filled | None = None  # as columns of the table, where they are known


def versions_of(source: Source, repairs: Any) -> list[Version]:
    """The versions that a user chose; of equal ones, the first."""
    if isinstance(repairs, str) and repairs == "default":
        known = source.of_space("versions")
        if known is not None:
            found = [_version(source, str(name), one) for name, one in dict(known).items()]
        elif source.table is not None:
            found = list(_by_rules(source.table))
        else:
            raise DataError(
                "an IncompleteDataset has no repair methods: pass repairs=, a dict from name "
                "to whole versions of its rows, or imputers."
            )
    elif isinstance(repairs, Mapping):
        found = [_version(source, str(name), one) for name, one in repairs.items()]
    elif isinstance(repairs, list | tuple):
        found = [_version(source, _name(n, one), one) for n, one in enumerate(repairs)]
    else:
        raise DataError(
            'repairs must be "default", a list of imputers, or a dict from name to imputer, frame '
            f"or array; got {repairs!r}."
        )
    distinct = {version.rows.tobytes(): version for version in reversed(found)}
    kept = [version for version in found if distinct[version.rows.tobytes()] is version]
    if not kept:
        raise DataError("repairs must have at least one version; got none.")
    return kept


def read_versions(folder: str | Path) -> dict[str, Any]:
    """The CSV files of a folder, such as a published space's X_train_repairs: name to frame."""
    files = sorted(Path(folder).glob("*.csv"))
    if not files:
        raise DataError(
            f"{folder} has no CSV files: name a folder with one repaired table per file, such as "
            "spaces/Supreme/systematic/X_train_repairs."
        )
    return {file.stem: read_csv(file) for file in files}


def _by_rules(table: IncompleteTable) -> Iterator[Version]:
    """Every rule for numbers with every rule for categories, where there are such holes."""
    holes = {
        column.kind in ("categorical", "boolean")
        for number, column in enumerate(table.columns)
        if table.holes[:, number].any()
    }
    numbers = NUMBERS if False in holes else {"": np.mean}
    categories = CATEGORIES if True in holes else {"": 0}
    for one, rule in numbers.items():
        for other, rank in categories.items():
            filled = by_rule(table, rule, rank)
            name = ", ".join(part for part in (one, other) if part) or "as it is"
            yield Version(name, table.space.encode(filled), filled)


def _version(source: Source, name: str, given: Any) -> Version:
    what, table = f"version {name!r}", source.table
    imputer = hasattr(given, "fit_transform")
    if table is not None and (imputer or is_frame(given)):
        filled = by_imputer(table, given) if imputer else by_frame(table, given, what)
        return Version(name, encoded(table, filled), filled)
    if imputer:
        return Version(name, imputed_rows(source, given))
    if isinstance(given, str) or not hasattr(given, "__array__"):
        raise DataError(
            f"{what} must be an imputer with fit_transform, a frame or an array; "
            f"got {type(given).__name__}."
        )
    return Version(name, source.rows(given, what))


def _name(number: int, given: Any) -> str:
    return type(given).__name__ if hasattr(given, "fit_transform") else f"version {number}"
