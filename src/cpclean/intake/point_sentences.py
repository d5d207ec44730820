"""What there is to say about rows to predict: of a file of their own, or held out."""

from __future__ import annotations

from cpclean.intake.saying import Saying, everywhere

TO_PREDICT: dict[str, Saying] = {
    "labels_once": Saying(
        "every label of {file} occurs in one row only, so none can be held out to validate with.",
        "Name rows to predict.",
        "Name rows to predict with --val.",
        "Give rows to predict in a file of their own.",
        field="share",
    ),
    "share_of_none": Saying(
        "a share of {share:g} of {count:row|rows} rounds to no row.",
        "Hold out a larger share, or name rows.",
        "Take a larger --val-share, or name rows with --val.",
        "Take a larger share, or give rows to predict in a file of their own.",
        page_what="{percent:g} % of {count:row|rows} rounds to no row.",
        field="share",
    ),
    "domains_points": Saying(
        "where a file lists domains, no rows are held out.",
        "Name the validation rows.",
        "Name the validation rows with --val.",
        field="share",
    ),
    "points_lack": Saying(
        "{file} must have the columns of {trained}; it lacks {names}{instead}.",
        "Add them, with empty cells if nothing is known there, or drop them from the table.",
        "Add them, with empty cells if nothing is known there, or leave them out: --drop "
        "{column:sh}.",
        "Add them, with empty cells if nothing is known there, or leave them out below.",
        field="points",
    ),
    "points_more": everywhere(
        "{file} must have the columns of {trained}; it also has {names}.",
        "Take them out of {file}.",
        field="points",
    ),
    "points_labels": everywhere(
        "validation labels must be among those of the table, {known}; got {got}.",
        "Spell them alike, or take their column out of {file}.",
        field="points",
    ),
    "points_unlabelled": everywhere(
        "of {total:row|rows} in {file}, {count:has|have} no label, so accuracy is not known."
    ),
    "points_holes": everywhere(
        "of {total:row|rows} in {file}, {count:has|have} holes: each is predicted over all ways of "
        "filling them, weighted as the values are frequent in the training table."
    ),
    "points_empty": everywhere(
        "nothing is known about {count:row|rows} in {file} (row {rows}): all cells are empty, and "
        "the shares are those of a row that could be anything."
    ),
    "points_in_training": everywhere(
        "of {total:row|rows} in {file}, {count:is|are} also in {trained}: row {rows} (there row "
        "{there}). Predicting a row from itself says little about others."
    ),
    "points_unknown": everywhere(
        "of {total:row|rows} to predict, {count:has|have} a label that no training row has, such "
        "as {got}: whatever is predicted there counts as wrong."
    ),
    "held_out": everywhere(
        "{count:row is|rows are} held out to be predicted; {holes:has|have} holes."
    ),
    "held_out_differs": Saying(
        "{holes:,} of {count:row|rows} held out have holes, and {other_holes:,} of {others:,} "
        "others: what is found for these rows may not be true of rows like the others.",
        "Hold out other rows with another seed.",
        "Hold out other rows with another --seed.",
        "Hold out another share of the rows.",
        field="share",
    ),
    "sampled": Saying(
        "looking at all of this table takes long: {sample}, chosen at random, are looked at; what "
        "is found is true of these.",
        "Leave out bounds to look at all of them.",
        "--whole looks at all of them, however long it takes.",
        "Look at the whole table in a terminal.",
    ),
}  # fmt: skip
