"""A small project to test storages with."""

import numpy as np
import pandas as pd

from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model

N_DIRTY = 40


def settings_of(n_neighbors=3, metric="euclidean", **others):
    """Settings, with what the model consists of among the others."""
    return Settings(Model(n_neighbors, metric), **others)


def make_project(**settings):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 20, 50).astype(float), "b": rng.random(50)})
    frame["y"] = np.where(rng.random(50) < 0.5, "yes", "no")
    frame.loc[: N_DIRTY - 1, "a"] = np.nan
    table = IncompleteTable(frame, label="y", repairs={"a": [0, 10, 20]})
    points = pd.DataFrame({"a": rng.integers(0, 20, 6).astype(float), "b": rng.random(6)})
    return Project.make(Task.of(table, points, frame=frame), settings_of(**settings))
