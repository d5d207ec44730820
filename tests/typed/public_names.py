"""What type checkers see of the public names; `mypy` checks it, nothing runs it.

`assert_type` complains when an annotation changes, and an unused `type: ignore` when a mistake is
no longer noticed.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import cpclean
from cpclean import (
    Between,
    Cell,
    CertainForestClassifier,
    CertainKNeighborsClassifier,
    CleaningSession,
    CPCleanError,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    LeafSpace,
    Points,
    StreamedTable,
    conditional_shares,
    entropies,
    expected_entropies,
    gather,
    is_certain,
    is_sure,
    possible_labels,
    read_csv,
    read_table,
    share_errors,
    simulate,
    suspects_from_pandera,
    trust,
    verdicts,
    world_counts,
    world_shares,
    write_domains,
)
from cpclean.analysis.trust_words import TrustFindings
from cpclean.cleaning.question import Question
from cpclean.cleaning.state import Record

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def incomplete_data() -> IncompleteDataset:
    cells = FactoredRow(np.zeros(2), [Cell(0, [1.0, 2.0])])
    data = IncompleteDataset([np.zeros((1, 2)), cells], ["no", "yes"], priors=None)
    assert_type(data.n_rows, int)
    assert_type(data.n_worlds, int)
    assert_type(data.pin(1, 0), IncompleteDataset)
    IncompleteDataset([np.zeros((1, 2))])  # type: ignore[call-arg]
    return data


def queries(data: IncompleteDataset, X: Floats) -> None:
    assert_type(possible_labels(data, X), Bools)
    assert_type(is_certain(data, X, n_neighbors=5, metric="manhattan"), Bools)
    assert_type(world_counts(data, X), npt.NDArray[Any])
    assert_type(world_shares(data, X, n_jobs=2), Floats)
    assert_type(share_errors(data, X), Floats)
    assert_type(is_sure(data, X, level=0.9), Bools)
    assert_type(verdicts(data, X), npt.NDArray[np.str_])
    assert_type(entropies(data, Points([X, X[0]], priors=[None, [1.0]])), Floats)
    Points([X], weights=[None])  # type: ignore[call-arg]
    assert_type(conditional_shares(data, X[0]), list[Floats])
    assert_type(expected_entropies(data, X), Floats)
    is_certain(data, X, neighbours=5)  # type: ignore[call-arg]
    is_certain(data, X, n_neighbors="5")  # type: ignore[arg-type]


def tables(path: Path) -> IncompleteTable:
    table = IncompleteTable(read_csv(path), label="y", repairs="default", prior="label")
    IncompleteTable(read_table(path, null_tokens=["?"], domains=True), label="y")
    write_domains(table, path)
    assert_type(suspects_from_pandera(read_csv(path), read_csv(path), {"check": ["age"]}), Any)
    assert_type(table.dataset, IncompleteDataset)
    assert_type(table.encode(read_csv(path)), Floats)
    assert_type(table.row(0), dict[str, Any])
    assert_type(table.candidates(0), list[dict[str, Any]])
    return table


def streamed_tables(X: Any) -> None:
    table = StreamedTable("data/*.parquet", label="y", repairs="default", memory="1 GB")
    assert_type(table.row(0), dict[str, Any])
    assert_type(gather(table, X, n_neighbors=3), IncompleteTable)


def classifier(table: IncompleteTable, X: Floats) -> None:
    model = CertainKNeighborsClassifier(n_neighbors=3, metric="euclidean").fit(table)
    assert_type(model, CertainKNeighborsClassifier)
    assert_type(model.predict(X), npt.NDArray[Any])
    assert_type(model.predict_proba(X), Floats)
    assert_type(model.is_certain(X), Bools)
    assert_type(model.possible_labels(X), Bools)
    assert_type(model.world_counts(X), npt.NDArray[Any])
    CertainKNeighborsClassifier(k=3)  # type: ignore[call-arg]


def cleaning(table: IncompleteTable, X: Floats) -> None:
    session = CleaningSession(table, X, n_neighbors=3, strategy="cpclean", y_val=None)
    question = session.ask()
    assert_type(question, Question | None)
    assert_type(session.ask(3), list[Question])
    session.tell(question.row, candidate=2)  # type: ignore[union-attr]
    assert_type(session.tell(0, value={"age": 41.0}), Record)
    assert_type(session.tell(0, value={"age": Between(high=40)}), Record)
    assert_type(session.rough, dict[int, dict[Any, Between]])
    assert_type(session.done, bool)
    assert_type(session.certain_share, float)
    assert_type(session.history, list[Record])
    assert_type(session.classifier(), CertainKNeighborsClassifier)
    assert_type(simulate(session, table, budget=3), list[Record])


def errors_and_version() -> None:
    assert_type(cpclean.__version__, str)
    assert issubclass(CPCleanError, Exception)
    cpclean.word_counts  # type: ignore[attr-defined]  # noqa: B018


def a_forest(X: Any, y: Any) -> None:
    model = CertainForestClassifier(n_neighbors="auto", n_trees=10).fit(X, y)
    assert_type(model, CertainForestClassifier)
    assert_type(model.is_certain(X), npt.NDArray[np.bool_])
    IncompleteTable(X, label="y", space=LeafSpace("random", n_trees=5))


def own_table(frame: Any) -> None:
    found = trust(frame, "y", n_trials=2, strategies=["cpclean"])
    assert_type(found, TrustFindings)
    assert_type(found.sentence, str)
    trust(frame)  # type: ignore[call-arg]
