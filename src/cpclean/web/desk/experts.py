"""Experts: who is asked about which columns. Whoever is not on the list is asked about all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from cpclean.errors import AnswerError, offenders

MOST_EXPERTS = 500


class Experts:
    """The list of experts; names are the same whatever their case.

    Parameters
    ----------
    columns : dict from name to the columns that the person is asked about

    Examples
    --------
    >>> experts = Experts.read(["Anna = age, income", "Bob=age"], ["age", "income", "city"])
    >>> sorted(experts.columns_of("anna")), experts.columns_of("Zoe")
    (['age', 'income'], None)
    >>> experts.nobodys(["age", "income", "city"])
    ['city']
    >>> experts.lines
    ['Anna = age, income', 'Bob = age']
    """

    def __init__(self, columns: Mapping[str, Iterable[str]] | None = None) -> None:
        self.columns = {name: list(own) for name, own in (columns or {}).items()}
        self._by_key = {_key(name): frozenset(own) for name, own in self.columns.items()}

    @classmethod
    def read(cls, lines: Iterable[str], columns: Collection[str]) -> Experts:
        """Experts from lines such as "anna = age, income"; several may be about one person."""
        found: dict[str, list[str]] = {}
        names: dict[str, str] = {}
        for line in lines:
            if not line.strip():
                continue
            name, rest = _split(line, columns)
            name = " ".join(name.split())
            if not name:
                raise AnswerError(
                    "an expert is written as NAME=COLUMN,COLUMN, such as anna=age,income; got "
                    f"{line.strip()[:60]!r}."
                )
            own = found.setdefault(names.setdefault(_key(name), name), [])
            own += [one for one in _columns(rest, columns, name) if one not in own]
        if len(found) > MOST_EXPERTS:
            raise AnswerError(f"there may be at most {MOST_EXPERTS} experts; got {len(found)}.")
        return cls(found)

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def lines(self) -> list[str]:
        """The list as `read` takes it."""
        return [f"{name} = {', '.join(own)}" for name, own in self.columns.items()]

    def columns_of(self, who: str) -> frozenset[str] | None:
        """The columns that a person is asked about; None for all."""
        return self._by_key.get(_key(who))

    def nobodys(self, columns: Iterable[str]) -> list[str]:
        """The columns that nobody on the list is asked about."""
        covered = frozenset[str]().union(*self._by_key.values())
        return [name for name in columns if name not in covered]


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _split(line: str, columns: Collection[str]) -> tuple[str, str]:
    """The name and the columns; of several signs of equality, the first that gives columns."""
    places = [place for place, sign in enumerate(line) if sign == "="]
    parts = [(line[:place], line[place + 1 :]) for place in places] or [("", "")]
    good = [one for one in parts if all(each.strip() in columns for each in one[1].split(","))]
    return (good or parts)[0]


def _columns(text: str, columns: Collection[str], who: str) -> list[str]:
    """Columns of a list; a name that has commas itself is found as a whole."""
    if text.strip() in columns:
        return [text.strip()]
    found = [one.strip() for one in text.split(",") if one.strip()]
    if not found:
        raise AnswerError(f"{who} needs at least one column, such as {who}={next(iter(columns))}.")
    if odd := [one for one in found if one not in columns]:
        near = get_close_matches(odd[0], columns, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise AnswerError(
            f"{who} is asked about columns that have holes: {offenders(map(repr, columns))}; got "
            f"{odd[0][:60]!r}.{meant}"
        )
    return found
