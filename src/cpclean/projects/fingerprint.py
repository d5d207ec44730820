"""What answers belong to, in a few plain values that are the same on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.settings import PRIOR
from cpclean.data.columns import Column
from cpclean.data.frames import columns_from
from cpclean.data.row_order import places_in_frame
from cpclean.data.table import IncompleteTable, usual_limits
from cpclean.queries.model import Model

_HASH = "sha256:"
# Settings that are left out where they are as usual, as before there was a choice.
_LEFT_OUT = ("files", "space", "max_exact", "draws", "order of rows")


def fingerprint(table: IncompleteTable, points: Any, **settings: Any) -> dict[str, Any]:
    """Hashes of the table, of its candidates and of the validation points, and the settings.

    Values count, not how they are written: 30 and 30.0 are the same. A table that was shuffled has
    the hash of the table as it was, and one of its order.

    Parameters
    ----------
    table : IncompleteTable
    points : frame
        The validation points.
    **settings
        Everything else that answers depend on, in plain values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [18, None, 65], "pets": [0, 2, 1], "buys": [0, 1, 1]})
    >>> table = IncompleteTable(frame, label="buys")
    >>> found = fingerprint(table, frame[["age", "pets"]].dropna(), neighbors=1)
    >>> found["neighbors"], found["table"]
    (1, 'sha256:...')
    """
    order = np.argsort(table.rows_kept)
    labels = _texts(table.dataset.labels[order].tolist())
    drawn = table.dataset.drawing
    space = "plain" if table.leaves is None else table.leaves.name
    chosen = {"space": space, "max_exact": drawn.max_exact, "draws": drawn.n_draws}
    usual = _usual(chosen)
    validation = [column for column in columns_from(points) if column.name in table.names]
    moved = (order != np.arange(table.n_rows)).any()
    return {
        "table": _hash([*(_content(column, order) for column in table.columns), labels]),
        "candidates": _hash(_candidates(table)),
        **({"files": _hash([files.encode()])} if (files := table.counts.files) else {}),
        **({"order of rows": _hash([order.astype("<i8").tobytes()])} if moved else {}),
        "validation points": _hash(map(_content, validation)),
        **{name: one for name, one in chosen.items() if one != usual[name]},
        **settings,
    }


def answers_belong(
    hashes: Mapping[str, Any],
    *,
    label: Any,
    model: Model,
    repairs: str | None,
    prior: str | None,
    strategy: str,
    seed: int,
    sure: float | None = None,
    gains_by: str = PRIOR,
) -> dict[str, Any]:
    """What a file of answers belongs to, for `Journal`; the same for the page and the terminal.

    Parameters
    ----------
    hashes : dict
        Of the table, its candidates and the validation points, as `fingerprint` gives them, with
        what it says about the space and about draws.
    repairs, prior : str or None
        Their names; None if they have none.
    seed : int
        Left out where nothing is left to chance.
    sure, gains_by
        As the answers were begun with; left out where they are as before there was a choice.
    """
    found = {name: hashes[name] for name in ("table", "candidates", "validation points")}
    found |= {name: hashes[name] for name in _LEFT_OUT if name in hashes}
    found |= {"label": label, "neighbors": model.n_neighbors, "metric": model.metric}
    found |= {"repairs": repairs, "prior": prior, "strategy": strategy}
    if strategy == "random":
        found["seed"] = seed
    if sure is not None:
        found["sure"] = sure
    return found if gains_by == PRIOR else {**found, "gains_by": gains_by}


def differences(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> list[str]:
    """What is not the same, in words; hashes are not shown.

    Examples
    --------
    >>> differences({"table": "sha256:5f", "neighbors": 3}, {"table": "sha256:c0", "neighbors": 5})
    ['other table', 'neighbors was 3 and is 5']
    >>> differences({"draws": 100}, {})
    ['draws was 100 and is 160']
    >>> differences({}, {"space": "forest"})
    ["space was 'plain' and is 'forest'"]
    """
    found = []
    mine, theirs = ({**_usual(one), **one} for one in (mine, theirs))
    if mine["space"] != theirs["space"]:  # each space has its own
        for one in (mine, theirs):
            one.pop("max_exact"), one.pop("draws"), one.pop("order of rows", None)
    for name in dict.fromkeys([*mine, *theirs]):
        here, there = (one.get(name) for one in (mine, theirs))
        if here == there:
            continue
        hashed = any(isinstance(one, str) and one.startswith(_HASH) for one in (here, there))
        found.append(f"other {name}" if hashed else f"{name} was {there!r} and is {here!r}")
    return found


def _usual(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a setting is where it is left out, which depends on the space."""
    among_leaves = settings.get("space", "plain") != "plain"
    max_exact, draws = usual_limits(among_leaves)
    return {"space": "plain", "max_exact": max_exact, "draws": draws}


def _candidates(table: IncompleteTable) -> Iterable[bytes]:
    place = places_in_frame(table.rows_kept)
    for row in table.options.rows[np.argsort(place[table.options.rows])].tolist():
        options = table.options[row]
        # The last digits of a mean or a quartile differ between machines.
        values = [
            [f"{value:.9g}" if isinstance(value, float) else str(value) for value in listed]
            for listed in options.values
        ]
        yield json.dumps([int(place[row]), list(options.cells), options.joint, values]).encode()


def _content(column: Column, order: Any = slice(None)) -> bytes:
    head = json.dumps([column.name, column.kind]).encode()
    values: npt.NDArray[Any] = column.values[order]
    if column.kind == "categorical":
        return head + _texts(values.tolist())
    numbers = values.astype("<f8") + 0.0  # -0.0 is the same number as 0.0
    numbers[np.isnan(numbers)] = np.nan  # the same one of many everywhere
    return head + numbers.tobytes()


def _texts(values: list[Any]) -> bytes:
    return json.dumps([None if one is None else str(one) for one in values]).encode()


def _hash(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return f"{_HASH}{found.hexdigest()[:32]}"
