"""A data folder in small: a few rows of every table, for trying the experiments quickly."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cpclean.experiments.all_spaces import check_folder
from cpclean.experiments.fresh import TABLES, TableFile
from cpclean.experiments.model_cases import REAL, check_data
from cpclean.experiments.spaces import PUBLISHED

# How many rows are taken at most: of a whole table, and of the parts of a published space.
ROWS_OF_TABLE = 360
ROWS_OF_PART = {"train": 120, "val": 100, "test": 150}
_DONE = "rows.json"  # written last


def few_rows(folder: Path, out: Path) -> Path:
    """Write a few rows of every table of a data folder to another one; that one.

    Rows are drawn without regard to what is in them, the same ones every time, and stay in their
    order. If they are there already, nothing is written.

    Parameters
    ----------
    folder : path
        The data folder.
    out : path
        Where the smaller one goes; created if it does not exist.
    """
    check_folder(folder)
    check_data(folder)
    sizes = json.dumps({"table": ROWS_OF_TABLE, **ROWS_OF_PART})
    done = out / _DONE
    if done.exists() and done.read_text(encoding="utf-8") == sizes:
        return out
    files: dict[str, TableFile] = {}
    for source in (*TABLES.values(), *REAL.values()):
        files.setdefault(source.file, source)
    for name in files:
        _cut([Path("tables") / name], folder, out, ROWS_OF_TABLE)
    for table, kind in PUBLISHED.items():
        place = Path("spaces") / table / kind
        for part, most in ROWS_OF_PART.items():
            inside = sorted((folder / place).glob(f"[Xy]_{part}*"))
            found = [file for one in inside for file in ([one] if one.is_file() else one.iterdir())]
            _cut([file.relative_to(folder) for file in sorted(found)], folder, out, most)
    done.write_text(sizes, encoding="utf-8")
    return out


def _cut(names: Sequence[Path], folder: Path, out: Path, most: int) -> None:
    """Write the same rows of several files that belong together."""
    kept: set[int] | None = None
    for name in names:
        with (folder / name).open(newline="", encoding="utf-8") as stream:
            head, *rows = csv.reader(stream)
        if kept is None:
            order = np.random.default_rng(0).permutation(len(rows))
            kept = set(order[:most].tolist())
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        with (out / name).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(head)
            writer.writerows(row for number, row in enumerate(rows) if number in kept)
