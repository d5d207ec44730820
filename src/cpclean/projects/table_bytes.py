"""The parts of an IncompleteTable as bytes and back, bit for bit.

All results are saved: the columns as they were read, the candidates, the space with its scales and
categories, and the encoded dataset with its priors. Opening a table computes nothing again, so that
another version of a library cannot give another result, and repairs and priors of your own need not
be installed: what they proposed is saved.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.decisions import Decision
from cpclean.data.drawing import Drawing
from cpclean.data.frames import FrameKind
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.spaces.features import Feature
from cpclean.data.spaces.plain import PlainSpace
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.table import IncompleteTable, TableParts
from cpclean.projects.frame_bytes import is_installed, pack_index, unpack_index
from cpclean.projects.packing import Packer, Unpacker
from cpclean.projects.plain_values import packed, packed_zone, unpacked, unpacked_zone


def pack_table(table: IncompleteTable, into: Packer) -> Any:
    """All parts of a table."""
    kind = table.frame_kind
    return {
        "null_tokens": list(table.null_tokens),
        "label": table.label,
        "frame": {
            "library": kind.library,
            "names": list(kind.names),
            "index": pack_index(kind.index, into),
        },
        "rows_kept": into.array(table.rows_kept, "the rows"),
        "columns": [_packed_column(column, into) for column in table.columns],
        "holes": into.array(table.holes, "the holes"),
        "options": _packed_options(table.options, table.columns),
        "encoding": _packed_space(table.space),
        "dataset": pack_dataset(table.dataset, into),
        **_packed_column_values(table),
    }


def unpack_table(stored: Any, source: Unpacker) -> IncompleteTable:
    """The table that was packed."""
    frame = stored["frame"]
    installed = is_installed(frame["library"])
    index = unpack_index(frame["index"], source)
    columns = tuple(_unpacked_column(one, source) for one in stored["columns"])
    return IncompleteTable.from_parts(
        TableParts(
            null_tokens=tuple(stored["null_tokens"]),
            label=stored["label"],
            # Without their library, a session returns its frames as those of pandas.
            frame_kind=FrameKind(
                frame["library"] if installed else "pandas", tuple(frame["names"]), index
            ),
            rows_kept=source.array(stored["rows_kept"]),
            columns=columns,
            holes=source.array(stored["holes"]),
            options=_unpacked_options(stored["options"]),
            space=_unpacked_space(stored["encoding"]),
            dataset=unpack_dataset(stored["dataset"], source),
            column_values={
                name: tuple(map(unpacked, values))
                for name, values in stored.get("column_values", [])
            },
        )
    )


# -- columns and candidates ------------------------------------------------------------------------


def _packed_column(column: Column, into: Packer) -> Any:
    where = f"column {column.name!r}"
    return {
        "name": column.name,
        "kind": column.kind,
        "values": into.array(column.values, where),
        "whole": column.whole,
        "given": column.given,
        "rounded": column.rounded,
        "zone": packed_zone(column.zone, where),
    }


def _unpacked_column(stored: Any, source: Unpacker) -> Column:
    return Column(
        stored["name"],
        stored["kind"],
        source.array(stored["values"]),
        stored["whole"],
        stored["given"],
        stored["rounded"],
        unpacked_zone(stored["zone"]),
    )


def _packed_column_values(table: IncompleteTable) -> dict[str, Any]:
    """What the repair lists for whole columns, if anything: points are completed with it."""
    listed = [
        [name, [packed(value, f"the candidates of column {name!r}") for value in values]]
        for name, values in table.column_values.items()
    ]
    return {"column_values": listed} if listed else {}


def _packed_options(options: TableOptions, columns: tuple[Column, ...]) -> Any:
    """Each list of values is saved once, because most rows share the same ones."""
    lists: dict[str, int] = {}
    rows = []
    for row, one in options.items():
        numbers = []
        for cell, values in zip(one.cells, one.values, strict=True):
            where = f"the candidates of column {columns[cell].name!r}"
            text = json.dumps([packed(value, where) for value in values], allow_nan=False)
            numbers.append(lists.setdefault(text, len(lists)))
        weights = None if one.weights is None else list(map(float, one.weights))
        rows.append([int(row), list(map(int, one.cells)), numbers, one.joint, weights])
    return {"lists": [json.loads(text) for text in lists], "rows": rows}


def _unpacked_options(stored: Any) -> TableOptions:
    lists = [tuple(map(unpacked, values)) for values in stored["lists"]]
    options = {
        row: Options(
            tuple(cells),
            tuple(lists[number] for number in numbers),
            joint,
            None if weights is None else tuple(weights),
        )
        for row, cells, numbers, joint, weights in stored["rows"]
    }
    return TableOptions.from_rows(options)


# -- the space -----------------------------------------------------------------------------------


def _packed_space(space: TableSpace) -> Any:
    features: list[dict[str, Any] | None] = []
    for feature in space.features:
        if feature is None:
            features.append(None)
            continue
        where = f"the categories of column {feature.name!r}"
        categories = [packed(value, where) for value in feature.categories]
        features.append({**asdict(feature), "categories": categories})
    return {
        "features": features,
        "treatments": [one.words for one in space.decisions],
        "n_features": space.n_features,
    }


def _unpacked_space(stored: Any) -> PlainSpace:
    features = [
        one and Feature(**{**one, "categories": tuple(map(unpacked, one["categories"]))})
        for one in stored["features"]
    ]
    decisions = tuple(map(Decision.from_words, stored["treatments"]))
    return PlainSpace(tuple(features), decisions, stored["n_features"])


def pack_dataset(data: IncompleteDataset, into: Packer) -> Any:
    """The dataset as it is now: what was pinned in it counts as given."""
    arrays, drawn = dataset_arrays(data), {}
    if data.row_names.tolist() != list(range(data.n_rows)):
        arrays["row_names"] = data.row_names
    if data.drawing != Drawing():
        drawn["drawing"] = asdict(data.drawing)
    return {name: into.array(array, "the labels") for name, array in arrays.items()} | drawn


def dataset_arrays(data: IncompleteDataset) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a dataset, by the names that they have in format 1."""
    return {
        "codes": data.codes,
        "classes": data.classes,
        **{f"_{name}": array for name, array in data.arrays._asdict().items()},
        "_pinned": np.zeros(data.n_rows, dtype=bool),
    }


def unpack_dataset(stored: Any, source: Unpacker) -> IncompleteDataset:
    """The dataset that was packed, every bit of it: no weight is normalised again."""
    arrays = {name: source.array(stored[f"_{name}"]) for name in RowArrays._fields}
    codes, classes = source.array(stored["codes"]), source.array(stored["classes"])
    # Left out where they are as they always were before rows could be drawn.
    names = source.array(stored["row_names"]) if "row_names" in stored else None
    drawing = Drawing(**stored.get("drawing", {}))
    return IncompleteDataset.from_arrays(RowArrays(**arrays), codes, classes, drawing, names)
