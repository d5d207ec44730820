"""Small tables in files, for commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def frames(n_rows: int = 40, n_val: int = 12, seed: int = 0) -> tuple[Any, Any, Any]:
    """A training table with holes, the truth about it, and validation rows."""
    rng = np.random.default_rng(seed)
    size = n_rows + n_val
    label = rng.choice(["no", "yes"], size)
    shift = np.where(label == "yes", 1.0, 0.0)
    whole = pd.DataFrame(
        {
            "age": rng.integers(20, 60, size) + (10 * shift).astype(int),
            "income": (rng.normal(size=size) + shift).round(2),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], size),
            "y": label,
        }
    )
    truth, val = whole.iloc[:n_rows].copy(), whole.iloc[n_rows:].reset_index(drop=True)
    train = truth.copy()
    train["age"] = train["age"].astype("Int64")
    for row in rng.choice(n_rows, n_rows // 3, replace=False).tolist():
        train.loc[row, ["age", "income", "city"][row % 3]] = None
    return train, truth, val


def written(folder: Path, **options: Any) -> dict[str, str]:
    """The three as CSV files; names of the files by what they hold."""
    names = {}
    for name, frame in zip(("train", "truth", "val"), frames(**options), strict=True):
        names[name] = str(folder / f"{name}.csv")
        frame.to_csv(names[name], index=False)
    return names
