"""Files about the project say the same as the project: versions, dependencies, public names."""

import ast
import re
import tomllib
from pathlib import Path

import yaml

import cpclean

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def name_of(requirement: str) -> str:
    """The normalised name of a package in a requirement."""
    found = re.match(r"[\w.-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def test_the_version_is_released_in_changelog_and_citation():
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    releases = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", changes, re.MULTILINE)
    assert releases[0] == ("Unreleased", "")
    assert releases[1][0] == cpclean.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["date-released"]) == releases[1]
    assert citation["license"] == PROJECT["license"]


def test_every_direct_dependency_is_pinned_for_ci():
    lines = (ROOT / ".ci/constraints.txt").read_text("utf-8").splitlines()
    pinned = {name_of(line) for line in lines if re.match(r"[\w.-]+==[\w.]+", line)}
    extras = PROJECT["optional-dependencies"].values()
    direct = {name_of(one) for group in (PROJECT["dependencies"], *extras) for one in group}
    assert direct - {"cpclean"} <= pinned, "make .ci/constraints.txt anew, as its head says"


def test_every_dependency_has_a_lower_bound():
    extras = PROJECT["optional-dependencies"].values()
    every = {one for group in (PROJECT["dependencies"], *extras) for one in group}
    assert [one for one in every if ">=" not in one and name_of(one) != "cpclean"] == []


def test_the_workflow_runs_every_python_that_is_declared():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    declared = [one.rsplit(" ", 1)[1] for one in PROJECT["classifiers"] if ":: Python :: 3." in one]
    assert matrix["python"] == declared
    assert f">={declared[0]}" == PROJECT["requires-python"]
    systems = {*matrix["system"], *(one["system"] for one in matrix["include"])}
    assert systems == {"ubuntu-latest", "macos-latest", "windows-latest"}


def test_types_of_every_public_name_are_checked():
    tree = ast.parse((ROOT / "tests/typed/public_names.py").read_text("utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert set(cpclean.__all__) <= used
