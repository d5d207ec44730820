"""The choices behind the forest space: which rows they are made by, and what is printed."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.tree_features import CodedFeature
from cpclean.data.table import IncompleteTable
from cpclean.experiments import refits, space_choices
from cpclean.experiments.model_cases import REAL, case_keys, case_of, real_table
from cpclean.experiments.space_choices import ChoiceRows, answer, rows_of
from cpclean.experiments.space_variants import (
    USUAL,
    VARIANTS,
    BoostedSpace,
    CodedSpace,
    OpenSpace,
    StackedSpace,
    Variant,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SMALL = {"n_trees": 6, "n_worlds": 2}


def mixed() -> ChoiceRows:
    return rows_of(None, "mixed")


def written(frame: pd.DataFrame) -> list[str]:
    text: str = frame.to_csv(header=False, index=False)
    return text.splitlines()


@pytest.mark.skipif(not (DATA / "tables").is_dir(), reason="needs the tables")
@pytest.mark.parametrize("table", ["Chile", "BabyProduct"])
def test_no_model_is_judged_by_rows_that_choices_are_made_by(table: str) -> None:
    frame, labels = real_table(DATA, REAL[table])
    rows = rows_of(DATA, table)
    free = written(rows.learn)
    judged = [
        one
        for key in case_keys(DATA, space_choices.SPLITS)
        if key[0] == table
        for one in written(case_of(DATA, key).X_test)
    ]
    assert 500 < len(free) < 0.4 * len(labels)
    whole = Counter(written(frame))
    # What occurs in both occurs in the table more than once.
    assert all(whole[text] > 1 for text in {*free} & {*judged})
    assert len({*free} - {*judged}) > 100
    assert list(rows.labels) != sorted(rows.labels)


@pytest.mark.parametrize(
    "space",
    [
        StackedSpace(**SMALL),
        BoostedSpace(**SMALL),
        OpenSpace(**SMALL),
        CodedSpace(**SMALL),
        CodedSpace(coding="order", **SMALL),
    ],
)
def test_spaces_that_are_only_measured(space: LeafSpace) -> None:
    rows = mixed()
    found = answer(rows, Variant(space), 2)
    assert found.right.mean() > 0.45  # of three classes
    usual = IncompleteTable(rows.learn, rows.labels, space=LeafSpace(**SMALL))
    other = IncompleteTable(rows.learn, rows.labels, space=space)
    assert other.dataset.space.digest != usual.dataset.space.digest


def test_categories_in_one_order() -> None:
    rows = mixed()
    space = IncompleteTable(rows.learn, rows.labels, space=CodedSpace(coding="order", **SMALL))
    coded = [one for one in space.space.features if isinstance(one, CodedFeature)]
    assert coded
    for feature in coded:
        place = dict(zip(feature.categories, feature.vectors, strict=False))
        found = [{*place[one]} for one in sorted(feature.categories, key=str)]
        assert found == [{float(number)} for number in range(len(place))]


def test_an_answer_is_about_rows_that_were_not_learnt_from(monkeypatch: Any) -> None:
    seen = []
    learnt = space_choices._learnt

    def watched(made: Variant, X: Any, y: Any) -> Any:
        seen.append(len(X))
        return learnt(made, X, y)

    monkeypatch.setattr(space_choices, "_learnt", watched)
    rows = mixed()
    found = answer(rows, Variant(LeafSpace(**SMALL), 5), 4)
    assert seen == [len(rows.labels) * 3 // 4] * 4
    assert found.right.shape == found.certain.shape == (len(rows.labels),)
    truth = ChoiceRows(rows.judge, rows.judge, rows.labels)
    assert answer(truth, Variant(LeafSpace(**SMALL), 5), 4).certain.all()  # without any hole


@pytest.mark.slow
def test_a_run_is_printed_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"": VARIANTS[""], "trees": {"5": Variant(LeafSpace(n_trees=5))}}
    few["neighbours"] = {"chosen": VARIANTS["neighbours"]["chosen"]}

    monkeypatch.setattr(space_choices, "VARIANTS", few)
    monkeypatch.setattr(space_choices, "variant", lambda choice, value: few[choice][value])
    monkeypatch.setattr(space_choices, "GENERATED", ("numbers",))
    monkeypatch.setattr(refits, "MOMENTS", (0.1, 0.5))
    console = Console(file=io.StringIO())
    text, finished = space_choices.reproduce(None, tmp_path, True, console)
    assert finished
    assert f"|  | {USUAL} | 0." in text
    assert "| trees | 5 | " in text
    assert "| numbers | 50% | 0." in text
    assert (tmp_path / "spaces.md").read_text() == text
    monkeypatch.setattr(space_choices, "answer", None)  # nothing is measured again
    assert space_choices.reproduce(None, tmp_path, True, console) == (text, True)


def test_differences_have_the_error_of_pairs() -> None:
    line = {"table": "t", "choice": "trees", "value": "25", "rows": "400", "better": "30"}
    line |= {"worse": "10", "accuracy": "0.8", "certain": "0.5", "seconds": "1", "slower": "0.5"}
    pairs = np.repeat([1, -1, 0], [30, 10, 360])
    error = 100 * pairs.std() / 20
    assert space_choices.markdown([line]).splitlines()[-1] == (
        f"| trees | 25 | +5.0 | +5.0 ± {error:.1f} | 50% | 0.5 |"
    )
