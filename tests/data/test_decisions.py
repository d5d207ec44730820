"""What is decided about columns, as codes and in words."""

import pytest

from cpclean.data.decisions import DOUBTS, IGNORED, WORDS, Decision
from cpclean.errors import TableError


@pytest.mark.parametrize("code", WORDS)
def test_words_and_back(code: str) -> None:
    distinct = 60 if "{distinct}" in WORDS[code] else 0
    decision = Decision(code, distinct)
    assert Decision.from_words(decision.words) == decision
    assert decision.kept == decision.words.startswith("kept")
    assert (code in DOUBTS) == decision.words.startswith("kept, but")
    assert (code in IGNORED) == decision.words.startswith("ignored")


def test_words_that_say_nothing() -> None:
    with pytest.raises(TableError, match="there is no decision about a column such as 'lost'"):
        Decision.from_words("lost")
