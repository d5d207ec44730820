"""Tables of results in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int) -> str:
    """A table whose first `n_texts` columns are texts; the others are set flush right.

    >>> print(markdown_table(["table", "rows"], [["Bank", "3,189"]], 1), end="")
    | table | rows |
    | --- | ---: |
    | Bank | 3,189 |
    """
    rule = ["---"] * n_texts + ["---:"] * (len(head) - n_texts)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))
