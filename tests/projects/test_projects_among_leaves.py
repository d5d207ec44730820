"""Projects among the leaves of trees: saved without pickles, and opened as they were."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from projects.making import make_project, settings_of

from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.tree_features import CodedFeature, TreeSpace
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import FutureError, TableWarning
from cpclean.projects import project as projects
from cpclean.projects.fingerprint import differences, fingerprint
from cpclean.projects.packing import Packer, Unpacker
from cpclean.projects.project import Project
from cpclean.projects.table_bytes import pack_dataset, unpack_dataset

SMALL = LeafSpace(n_trees=np.int64(12), n_worlds=3)


def frame(seed, n_rows):
    rng = np.random.default_rng(seed)
    size, hue = rng.normal(size=n_rows).round(2), rng.choice(["red", "green", "blue"], n_rows)
    made = pd.DataFrame({"size": size, "hue": hue, "day": pd.Timestamp("2024-02-29")})
    made["day"] += pd.to_timedelta(rng.integers(0, 30, n_rows), unit="D")
    made["y"] = np.where((size > 0) ^ (hue == "red"), "yes", "no")
    for column in ("size", "hue", "day"):
        made.loc[rng.random(n_rows) < 0.15, column] = None
    return made


def made(space=SMALL, **options):
    table = IncompleteTable(frame(0, 50), label="y", space=space, **options)
    points = frame(1, 8)
    task = Task.of(table, points.drop(columns="y"), points["y"].tolist(), frame=frame(0, 50))
    return Project.make(task, settings_of(5))


@pytest.fixture(scope="module", params=[SMALL, LeafSpace("random", 10)], ids=["forest", "random"])
def project(request):
    return made(request.param)


def test_it_opens_as_it_was(project, monkeypatch):
    for name in ("loads", "dumps", "Unpickler", "Pickler"):
        monkeypatch.setattr(pickle, name, None)
    content = project.to_bytes()
    again = Project.from_bytes(content)
    assert again.to_bytes() == content
    assert again.digest() == project.digest()
    mine, theirs = project.table, again.table
    assert theirs.dataset == mine.dataset
    assert theirs.dataset.space.digest == mine.dataset.space.digest
    assert isinstance(theirs.space, TreeSpace)
    assert theirs.space == mine.space
    assert any(isinstance(one, CodedFeature) for one in theirs.space.features)
    assert [view.tolist() for view in theirs.space.views] == [v.tolist() for v in mine.space.views]
    assert theirs.leaves == mine.leaves
    strange = pd.DataFrame({"size": [0.5], "hue": ["violet"], "day": [None]})
    found = []
    for table in (mine, theirs):
        with pytest.warns(TableWarning, match="encoded as no category: 1 in column 'hue'"):
            found.append(table.points(strange).vectors.tolist())
    assert found[0] == found[1]


@pytest.mark.slow
def test_another_process_asks_the_same(tmp_path):
    project = made()
    session = project.session()
    session.tell(**session.ask().answer(0))
    row = session.ask().row
    session.tell(row, value={cell: NEW[cell] for cell in project.cells(row)})
    session.refit()
    session.tell(**session.ask().answer(0))
    assert project.news(session.answers) == [0, 1, 2, 3]
    assert project.news([{"refit": True}, *session.answers[:3], {"refit": True}]) == [1, 2, 3]
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


NEW = {"size": 0.123, "hue": "violet", "day": "2024-03-05"}  # no candidates


def test_trees_are_saved_in_a_format_of_their_own(project, monkeypatch):
    assert Unpacker(project.to_bytes()).plain["format"] == 3
    assert Unpacker(made("plain").to_bytes()).plain["format"] == 2  # its points have holes
    assert Unpacker(make_project().to_bytes()).plain["format"] == 1
    monkeypatch.setattr(projects, "FORMAT", 2)  # an earlier version would forget the trees
    with pytest.raises(FutureError, match=r"newer cpclean \(format 3; this one reads .* up to 2"):
        Project.from_bytes(project.to_bytes())


def test_a_dataset_carries_its_trees(project):
    into = Packer()
    source = Unpacker(into.done(pack_dataset(project.task.dataset, into)))
    assert unpack_dataset(source.plain, source) == project.task.dataset


def test_other_trees_are_another_digest():
    one, other = made(), made(random_state=1)
    assert one.table.dataset.space.digest != other.table.dataset.space.digest
    assert one.digest() != other.digest()
    assert one.digest() == made().digest()


def test_the_fingerprint_says_which_space_it_is():
    tables = {
        space: IncompleteTable(frame(0, 50), label="y", space=space)
        for space in ("plain", "random", SMALL)
    }
    points = frame(1, 8).drop(columns="y")
    found = {space: fingerprint(table, points) for space, table in tables.items()}
    assert "space" not in found["plain"]  # as before there was a choice
    assert differences(found["plain"], found["random"]) == ["space was 'plain' and is 'random'"]
    assert differences(found["random"], found["plain"]) == ["space was 'random' and is 'plain'"]
    told = "space was 'random' and is 'forest (n_trees 12, n_worlds 3)'"
    assert differences(found["random"], found[SMALL]) == [told]
    assert differences({}, {"space": "forest", "max_exact": 9}) == [
        "space was 'plain' and is 'forest'"
    ]
    assert differences({"space": "forest"}, {"space": "forest", "max_exact": 9}) == [
        "max_exact was 125 and is 9"
    ]
    assert made().journal_belongs["space"] == "forest (n_trees 12, n_worlds 3)"
