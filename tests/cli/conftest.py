"""Files for `cpclean clean`; tests of other commands have their own."""

import pytest
from cli.purchases import true_table, with_holes
from clocks import slow_clock  # noqa: F401
from forests import small_forests  # noqa: F401


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with train.csv and truth.csv, which is the current one."""
    monkeypatch.chdir(tmp_path)
    truth = true_table()
    truth.to_csv("truth.csv", index=False)
    with_holes(truth).to_csv("train.csv", index=False)
    return tmp_path
