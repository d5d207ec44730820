"""Rows that are held out: complete ones with a label, and one of every label stays."""

import numpy as np
import pandas as pd
import pytest

from cpclean.intake.holding import complete_rows, empty_columns, held_out


def frame(**columns):
    return pd.DataFrame(columns)


def test_columns_without_any_value_play_no_part():
    table = frame(a=[1, None, 3], b=[None, None, None], y=["u", "v", "u"])
    assert empty_columns(table) == ["b"]
    assert complete_rows(table).tolist() == [0, 2]


def test_one_row_of_every_label_is_left():
    table = frame(a=range(6), y=["u", "u", "u", "v", "v", "w"])
    for seed in range(20):
        held = held_out(complete_rows(table), table["y"], 6, seed)
        assert held.tolist() == sorted(held.tolist())
        assert set(table["y"].drop(held)) == {"u", "v", "w"}
        assert len(held) == 3


def test_more_than_there_are():
    table = frame(a=[1, 2, 3, 4, None, None], y=["u", "v"] * 3)
    assert len(held_out(complete_rows(table), table["y"], 5, 0)) == 2


@pytest.mark.parametrize("labels", [[None] * 4, ["u", None, None, None]])
def test_rows_without_a_label_are_not_held_out(labels):
    table = frame(a=[1, 2, 3, 4], y=pd.Series(labels, dtype=object))
    assert held_out(np.arange(4), table["y"], 2, 0).tolist() == []
