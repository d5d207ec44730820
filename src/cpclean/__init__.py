"""Certain predictions over incomplete data, for nearest-neighbour classifiers.

The way the data takes, which is also the order of the rooms::

    a table with holes           any dataframe, array or file
        │
        ▼
    data         IncompleteTable: the candidates of each hole, how likely each is, and the space;
                 IncompleteDataset: rows with candidates, which stand for many worlds
    intake       from files and choices to a task, and known cells back into the file: read_csv
        │
        ▼
    queries      is_certain: do all worlds predict the same label?
                 world_counts: how many worlds predict each label? (world_shares: which share)
                 expected_entropies: which row, once cleaned, helps most?
    classifier   CertainForestClassifier: the same as a scikit-learn estimator, in the leaves of a
                 forest; CertainKNeighborsClassifier: in any space
        │
        ▼
    cleaning     CleaningSession: ask a person about the row that matters most
    baselines    what people do instead: imputation, HoloClean, BoostClean, ActiveClean
    analysis     what it means: summary, advice, reasons, ranking, forecast
        │
        ▼
    report       pictures, and one self-contained page
    projects     a task and its settings as bytes that any machine can open
    storage      the event log and leases: in memory, SQLite or PostgreSQL
        │
        ▼
    web          the page of `cpclean serve` for several people at once, and its JSON API
    experiments  the paper's tables and figures, measured again
    cli          the commands

    cluster      who does the work: threads here, or the workers of a Dask cluster
    errors       what every room raises: CPCleanError and its children
    progress_bar  what every room shows while something takes time
    compiling    what is said while kernels are compiled, once

Modules import only from their own room and from those above it. Public names are declared in
``__init__.pyi`` and looked up when they are first used, so that ``import cpclean`` itself loads
neither compiler nor dataframes.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
