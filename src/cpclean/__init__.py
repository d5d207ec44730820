"""Certain predictions over incomplete data, for nearest-neighbour classifiers.

The way the data takes, which is also the order of the folders::

    a table with holes               any dataframe, array or file
        │
        ▼
    data      IncompleteTable        what each hole might hold, how likely that is, and the space
              IncompleteDataset      one table that stands for many worlds: one candidate a row each
        │
        ▼
    queries   is_certain             do all worlds predict the same label?
              world_counts           how many worlds predict each label? (world_shares: which share)
              expected_entropies     which row, once cleaned, tells most?
        │
        ▼
    classifier  CertainKNeighborsClassifier   the same with scikit-learn's face
        │
        ▼
    cleaning  CleaningSession        ask a person for the row that matters most, tell the answer
        │
        ▼
    cli       cpclean                the same questions in a terminal

Modules import only from their own station and from those above it. The names below are looked up
when they are first used, so that ``import cpclean`` itself loads neither compiler nor dataframes.
"""

from typing import TYPE_CHECKING

__all__ = [
    "CPCleanError",
    "Cell",
    "CertainKNeighborsClassifier",
    "CleaningSession",
    "FactoredRow",
    "IncompleteDataset",
    "IncompleteTable",
    "__version__",
    "conditional_shares",
    "entropies",
    "expected_entropies",
    "is_certain",
    "possible_labels",
    "read_csv",
    "read_table",
    "simulate",
    "world_counts",
    "world_shares",
    "write_domains",
]

_HOMES = {
    "CPCleanError": "cpclean.errors",
    "Cell": "cpclean.data.incomplete",
    "CertainKNeighborsClassifier": "cpclean.classifier",
    "CleaningSession": "cpclean.cleaning.session",
    "FactoredRow": "cpclean.data.incomplete",
    "IncompleteDataset": "cpclean.data.incomplete",
    "IncompleteTable": "cpclean.data.table",
    "conditional_shares": "cpclean.queries.gains",
    "entropies": "cpclean.queries.shares",
    "expected_entropies": "cpclean.queries.gains",
    "is_certain": "cpclean.queries.certain",
    "possible_labels": "cpclean.queries.certain",
    "read_csv": "cpclean.intake.reading",
    "read_table": "cpclean.intake.reading",
    "simulate": "cpclean.cleaning.simulation",
    "world_counts": "cpclean.queries.shares",
    "world_shares": "cpclean.queries.shares",
    "write_domains": "cpclean.data.domains",
}

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier
    from cpclean.cleaning.session import CleaningSession
    from cpclean.cleaning.simulation import simulate
    from cpclean.data.domains import write_domains
    from cpclean.data.incomplete import Cell, FactoredRow, IncompleteDataset
    from cpclean.data.table import IncompleteTable
    from cpclean.errors import CPCleanError
    from cpclean.intake.reading import read_csv, read_table
    from cpclean.queries.certain import is_certain, possible_labels
    from cpclean.queries.gains import conditional_shares, expected_entropies
    from cpclean.queries.shares import entropies, world_counts, world_shares

    __version__: str
else:
    # Hidden from type checkers, which would otherwise accept any misspelt name.
    def __getattr__(name):
        if name == "__version__":
            value = _installed_version()
        elif name in _HOMES:
            from importlib import import_module

            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module 'cpclean' has no attribute {name!r}")
        globals()[name] = value  # found at once from now on
        return value


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cpclean")
    except PackageNotFoundError as error:
        raise AttributeError(
            "cpclean.__version__ is that of the installed package, but cpclean is not installed "
            "here; run `pip install .` in its source folder."
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
