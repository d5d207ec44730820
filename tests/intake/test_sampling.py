"""How much of a large table is looked at: bounded by the holes, the same each time, and said."""

import json
from functools import partial
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from cpclean.cli import main
from cpclean.intake import sampling
from cpclean.intake.choices import Choices, HoldOut
from cpclean.intake.open_task import open_task
from cpclean.intake.sampling import Bounds, points_looked_at, rows_looked_at
from cpclean.intake.source_file import SourceFile

FEW = Bounds(ways=1_000, looks=10_000, points=20, least_rows=60, least_points=15)


def holed(n_rows: int, n_columns: int = 3, share: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(n_rows)
    frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns)).round(2), columns=list("abc"))
    return frame.mask(rng.random(frame.shape) < share)


def labels_of(n_rows: int) -> pd.Series:
    return pd.Series(np.where(np.arange(n_rows) % 5 == 0, "rare", "usual"))


def test_what_is_looked_at_does_not_grow_with_the_rows():
    sizes = []
    for n_rows in (1_000, 10_000, 40_000):
        rows, labels = holed(n_rows), labels_of(n_rows)
        some = rows_looked_at(rows, labels, FEW, seed=0)
        assert np.array_equal(some, np.unique(some))
        assert abs((labels[some] == "rare").mean() - 0.2) < 0.02
        points = points_looked_at(rows, rows.iloc[some], FEW, seed=0)
        sizes.append((len(some), len(points)))
    assert all(60 <= rows <= 110 and 15 <= points <= 20 for rows, points in sizes)


@pytest.mark.parametrize("n_rows", [50, 400])
def test_small_tables_are_looked_at_whole(n_rows):
    rows, labels = holed(n_rows), labels_of(n_rows)
    assert len(rows_looked_at(rows, labels, Bounds(), seed=0)) == n_rows
    assert len(points_looked_at(rows, rows, Bounds(), seed=0)) == n_rows


def test_training_rows_without_holes_are_all_looked_at():
    rows = holed(300_000, share=0.0)
    assert len(rows_looked_at(rows, labels_of(len(rows)), Bounds(), seed=0)) == len(rows)
    assert len(points_looked_at(rows, rows, Bounds(), seed=0)) == Bounds().points


def content(n_rows: int) -> bytes:
    return holed(n_rows).assign(y=labels_of(n_rows)).to_csv(index=False).encode()


def test_a_task_of_a_sample_names_the_rows_of_the_file():
    written = content(500)
    source = SourceFile("'large.csv'", ".csv", lambda: written)
    opened = open_task(source, Choices("y", drop_empty=True), HoldOut(), bounds=FEW)
    (note,) = [one for one in opened.notes if getattr(one, "code", "") == "sampled"]
    task = opened.task
    assert note.values["count"] == task.dataset.n_rows < note.values["total"]
    assert note.values["seen"] == task.points.n_points == len(task.labels) < 100
    whole = pd.read_csv(BytesIO(written))
    assert task.labels.tolist() == whole["y"][task.point_names].tolist()
    assert task.dataset.classes[task.dataset.codes].tolist() == whole["y"][task.row_names].tolist()
    beside = opened.in_space("plain")
    assert beside.row_names.tolist() == sorted(task.row_names.tolist())


def test_inspect_says_that_it_looked_at_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "Bounds", partial(Bounds, 1_000, 10_000, 20, 60, 15))
    (tmp_path / "large.csv").write_bytes(content(500))
    asked = ("inspect", str(tmp_path / "large.csv"), "--label", "y", "--space", "plain")
    asked += ("--drop-empty", "--samples", "1")
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    assert "training rows and 15 of 88 rows" in result.stderr.replace("\n", " ")
    assert "--whole looks at all of them" in result.stderr
    assert "A sample: " in result.stdout
    found = json.loads(CliRunner().invoke(main, (*asked, "--json")).stdout)
    assert found["sample"]["points"] == found["table"]["points"] == 15
    assert found["sample"]["rows"] == found["table"]["rows"] < found["sample"]["of_rows"]
    whole = json.loads(CliRunner().invoke(main, (*asked, "--json", "--whole")).stdout)
    assert whole["sample"] is None
    assert whole["table"]["rows"] == found["sample"]["of_rows"]
