"""Words that are read as missing, in columns where they may be values: "None", "N/A", "NA"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from cpclean.errors import offenders
from cpclean.intake.notes import Note
from cpclean.intake.textfile import TextFile

# Of a file with more rows, the words are not looked for: it would have to be read again.
MOST_ROWS = 200_000
# People write this for "nothing of it" more often than for "not known".
_NOTHING = "None"


def null_words(text: TextFile | None, frame: Any) -> dict[str, Counter[str]]:
    """How the file writes the missing cells of each column; nothing if it is no text file.

    Parameters
    ----------
    text : TextFile or None
        The file.
    frame : pandas.DataFrame
        What was read from it, all rows in order.

    Examples
    --------
    >>> import pandas as pd
    >>> text = TextFile(b"size,sport\\n1,None\\n,often\\n3,None\\n")
    >>> null_words(text, pd.DataFrame({"size": [1, None, 3], "sport": [None, "often", None]}))
    {'size': Counter({'': 1}), 'sport': Counter({'None': 2})}
    """
    if text is None or len(frame) > MOST_ROWS:
        return {}
    gone = {str(name): frame[name].isna().to_numpy() for name in frame.columns}
    gone = {name: missing for name, missing in gone.items() if missing.any()}
    if not gone or len(cells := text.cells) != len(frame) + 1:
        return {}
    header, found = cells.iloc[0].tolist(), {}
    for name, missing in gone.items():
        if header.count(name) == 1:
            written = cells.iloc[1:, header.index(name)].to_numpy()[missing].tolist()
            found[name] = Counter(one.strip() for one in written)
    return found


def texts_of(frame: Any) -> list[str]:
    """The columns of text of a frame."""
    return [str(name) for name in frame.select_dtypes(["object", "string"]).columns]


def word_notes(
    words: Mapping[str, Counter[str]], texts: Collection[str], named: Collection[str] = ()
) -> list[Note]:
    """Columns of text in which a word was read as missing that may be a value.

    It may be one if no column of numbers has it, and if it is "None" or the other columns write
    their missing cells otherwise.

    Parameters
    ----------
    words : dict from column to Counter
        As `null_words` finds them.
    texts : collection of str
        The columns of text.
    named : collection of str
        What a person has named as text for nothing.
    """
    notes = []
    for name in (one for one in words if one in texts):
        elsewhere = {word for other, own in words.items() if other != name for word in own}
        for word, count in not_of_numbers(words, name, texts).items():
            if word in named or (word != _NOTHING and (not elsewhere or word in elsewhere)):
                continue
            values = {"value": word, "count": count, "instead": f"({word})"}
            notes.append(Note("null_word", name, values=values))
    return notes


def not_of_numbers(
    words: Mapping[str, Counter[str]], column: str, texts: Collection[str]
) -> Counter[str]:
    """The words of a column that no column of numbers has: there they mean that nothing is known.

    >>> words = {"size": Counter({"NA": 3}), "sport": Counter({"NA": 1, "None": 2, "": 4})}
    >>> not_of_numbers(words, "sport", ["sport"])
    Counter({'None': 2})
    """
    usual = {word for name, own in words.items() if name not in texts for word in own}
    own = words.get(column, Counter())
    return Counter({word: n for word, n in own.items() if word and word not in usual})


def words_for_no_label(words: Counter[str]) -> str:
    """What a sentence adds about labels that are missing because of a word; "" if none is.

    >>> words_for_no_label(Counter({"None": 24, "": 1}))
    " 'None' (24 times) is read as missing; if it is a label, write it otherwise in the file, such \
as '(None)'."
    """
    some = [(word, n) for word, n in words.most_common() if word]
    if not some:
        return ""
    named = offenders(f"{word!r} ({'once' if n == 1 else f'{n:,} times'})" for word, n in some)
    are, it = ("is", "it is") if len(some) == 1 else ("are", "one is")
    return (
        f" {named} {are} read as missing; if {it} a label, write it otherwise in the file, such as "
        f"'({some[0][0]})'."
    )
