"""Tables in a session: what people may say of a cell, and the world as a frame."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.impute import KNNImputer, SimpleImputer

from cpclean import CleaningSession, IncompleteTable, read_csv
from cpclean.data.columns import OTHER
from cpclean.errors import AnswerError, CPCleanError


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": pd.array([18, None, 65, 40, 33, 51], dtype="Int64"),
            "city": ["A", "B", None, "A", "B", "C"],
            "buys": ["no", "yes", "yes", "no", "yes", "no"],
            "since": pd.to_datetime(
                ["2024-01-01", "2024-02-01", "2024-03-01", None, "2024-05-01", "2024-06-01"]
            ),
            "wait": pd.to_timedelta(["1D", "2D", "3D", "4D", None, "6D"]),
            "member": pd.array([True, False, True, True, False, None], dtype="boolean"),
        },
        index=list("uvwxyz"),
    )


def complete() -> pd.DataFrame:
    whole = frame().astype({"age": "float64"})
    whole["age"] = [18, 29, 65, 40, 33, 51]
    whole["city"] = list("ABAABC")
    whole["since"] = whole["since"].fillna(pd.Timestamp("2024-04-01"))
    whole["wait"] = whole["wait"].fillna(pd.Timedelta("5D"))
    whole["member"] = [True, False, True, True, False, False]
    return whole


@pytest.fixture
def table() -> IncompleteTable:
    return IncompleteTable(frame(), label="buys", prior="uniform")


@pytest.fixture
def session(table: IncompleteTable) -> CleaningSession:
    return CleaningSession(table, complete(), n_neighbors=3)


def value_of(session: CleaningSession, row: int, column: str) -> object:
    names = ["u", "v", "w", "x", "y", "z"]
    return session.world().loc[names[row], column]


# -- what may be said ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "column", "value", "kept", "shown"),
    [
        (1, "age", 41, 41, 41),
        (1, "age", 41.5, 41.5, 41.5),
        (1, "age", "41", 41, 41),
        (1, "age", np.int64(41), 41, 41),
        (1, "age", np.float32(41.5), 41.5, 41.5),
        (2, "city", "C", "C", "C"),
        (2, "city", np.str_("C"), "C", "C"),
        (2, "city", "Z", "Z", "Z"),
        (2, "city", 7, "7", "7"),
        (2, "city", "other", "other", "other"),
        (2, "city", OTHER, "other", "other"),
        (3, "since", "2024-04-02", "2024-04-02T00:00:00", datetime(2024, 4, 2)),
        (3, "since", date(2024, 4, 2), "2024-04-02T00:00:00", datetime(2024, 4, 2)),
        (3, "since", datetime(2024, 4, 2, 12), "2024-04-02T12:00:00", datetime(2024, 4, 2, 12)),
        (3, "since", datetime(2024, 4, 2, tzinfo=UTC), "2024-04-02T00:00:00", datetime(2024, 4, 2)),
        (3, "since", pd.Timestamp("2024-04-02"), "2024-04-02T00:00:00", datetime(2024, 4, 2)),
        (
            3,
            "since",
            np.datetime64("2024-04-02", "ns"),
            "2024-04-02T00:00:00",
            datetime(2024, 4, 2),
        ),
        (4, "wait", timedelta(days=1), 86400.0, timedelta(days=1)),
        (4, "wait", pd.Timedelta("1D"), 86400.0, timedelta(days=1)),
        (4, "wait", np.timedelta64(1, "D"), 86400.0, timedelta(days=1)),
        (4, "wait", "1 days 02:00:00", 93600.0, timedelta(hours=26)),
        (5, "member", True, True, True),
        (5, "member", "false", False, False),
        (5, "member", 1, True, True),
        (5, "member", np.bool_(False), False, False),
    ],
)
def test_values_as_people_say_them(
    session: CleaningSession, table: IncompleteTable, row: int, column: str, value: object,
    kept: object, shown: object,
) -> None:  # fmt: skip
    assert session.tell(row, value={column: value}).kind == "answer"
    assert session.answers == [{"row": row, "value": {column: kept}}]
    assert type(session.answers[0]["value"][column]) is type(kept)
    assert value_of(session, row, column) == shown
    assert len(session.data.candidates(row)) == 1
    assert session.tell(row, value={column: kept}).kind == "same"
    again = CleaningSession(table, complete(), n_neighbors=3)
    again.replay(json.loads(json.dumps(session.answers)))
    assert again.data == session.data
    assert again.gains().tolist() == session.gains().tolist()


@pytest.mark.parametrize("moment", ["2024-04-02 01:02:03.123456789", "1677-09-22 00:12:43.1234565"])
def test_more_digits_than_are_kept(
    session: CleaningSession, table: IncompleteTable, moment: str
) -> None:
    session.tell(3, value={"since": pd.Timestamp(moment)})
    again = CleaningSession(table, complete(), n_neighbors=3)
    again.replay(session.answers)
    assert again.data.candidates(3).tolist() == session.data.candidates(3).tolist()  # bit for bit
    assert again.answers == session.answers


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        (5, {"member": 2}, r"row 5: column 'member' cannot be read as boolean.*got 2\.0"),
        (5, {"member": "maybe"}, r"row 5: column 'member' is boolean.*true or false.*got 'maybe'"),
        (3, {"since": "soon"}, r"row 3: column 'since' is date.*ISO text.*got 'soon'"),
        (3, {"since": pd.NaT}, r"row 3, column 'since', must not be null"),
        (3, {"since": 1e30}, r"row 3: column 'since'.*"),
        (4, {"wait": "long"}, r"row 4: column 'wait' is duration.*got 'long'"),
    ],
)
def test_values_of_the_wrong_kind(
    session: CleaningSession, row: int, value: dict, message: str
) -> None:
    before = (session.answers, session.gains().tolist(), session.ask().row)
    with pytest.raises(AnswerError, match=message):
        session.tell(row, value=value)
    assert (session.answers, session.gains().tolist(), session.ask().row) == before


def test_a_row_of_a_frame_is_an_answer(session: CleaningSession) -> None:
    session.tell(1, value=complete().drop(columns="buys").iloc[1])
    assert session.data.candidates(1).tolist() == [
        session.view.table.encode(complete())[1].tolist()
    ]
    with pytest.raises(AnswerError, match="names column 'buys', which the table does not have"):
        session.tell(1, value=complete().iloc[1])


def test_what_is_trusted_can_be_corrected_too(session: CleaningSession) -> None:
    session.tell(0, value={"age": 81})
    assert value_of(session, 0, "age") == 81
    session.tell(0, value={"age": 18})
    assert session.data.candidates(0).tolist() == session.view.start.candidates(0).tolist()


def test_a_category_that_is_called_other() -> None:
    cities = ["other", "A", None, "A", "B", "other", "C", "D", "E"]
    given = pd.DataFrame({"city": cities, "x": range(9), "y": [0, 1, 0, 1, 0, 1, 0, 1, 1]})
    table = IncompleteTable(given, label="y", prior="uniform")
    candidates = table.candidates(2)
    mark = next(n for n, one in enumerate(candidates) if one["city"] is OTHER)
    plain = next(n for n, one in enumerate(candidates) if one["city"] == "other")
    for number, kept in ((mark, "(other)"), (plain, "other")):
        session = CleaningSession(table, given.dropna().iloc[:3], 1)
        session.tell(2, value=candidates[number])
        assert session.answers == [{"row": 2, "value": {"city": kept}}]
        assert session.data.candidates(2).tolist() == [table.dataset.candidate(2, number).tolist()]
        assert session.world()["city"].tolist()[2] == kept


def category_of(session: CleaningSession, row: int) -> list[float]:
    """The category of a clean row, in a space that has one number after it."""
    (vector,) = session.data.candidates(row)
    return list(vector[:-1])


def test_categories_that_are_no_text() -> None:
    given = pd.DataFrame({"n": [1, 2, None, 2, 3], "x": [0.0, 1, 2, 3, 4], "y": list("ababa")})
    table = IncompleteTable(given, label="y", kinds={"n": "categorical"}, prior="uniform")
    for value in (2, 2.0, "2.0"):
        session = CleaningSession(table, given.dropna(), 1)
        session.tell(2, value={"n": value})
        assert category_of(session, 2) == category_of(session, 1)
    pairs = pd.DataFrame({"p": [(1, 2), (3, 4), None], "x": [0.0, 1.0, 2.0], "y": list("aba")})
    table = IncompleteTable(pairs, label="y", prior="uniform")
    session = CleaningSession(table, pairs.iloc[:2], 1)
    session.tell(2, value={"p": (3, 4)})
    again = CleaningSession(table, pairs.iloc[:2], 1)
    again.replay(json.loads(json.dumps(session.answers)))
    assert again.data == session.data
    assert (
        session.data.candidates(2)[0, :-1].tolist() == session.data.candidates(1)[0, :-1].tolist()
    )


# -- kinds of tables -------------------------------------------------------------------------------


def test_suspect_cells() -> None:
    given = complete()
    given.loc["u", "age"] = 180.0
    table = IncompleteTable(given, label="buys", suspects=[(0, "age")], prior="uniform")
    session = CleaningSession(table, complete(), 1)
    assert session.world().loc["u", "age"] == 180.0  # doubted, but there
    candidates = [one["age"] for one in table.candidates(0)]
    assert candidates[0] == 180.0
    session.tell(0, 0)
    assert session.world().loc["u", "age"] == 180.0
    session.tell(0, value={"age": 18.0})
    assert session.world().loc["u", "age"] == 18.0


def test_versions_of_imputers_belong_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).round(1)
    y = (X.sum(axis=1) > 0).astype(int)
    X[:8, :2] = np.nan
    imputers = [SimpleImputer(), SimpleImputer(strategy="median"), KNNImputer(n_neighbors=2)]
    table = IncompleteTable(X, label=y, repairs=imputers)
    points = rng.normal(size=(15, 3))
    session = CleaningSession(table, points, 3)
    candidates = table.candidates(0)
    assert set(candidates[0]) == {"x0", "x1"}
    session.tell(0, value={"x0": candidates[2]["x0"]})
    question_rows = session.data.candidates(0)
    assert question_rows.tolist() == [table.dataset.candidate(0, 2).tolist()]  # x1 follows
    for strategy in ("cpclean", "cells"):
        session = CleaningSession(table, points, 3, strategy)
        while (question := session.ask()) is not None:
            session.tell(**question.answer(len(question.candidates) - 1))
        assert session.certain.all()
        assert not session.world().isna().to_numpy().any()
        assert not session.world("likely").isna().to_numpy().any()


def test_explicit_domains() -> None:
    lines = ["age[18|30|65],city[A|B],y", "[18|30],A,no", "65,[A|B],yes", "30,B,no"]
    lines += ["[18|65],[A|B],yes", "18,A,no"]
    table = IncompleteTable(read_csv(io.StringIO("\n".join(lines)), domains=True), label="y")
    points = pd.DataFrame({"age": [20, 60], "city": ["A", "B"]})
    session = CleaningSession(table, points, 1, "cells")
    while (question := session.ask()) is not None:
        assert question.column in ("age", "city")
        session.tell(**question.answer(0))
    assert session.certain.all()
    session.tell(1, value={"city": "B"})
    assert session.world()["city"].tolist()[1] == "B"


def test_rows_without_label_are_left_out() -> None:
    given = frame()
    given.loc["u", "buys"] = None
    table = IncompleteTable(given, label="buys", drop_unlabelled=True)
    session = CleaningSession(table, complete(), 1)
    session.tell(0, value={"age": 29})
    world = session.world()
    assert world.index.tolist() == list("vwxyz")
    assert world.loc["v", "age"] == 29


def test_a_column_without_place_in_the_space_can_be_told() -> None:
    given = frame().assign(same=[1.0, 1.0, None, 1.0, 1.0, 1.0])
    session = CleaningSession(IncompleteTable(given, label="buys"), complete().assign(same=1.0), 1)
    before = session.gains().tolist()
    session.tell(2, value={"same": 3.0})
    assert session.gains().tolist() == before
    assert session.world().loc["w", "same"] == 3.0
    assert session.ask() is not None


# -- the world as a frame --------------------------------------------------------------------------


def test_the_world_of_a_pandas_frame(session: CleaningSession) -> None:
    session.tell(3, value={"since": "2024-04-01"})
    world = session.world()
    given = frame()
    assert world.columns.tolist() == given.columns.tolist()
    assert world.index.tolist() == given.index.tolist()
    assert not world.isna().to_numpy().any()
    assert world["buys"].tolist() == given["buys"].tolist()
    assert world["age"].tolist()[1] == pytest.approx(np.mean([18, 65, 40, 33, 51]))
    assert world["city"].tolist()[2] in ("A", "B")
    assert world["member"].tolist() == [True, False, True, True, False, True]  # the more frequent
    assert world["since"].tolist()[3] == datetime(2024, 4, 1)
    kinds = {
        name: dtype.kind for name, dtype in world.dtypes.items() if name not in ("city", "buys")
    }
    assert kinds == {"age": "f", "since": "M", "wait": "m", "member": "b"}
    session.tell(1, value={"age": 30})
    assert session.world()["age"].dtype.kind == "i"  # whole numbers again
    again = IncompleteTable(session.world(), label="buys")
    assert again.dataset.n_worlds == 1


def test_the_likely_world(session: CleaningSession, table: IncompleteTable) -> None:
    session.tell(1, value={"age": 30})
    world = session.world("likely")
    assert not world.isna().to_numpy().any()
    for row, name in enumerate("uvwxyz"):
        if row in session.data.dirty_rows:
            likely = table.candidates(row)[int(np.argmax(session.data.prior(row)))]
            for column, value in likely.items():
                assert world.loc[name, column] == value
    assert world.loc["v", "age"] == 30


def test_the_likely_world_of_a_row_that_is_known_in_part() -> None:
    given = pd.DataFrame({"a": [0.0, None, 4.0, 2.0], "b": [0.0, None, 2.0, 4.0]})
    given = given.assign(c=[0, 1, 0, 1], y=list("abab"))
    repairs = {"a": [1.0, 3.0], "b": [2.0, 3.0]}
    table = IncompleteTable(given, label="y", prior="uniform", repairs=repairs)
    session = CleaningSession(table, given.dropna(), 1)
    session.tell(1, value={"a": 9.0})
    assert session.world("likely").loc[1, ["a", "b"]].tolist() == [9.0, 2.0]
    session.tell(1, value={"b": 3.0})
    assert session.world("likely").loc[1, ["a", "b"]].tolist() == [9.0, 3.0]


@pytest.mark.parametrize("fill", ["default", "likely"])
def test_the_world_of_polars_and_arrow_frames(fill: str) -> None:
    plain = frame().reset_index(drop=True)
    points = complete().reset_index(drop=True)
    for given, val, kind in (
        (pl.from_pandas(plain), pl.from_pandas(points), pl.DataFrame),
        (pa.Table.from_pandas(plain), pa.Table.from_pandas(points), pa.Table),
    ):
        session = CleaningSession(IncompleteTable(given, label="buys"), val, 1)
        session.tell(2, value={"city": OTHER})
        session.tell(1, value={"age": 30.5})
        world = session.world(fill)
        assert isinstance(world, kind)
        names = world.columns if kind is pl.DataFrame else world.column_names
        assert list(names) == plain.columns.tolist()
        back = world.to_pandas()
        assert not back.isna().to_numpy().any()
        assert back["city"].tolist()[2] == "other"
        assert back["age"].tolist()[1] == 30.5
        assert back["member"].dtype == bool
        assert back["buys"].tolist() == plain["buys"].tolist()


def test_the_world_of_numbers_as_categories_and_other() -> None:
    given = pl.DataFrame({"n": [1, 2, None, 2, 3], "x": [0.0, 1, 2, 3, 4], "y": list("ababa")})
    table = IncompleteTable(given, label="y", kinds={"n": "categorical"})
    session = CleaningSession(table, given.drop_nulls(), 1)
    session.tell(2, value={"n": "none of them"})
    assert session.world()["n"].to_list()[2] == "none of them"


def test_the_world_of_an_array() -> None:
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [2.0, np.nan], [4.0, 4.0]])
    session = CleaningSession(IncompleteTable(X, label=[0, 1, 0, 1]), X[[0, 3]], 1)
    world = session.world()
    assert world.columns.tolist() == ["x0", "x1"]
    assert world.to_numpy()[1, 0] == 2.0


def test_a_column_of_candidates_alone() -> None:
    given = pd.DataFrame({"a": [None, None, None], "b": [0.0, 1.0, 2.0], "y": [0, 1, 0]})
    table = IncompleteTable(given, label="y", repairs={"a": [1.0, 2.0]}, prior="uniform")
    session = CleaningSession(table, pd.DataFrame({"a": [1.0], "b": [0.5]}), 1)
    assert session.world()["a"].tolist() == [1.0, 1.0, 1.0]  # there is no mean


def test_a_column_of_nothing_keeps_its_holes() -> None:
    given = pd.DataFrame({"a": [None] * 3, "b": [0.0, None, 2.0], "c": [0, 1, 2], "y": [0, 1, 0]})
    with pytest.warns(UserWarning, match="no value is observed in column 'a'"):
        table = IncompleteTable(given, label="y")
    session = CleaningSession(table, pd.DataFrame({"a": [1.0], "b": [0.5], "c": [1]}), 1)
    assert session.world()["a"].isna().all()
    assert session.world()["b"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("fill", ["mean", None, np.zeros((6, 5))])
def test_a_fill_that_tables_do_not_know(session: CleaningSession, fill: object) -> None:
    with pytest.raises(CPCleanError, match=r'fill must be "default" or "likely" for a table; got'):
        session.world(fill)
