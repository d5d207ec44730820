"""The commands with --cluster, and tables of files that workers read."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from waiting import PATIENCE

from cpclean import CertainKNeighborsClassifier, CleaningSession, StreamedTable
from cpclean.cli import main
from cpclean.queries.near_scan import gather

pytestmark = pytest.mark.slow


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 9, (240, 3)).astype(float), columns=list("abc"))
    frame["k"] = rng.choice(["x", "y", "z"], 240)
    frame.loc[rng.random(240) < 0.2, "a"] = None
    frame.loc[rng.random(240) < 0.2, "k"] = None
    frame["label"] = rng.choice(["no", "yes"], 240)
    frame.to_csv(tmp_path / "train.csv", index=False)
    return frame


def said(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_commands_say_the_same(local, table, tmp_path):
    file = tmp_path / "train.csv"
    own = ["--label", "label", "--space", "plain", "--val-share", "0.6", "--json"]
    for command in ("check", "rank"):
        here = json.loads(said(command, file, *own))
        there = json.loads(said(command, file, *own, "--cluster", local.address))
        assert there == here


def test_nobody_at_the_address(tmp_path, table):
    val = ["--val", str(tmp_path / "train.csv")]
    for file, *more in ([tmp_path / "train.csv"], [tmp_path / "not-there-*.csv", *val]):
        words = ["check", str(file), "--label", "label", *more]
        done = CliRunner().invoke(main, [*words, "--cluster", "tcp://127.0.0.1:9"])
        assert done.exit_code == 2
        assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.stderr  # before files
        assert "Traceback" not in done.stderr


def test_workers_read_the_files_of_a_table(local, table, tmp_path):
    pytest.importorskip("pyarrow")
    for part in range(3):
        piece = table.iloc[80 * part : 80 * (part + 1)]
        piece.to_parquet(tmp_path / f"part-{part}.parquet", row_group_size=25)
    files = StreamedTable(str(tmp_path / "*.parquet"), label="label")
    points = files.points(table.drop(columns="label"))
    here, there = gather(files, points), gather(files, points, cluster=local)
    assert there.rows_kept.tolist() == here.rows_kept.tolist()
    assert np.array_equal(there.dataset.arrays.base, here.dataset.arrays.base)
    made = CertainKNeighborsClassifier().fit(files)
    rows = table.drop(columns="label")
    assert np.array_equal(made.predict_proba(rows, cluster=local), made.predict_proba(rows))


def test_a_session_over_files_is_the_same(local, table, tmp_path):
    for part in range(2):
        table.iloc[120 * part : 120 * (part + 1)].to_csv(tmp_path / f"p{part}.csv", index=False)
    files = StreamedTable(str(tmp_path / "p*.csv"), label="label")
    rows = table.drop(columns="label").iloc[:60]
    here, there = (CleaningSession(files, rows, cluster=one) for one in (None, local))
    for _ in range(4):
        question, other = here.ask(), there.ask()
        assert (other.row, other.gain, other.file) == (question.row, question.gain, question.file)
        here.tell(**question.answer(0))
        there.tell(**question.answer(0))
        assert there.certain_share == here.certain_share


_INTERRUPTED = """
import os, signal, sys, time
from threading import Thread
from cpclean.cli import main
from cpclean.cluster import dask_cluster

def interrupt():  # as a terminal does, all processes at once
    while not dask_cluster._known:
        time.sleep(0.05)
    os.killpg(0, signal.SIGINT)

Thread(target=interrupt, daemon=True).start()
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs groups of processes")
def test_an_interrupt_ends_workers_without_a_word(tmp_path, table):
    words = ["check", "train.csv", "--label", "label", "--space", "plain", "--cluster", "local"]
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, *words],
        cwd=tmp_path, capture_output=True, text=True, start_new_session=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert done.stderr == "Interrupted.\n"
