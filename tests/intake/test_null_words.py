"""Words that are read as missing: where they may be values, they are named."""

import pandas as pd
import pytest

from cpclean.intake.choices import Choices, HoldOut
from cpclean.intake.null_words import null_words
from cpclean.intake.open_task import open_task
from cpclean.intake.sentences import said
from cpclean.intake.source_file import SourceFile
from cpclean.intake.textfile import TextFile


def told(sports: list[str], sizes: list[str], *, label: str = "y", **choices) -> list[str]:
    """What is noted about words in a file with these cells."""
    rows = [
        f"{size},{sport},{n % 5},{'ab'[n % 2]}"
        for n, (size, sport) in enumerate(zip(sizes, sports, strict=True))
    ]
    content = "\n".join(["size,sport,k,y", *rows, ""]).encode()
    source = SourceFile("'t.csv'", ".csv", lambda: content)
    opened = open_task(source, Choices(label, drop_unlabelled=True, **choices), HoldOut(0.2))
    return [
        said(one, "terminal")
        for one in opened.notes
        if "read as missing" in str(said(one, "terminal"))
    ]


OFTEN = ["often", "rarely"] * 9
SIZES = [str(n) for n in range(20)]


def test_none_may_be_a_value() -> None:
    assert told([*OFTEN, "None", "None"], SIZES) == [
        "column 'sport' has 'None' in 2 cells, read as missing. If it is a value of its own, write "
        "it otherwise in the file, such as '(None)'."
    ]


@pytest.mark.parametrize(("word", "size", "noted"), [
    ("NA", "NA", False),  # as in a column of numbers: nothing is known
    ("NA", "", True),  # Namibia
    ("NA", "5", False),  # nobody can say
    ("n/a", "NA", True),
    ("None", "None", False),
    ("", "NA", False),
    ("none", "NA", False),  # is no word for nothing
])  # fmt: skip
def test_a_word_is_looked_at_beside_the_other_columns(word, size, noted) -> None:
    assert bool(told([*OFTEN, word, word], [*SIZES[:-1], size])) == noted


def test_what_a_person_has_named_is_not_doubted() -> None:
    sports = [*OFTEN, "None", "None"]
    assert told(sports, SIZES, null_tokens=("None",)) == []
    assert told(sports, SIZES, nothing=(("sport", "None"),)) == []
    assert told(sports, SIZES, drop=("sport",)) == []


def test_labels_that_may_be_words() -> None:
    (words,) = told([*OFTEN, "None", "None"], SIZES, label="sport")
    assert words == (
        "2 rows have no label and are left out. 'None' (2 times) is read as missing; if it is a "
        "label, write it otherwise in the file, such as '(None)'. In the file, these are lines 20, "
        "21."
    )
    assert told([*OFTEN, "NA", ""], [*SIZES[:-1], "NA"], label="sport") == []


def test_the_most_rows_that_are_left_out_are_called_so() -> None:
    content = b"a,y\n" + b"1,u\n2,v\n3,\n4,\n5,\n" * 4
    source = SourceFile("'t.csv'", ".csv", lambda: content)
    opened = open_task(source, Choices("y", drop_unlabelled=True), HoldOut(0.3))
    notes = [said(one, "page") for one in opened.notes]
    assert notes[0].startswith("12 rows have no label and are left out. These are most of the 20")


def test_files_whose_cells_cannot_be_told() -> None:
    frame = pd.DataFrame({"a": [None, 1.0]})
    assert null_words(None, frame) == {}
    assert null_words(TextFile(b"a\nNA\n1\n2\n"), frame) == {}, "other rows"
    assert null_words(TextFile(b"b\nNA\n1\n"), frame) == {}, "another column"
    assert null_words(TextFile(b"a\nNA\n1\n"), frame) == {"a": {"NA": 1}}
