"""What there is to say about cells and columns that may not mean what they say."""

from __future__ import annotations

from cpclean.intake.saying import Saying, everywhere

_TELL = "If it is known only once the label is, leave it out"
_TELL_MANY = "If they are known only once the label is, leave them out"
_PROSE = "Every text is a category of its own, which says nothing about a new row; leave it out"

DOUBTED: dict[str, Saying] = {
    "odd_numbers": Saying(
        "column {column!r}{where} has numbers, written otherwise in {count:cell|cells}: {what}.",
        "To keep the column as text: kinds={{{column!r}: \"categorical\"}}.",
        "To keep the column as text: --kind {category:sh}.",
        "To keep the column as text, choose the kind categorical for it.",
        field="kinds",
    ),
    "odd_numbers_in_files": Saying(
        "column {column!r} has {numbers:number|numbers} and {count:text|texts}: {what}; so each of "
        "its values is a category.",
        "If these texts stand for nothing, name them in null_tokens; otherwise change them in the "
        "files.",
        "If these texts stand for nothing, name them: --null {first:sh}. Otherwise change them in "
        "the files, or read one file, in which such cells are found.",
        field="null_tokens",
    ),
    "maybe_sentinel": Saying(
        "column {column!r} holds {value} {count:time|times}; its other values are {others}.",
        "If it means that a value is missing, name it in null_tokens; if it is only doubtful, in "
        "suspects.",
        "If it means that a value is missing: --null {cell:sh}; if it is only doubtful: --suspect "
        "{cell:sh}.",
        "If it means that a value is missing, enter it under More settings.",
        field="null_tokens",
    ),
    "spellings": Saying(
        "column {column!r} spells the same in several ways: {what}.",
        "If they mean the same, spell them alike.",
        "If they mean the same: --fold {column:sh}.",
        "If they mean the same, spell them alike in the file.",
    ),
    "maybe_misspelt": Saying(
        "column {column!r} has {value}, which may be a slip of the pen for {others}.",
        "If it is, correct it, or name the cell in suspects.",
        "If it is, correct it in the file, or doubt it: --suspect {cell:sh}.",
        "If it is, correct it in the file.",
    ),
    "free_text": Saying(
        "column {column!r} is free text: {distinct:,} different ones.",
        f"{_PROSE}.",
        f"{_PROSE}: --drop {{column:sh}}.",
        f"{_PROSE}.",
        field="drop",
    ),
    "tells_label": Saying(
        "column {column!r} says the label by itself: {what}.",
        f"{_TELL}.",
        f"{_TELL}: --drop {{column:sh}}.",
        f"{_TELL}.",
        field="drop",
    ),
    "holes_of_labels": everywhere(
        "column {column!r} is missing in {own} of the rows with label {label!r} and in "
        "{rest} of the others: that it is missing says something about the label, which no "
        "filled value can say.",
        "If new rows will have such holes, too, a column that says whether it is missing may help.",
    ),
    "holes_tell_label": Saying(
        "column {column!r} says the label by being missing: in {own} of the rows with label "
        "{label!r} and in {rest} of the others.",
        f"{_TELL}.",
        f"{_TELL}: --drop {{column:sh}}.",
        f"{_TELL}.",
        field="drop",
    ),
    "holes_of_labels_many": everywhere(
        "{count:column is|columns are} missing more often with some labels than with others: "
        "{names}; {column!r} in {own} of the rows with label {label!r} and in {rest} of the "
        "others. That they are missing says something about the label, which no filled value can "
        "say.",
        "If new rows will have such holes, too, columns that say whether they are missing may "
        "help.",
    ),
    "holes_tell_label_many": Saying(
        "{count:column says|columns say} the label by being missing: {names}; {column!r} in {own} "
        "of the rows with label {label!r} and in {rest} of the others.",
        f"{_TELL_MANY}.",
        f"{_TELL_MANY}: {{drops}}.",
        f"{_TELL_MANY}.",
        field="drop",
    ),
    "no_such_column": everywhere(
        "there is no column {column!r}; the columns are {names}.", "{near}", field="columns"
    ),
    "no_such_cell": everywhere(
        "no cell of column {column!r} is {value!r}, so nothing is done about it.", field="columns"
    ),
    "bins_text": everywhere(
        "the label column {column!r} has no numbers to put into ranges.", field="bins"
    ),
    "bins_equal": everywhere(
        "nearly all labels in column {column!r} are the same number, which cannot be put into "
        "{count} ranges.",
        field="bins",
    ),
}  # fmt: skip
