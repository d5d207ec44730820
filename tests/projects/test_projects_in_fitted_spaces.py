"""Projects in the space of a fitted object: trees are saved as any others, code is not."""

import pickle

import numpy as np
import pandas as pd
import pytest
from projects.making import settings_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler

from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import TableError
from cpclean.projects.fingerprint import fingerprint
from cpclean.projects.project import Project


def made(fitted):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)).round(2), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] > frame["b"], "yes", "no")
    fitted.fit(frame[["a", "b"]], frame["y"])
    points = frame[["a", "b"]][:20]
    frame.loc[::2, "a"] = None
    table = IncompleteTable(frame, label="y", space=fitted)
    return Project.make(Task.of(table, points, frame=frame), settings_of(5))


def test_a_fitted_forest_opens_as_it_was(monkeypatch):
    project = made(RandomForestClassifier(9, random_state=0))
    with monkeypatch.context() as patched:
        for name in ("loads", "dumps", "Unpickler", "Pickler"):
            patched.setattr(pickle, name, None)
        again = Project.from_bytes(project.to_bytes())
    assert again.table.dataset == project.table.dataset
    assert again.table.leaves == project.table.leaves
    assert project.session().ask() is not None
    one, two = (each.session().ask() for each in (project, again))
    assert (one.row, one.gain) == (two.row, two.gain)
    points = pd.DataFrame({"a": [0.0], "b": [0.5]})
    assert fingerprint(again.table, points)["space"] == "fitted"


def test_code_is_not_saved():
    project = made(StandardScaler())
    match = r"space of a fitted StandardScaler cannot be saved.*plain space.*space=\"forest\""
    with pytest.raises(TableError, match=match):
        project.to_bytes()
