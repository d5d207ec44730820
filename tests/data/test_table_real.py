"""IncompleteTable on real tables, from end to end."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from data.table_samples import encoded_back
from sklearn.impute import SimpleImputer

from cpclean import IncompleteTable, is_certain, read_table, world_shares
from cpclean.errors import TableError

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


def real(name: str) -> pd.DataFrame:
    file = TABLES / name / "data.csv"
    if not file.is_file():
        pytest.skip(f"the table {name} is not there: tables are looked for in ../shared/data")
    frame = read_table(file)
    assert isinstance(frame, pd.DataFrame)
    return frame


def check_end_to_end(table: IncompleteTable, points: pd.DataFrame, n_rows: int = 12) -> None:
    """Raw candidates of some rows, and both queries on some points, agree with each other."""
    for row in itertools.islice(table.dataset.dirty_rows.tolist(), n_rows):
        if table.dataset.candidate_counts[row] <= 200:
            np.testing.assert_array_equal(encoded_back(table, row), table.dataset.candidates(row))
    X = table.encode(points)
    shares = world_shares(table.dataset, X)
    certain = is_certain(table.dataset, X)
    assert shares.shape == (len(points), len(table.dataset.classes))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares[certain].max(axis=1) > 1 - 1e-9).all()


def test_adult() -> None:
    frame = real("Adult")
    table = IncompleteTable(frame[100:], label="Income")
    assert table.n_rows == 32_461
    holes = {one.name: one.holes for one in table.report if one.holes}
    assert set(holes) == {"Workclass", "Occupation", "Native-country"}
    assert table.dataset.classes.tolist() == [" <=50K", " >50K"]
    check_end_to_end(table, frame[:100].dropna()[:8])
    published = frame[100:].astype(object).fillna(" ?")  # holes as they were first written
    again = IncompleteTable(published, label="Income", null_tokens=["?"])
    assert again.dataset == table.dataset


def test_credit_data() -> None:
    frame = real("CreditData").drop(columns="rownames")
    points = frame.dropna()[::900]
    table = IncompleteTable(frame.drop(index=points.index), label="Status")
    assert {one.kind for one in table.report} == {"numeric", "categorical"}
    assert sum(one.holes for one in table.report) == frame.isna().sum().sum()
    check_end_to_end(table, points)
    numbers = [SimpleImputer(), SimpleImputer(strategy="median")]
    check_end_to_end(IncompleteTable(frame.drop(index=points.index), "Status", numbers), points)


def test_chile() -> None:
    frame = real("Chile").drop(columns="rownames")
    with pytest.raises(TableError, match=r"every row needs a label; missing in row .* more. Pass"):
        IncompleteTable(frame, label="vote")
    points = frame.dropna()[::400]
    table = IncompleteTable(frame.drop(index=points.index), label="vote", drop_unlabelled=True)
    assert table.dataset.classes.tolist() == ["A", "N", "U", "Y"]
    assert table.n_rows == frame["vote"].notna().sum() - len(points)
    check_end_to_end(table, points)


@pytest.mark.parametrize(
    ("name", "label"), [("Adult", "Income"), ("CreditData", "Status"), ("Chile", "vote")]
)
def test_real_tables_are_the_same_in_every_frame_and_file(
    name: str, label: str, tmp_path: Path
) -> None:
    frame = real(name)[:1500]
    expected = IncompleteTable(frame, label, drop_unlabelled=True)
    assert len(expected.dataset.dirty_rows) > 20
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    files = [read_table(tmp_path / "t.csv.gz"), read_table(tmp_path / "t.parquet")]
    frames = [pl.read_parquet(tmp_path / "t.parquet"), pq.read_table(tmp_path / "t.parquet")]
    for same in [*files, *frames, frame.convert_dtypes()]:
        table = IncompleteTable(same, label, drop_unlabelled=True)
        assert table.dataset == expected.dataset
        assert table.rows_kept.tolist() == expected.rows_kept.tolist()
    raw = frame.iloc[expected.rows_kept].drop(columns=label).astype(object)
    for row, values in enumerate(raw.where(raw.notna(), None).to_dict("records")):
        assert expected.row(row) == values
