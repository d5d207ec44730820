"""A small project, as the storages have it."""

import pytest
from projects.making import make_project


@pytest.fixture(scope="session")
def project():
    """A project whose rows 0 to 39 have a hole, with three candidates each."""
    return make_project()
