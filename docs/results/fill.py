"""Put measured tables into a page: ``python docs/results/fill.py PAGE RESULTS``.

RESULTS is what `cpclean reproduce` writes, such as results/models.md. Each of its tables stands
after a comment with its name, and replaces the table after the same comment in the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TABLE = re.compile(r"(<!-- table: (.+) -->\n)((?:\|.*\n)*)")


def filled(page: str, results: str) -> str:
    """The page with all its tables that are among the results."""
    tables = {name: text for _, name, text in TABLE.findall(results)}
    return TABLE.sub(lambda found: found[1] + tables.get(found[2], found[3]), page)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    results = Path(sys.argv[2]).read_text(encoding="utf-8")
    page.write_text(filled(page.read_text(encoding="utf-8"), results), encoding="utf-8")
