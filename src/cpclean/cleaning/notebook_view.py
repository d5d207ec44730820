"""A session and a question as HTML for notebooks: plain tables and a bar, without any script."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

# Candidates of a question that are listed.
MOST_LISTED = 8
_BANDS = {"certain": "#1b7f5c", "sure": "#7fbf9f", "open": "#d9d9d9"}


class FileRow(NamedTuple):
    """Where a row of several files is: the file, and the row's number in it, counted from 0."""

    file: str
    row: int


def session_html(session: Any) -> str:
    """How far a session is: a bar of certain, sure and open points, and the answers so far."""
    verdicts = session.verdicts.tolist()
    counts = {name: verdicts.count(name) for name in _BANDS}
    total = max(len(verdicts), 1)
    bar = "".join(
        f'<span style="display:inline-block;height:0.8em;width:{100 * n / total:.4g}%;'
        f'background:{_BANDS[name]}" title="{n} {name}"></span>'
        for name, n in counts.items()
        if n
    )
    words = ", ".join(f"{n:,} {name}" for name, n in counts.items())
    rows = "".join(
        _row(_where(session, record.row), record.kind, f"{record.certain_share:.1%}")
        for record in session.history[-MOST_LISTED:]
    )
    answers = _table(("row", "what", "certain"), rows, "the last answers") if rows else ""
    stopped = f"<p>Nothing more to ask: {escape(session.stopped)}.</p>" if session.stopped else ""
    return (
        f"<div><p><code>{escape(repr(session))}</code></p>"
        f'<div role="img" aria-label="{escape(words)}" style="width:20em;line-height:0">{bar}</div>'
        f"<p>{escape(words)}</p>{stopped}{answers}</div>"
    )


def question_html(question: Any) -> str:
    """What is asked, and what the answer may be, the likeliest first."""
    where = f"row {_named(question.row, question.frame_row)}"
    order = sorted(range(len(question.candidates)), key=lambda n: -question.prior[n])
    rows = "".join(
        _row(_said(question.candidates[n]), f"{question.prior[n]:.1%}", str(question.numbers[n]))
        for n in order[:MOST_LISTED]
    )
    more = question.n_candidates - min(len(order), MOST_LISTED)
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    heads = ("it may be", "how likely", "candidate=")
    return f"<div><p>What is {escape(where)}?</p>{_table(heads, rows, 'candidates')}{rest}</div>"


def _where(session: Any, row: int) -> str:
    return _named(row, session.frame_row(row))


def _named(row: int, own: Any) -> str:
    """A row by its number, and by what its frame or file calls it if that differs."""
    if isinstance(own, FileRow):
        return f"{row}, in {own.file}: {own.row}"
    return f"{row}" if own == row else f"{row}, in the frame {own!r}"


def _said(candidate: Any) -> str:
    if isinstance(candidate, dict):
        return ", ".join(f"{name} {value}" for name, value in candidate.items())
    return str(candidate)


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _table(heads: tuple[str, ...], rows: str, caption: str) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>"
