"""Draw the pictures of the pages that explain: five people, two of whom left their age blank.

    python docs/pictures/draw.py

writes them beside this file. Numbers in them are worked out here by going through all worlds, not
by cpclean, which only writes the SVG; the pages that show them check the same numbers with cpclean.
The figures of "story" are read from the tables of the pages that report them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # this file may be loaded from anywhere

from drawing import BOLD, GREY, INK, MIDDLE, PALE, SMALL, TINT, TONE, Drawing  # noqa: E402
from story import forest, story  # noqa: E402

AGES = [[20], [18, 30, 65], [35], [18, 30, 65], [60]]
LABELS = ["no", "no", "yes", "yes", "yes"]
POINT, CERTAIN_POINT, K = 28, 50, 3

# -- what the pictures say -------------------------------------------------------------------


def prediction(world: Iterable[int], point: int, k: int = K) -> str:
    """The label of most of the k nearest; ties go to the smaller row and the smaller label."""
    far = [(abs(age - point), row) for row, age in enumerate(world)]
    votes = [LABELS[row] for _, row in sorted(far)[:k]]
    return max(("no", "yes"), key=votes.count)


def worlds() -> list[tuple[int, ...]]:
    """One age for everybody."""
    return list(product(*AGES))


def share_of_no(point: int, row: int | None = None, age: int | None = None) -> float:
    """The share of worlds that predict "no", of those in which a row has an age."""
    kept = [world for world in worlds() if row is None or world[row] == age]
    return sum(prediction(world, point) == "no" for world in kept) / len(kept)


def entropy(share: float) -> float:
    """In nats."""
    return -sum(p * math.log(p) for p in (share, 1 - share) if p > 0)


def positions(point: int) -> list[tuple[int, int, int]]:
    """(distance, row, age) of every candidate, from near to far."""
    return sorted((abs(age - point), row, age) for row, ages in enumerate(AGES) for age in ages)


# -- the pictures ----------------------------------------------------------------------------


def _people(sheet: Drawing, x: float, y: float) -> None:
    """The table, 160 wide and 6 lines of 28 high."""
    for column, name in ((0, "row"), (48, "age"), (108, "buys")):
        sheet.text(x + column, y, name, **SMALL)
    for row, (ages, label) in enumerate(zip(AGES, LABELS, strict=True)):
        line = y + 28 * (row + 1)
        sheet.line(x - 6, line - 19, x + 150, line - 19, stroke=PALE)
        sheet.text(x, line, row, fill=GREY)
        if len(ages) == 1:
            sheet.text(x + 48, line, ages[0])
        else:
            sheet.box(x + 42, line - 15, 44, 20, fill="none", stroke=INK, stroke_dasharray="3 3")
            sheet.text(x + 64, line, "?", **MIDDLE, **BOLD)
        sheet.text(x + 108, line, label, fill=TONE[label], **BOLD)


def start() -> Drawing:
    """The start page: holes, worlds, the next question."""
    sheet = Drawing(
        900, 300, "From a table with holes to the row that is worth cleaning",
        "A table of five people, two ages are blank. It stands for nine worlds. A person of 50 "
        "gets the same prediction in all nine, a person of 28 does not. Cleaning row 1 or row 3 is "
        "expected to lower the uncertainty most.",
    )  # fmt: skip
    sheet.text(28, 36, "A table with holes", **BOLD)
    _people(sheet, 34, 70)
    sheet.text(28, 240, "A blank age may be", **SMALL)
    sheet.text(28, 258, "18, 30 or 65.", **SMALL)
    sheet.arrow(212, 262, 140)

    sheet.text(280, 36, "stands for 9 worlds.", **BOLD)
    for place, point in enumerate((CERTAIN_POINT, POINT)):
        y = 66 + 110 * place
        found = sorted(prediction(world, point) for world in worlds())
        sheet.text(280, y, f"Somebody of {point} buys?", fill=INK)
        for number, label in enumerate(found):
            sheet.label_box(280 + 34 * number, y + 12, 30, 30, label)
        share = found.count("no")
        told = (
            "all worlds agree: certain" if share in (0, 9) else f"{share} to {9 - share}: uncertain"
        )
        sheet.text(280, y + 62, told, **SMALL)
    sheet.arrow(598, 644, 140)

    sheet.text(662, 36, "Which row to clean?", **BOLD)
    now = (entropy(share_of_no(POINT)) + entropy(share_of_no(CERTAIN_POINT))) / 2
    for row, ages in enumerate(AGES):
        left = sum(entropy(share_of_no(POINT, row, age)) for age in ages) / len(ages) / 2
        y = 66 + 34 * row
        best = len(ages) > 1
        sheet.text(662, y, f"row {row}", **(BOLD if best else {}))
        sheet.box(716, y - 14, 300 * now, 18, fill=PALE)
        sheet.box(716, y - 14, 300 * left, 18, fill=INK if best else GREY)
        sheet.text(716 + 300 * now + 10, y, f"{left:.2f}", **(BOLD if best else {}))
    sheet.text(662, 240, "Uncertainty (entropy) expected", **SMALL)
    sheet.text(662, 258, f"to be left; {now:.2f} now.", **SMALL)
    return sheet


def line() -> Drawing:
    """Where everybody may be, on a line of ages."""
    sheet = Drawing(
        760, 270, "Candidates on a line",
        "Five rows on a line of ages from 15 to 70. Rows 1 and 3 have three candidates each, at "
        "18, 30 and 65. The query point is at 28.",
    )  # fmt: skip

    def at(age: float) -> float:
        return 120 + 10.8 * (age - 15)

    sheet.line(at(POINT), 22, at(POINT), 226, stroke=INK, stroke_dasharray="4 3")
    sheet.text(at(POINT) + 8, 24, f"the query point, {POINT}", **BOLD)
    for row, (ages, label) in enumerate(zip(AGES, LABELS, strict=True)):
        y = 54 + 38 * row
        sheet.text(20, y + 5, f"row {row}")
        sheet.text(68, y + 5, label, fill=TONE[label], **BOLD)
        sheet.line(at(15), y, at(70), y, stroke=PALE)
        for age in ages:
            sheet.dot(at(age), y, label, len(ages) > 1)
            sheet.text(at(age) + 13, y + 5, age, **SMALL)
    for age in range(20, 71, 10):
        sheet.text(at(age), 252, age, **MIDDLE, **SMALL)
    sheet.text(20, 252, "age", **SMALL)
    return sheet


def grid() -> Drawing:
    """All nine worlds, and what each predicts."""
    sheet = Drawing(
        560, 250, "The nine worlds",
        "Nine worlds in a grid: the age of row 1 across, the age of row 3 down. The query point 28 "
        "gets no in four of them and yes in five.",
    )  # fmt: skip
    sheet.text(180, 28, "age of row 1 (no)", **BOLD)
    sheet.text(16, 76, "age of row 3", **BOLD)
    sheet.text(16, 94, "(yes)", **BOLD)
    for column, first in enumerate(AGES[1]):
        sheet.text(225 + 120 * column, 52, first, **MIDDLE)
        for place, third in enumerate(AGES[3]):
            y = 64 + 58 * place
            world = (20, first, 35, third, 60)
            label = prediction(world, POINT)
            sheet.label_box(180 + 120 * column, y, 90, 46, label)
            if not column:
                sheet.text(166, y + 28, third, text_anchor="end")
    return sheet


def order() -> Drawing:
    """Positions from near to far, and the reach."""
    found = positions(POINT)
    reach = sorted(max(abs(age - POINT) for age in ages) for ages in AGES)[K - 1]
    sheet = Drawing(
        880, 190, "All candidates from near to far",
        "Nine candidates in order of distance from 28: row 1 at 30, row 3 at 30, row 2 at 35, row "
        "0 at 20, row 1 at 18, row 3 at 18, row 4 at 60; beyond the reach of 32 row 1 at 65 and "
        "row 3 at 65.",
    )  # fmt: skip
    sheet.text(20, 30, "near", **SMALL)
    sheet.arrow(56, 826, 26)
    sheet.text(834, 30, "far", **SMALL)
    for place, (far, row, age) in enumerate(found):
        x = 20 + 93 * place + (16 if far > reach else 0)
        faded = {"opacity": 0.45} if far > reach else {}
        sheet.box(x, 46, 84, 74, fill=TINT[LABELS[row]], stroke=TONE[LABELS[row]], **faded)
        sheet.text(x + 42, 68, f"row {row}", **MIDDLE, **BOLD, fill=TONE[LABELS[row]])
        sheet.text(x + 42, 88, f"age {age}", **MIDDLE)
        sheet.text(x + 42, 108, LABELS[row], **MIDDLE, fill=TONE[LABELS[row]])
        sheet.text(x + 42, 140, far, **MIDDLE)
    sheet.text(
        20, 168, "The distance to 28. At equal distance, the smaller row comes first.", **SMALL
    )
    x = 20 + 93 * sum(far <= reach for far, _, _ in found) + 3
    sheet.line(x, 40, x, 152, stroke=INK, stroke_width=2, stroke_dasharray="5 4")
    sheet.text(x - 4, 168, f"the reach, {reach}", text_anchor="middle", **BOLD)
    return sheet


def race() -> Drawing:
    """Which label has its second row first."""
    sheet = Drawing(
        560, 280, "The race",
        "Across, where the second row of label no may be: 8, 10 or 37. Down, where the second row "
        "of label yes may be: 7, 10 or 32. No comes first in four of nine pairs.",
    )  # fmt: skip
    sheet.text(190, 28, "the second row of no is at", fill=TONE["no"], **BOLD)
    sheet.text(16, 84, "the second row", fill=TONE["yes"], **BOLD)
    sheet.text(16, 102, "of yes is at", fill=TONE["yes"], **BOLD)
    for column, first in enumerate((30, 18, 65)):
        own = sorted([(8, 0), (abs(first - POINT), 1)])[1]
        sheet.text(235 + 115 * column, 56, own[0], **MIDDLE)
        for place, third in enumerate((30, 18, 65)):
            other = sorted([(7, 2), (abs(third - POINT), 3), (32, 4)])[1]
            y = 68 + 60 * place
            winner = "no" if own < other else "yes"
            sheet.label_box(190 + 115 * column, y, 90, 46, winner)
            if not column:
                sheet.text(176, y + 28, other[0], text_anchor="end")
    sheet.text(
        16, 264, "10 and 10: a tie. Row 1 is smaller than row 3, so no comes first.", **SMALL
    )
    return sheet


def tree() -> Drawing:
    """The product tree of label yes when the scan is at row 0."""
    sheet = Drawing(
        640, 250, "The tree of label yes",
        "Leaves: row 2 is z, row 3 is two thirds plus one third z, row 4 is one. Rows 2 and 3 "
        "multiply to two thirds z plus one third z squared, and so does the root.",
    )  # fmt: skip

    def node(x: float, y: float, what: str, below: str = "") -> None:
        sheet.box(x - 88, y - 22, 176, 42, fill=TINT["yes"], stroke=TONE["yes"])
        sheet.text(x, y + 5, what, **MIDDLE, **BOLD)
        sheet.text(x, y + 40, below, **MIDDLE, **SMALL)

    for x1, y1, x2, y2 in (
        (320, 64, 210, 98), (320, 64, 530, 178), (210, 138, 110, 178), (210, 138, 320, 178),
    ):  # fmt: skip
        sheet.line(x1, y1, x2, y2)
    node(320, 44, "⅔ z + ⅓ z²")
    node(210, 120, "⅔ z + ⅓ z²")
    node(110, 198, "z", "row 2: nearer for sure")
    node(320, 198, "⅔ + ⅓ z", "row 3: nearer if 30")
    node(530, 198, "1", "row 4: not yet seen")
    return sheet


def answers() -> Drawing:
    """What each answer about row 1 or row 3 would leave."""
    sheet = Drawing(
        760, 282, "What each answer would change",
        "Bars of the share of no and yes for the query point 28: now 4 to 5. If row 1 is 30 or 18, "
        "two thirds no; if 65, none. If row 3 is 30, none; if 18 or 65, two thirds no.",
    )  # fmt: skip

    def bar(x: float, y: float, text: str, no: float) -> None:
        sheet.text(x, y + 15, text)
        if no:
            sheet.label_box(x + 112, y, 200 * no, 22, "no")
        sheet.label_box(x + 112 + 200 * no, y, 200 * (1 - no), 22, "yes")

    sheet.text(20, 34, "Now", **BOLD)
    bar(20, 18, "", share_of_no(POINT))
    sheet.text(350, 34, f"entropy {entropy(share_of_no(POINT)):.3f}")
    for place, row in enumerate((1, 3)):
        x = 20 + 380 * place
        sheet.text(x, 80, f"If row {row} is cleaned", **BOLD)
        left = 0.0
        for number, age in enumerate(AGES[row]):
            share = share_of_no(POINT, row, age)
            left += entropy(share) / 3
            bar(x, 96 + 36 * number, f"it is {age}", share)
        sheet.text(x, 232, f"entropy expected: {left:.3f}", **BOLD)
        sheet.text(x, 256, f"gain: {entropy(share_of_no(POINT)) - left:.3f}")
    return sheet


PICTURES: dict[str, Callable[[], Drawing]] = {
    "story": story,
    "start": start,
    "line": line,
    "grid": grid,
    "order": order,
    "race": race,
    "tree": tree,
    "answers": answers,
    "forest": forest,
}

if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        (HERE / f"{name}.svg").write_text(str(drawn()), "utf-8")
