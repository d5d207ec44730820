"""A small table with holes, and one whose words try to be more than text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cpclean import CleaningSession, IncompleteTable

# What must stay text wherever it comes from: a column's name, a value, a label.
EVIL = "<img src=x onerror='window.hacked=1'>"


def frames(n_train: int = 90, n_val: int = 40, seed: int = 0) -> tuple[Any, Any, Any]:
    """A table with holes, its truth, and complete validation rows."""
    rng = np.random.default_rng(seed)
    size = n_train + n_val
    label = rng.integers(2, size=size)
    whole = pd.DataFrame(
        {
            "age": (40 + 20 * label + rng.normal(0, 10, size)).round(1),
            "income": (3 + label + rng.normal(0, 1, size)).round(2),
            "city": rng.choice(["Rome", "Oslo", "Lima"], size),
            "buys": np.where(label == 1, "yes", "no"),
        }
    )
    truth, val = whole[:n_train], whole[n_train:]
    dirty = truth.copy()
    for name, share in (("age", 0.25), ("income", 0.15), ("city", 0.1)):
        dirty.loc[rng.random(n_train) < share, name] = None
    dirty.loc[dirty[["age", "income", "city"]].isna().all(axis=1), "city"] = "Rome"
    return dirty, truth, val


def evil_session() -> CleaningSession:
    """A session whose names, values and labels try to be more than text."""
    dirty, _, val = frames()
    rename = {"age": EVIL, "income": "</script><script>window.hacked=2</script>", "city": "a & b"}
    values = {"Rome": "<b>Rome</b>", "Oslo": '"><svg onload=window.hacked=3>', "Lima": EVIL}

    def twisted(frame: Any) -> Any:
        other = frame.assign(city=frame["city"].replace(values))
        other["buys"] = other["buys"].replace({"yes": "</title><script>window.hacked=4</script>"})
        return other.rename(columns=rename)

    val = twisted(val)
    table = IncompleteTable(twisted(dirty), label="buys")
    return CleaningSession(table, val, y_val=val["buys"].to_numpy())


def random_table(seed: int, repairs="few", prior="label"):
    """A table on a coarse grid with a handful of holes, and points to predict."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (7, 3)).astype(float), columns=["a", "b", "c"])
    for row in rng.choice(7, 3, replace=False):
        frame.iloc[row, rng.choice(3, rng.integers(1, 3), replace=False)] = np.nan
    frame["y"] = rng.integers(0, 2, 7)
    frame.loc[0, "y"], frame.loc[1, "y"] = 0, 1
    few = {name: [0.0, 1.0, 3.0] for name in "abc"}
    table = IncompleteTable(
        frame, label="y", repairs=few if repairs == "few" else repairs, prior=prior, scaling="none"
    )
    return table, rng.integers(0, 4, (12, table.dataset.n_features)).astype(float)
