"""Rows to predict: those held out leave every label to learn from, others need not be complete."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpclean import world_shares
from cpclean.errors import TableError
from cpclean.intake.choices import Choices, HoldOut, PointsFile
from cpclean.intake.notes import Note
from cpclean.intake.open_task import Opened, open_task
from cpclean.intake.sentences import said
from cpclean.intake.source_file import SourceFile


def source(text: str, name: str = "t.csv", points: bool = False) -> SourceFile:
    return SourceFile(repr(name), ".csv", text.encode, points)


@pytest.mark.parametrize("seed", range(10))
def test_a_label_is_not_left_to_a_row_that_is_left_out(seed: int) -> None:
    text = "a,b,y\n1,1,s\n2,2,l\n3,3,m\n,,m\n4,4,l\n,5,l\n6,6,s\n"
    opened = open_task(source(text), Choices("y", drop_empty=True), HoldOut(0.9, seed))
    assert opened.task.dataset.classes.tolist() == ["l", "m", "s"]
    assert 3 not in opened.task.row_names


TRAIN = "a,b,y\n1,1,s\n2,2,l\n,3,s\n4,4,l\n"


def with_points(text: str) -> Opened:
    points = PointsFile(source(text, "p.csv", points=True))
    return open_task(source(TRAIN), Choices("y"), points)


def test_all_rows_of_a_file_are_kept_in_their_order() -> None:
    opened = with_points("a,b,y\n1,2,s\n,2,l\n3,3,l\n,,s\n")
    assert opened.task.labels is not None
    assert opened.task.labels.tolist() == ["s", "l", "l", "s"]
    assert opened.task.point_names.tolist() == [0, 1, 2, 3]
    assert opened.task.points.mixtures.tolist() == [1, 3]
    holes, empty = opened.notes
    assert (holes.code, holes.values["count"]) == ("points_holes", 2)
    assert (empty.code, empty.rows) == ("points_empty", (3,))


def test_a_point_of_which_nothing_is_known_is_the_mixture_of_all() -> None:
    opened = with_points("a,b\n,\n,\n")
    table = opened.task.table
    assert table is not None
    one, two = world_shares(opened.task.dataset, opened.task.points, 1).tolist()
    assert one == two
    alone = table.points(pd.DataFrame({"a": [None], "b": [None]}, dtype=float))
    assert one == world_shares(opened.task.dataset, alone, 1).tolist()[0]


def test_labels_of_some_points_are_not_enough() -> None:
    opened = with_points("a,b,y\n1,2,s\n,2,\n3,3,\n4,5,\n")
    assert opened.task.labels is None
    holes, unlabelled = opened.notes
    assert (holes.code, holes.values["count"]) == ("points_holes", 1)
    assert (unlabelled.code, unlabelled.values["count"]) == ("points_unlabelled", 3)


def test_rows_that_are_in_both_files() -> None:
    (note,) = with_points("a,b,y\n1,1,l\n4.0,4,l\n9,9,l\n1,1,s\n").notes
    assert (note.code, note.rows, note.values["there"]) == ("points_in_training", (1, 3), "3, 0")
    (note,) = with_points("b,a\n1,1\n9,9\n").notes
    assert (note.rows, note.values["there"]) == ((0,), "0")
    holes, note = with_points("a,b,y\n,3,s\n").notes
    assert (holes.code, note.rows, note.values["there"]) == ("points_holes", (0,), "2")


def test_holes_in_columns_that_play_no_part_are_no_holes() -> None:
    text = "a,b,c,d,y\n" + "".join(f"{n},{n % 4},,7,{'sl'[n % 2]}\n" for n in range(20))
    held = open_task(source(text.replace("7,l", ",l")), Choices("y"), HoldOut(0.2))
    assert [one.code for one in held.notes if isinstance(one, Note)] == ["held_out"]
    assert held.notes[0].values == {"count": 4, "holes": 0}
    points = PointsFile(source("a,b,c,d\n1,2,,\n", "p.csv", points=True))
    opened = open_task(source(text), Choices("y"), points)
    assert not [one for one in opened.notes if isinstance(one, Note)]
    assert opened.task.points.mixtures.tolist() == []


def test_rows_held_out_that_differ_are_said() -> None:
    """Held out at random they rarely do; so one that does is searched for."""
    rng = np.random.default_rng(0)
    lines = [f"{n % 7},{'' if rng.random() < 0.5 else n % 5},{'sl'[n % 2]}" for n in range(60)]
    text = "\n".join(["a,b,y", *lines, ""])
    told = {}
    for seed in range(400):
        notes = open_task(source(text), Choices("y"), HoldOut(0.2, seed)).notes
        told |= {one.code: one for one in notes if isinstance(one, Note)}
        if "held_out_differs" in told:
            break
    values = told["held_out_differs"].values
    held, others = values["holes"] / values["count"], values["other_holes"] / values["others"]
    assert values["count"] + values["others"] == 60
    assert abs(held - others) > 0.3
    assert "with another --seed" in said(told["held_out_differs"], "terminal")


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ("a\n1\n", "must have the columns of 't.csv'; it lacks 'b'. Add them, with empty cells"),
        ("a,c\n1,2\n", "it lacks 'b', and has 'c' instead."),
        ("a,b,c,d\n1,2,3,4\n", "it also has 'c', 'd'. Take them out of 'p.csv'."),
        ("a,b\n1,inf\n", "column 'b' of 'p.csv' has infinite values in row 0."),
    ],
)
def test_points_that_cannot_be_predicted(points: str, told: str) -> None:
    with pytest.raises(TableError) as caught:
        with_points(points)
    assert told in str(caught.value)
