"""The picture of README, by figures of the results; and the leaves of a forest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from drawing import BOLD, GREY, GROUND, INK, MIDDLE, PALE, SMALL, TINT, TONE, Drawing

DOCS = Path(__file__).parents[1]

# -- leaves of a forest ----------------------------------------------------------------------

# Age, income and city; None is a hole, and may be any of INCOMES.
LEAF_ROWS = {"a": (25, 20, "A"), "b": (35, None, "C"), "c": (50, 25, "B"), "d": (62, 48, "D")}
LEAF_LABELS = {"a": "no", "b": "yes", "c": "no", "d": "yes"}
LEAF_POINT, INCOMES = (38, 40, "B"), (20, 45)
TREES: tuple[tuple[str, Callable[[tuple], bool]], ...] = (
    ("age ≤ 40 ?", lambda row: row[0] <= 40),
    ("income ≤ 30 ?", lambda row: row[1] <= 30),
    ("city A or C ?", lambda row: row[2] in "AC"),
)


def ways(row: tuple) -> list[tuple]:
    """The row with each value in its hole."""
    return [(row[0], income, row[2]) for income in ((row[1],) if row[1] else INCOMES)]


def apart(row: tuple, other: tuple) -> int:
    """How many trees send two rows to different leaves."""
    return sum(asks(row) != asks(other) for _, asks in TREES)


def forest() -> Drawing:
    """Three trees, four rows of which one has a hole, and a point."""
    sheet = Drawing(
        900, 330, "Leaves of a forest",
        "Three trees, each with one question and two leaves. Row b has a hole in the column that "
        "the second tree asks about, and is in both of its leaves. The distance to the point is "
        "the number of trees that tell the two apart: a 2, b 1 or 2, c 2, d 1.",
    )  # fmt: skip
    for number, (question, asks) in enumerate(TREES):
        left = 24 + 290 * number
        sheet.text(left + 125, 30, f"tree {number + 1}", text_anchor="middle", **SMALL)
        sheet.box(left + 60, 40, 130, 28, fill=GROUND, stroke=INK)
        sheet.text(left + 125, 59, question, **MIDDLE, **BOLD)
        for side, word in enumerate(("yes", "no")):
            x = left + 128 * side
            sheet.line(left + 125, 68, x + 61, 96)
            sheet.text(x + (14 if side == 0 else 92), 84, word, **SMALL)
            sheet.box(x, 96, 122, 44, fill="none", stroke=GREY)
            inside = [
                (name, len({asks(way) for way in ways(row)}) > 1)
                for name, row in LEAF_ROWS.items()
                if (not side) in {asks(way) for way in ways(row)}
            ]
            for place, (name, both) in enumerate(inside):
                _chip(sheet, x + 8 + 27 * place, 106, name, both)
            if asks(LEAF_POINT) is not bool(side):
                sheet.text(x + 108, 124, "★", text_anchor="middle", font_size=18)
    sheet.text(24, 176, "★ a point: age 38, income 40, city B", font_size=13)
    sheet.text(300, 176, "Row b has no income: it may be in either leaf of tree 2.", font_size=13)
    sheet.text(24, 210, "distance to ★ = trees that tell the two apart", **BOLD)
    for place, (name, row) in enumerate(LEAF_ROWS.items()):
        x = 24 + 215 * place
        far = sorted({apart(way, LEAF_POINT) for way in ways(row)})
        _chip(sheet, x, 226, name, len(far) > 1)
        sheet.text(x + 32, 242, " or ".join(map(str, far)), **BOLD)
        sheet.text(x + 94, 242, LEAF_LABELS[name], fill=TONE[LEAF_LABELS[name]], **BOLD)
    sheet.text(24, 288, _nearest_in_words(), font_size=13)
    sheet.text(
        24, 308, "At equal distance, the row that comes first is nearer; K = 1 here.", **SMALL
    )
    return sheet


def _chip(sheet: Drawing, x: float, y: float, name: str, open_: bool) -> None:
    label = LEAF_LABELS[name]
    dashes = {"stroke_dasharray": "3 3"} if open_ else {}
    sheet.box(x, y, 23, 23, fill=TINT[label], stroke=TONE[label], **dashes)
    sheet.text(x + 11.5, y + 16, name, **MIDDLE, fill=TONE[label], **BOLD)


def _nearest_in_words() -> str:
    """Who is nearest in each world, and what that means."""
    told, labels = [], set()
    for income in INCOMES:
        world = {name: row if row[1] else (row[0], income, row[2])
                 for name, row in LEAF_ROWS.items()}  # fmt: skip
        nearest = min(world, key=lambda name: (apart(world[name], LEAF_POINT), name))
        labels.add(LEAF_LABELS[nearest])
        told.append(f"if its income is {income}, row {nearest} is nearest")
    said = "certain" if len(labels) == 1 else "not certain"
    return f"{'; '.join(told).capitalize()}. Both are “{labels.pop()}”: the prediction is {said}."


# -- the story, by figures of the results ----------------------------------------------------


def reported(page: str, *first: str) -> list[str]:
    """The cells of the line of a table that begins with these ones."""
    for line in (DOCS / page).read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and tuple(cells[: len(first)]) == first:
            return cells
    raise LookupError(f"{page} has no line {first}")


def percents(cell: str) -> list[float]:
    """The numbers in a cell such as "7.7 %; 13.5 %"."""
    return [float(one.strip(" %").replace("−", "-")) for one in cell.split(";")]


def story() -> Drawing:
    """README: five steps, each with what was measured."""
    sheet = Drawing(
        920, 450, "What cpclean does, in figures",
        "Rows to learn from and rows to predict may have holes. Neighbours in a forest are as "
        "accurate as gradient boosting. Being sure takes far fewer answers than being certain. How "
        "many answers every order needs is proved. Tables may be larger than memory.",
    )  # fmt: skip
    _story_holes(sheet, 24, 34)
    _story_forest(sheet, 316, 34)
    _story_sure(sheet, 628, 34)
    sheet.line(24, 252, 896, 252, stroke=PALE)
    _story_effort(sheet, 24, 284)
    _story_size(sheet, 628, 284)
    return sheet


def _heading(sheet: Drawing, x: float, y: float, number: int, text: str) -> None:
    sheet.circle(x + 10, y - 5, 11, fill=TONE["yes"])
    sheet.text(x + 10, y, number, text_anchor="middle", fill=GROUND, **BOLD)
    sheet.text(x + 30, y, text, **BOLD)


def _told(sheet: Drawing, x: float, y: float, *lines: str) -> None:
    for number, line in enumerate(lines):
        sheet.text(x, y + 17 * number, line, **SMALL)


def _bar(sheet: Drawing, x: float, y: float, share: float, label: str, tone: str) -> None:
    """A share of 100 % of 150, with its figure and what it is."""
    sheet.box(x, y - 13, 150, 16, fill=PALE)
    sheet.box(x, y - 13, 1.5 * share, 16, fill=tone)
    sheet.text(x + 158, y, label, font_size=13)


def _story_holes(sheet: Drawing, x: float, y: float) -> None:
    """A table in which most rows have holes, also those to predict."""
    _heading(sheet, x, y, 1, "Holes everywhere")
    holes = {(0, 1), (1, 3), (2, 0), (3, 2), (3, 4), (4, 1), (5, 3), (5, 0)}
    for row, column in product(range(6), range(5)):
        place = (x + 4 + 30 * column, y + 16 + 20 * row + (10 if row > 3 else 0))
        if (row, column) in holes:
            sheet.box(*place, 26, 16, fill="none", stroke=INK, stroke_dasharray="3 3")
        else:
            sheet.box(*place, 26, 16, fill=TINT["yes"] if row < 4 else TINT["no"])
    sheet.text(x + 166, y + 60, "to learn from", font_size=13, fill=TONE["yes"])
    sheet.text(x + 166, y + 130, "to predict", font_size=13, fill=TONE["no"])
    rows = reported("results.md", "Bank", "published")
    dirty = reported("results/cleaning.md", "Bank")[1]
    _told(sheet, x, y + 172, f"{dirty} of {rows[3]} rows of Bank have holes.",
          "No row has to be complete.")  # fmt: skip


def _story_forest(sheet: Drawing, x: float, y: float) -> None:
    """How far models are from gradient boosting on real holes."""
    _heading(sheet, x, y, 2, "Neighbours in a forest")
    zero = x + 190
    sheet.line(zero, y + 14, zero, y + 132, stroke=INK)
    found = {
        "forest space": "forest space, K = 15",
        "15-NN, imputed": "15-NN, SimpleImputer",
        "scaled columns": "plain space, K = 15",
        "as in the paper": "plain space, K = 3",
    }
    for number, (words, name) in enumerate(found.items()):
        mean = percents(reported("results/models.md", name)[1])[0]
        line, tone = y + 36 + 29 * number, TONE["yes"] if number == 0 else GREY
        width = max(3.0, 14 * abs(mean))
        sheet.box(zero - (width if mean < 0 else 0), line - 13, width, 16, fill=tone)
        sheet.text(x, line, words, font_size=13, **(BOLD if number == 0 else {}))
        sheet.text(zero + 12, line, f"{mean:+.1f}", font_size=13, **(BOLD if number == 0 else {}))
    _told(sheet, x, y + 155, "Points of accuracy, beside gradient boosting:",
          "mean of four tables with real holes.", "Just as exact, and proved.")  # fmt: skip


def _story_sure(sheet: Drawing, x: float, y: float) -> None:
    """Rows to clean until all points are sure, and certain."""
    _heading(sheet, x, y, 3, "Sure before certain")
    for number, table in enumerate(("Supreme", "Bank", "Puma")):
        cells = reported("results/sure.md", table, "published", "plain", "0.95")
        sure, certain = percents(cells[7])[1], percents(cells[9])[1]
        line = y + 28 + 40 * number
        sheet.text(x, line + 8, table, font_size=13)
        _bar(sheet, x + 64, line, sure, f"{sure:.0f} %", TONE["yes"])
        _bar(sheet, x + 64, line + 17, certain, f"{certain:.0f} %", GREY)
    _told(sheet, x, y + 155, "Rows with holes to clean until 300 points",
          "are all 95 % sure (blue)", "or all certain (grey).")  # fmt: skip


def _story_effort(sheet: Drawing, x: float, y: float) -> None:
    """What a session cleans, what every order has to, and what random order does."""
    _heading(sheet, x, y, 4, "Proof of effort")
    for number, table in enumerate(("Supreme", "Bank")):
        cells = reported("results/cleaning.md", table)
        cleaned = float(cells[2].split("(")[1].strip("%)"))
        least, random = float(cells[3].strip("%")), float(cells[5].strip("%"))
        left = x + 292 * number
        sheet.text(left, y + 30, table, font_size=13)
        _bar(sheet, left, y + 54, least, f"{least:.0f} % at least", TONE["no"])
        _bar(sheet, left, y + 76, cleaned, f"{cleaned:.0f} % cpclean", TONE["yes"])
        _bar(sheet, left, y + 98, random, f"{random:.0f} % random", GREY)
    _told(sheet, x, y + 128, "Rows cleaned until 1,000 points are certain; what any order has to "
          "clean, even one", "that knows the truth, is proved row by row.")  # fmt: skip


def _story_size(sheet: Drawing, x: float, y: float) -> None:
    """Tables of files."""
    _heading(sheet, x, y, 5, "Large when needed")
    rows, seconds, memory, _ = reported("guides/large.md", "10,000,000")
    for number, (what, words) in enumerate(
        (
            (rows, "rows in a file"),
            (memory, "of memory at most"),
            (seconds, "of CPU per million rows"),
        )
    ):
        sheet.text(x + 94, y + 36 + 26 * number, what, text_anchor="end", **BOLD)
        sheet.text(x + 104, y + 36 + 26 * number, words, font_size=13)
    _told(sheet, x, y + 128, "On a cluster, the same answers,", "bit for bit.")
