"""How a question looks in a terminal: the row, its holes, their candidates, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cpclean.cli.sessions import table_of
from cpclean.cli.typed_cells import shown

if TYPE_CHECKING:
    from rich.console import Console

    from cpclean.cleaning.question import Question
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.task import Task

# If there are more than MOST_LISTED candidates, only the FEW likeliest are listed; of rows with too
# many combinations to go through, the values of each hole.
MOST_LISTED = 12
FEW = 8
MOST = 100
# Known cells of a row that are shown for context.
MOST_CELLS = 30

HELP = """\
  a number             this candidate of the list is the true one, or is nearest to it; of numbers
                       and dates that is a rough answer, which is not written into the table
  column=value         the true value, even if it is not listed: age=41, city=New York
                       (several at once, separated by commas; a value with a "=" in quotes)
  ? column             what the column can hold
  more                 more candidates or values
  s                    skip: do not ask about this row again
  u                    undo: take the last answer back, even one from an earlier run
  refit                learn the trees of the forest anew from what is known now
  q                    quit; the same command continues later (Ctrl-D does the same)
  ?                    this help"""


def progress(session: CleaningSession) -> str:
    """How many predictions are certain, sure and open, in a few words."""
    from cpclean.analysis.certain_words import certain_in

    return certain_in(session.view)


def hole_by_hole(question: Question) -> bool:
    """Whether the values of each hole are listed, because combinations of them are too many."""
    return len(holes_of(question)) > 1 and question.n_candidates > len(question.candidates)


def listed(question: Question, more: bool = False) -> list[int]:
    """The candidates to list, by their numbers in the question; the likeliest of many."""
    n = len(question.candidates)
    if hole_by_hole(question):
        return []
    if n <= MOST_LISTED:
        return list(range(n))
    order = sorted(range(n), key=lambda one: -float(question.prior[one]))
    return order[: MOST if more else FEW]


def show(
    console: Console,
    session: CleaningSession,
    task: Task,
    question: Question,
    numbers: list[int],
    where: Callable[[int], str],
    more: bool = False,
) -> None:
    """Print a question.

    `numbers` are the candidates to list, from 1 on, in this order; `where` says which line or
    file the row is in; `more` lists more values of a hole than a few.
    """
    number = int(task.row_names[question.row])
    answers = len(session.history)
    so_far = f"{answers} answer{'' if answers == 1 else 's'} so far"
    console.print(f"\n[bold]Row {number}[/]{_escaped(where(number))}", end="")
    console.print(f"  [dim]({so_far}; {progress(session)})[/]")
    console.print(_cells(session, task, question))
    console.print(_why(session, question))
    if hole_by_hole(question):
        _show_holes(console, task, question, more)
        return
    explained = numbers if len(numbers) <= MOST_LISTED and len(question.points) else []
    settles = [len(question.settles(one)) for one in explained]
    console.print(_candidates(console, task, question, numbers, settles))
    if (left := question.n_candidates - len(numbers)) > 0:
        others = ", `more` lists more" if len(numbers) < min(MOST, len(question.candidates)) else ""
        columns = ", ".join(f"{name}=..." for name in holes_of(question))
        console.print(
            _escaped(f"{left:,} less likely ones{others}. Or type the true values: {columns}"),
            style="dim",
        )
    values = [pair for number in numbers for pair in question.candidates[number].items()]
    _tell_marks(console, task, values)
    _tell_grid(console, task, question.row, values)


def _tell_marks(console: Console, task: Task, values: list[tuple[str, Any]]) -> None:
    """Explain the values that stand for others: "other", "absent"."""
    from cpclean.data.values import is_mark

    marks = dict.fromkeys(in_words(task, name, one) for name, one in values if is_mark(one))
    if marks:
        console.print(
            _escaped(f"{' or '.join(marks)}: a value that is not listed; if you know it, type it."),
            style="dim",
        )


def _tell_grid(console: Console, task: Task, row: int, values: list[tuple[str, Any]]) -> None:
    """Say which values are only points of their column."""
    from cpclean.data.rough_ranges import range_around
    from cpclean.data.values import is_mark

    first = {name: value for name, value in reversed(values) if not is_mark(value)}
    grids = [name for name, one in first.items() if range_around(table_of(task), row, name, one)]
    if grids:
        typed = ", ".join(f"{name}=..." for name in grids)
        console.print(
            _escaped(f"A number of the list is a rough answer. If you know the value: {typed}"),
            style="dim",
        )


def _show_holes(console: Console, task: Task, question: Question, more: bool) -> None:
    """One line per hole: its likeliest values."""
    from rich.table import Table

    from cpclean.analysis.words import count

    most = MOST if more else FEW
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 1))
    table.add_column(justify="right", style="bold yellow")
    table.add_column()
    seen: list[tuple[str, Any]] = []
    for cell in question.cells:
        values = list(zip(cell.values, cell.prior.tolist(), strict=True))
        texts = [f"{in_words(task, cell.column, one)} ({_likely(p)})" for one, p in values[:most]]
        if len(values) > most:
            texts.append(f"and {len(values) - most:,} more")
        table.add_row(_escaped(cell.column), _escaped(", ".join(texts)))
        seen += [(cell.column, one) for one, _ in values[:most]]
    console.print(table)
    first = question.cells[0].column
    some = any(len(cell.values) > most for cell in question.cells)
    others = "; `more` lists more values" if some and not more else ""
    console.print(
        _escaped(
            f"{count(question.n_candidates, 'combination')}{others}. Type the true values that you "
            f"know, of one hole or of several: {first}=..., {question.cells[1].column}=..."
        ),
        style="dim",
    )
    _tell_marks(console, task, seen)


def _likely(share: float) -> str:
    return "<1%" if share < 0.01 else f"{share:.0%}"


def in_words(task: Task, name: str, value: Any) -> str:
    """A value of a column; "other" in brackets where a category has that name."""
    from cpclean.data.between import Between
    from cpclean.data.values import categories_of, is_mark, mark_text

    if isinstance(value, Between):
        return value.words(shown)
    if not is_mark(value):
        return shown(value)
    column = table_of(task).columns[table_of(task).names.index(name)]
    return mark_text(value, categories_of(column, None))


def holes_of(question: Question) -> list[str]:
    """The columns that a question is about."""
    return [question.column] if question.column is not None else list(question.candidates[0])


def _cells(session: CleaningSession, task: Task, question: Question) -> str:
    """The cells of the row in the order of the file, with its holes highlighted."""
    row, asked = table_of(task).row(question.row), holes_of(question)
    known = session.known.get(question.row, {})
    label = session.view.label(question.row)
    parts = [f"[dim]{_escaped(table_of(task).label or 'label')}[/] {_escaped(shown(label))}"]
    plain = 0
    for name, value in row.items():
        if name in known:
            value = in_words(task, name, known[name])
            parts.append(f"[dim]{_escaped(name)}[/] [green]{_escaped(value)}[/]")
        elif name in asked:
            parts.append(f"[bold yellow]{_escaped(name)} ?[/]")
        else:
            plain += 1
            if plain <= MOST_CELLS:
                parts.append(f"[dim]{_escaped(name)}[/] {_escaped(shown(value))}")
    if plain > MOST_CELLS:
        parts.append(f"[dim]and {plain - MOST_CELLS} more columns[/]")
    return "  " + ", ".join(parts)


def _why(session: CleaningSession, question: Question) -> str:
    n_near = len(question.points)
    if not n_near:
        return "[dim]Why this row: it is next in the order; no open prediction depends on it.[/]"
    near = "1 open prediction" if n_near == 1 else f"{n_near} open predictions"
    text = f"Why this row: {near} may depend on it"
    if session.strategy == "random":
        text += ", and it is next in the random order"
    elif question.gain > 0:
        # A prediction at 50:50 has an entropy of ln 2.
        worth = question.gain * len(session.certain) / math.log(2)
        text += f"; knowing it is expected to gain as much as deciding {_about(worth)} from 50:50"
    return f"[dim]{text}.[/]"


def _about(number: float) -> str:
    return f"{number:.1f}" if number >= 0.1 else "less than 0.1"


def _candidates(
    console: Console,
    task: Task,
    question: Question,
    numbers: list[int],
    settles: list[int],
) -> Any:
    """One line per candidate: its values, how likely it is, and what it would settle."""
    from rich import box
    from rich.table import Table

    plain = console.options.ascii_only
    table = Table(box=box.ASCII2 if plain else box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right", style="bold")
    for name in holes_of(question):
        table.add_column(_escaped(name), justify="right")
    table.add_column("how likely", justify="right")
    if settles:
        table.add_column("would settle", justify="right")
    for place, number in enumerate(numbers):
        values = [
            _escaped(in_words(task, name, value))
            for name, value in question.candidates[number].items()
        ]
        likely = _likely(float(question.prior[number]))
        settled = [f"{settles[place]} of {len(question.points)}"] if settles else []
        table.add_row(str(place + 1), *values, likely, *settled)
    return table


def _escaped(text: Any) -> str:
    from rich.markup import escape

    return escape(str(text))
