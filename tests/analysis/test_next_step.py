"""The cheapest next step, one sentence for each kind of table."""

from dataclasses import replace

import pytest
from analysis.facts_of_a_table import FACTS

from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.next_step import next_step

DECIDES = ColumnEffect("size", "numeric", 5, 0.95, 0.9, 1.0)
HARDLY = ColumnEffect("size", "numeric", 5, 0.71, 0.7, 0.72)


@pytest.mark.parametrize(("changes", "effects", "told"), [
    ({"certain": 50, "settled": 50, "open": 0}, [], "none; use the table as it is."),
    ({"sure": 15, "open": 0}, [], "none, if 95% sure is enough; otherwise, answer."),
    ({}, [], "give these 4 answers."),
    ({"first_rows": (4,)}, [], "give this answer."),
    ({"expected_fall": 0.01}, [DECIDES], "look up column 'size', if its values can be"),
    ({"expected_fall": 0.01}, [HARDLY], "use what is certain or 95% sure, and treat the rest with"),
    ({"expected_fall": 0.01, "certain": 9, "settled": 9, "open": 41}, [HARDLY],
     "narrow down what a hole might hold, or use another model;"),
    ({"accuracy": 0.5, "certain": 50, "settled": 50, "open": 0}, [],
     "look for columns that say more about the label; no answer can do that."),
    ({"accuracy": 0.5}, [], "give these 4 answers."),  # what is open may be right then
])  # fmt: skip
def test_the_step(changes: dict, effects: list, told: str) -> None:
    said = next_step(replace(FACTS, **changes), effects)
    assert said is not None
    assert said.startswith(f"Cheapest next step: {told}")


def test_no_step_without_holes() -> None:
    assert next_step(replace(FACTS, cells_missing=0)) is None


def test_a_column_that_says_the_label_comes_first() -> None:
    said = next_step(replace(FACTS, certain=50, settled=50), [DECIDES], ["chapter"])
    assert said == "Cheapest next step: find out whether 'chapter' is known before the label is."


@pytest.mark.parametrize(("boosting", "answers"), [(0.9, True), (0.51, False), (0.3, False)])
def test_nobody_answers_for_a_table_that_no_model_can_use(boosting: float, answers: bool) -> None:
    others = {"gradient boosting on NaN": boosting, "15-NN, SimpleImputer": 0.4}
    said = next_step(replace(FACTS, accuracy=0.5), [DECIDES], beside=others)
    assert said is not None
    assert ("give these 4 answers" in said) == answers
    assert ("no model here does better than always predicting the most" in said) != answers
    certain = replace(FACTS, accuracy=0.5, certain=50, settled=50, open=0)
    learns = next_step(certain, [DECIDES], beside=others)
    assert learns is not None
    assert ("or use gradient boosting, which says more about the label" in learns) == answers
    assert learns.endswith("no answer can do that.")
    useful = next_step(FACTS, [DECIDES], beside=others)  # where cpclean itself is right
    assert useful is not None
    assert "give these 4 answers" in useful
