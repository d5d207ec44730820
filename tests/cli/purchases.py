"""A table of purchases with holes of every kind, and `cpclean clean` run over it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import plain_program
from click.testing import CliRunner

from cpclean.cli import main

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("--label", "buys", "--drop", "name", "--kind", "since=date")
HOLES = ("age", "income", "city", "member", "since")


def true_table(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    buys = rng.integers(2, size=n)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(900, size=n), unit="D")
    return pd.DataFrame(
        {
            "name": [f"{number:03d}" for number in range(n)],
            "age": rng.integers(18, 50, size=n) + 25 * buys,
            "income": (rng.normal(3 + buys, 1, size=n) * 1000).round(2),
            "city": np.array(["Aarau", "Bern", "St. Gallen", "Genf"])[rng.integers(4, size=n)],
            "member": np.where(rng.random(n) < 0.5, "TRUE", "FALSE"),
            "since": days.strftime("%Y-%m-%d"),
            "buys": np.where(buys, "yes", "no"),
        }
    )


def with_holes(truth: pd.DataFrame) -> pd.DataFrame:
    rng, dirty = np.random.default_rng(6), truth.astype(object)
    for number, row in enumerate(rng.permutation(len(truth))[: len(truth) // 3].tolist()):
        names = rng.permutation(HOLES)[: 2 if number % 4 == 0 else 1]
        dirty.loc[row, list(names)] = None
    return dirty


def run(*args: str, said: str = "", options=OPTIONS):
    return CliRunner().invoke(main, ["clean", "train.csv", *options, *args], input=said)


def events(path: str = "train.csv.answers.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()[1:]]


def held_out() -> list[int]:
    """The rows of train.csv that are predicted instead of being asked about."""
    told = CliRunner().invoke(main, ["check", "train.csv", *OPTIONS, "--json"]).stdout
    return [one["row"] for one in json.loads(told)]


def asked(text: str) -> list[int]:
    """The rows that are asked for, in order."""
    return [int(row) for row in re.findall(r"^Row (\d+), line", text, re.MULTILINE)]


def cells(path: str) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, na_filter=False)


def start(*args: str, encoding_of_output: str = "", **options) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    if encoding_of_output:
        env |= {"PYTHONIOENCODING": encoding_of_output}
    code = plain_program.CODE
    command = [sys.executable, "-c", code, "clean", "train.csv", *OPTIONS, *args]
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given |= {"text": True, "bufsize": 1}
    return subprocess.Popen(command, env=env, **{**given, **options})
