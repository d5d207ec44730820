"""Tables of results in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int) -> str:
    """A table whose first `n_texts` columns are texts; the others are set flush right.

    >>> print(markdown_table(["table", "rows"], [["Bank", "3,189"]], 1), end="")
    | table | rows |
    | --- | ---: |
    | Bank | 3,189 |
    """
    rule = ["---"] * n_texts + ["---:"] * (len(head) - n_texts)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def named_tables(tables: Mapping[str, str]) -> str:
    """Tables below each other, each after a comment with its name, by which a page has it.

    >>> print(named_tables({"rows": "| 1 |\\n"}), end="")
    <!-- table: rows -->
    | 1 |
    """
    return "\n".join(f"<!-- table: {name} -->\n{text}" for name, text in tables.items())
