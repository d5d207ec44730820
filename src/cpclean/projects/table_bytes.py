"""The parts of an IncompleteTable as bytes and back, bit for bit.

All results are saved: the columns as they were read, the candidates, the space with its scales and
categories, the trees in whose leaves distances are measured, and the encoded dataset with priors.
Opening a table computes nothing again, so that another version of a library cannot give another
result, and repairs and priors of your own need not be installed: what they proposed is saved.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.decisions import Decision
from cpclean.data.drawing import Drawing
from cpclean.data.frames import FrameKind
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_counts import RowCounts
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.spaces.features import Feature
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.plain import PlainSpace
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.spaces.tree_features import CodedFeature, TreeSpace
from cpclean.data.spaces.trees import Trees
from cpclean.data.table import IncompleteTable
from cpclean.data.table_parts import TableParts
from cpclean.data.whole_facts import WholeFacts
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
        "columns": [
            _packed_column(column, into) | (_packed_column_facts(column) if table.all_rows else {})
            for column in table.columns
        ],
        "holes": into.array(table.holes, "the holes"),
        "options": _packed_options(table.options, table.columns),
        "encoding": _packed_space(table.space, into),
        "dataset": pack_dataset(table.dataset, into),
        **_packed_column_values(table),
        **_packed_leaves(table.leaves),
        **_packed_counts(table.all_rows),
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
            space=_unpacked_space(stored["encoding"], source),
            dataset=unpack_dataset(stored["dataset"], source),
            column_values={
                name: tuple(map(unpacked, values))
                for name, values in stored.get("column_values", [])
            },
            leaves=_unpacked_leaves(stored.get("leaves")),
            all_rows=_unpacked_counts(stored.get("all_rows")),
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


def _packed_column_facts(column: Column) -> Any:
    """What the rows at hand cannot say of the column, if they are some of many."""
    where = f"column {column.name!r}"
    facts = column.facts
    if "frequencies" in facts:
        facts["frequencies"] = [[packed(one, where), n] for one, n in facts["frequencies"].items()]
    return {"facts": facts} if facts else {}


def _unpacked_column(stored: Any, source: Unpacker) -> Column:
    column = Column(
        stored["name"],
        stored["kind"],
        source.array(stored["values"]),
        stored["whole"],
        stored["given"],
        stored["rounded"],
        unpacked_zone(stored["zone"]),
    )
    facts = dict(stored.get("facts", {}))
    if "frequencies" in facts:
        facts["frequencies"] = Counter({unpacked(one): n for one, n in facts["frequencies"]})
    if "quartiles" in facts:
        facts["quartiles"] = tuple(facts["quartiles"])
    return column.saying(facts) if facts else column


def _packed_column_values(table: IncompleteTable) -> dict[str, Any]:
    """What the repair lists for whole columns, if anything: points are completed with it."""
    listed = [
        [name, [packed(value, f"the candidates of column {name!r}") for value in values]]
        for name, values in table.column_values.items()
    ]
    return {"column_values": listed} if listed else {}


def _packed_leaves(leaves: LeafSpace | None) -> dict[str, Any]:
    """Which trees were asked for; the trees themselves are the dataset's."""
    if leaves is None:
        return {}
    names = [one.name for one in fields(LeafSpace)]
    return {"leaves": {name: packed(getattr(leaves, name), "the space") for name in names}}


def _packed_counts(counts: RowCounts | None) -> dict[str, Any]:
    """What is counted of all rows, if only some of them are in the table."""
    if counts is None:
        return {}
    together = None if counts.together is None else [[*one] for one in counts.together.items()]
    return {"all_rows": {**asdict(replace(counts, together=None)), "together": together}}


def _unpacked_counts(stored: Any) -> RowCounts | None:
    if stored is None:
        return None
    found: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in stored.items()
    }
    if stored["together"] is not None:
        found["together"] = {tuple(cells): rows for cells, rows in stored["together"]}
    return RowCounts(**found)


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


def _unpacked_leaves(stored: Any) -> LeafSpace | None:
    return stored and LeafSpace(**{name: unpacked(one) for name, one in stored.items()})


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


def _packed_space(space: TableSpace, into: Packer) -> Any:
    features: list[dict[str, Any] | None] = []
    for feature in space.features:
        if feature is None:
            features.append(None)
            continue
        where = f"the categories of column {feature.name!r}"
        categories = [packed(value, where) for value in feature.categories]
        plain = {one.name: getattr(feature, one.name) for one in fields(feature)}
        if isinstance(feature, CodedFeature):
            plain["vectors"] = into.array(np.array(feature.vectors), where)
        features.append({**plain, "categories": categories})
    return {
        "features": features,
        "treatments": [one.words for one in space.decisions],
        "n_features": space.n_features,
        **({"for": "trees"} if isinstance(space, TreeSpace) else {}),
    }


def _unpacked_space(stored: Any, source: Unpacker) -> PlainSpace:
    features = [one and _unpacked_feature(one, source) for one in stored["features"]]
    decisions = tuple(map(Decision.from_words, stored["treatments"]))
    made = TreeSpace if stored.get("for") == "trees" else PlainSpace
    return made(tuple(features), decisions, stored["n_features"])


def _unpacked_feature(stored: Any, source: Unpacker) -> Feature:
    plain = {**stored, "categories": tuple(map(unpacked, stored["categories"]))}
    if "vectors" not in stored:
        return Feature(**plain)
    vectors = source.array(stored["vectors"]).tolist()
    return CodedFeature(**{**plain, "vectors": tuple(map(tuple, vectors))})


def pack_dataset(data: IncompleteDataset, into: Packer) -> Any:
    """The dataset as it is now: what was pinned in it counts as given."""
    arrays, others = dataset_arrays(data), dict[str, Any]()
    if data.row_names.tolist() != list(range(data.n_rows)):
        arrays["row_names"] = data.row_names
    if data.drawing != Drawing():
        others["drawing"] = asdict(data.drawing)
    if data.space is not None:
        trees = data.space.to_arrays()
        others["trees"] = {name: into.array(array, "the trees") for name, array in trees.items()}
    if data.whole is not None:
        others["whole"] = _packed_facts(data.whole, into)
    return {name: into.array(array, "the labels") for name, array in arrays.items()} | others


def _packed_facts(whole: WholeFacts, into: Packer) -> Any:
    """Facts about all rows; the number of worlds has more digits than JSON should have."""
    number = whole.n_other_worlds
    content = number.to_bytes(number.bit_length() // 8 + 1, "little")
    plain = {name: packed(one, "the table") for name, one in asdict(whole.elsewhere()).items()}
    return {**plain, "n_other_worlds": into.blob(content), "n_other_open": whole.n_other_open}


def _unpacked_facts(stored: Any, source: Unpacker) -> WholeFacts:
    number = int.from_bytes(source.blob(stored["n_other_worlds"]), "little")
    plain = {name: unpacked(one) for name, one in stored.items()}
    return WholeFacts(**{**plain, "n_other_worlds": number})


def dataset_arrays(data: IncompleteDataset) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a dataset, by the names that they have in format 1."""
    return {
        "codes": data.codes,
        "classes": data.classes,
        **{f"_{name}": array for name, array in data.arrays.named().items()},
        "_pinned": np.zeros(data.n_rows, dtype=bool),
    }


def unpack_dataset(stored: Any, source: Unpacker) -> IncompleteDataset:
    """The dataset that was packed, every bit of it: no weight is normalised again."""
    packed_trees = stored.get("trees")
    arrays = {
        name: source.array(one)
        for name, one in stored.items()
        if name not in ("drawing", "trees", "whole")
    }
    trees = None
    if packed_trees is not None:
        trees = Trees.from_arrays({name: source.array(one) for name, one in packed_trees.items()})
    return IncompleteDataset.from_arrays(
        RowArrays.from_named(arrays, "_"),
        arrays["codes"],
        arrays["classes"],
        Drawing(**stored.get("drawing", {})),
        # Left out where they are as they always were before rows could be drawn.
        arrays.get("row_names"),
        trees,
        _unpacked_facts(stored["whole"], source) if "whole" in stored else None,
    )
