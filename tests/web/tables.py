"""Projects to test the page with."""

from functools import cache

import numpy as np
import pandas as pd
from projects.making import settings_of

from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage


def small_project(n_dirty=40, n_points=12, **settings):
    """Rows 0 to n_dirty - 1 lack "size", every third of them "town" too; labels are noise."""
    made = _small_project(n_dirty, n_points)
    return made.with_settings(settings_of(**settings)) if settings else made


@cache
def _small_project(n_dirty, n_points):
    rng = np.random.default_rng(0)
    n = n_dirty + 10
    frame = pd.DataFrame(
        {
            "size": rng.integers(0, 20, n).astype(float),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "age": rng.integers(18, 90, n),
        }
    )
    frame["y"] = np.where(rng.random(n) < 0.5, "yes", "no")
    points = pd.DataFrame(
        {
            "size": rng.integers(0, 20, n_points).astype(float),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n_points),
            "age": rng.integers(18, 90, n_points),
        }
    )
    frame.loc[: n_dirty - 1, "size"] = np.nan
    frame.loc[: n_dirty - 1 : 3, "town"] = None
    table = IncompleteTable(frame, label="y", repairs={"size": [0, 10, 20]})
    labels = np.where(rng.random(n_points) < 0.5, "yes", "no")
    return Project.make(Task.of(table, points, labels, frame=frame), settings_of())


def stored(url, project=None, **options):
    """A storage with a project in it."""
    storage = open_storage(url)
    storage.create(small_project(**options) if project is None else project)
    return storage
