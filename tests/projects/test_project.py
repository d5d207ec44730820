"""A project as bytes and back: every bit of it, for tables of all kinds."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_index_equal
from projects.making import settings_of
from sklearn.impute import SimpleImputer

from cpclean import IncompleteTable, read_csv
from cpclean.data.columns import ABSENT, OTHER
from cpclean.data.repairs import HoloRepair, quantiles
from cpclean.data.task import Task
from cpclean.errors import FutureError, StorageError, TableError
from cpclean.intake.textfile import TextFile
from cpclean.projects import frame_bytes as frames
from cpclean.projects import packing
from cpclean.projects.fingerprint import fingerprint
from cpclean.projects.plain_values import packed, unpacked
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model

N = 24


def mixed(seed=0):
    """A pandas frame with columns of every kind, each with holes."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 50, N)
    days = pd.to_datetime("2024-02-29") + pd.to_timedelta(numbers, unit="D")
    frame = pd.DataFrame(
        {
            "float": rng.normal(size=N).round(3),
            "small": rng.random(N).astype("float32"),
            "whole": pd.array(numbers, dtype="Int64"),
            "text": rng.choice(["a", "b", "ü ' \" \n", "other"], N),
            "object": pd.array(rng.choice(["x", "y"], N), dtype=object),
            "category": pd.Categorical(rng.choice(["lo", "hi"], N), ["lo", "mid", "hi"], True),
            "flag": pd.array(rng.random(N) < 0.5, dtype="boolean"),
            "day": days,
            "zoned": days.tz_localize(ZoneInfo("Europe/Berlin")),
            "lasts": pd.to_timedelta(numbers, unit="min"),
        },
        index=pd.Index([f"row {n}" for n in range(N)], name="id"),
    )
    for place, name in enumerate(frame.columns):
        frame.loc[frame.index[place], name] = None
    frame["certain"] = np.arange(N) % 7
    frame["y"] = np.where(np.arange(N) % 3, "no", "yes")
    return frame


def numbers(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 9, N) / 3, "b": rng.random(N), "c": rng.random(N)})
    frame.loc[:6, "a"] = np.nan
    frame.loc[4:9, "b"] = np.nan
    frame["y"] = np.arange(N) % 3
    return frame


def domains():
    text = (
        "age[18|30|65],pets,city,y\n40,[2|3],A,no\n,0,[A|B|C],yes\n50,1,B,no\n,2,C,yes\n20,4,A,no\n"
    )
    return read_csv(io.StringIO(text), domains=True)


def complete(frame, n=5):
    return frame.drop(columns="y").dropna().tail(n)


def weights(column, values, everyone, own):
    return np.arange(1, len(values) + 1)


def made(frame, points=None, settings=None, labels=None, **options):
    table = IncompleteTable(frame, label="y", **options)
    points = complete(frame) if points is None else points
    return Project.make(Task.of(table, points, labels, frame=frame), settings)


CASES = {
    "mixed": lambda: made(mixed()),
    "mixed, uniform": lambda: made(mixed(), prior="uniform", scaling="standard"),
    "numbers": lambda: made(numbers()),
    "labels known": lambda: made(numbers(), labels=[0, 1, 2, 0, 1]),
    "dict repairs": lambda: made(numbers(), repairs={"a": [0.1, 0.2], "b": quantiles(4)}),
    "imputers": lambda: made(
        numbers(), repairs=[SimpleImputer(), SimpleImputer(strategy="median")], prior="uniform"
    ),
    "holoclean": lambda: made(mixed(), repairs="holoclean", prior="holoclean"),
    "own repair": lambda: made(mixed(), repairs=HoloRepair(bins=4), prior=weights),
    "dict prior": lambda: made(numbers(), repairs={"a": [1, 2]}, prior={"a": {1.0: 3, 2.0: 1}}),
    "suspects": lambda: made(numbers(), suspects=[(12, "c"), (13, "a")]),
    "kinds": lambda: made(mixed(), kinds={"whole": "categorical", "certain": "categorical"}),
    "weights": lambda: made(numbers(), weights={"a": 0.3}, max_exact=4),
    "polars": lambda: made(
        pl.from_pandas(mixed().reset_index(drop=True)),
        pl.from_pandas(complete(mixed()).reset_index(drop=True)),
    ),
    "pyarrow": lambda: made(
        pa.Table.from_pandas(numbers(), preserve_index=False),
        pa.Table.from_pandas(complete(numbers()), preserve_index=False),
    ),
    "domains": lambda: made(domains(), domains().frame.drop(columns="y").dropna()),
    "domains of points": lambda: made(
        domains(),
        read_csv(io.StringIO("age[18|30],pets,city\n18,2,A\n30,0,B\n"), domains=True),
    ),
    "array": lambda: Project.make(
        Task.of(
            IncompleteTable(numbers().to_numpy(), label=list("ab" * (N // 2))),
            complete(numbers()).assign(y=0).to_numpy(),
            frame=numbers().to_numpy(),
        )
    ),
    "rows by other names": lambda: Project.make(
        Task.of(
            IncompleteTable(numbers(), label="y"),
            complete(numbers(), 3),
            row_names=np.arange(N) * 2 + 5,
            point_names=[40, 7, 9],
        )
    ),
    "unlabelled rows": lambda: made(
        numbers().assign(y=[None, *["a", "b"] * 11, "a"]), drop_unlabelled=True
    ),
    "equal points": lambda: made(numbers(), pd.concat([complete(numbers(), 2)] * 2)),
}


@pytest.fixture(params=CASES)
def case(request, recwarn):
    project = CASES[request.param]()
    recwarn.clear()
    return project


def bits(data):
    return {
        name: one.tolist() if one.dtype.kind == "O" else (one.dtype.str, one.shape, one.tobytes())
        for name, one in {
            **data.arrays._asdict(),
            "codes": data.codes,
            "classes": data.classes,
        }.items()
    }


def answered(session, n=4):
    """Answer a few questions: by candidate, by value, by skipping."""
    rows = []
    for turn in range(n):
        question = session.ask()
        if question is None:
            break
        rows.append((question.row, question.gain, question.candidates, question.prior.tolist()))
        if turn == 2:
            session.skip(question.row)
        elif turn == 1 and question.candidates[0]:
            name, value = next(iter(question.candidates[0].items()))
            session.tell(question.row, value={name: value})
        else:
            session.tell(**question.answer(len(question.candidates) - 1))
    return rows


def test_every_bit_comes_back(case, recwarn):
    again = Project.from_bytes(case.to_bytes())
    assert bits(again.table.dataset) == bits(case.table.dataset)
    assert again.task.points.all_vectors().tobytes() == case.task.points.all_vectors().tobytes()
    for name in ("labels", "row_names", "point_names"):
        mine, theirs = getattr(case.task, name), getattr(again.task, name)
        assert (mine is None) == (theirs is None)
        assert mine is None or mine.tolist() == theirs.tolist()
    assert [again.cells(row) for row in again.dirty_rows] == [
        case.cells(row) for row in case.dirty_rows
    ]
    assert again.digest() == case.digest()
    assert dict(again.table.options.items()) == dict(case.table.options.items())
    assert again.table.space == case.table.space
    assert again.settings == case.settings
    assert again.belongs == case.belongs
    assert [again.table.row(n) for n in range(case.n_rows)] == [
        case.table.row(n) for n in range(case.n_rows)
    ]
    assert again.table.report == case.table.report
    assert again.to_bytes() == case.to_bytes()
    assert not recwarn.list  # nothing is worked out anew, so nothing is warned of again


def test_a_session_goes_on_the_same(case):
    one, two = case.session(), Project.from_bytes(case.to_bytes()).session()
    assert answered(one) == answered(two)
    assert one.answers == two.answers
    assert one.certain_share == two.certain_share
    assert one.mean_entropy == two.mean_entropy
    assert str(one.world()) == str(two.world())
    assert type(one.world()) is type(two.world())
    replayed = Project.from_bytes(case.to_bytes()).session(one.answers)
    assert (replayed.ask() is None) == (one.ask() is None)
    assert replayed.answers == one.answers


def test_frames_come_back(case):
    again = Project.from_bytes(case.to_bytes())
    for mine, theirs in ((case.frame, again.frame), (case.raw_points, again.raw_points)):
        assert type(theirs) is type(mine)
        if isinstance(mine, pd.DataFrame):
            assert_frame_equal(mine, theirs, check_freq=False)
            assert_index_equal(mine.index, theirs.index)
            assert mine.dtypes.tolist() == theirs.dtypes.tolist()
        elif isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)
        elif hasattr(mine, "equals"):
            assert mine.equals(theirs)
            assert mine.schema == theirs.schema
        else:
            assert mine == theirs


def test_values_that_are_listed_for_points_come_back():
    frame = pd.DataFrame({"a": [0.0, None, 8.0], "c": ["x", "y", "z"], "y": [0, 1, 0]})
    table = IncompleteTable(frame, "y", {"a": [2.0, 6.0], "c": ["x", "z"]})
    project = Project.make(Task.of(table, frame[["a", "c"]][:1]))
    again = Project.from_bytes(project.to_bytes()).table
    assert again.column_values == {"a": (2.0, 6.0), "c": ("x", "z")}
    points = pd.DataFrame({"a": [1.0, None], "c": [None, "x"]})
    assert again.points(points).vectors.tolist() == table.points(points).vectors.tolist()


def test_a_project_without_the_frame():
    table = IncompleteTable(numbers(), label="y")
    again = Project.from_bytes(Project.make(Task.of(table, complete(numbers()))).to_bytes())
    assert again.frame is None
    assert again.session().ask() is not None


@pytest.mark.slow
def test_another_process_asks_the_same(tmp_path):
    project = made(mixed())
    session = project.session()
    answered(session, 2)
    (tmp_path / "project").write_bytes(project.to_bytes())
    (tmp_path / "log").write_text(json.dumps(session.answers))
    code = (
        "import json, pathlib; from cpclean.projects.project import Project;"
        f"folder = pathlib.Path({str(tmp_path)!r});"
        "project = Project.from_bytes((folder / 'project').read_bytes());"
        "session = project.session(json.loads((folder / 'log').read_text()));"
        "question = session.ask();"
        "print(project.digest(), question.row, question.gain.hex(), session.mean_entropy.hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    question = session.ask()
    expected = [project.digest(), question.row, question.gain.hex(), session.mean_entropy.hex()]
    assert done.stdout.split() == list(map(str, expected))


def test_a_machine_without_the_frames_library(monkeypatch):
    content = CASES["polars"]().to_bytes()
    for module in (frames, sys.modules["cpclean.projects.table_bytes"]):
        monkeypatch.setattr(module, "is_installed", lambda library: library == "pandas")
    again = Project.from_bytes(content)
    assert isinstance(again.session().world(), pd.DataFrame)
    with pytest.raises(StorageError, match="a frame of polars, which is not installed here"):
        _ = again.frame


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(3, 3 + N),
        pd.MultiIndex.from_arrays([range(N), list("ab" * (N // 2))], names=["n", None]),
        pd.DatetimeIndex([f"2024-01-{n + 1}" for n in range(N)], tz="UTC", name="when"),
        pd.Index([None, *range(1, N)], dtype=object),
    ],
)
def test_an_index_comes_back(index):
    frame = numbers().set_axis(index)
    project = made(frame, complete(numbers()))
    again = Project.from_bytes(project.to_bytes())
    assert_index_equal(again.frame.index, index)
    assert_index_equal(again.session().world().index, index)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, 2, None], dtype="Float32"),
        pd.Series([1, 2, 3], dtype="uint8"),
        pd.Series([True, False, True]),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"]),
        pd.Series([1 + 2j, 3, 4]),
        pd.Series([None, float("nan"), pd.NA], dtype=object),
        pd.Series([1, "1", 1.5], dtype=object),
        pd.Series([pd.NaT, date(2024, 1, 1), time(12, 30, tzinfo=UTC)], dtype=object),
        pd.Series(np.array([123456789, "NaT", 0], dtype="M8[ns]")),
        pd.Series(pd.to_timedelta([1, None, 3], unit="ns")),
        pd.Series([1, 2, None], dtype="int64[pyarrow]"),
        pd.Series(pd.Categorical([1, 2, None], categories=[3, 2, 1])),
    ],
)
def test_a_column_comes_back(series):
    frame = pd.DataFrame({7: series})
    into = packing.Packer()
    plain = frames.pack_frame(frame, into)
    source = packing.Unpacker(into.done(plain))
    again = frames.unpack_frame(source.plain, source)
    assert again.dtypes.tolist() == frame.dtypes.tolist()
    assert list(again.columns) == [7]
    assert repr(again[7].tolist()) == repr(series.tolist())


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -7, 2**80, "text \0 \ud800", 1.5, -0.0, 5e-324,
        float("inf"), (1, ("a", None)), [1, [2.5]], {"a": {1: 2}}, b"\x00\xff",
        Decimal("1.10"), 1 - 2j, date(2024, 2, 29), time(1, 2, 3, 4),
        datetime(2024, 1, 1, 1, 2, 3, 456), datetime(1, 1, 1, tzinfo=UTC),
        datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        timedelta(days=-1, microseconds=1), np.datetime64("2024-01-01T00:00:00.123456789"),
        np.timedelta64(3, "h"),
    ],
)  # fmt: skip
def test_a_value_comes_back(value):
    again = unpacked(json.loads(json.dumps(packed(value, "here"), allow_nan=False)))
    assert repr(again) == repr(value)
    assert type(again) is type(value)


def test_marks_come_back_as_themselves():
    assert [unpacked(packed(mark, "here")) for mark in (OTHER, ABSENT)] == [OTHER, ABSENT]
    assert unpacked(packed(OTHER, "here")) is OTHER


@pytest.mark.parametrize(
    ("value", "plain"), [(np.int8(3), 3), (np.str_("a"), "a"), (np.True_, True)]
)
def test_numbers_of_numpy_become_plain(value, plain):
    assert type(unpacked(packed(value, "here"))) is type(plain)
    assert unpacked(packed(value, "here")) == plain


# -- what is refused -------------------------------------------------------------------------------


def test_values_that_cannot_be_stored_are_refused():
    frame = numbers().assign(odd=pd.cut(numbers()["c"], 3).astype(object))
    with pytest.raises(
        TableError, match=r"column 'odd' has .* of type Interval, which cannot be saved"
    ):
        made(frame, complete(frame)).to_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "precomputed"}, "the metric of a project must be one of euclidean"),
        ({"metric": abs}, "only what has a name can be saved"),
        ({"strategy": lambda situation: situation.gain}, "the strategy of a project must be one"),
        ({"answers_per_row": 0}, "answers_per_row must be an int of at least 1; got 0"),
        ({"answers_per_row": 2, "strategy": "cells"}, "people can only agree on whole rows"),
        ({"n_neighbors": 99}, "n_neighbors must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"target_share": 2}, "target_share must be"),
        ({"strategy": "cost"}, 'strategy "cost" needs costs'),
        ({"about": ["a.csv"]}, "about must be a dict or None; got list"),
        (
            {"about": {"file": object()}},
            "the settings of a project must be something JSON can hold",
        ),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(Exception, match=message):
        made(numbers(), settings=settings_of(**settings))


def test_settings_come_back():
    settings = Settings(
        Model(5, "manhattan"),
        "cost",
        2,
        7,
        30,
        0.9,
        0.001,
        np.arange(1.0, N + 1),
        {"file": "a.csv"},
    )
    project = made(numbers(), settings=settings)
    again = Project.from_bytes(project.to_bytes())
    assert again.settings.costs == list(range(1, N + 1))
    assert again.settings.about == {"file": "a.csv"}
    session = again.session()
    assert (session.n_neighbors, session.metric, session.strategy) == (5, "manhattan", "cost")
    assert (session.budget, session.target_share, session.min_gain) == (30, 0.9, 0.001)
    assert session.random_state == 7


def test_a_dataset_is_not_enough():
    with pytest.raises(
        TableError, match="a project needs an IncompleteTable; got IncompleteDataset"
    ):
        Project.make(Task.of(IncompleteTable(numbers(), label="y").dataset, [[0.0, 0.0, 0.0]]))


def test_encoded_points_are_not_enough():
    table = IncompleteTable(numbers(), label="y")
    with pytest.raises(TableError, match=r"in the columns of the table; got encoded points\. Make"):
        Project.make(Task.of(table, table.points(complete(numbers()))))


def test_other_settings_for_the_same_answers():
    project = made(numbers())
    other = project.with_settings(replace(project.settings, answers_per_row=2))
    assert (other.settings.answers_per_row, project.settings.answers_per_row) == (2, 1)
    assert other.belongs == project.belongs
    with pytest.raises(TableError, match="answers_per_row must be an int of at least 1; got 0"):
        project.with_settings(replace(project.settings, answers_per_row=0))


@pytest.mark.parametrize("change", ["cut", "empty", "text"])
def test_bytes_that_are_not_a_project(change):
    content = made(numbers()).to_bytes()
    odd = {"cut": content[: len(content) // 2], "empty": b"", "text": b"a,b\n1,2\n"}[change]
    with pytest.raises(StorageError, match="the saved project cannot be read"):
        Project.from_bytes(odd)


def test_other_bytes_of_ours_are_not_a_project():
    with pytest.raises(StorageError, match="these bytes are not a saved project"):
        Project.from_bytes(packing.Packer().done({"cpclean": "else"}))


def test_a_project_from_the_future_is_refused():
    content = packing.Packer().done({"cpclean": "project", "format": 99})
    with pytest.raises(
        FutureError, match=r"newer cpclean \(format 99; this one reads formats up to 5\). Upgrade"
    ):
        Project.from_bytes(content)


def test_an_unknown_kind_of_value_is_refused():
    with pytest.raises(StorageError, match="a value of kind 'colour', which this cpclean does not"):
        unpacked({"colour": "red"})


# -- the file it was read from, and what files of answers say of it --------------------------------


def test_the_text_comes_back_and_older_projects_have_none():
    frame = numbers()
    table = IncompleteTable(frame, label="y")
    text = TextFile(b"a;b\r\n\xe4;1,0\r\n", ";", "latin-1", ",", ".tsv")
    points = frame.dropna().drop(columns="y")
    task = Task.of(table, points, frame=frame)
    project = Project.make(task, text=text)
    assert Project.from_bytes(project.to_bytes()).text == text
    without = Project.make(task)
    assert without.belongs == project.belongs
    assert Project.from_bytes(without.to_bytes()).text is None


def test_what_a_file_of_answers_belongs_to():
    frame = numbers()
    table, points = IncompleteTable(frame, label="y"), frame.dropna().drop(columns="y")
    about = {"repairs": "default", "prior": "label"}
    project = Project.make(Task.of(table, points), Settings(strategy="random", about=about))
    hashes = fingerprint(table, points)
    assert Project.from_bytes(project.to_bytes()).journal_belongs == {
        **hashes, "label": "y", "neighbors": 3, "metric": "euclidean", "repairs": "default",
        "prior": "label", "strategy": "random", "seed": 0,
    }  # fmt: skip
    assert Project.make(Task.of(table, points)).journal_belongs["prior"] is None, "it has no name"


# Rows 4 to 6 have two holes.
WORDS = st.tuples(st.integers(4, 6), st.sampled_from(["0", "1", "a", "b", "skip"]))


@hypothesis.settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=12))
def test_news_are_what_a_session_records(steps):
    project = CASES["numbers"]()
    log = []
    for row, what in steps:
        if what == "skip":
            log.append({"row": row, "skip": True})
        elif what.isdigit():
            log.append(project.entry(row, int(what)))
        else:
            log.append(project.entry(row, value={what: 0.25}))
    recorded = project.session(log).answers
    assert [log[place] for place in project.news(log)] == recorded
