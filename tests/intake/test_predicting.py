"""Rows to predict: those held out leave every label to learn from, others need not be complete."""

from __future__ import annotations

import pytest

from cpclean.intake.choices import Choices, HoldOut, PointsFile
from cpclean.intake.open_task import Opened, open_task
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


def test_labels_of_rows_that_are_left_out_do_not_matter() -> None:
    opened = with_points("a,b,y\n1,2,s\n,2,\n3,3,l\n")
    assert opened.task.labels is not None
    assert opened.task.labels.tolist() == ["s", "l"]
    assert opened.task.point_names.tolist() == [0, 2]
    assert [one.code for one in opened.notes] == ["points_left_out"]


def test_labels_of_some_points_are_not_enough() -> None:
    opened = with_points("a,b,y\n1,2,s\n,2,\n3,3,\n4,4,\n")
    assert opened.task.labels is None
    left_out, unlabelled = opened.notes
    assert (left_out.code, left_out.values["count"]) == ("points_left_out", 1)
    assert (unlabelled.code, unlabelled.values["count"]) == ("points_unlabelled", 2)
