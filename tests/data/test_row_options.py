"""Options of all rows in arrays: a mapping from rows to options that are put together late."""

from __future__ import annotations

import numpy as np
import pytest

from cpclean.data.columns import OTHER
from cpclean.data.proposals import in_space, merged, proposed_values
from cpclean.data.row_options import NO_OPTIONS, Options, TableOptions

ROWS = {
    7: Options((0, 2), ((1.0, 2.0), ("a", OTHER))),
    2: Options((2,), (("a", OTHER),)),
    4: Options((0, 1, 2), ((1.0, 1.0, 3.0), (0.0, -0.0, 0.0), ("a", "a", "b")), True, (1, 2, 1)),
    9: Options((1,), ((True, 1),)),
}


@pytest.fixture
def options() -> TableOptions:
    return TableOptions.from_rows(ROWS)


def test_a_mapping_in_row_order(options: TableOptions) -> None:
    assert list(options) == [2, 4, 7, 9]
    assert dict(options) == ROWS
    assert options == ROWS
    assert len(options) == 4
    assert 4 in options
    assert 5 not in options
    assert options.of(5) is NO_OPTIONS
    assert options.get(5) is None
    with pytest.raises(KeyError, match="5"):
        options[5]


def test_equal_lists_are_stored_once_but_only_if_they_look_alike(options: TableOptions) -> None:
    assert [len(lists) for lists in options.by_column] == [2, 2, 2]
    again = TableOptions.from_rows(
        {0: Options((0,), ((1, 0.0),)), 1: Options((0,), ((True, -0.0),))}
    )
    assert repr([own.values for own in again.values()]) == "[((1, 0.0),), ((True, -0.0),)]"


def test_sizes_and_candidates(options: TableOptions) -> None:
    assert options.sizes.tolist() == [2, 3, 3, 3, 2, 2, 2]
    assert options.n_candidates().tolist() == [2.0, 3.0, 4.0, 2.0]
    assert {cell: holes.tolist() for cell, holes in options.columns()} == {
        0: [1, 4],
        1: [2, 6],
        2: [0, 3, 5],
    }


def test_versions_that_became_equal_are_merged(options: TableOptions) -> None:
    inside = in_space(options, np.array([False, True, True]))
    assert dict(inside) == {
        2: ROWS[2],
        4: Options((1, 2), ((0.0, 0.0), ("a", "b")), True, (3.0, 1.0)),
        7: Options((2,), (("a", OTHER),)),
        9: ROWS[9],
    }
    assert in_space(options, np.ones(3, dtype=bool)) is options
    assert list(in_space(options, np.array([True, False, False]))) == [4, 7]
    assert merged(options, np.zeros(4, dtype=bool)) is options


def test_what_is_proposed_in_order_of_appearance(options: TableOptions) -> None:
    assert proposed_values(options) == {
        0: [1.0, 3.0, 2.0],
        1: [0.0, True],
        2: ["a", OTHER, "b"],
    }
