"""What people and programs see: frozen values, ready for templates and for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from cpclean.analysis.certain_words import Standing
from cpclean.queries.sureness import LEVEL

# Numbers of NumPy are written as what they are.
_ENCODER = msgspec.json.Encoder(enc_hook=lambda one: one.item())


@dataclass(frozen=True)
class RangeView:
    """A range for people who know a value only roughly; an end that is None is open."""

    text: str
    between: list[Any]


@dataclass(frozen=True)
class CellView:
    """One cell of the row in question.

    Attributes
    ----------
    low, high, categories
        Of a hole: the least and the greatest value so far, or all categories so far, in order.
    ranges : list of RangeView
        Of a hole whose values have an order: rough answers, each of which stands for candidates.
    unit : str
        What values are measured in, if the name of the column says so: kg for "weight (kg)"
        and for "weight_kg".
    """

    column: str
    kind: str
    text: str | None  # None if it is missing
    hole: bool
    low: str | None = None
    high: str | None = None
    categories: list[str] = field(default_factory=list)
    ranges: list[RangeView] = field(default_factory=list)
    unit: str = ""


@dataclass(frozen=True)
class CommentView:
    """What somebody remarked about a row, and when."""

    who: str
    at: str
    text: str


@dataclass(frozen=True)
class CandidateView:
    """What the missing cells of a row might be; `number` is what an answer names."""

    number: int
    cells: dict[str, str]
    prior: float
    settles: int | None = None  # predictions that would become certain; None: not worked out yet


@dataclass(frozen=True)
class HolderView:
    """A row that somebody has open, and for how many seconds it stays with them."""

    who: str
    seconds: float
    row: int
    number: int
    title: str = ""


@dataclass(frozen=True)
class NextView:
    """A row that somebody will probably be asked about soon, and the cells that are asked for."""

    row: int
    number: int
    title: str
    line: int | None
    link: str
    columns: list[str]
    handed_by: str
    held: bool


@dataclass(frozen=True)
class QuestionView:
    """A row that somebody is asked about.

    Attributes
    ----------
    row : int
        What an answer names.
    number : int
        The row's number for people: in the file, where 0 is the first row below the header.
    candidates : list of CandidateView
        The likeliest, if there are many; where several cells are missing, each of their values is
        among them. `n_candidates` counts all.
    gain : float
        By how much the mean entropy of the predictions is expected to fall, in nats.
    near : int
        Uncertain predictions to which the row can be among the nearest.
    lease_id : str or None
        None if the row is not held for this person: others hold it, or it is there to be corrected.
    others : list of str
        Those who answered it before.
    said : str or None
        What is known about the row so far, if it is opened to correct that.
    settled : bool
        Whether as many people as needed agree on it, or somebody has corrected it.
    title : str
        By which people recognise the row, such as "patient_id 4711"; "" if nothing identifies it.
    line : int or None
        The line of the file on which the row begins; None if it does not come from a text file.
    link : str
        The address of the row's record; "" if there is none.
    comments : list of CommentView
    handed_by : str
        Who handed the row over to this person; "" if nobody did.
    seen : int
        The number of the last event that this takes into account.
    holders : list of HolderView
        Who else has the row open, if it is not held for this person.
    """

    row: int
    number: int
    cells: list[CellView]
    candidates: list[CandidateView]
    gain: float
    near: int
    lease_id: str | None
    lease_seconds: float
    others: list[str]
    said: str | None
    version: int
    n_candidates: int = 0
    settled: bool = False
    title: str = ""
    line: int | None = None
    link: str = ""
    comments: list[CommentView] = field(default_factory=list)
    handed_by: str = ""
    seen: int = 0
    holders: list[HolderView] = field(default_factory=list)


@dataclass(frozen=True)
class AnsweredView:
    """An event that was saved.

    Attributes
    ----------
    event_number : int
        Its number in the log.
    unusual : list of str
        The columns of an answer whose values are unlike all others; they are saved and marked.
    """

    event_number: int
    kind: str
    row: int
    unusual: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PersonView:
    """What one person did; agreement is how often others gave the same answer to the same row."""

    name: str
    answers: int
    skips: int
    seconds_median: float | None
    agreement: float | None


@dataclass(frozen=True)
class PairView:
    """How often two people gave the same answer to rows that both answered."""

    one: str
    other: str
    same: int
    different: int


@dataclass(frozen=True)
class ProgressView:
    """How far it is.

    Attributes
    ----------
    version : int
        A new one whenever anything below may have changed.
    answers : int
        Rows answered so far; where several people must agree, rows on which they do.
    rows_total, rows_left : int
        Rows with holes; those that are neither settled nor skipped.
    certain_share, certain, points
        The share and the number of certain predictions, and how many there are.
    sure, open : int
        Other predictions that are sure, and the rest.
    sure_level, sure_share : float
        At which they are sure, and the share of those that are certain or sure.
    settled, settled_share
        The number and the share of settled predictions: certain or, `until_sure`, also sure.
    looking_back : list of str
        Once there is nothing more to ask: which answers were avoidable, and how many new rows would
        be settled, too. Empty until that is worked out.
    looking_at : (str, float) or None
        While that takes a while: what is looked at, and how much of it is done.
    points_with_holes : int
        Predictions of rows with holes of their own. If there are any, `certain_share` is that of
        their completions, by weight, and `certain` counts predictions of which all are certain.
    draws : str
        How far shares are off where rows are represented by draws; "" where none are, or where
        that is not worked out yet.
    curve : list of (answers, share)
        How the settled share came about.
    certain_curve, sure_curve : list of (answers, share)
        The same of the shares that are certain, and that are certain or sure. Where sure ones are
        not settled, the latter is worked out later, and not after every answer.
    expected, low, high : list of (answers, share)
        How it is expected to go on: mean and range over a few simulated continuations.
    to_target : int or None
        How many more answers are expected until the share `target` is settled; None: not known.
    to_go : str
        How many more answers that takes, in words: a range, or what is known before there is one.
    accuracy : float or None
        Of the validation points, where their labels are known.
    pairs : list of PairView
        Who agrees with whom, where rows are double-checked.
    stopped : str or None
        Why there is nothing more to ask, in words.
    busy : bool
        Whether the engine has not caught up with all answers yet.
    trouble : str or None
        What keeps the engine from following, in words; for example, a database out of reach.
    left_out : list of str
        Events in the log that do not fit this table and do not count.
    looked : bool
        Whether there has been a first look at the table; before it, numbers say nothing.
    """

    version: int
    answers: int
    rows_total: int
    rows_left: int
    certain_share: float
    certain: int
    points: int
    curve: list[tuple[int, float]]
    expected: list[tuple[int, float]]
    low: list[tuple[int, float]]
    high: list[tuple[int, float]]
    to_target: int | None
    target: float
    accuracy: float | None
    people: list[PersonView]
    disputed: int
    stopped: str | None
    done: bool
    busy: bool
    pairs: list[PairView] = field(default_factory=list)
    answers_per_row: int = 1
    trouble: str | None = None
    left_out: list[str] = field(default_factory=list)
    points_with_holes: int = 0
    draws: str = ""
    sure: int = 0
    open: int = 0
    sure_level: float = LEVEL
    sure_share: float = 0.0
    settled: int = 0
    settled_share: float = 0.0
    until_sure: bool = False
    certain_curve: list[tuple[int, float]] = field(default_factory=list)
    sure_curve: list[tuple[int, float]] = field(default_factory=list)
    looking_back: list[str] = field(default_factory=list)
    looking_at: tuple[str, float] | None = None
    looked: bool = True
    to_go: str = ""

    @property
    def all_certain(self) -> bool:
        """Whether every prediction is certain."""
        return self.certain == self.points > 0

    @property
    def all_settled(self) -> bool:
        """Whether nobody has to answer anything more."""
        return self.settled == self.points > 0

    @property
    def standing(self) -> Standing:
        """How many predictions are certain, sure and open; as text, in words."""
        return Standing.in_numbers(self)


@dataclass(frozen=True)
class PredictionView:
    """A row to predict.

    Attributes
    ----------
    row : int
        Its number for people: in its file, where 0 is the first row below the header.
    prediction : str
        The label that most of the prior mass predicts.
    share : float
        Of the prior mass that predicts it.
    verdict : {"certain", "sure", "open"}
    label : str or None
        The true one, where it is known.
    title : str
        By which people recognise it, as the rows with holes; "" if it was not held out of them.
    line : int or None
        On which it begins in its file, as in `RowView`.
    """

    row: int
    prediction: str
    share: float
    verdict: str
    label: str | None = None
    title: str = ""
    line: int | None = None


@dataclass(frozen=True)
class PredictionsView:
    """All rows to predict, and the level at which they are sure."""

    version: int
    sure_level: float
    predictions: list[PredictionView]


@dataclass(frozen=True)
class RowView:
    """One line of the table of rows with holes.

    Attributes
    ----------
    state : {"open", "held", "answered", "rough", "skipped", "disputed", "waiting", "handed"}
        "held" is a row without answers that somebody has open; "waiting" needs more people; of a
        "rough" one a range is known, no value; "handed" was handed over to somebody.
    who : list of str
        Those who answered or skipped it, or else those who hold it.
    said : str or None
        What is settled. What one person answered before others is shown to nobody else.
    held_by : list of str
        Those who have it open now, whatever its state.
    """

    row: int
    number: int
    state: str
    gain: float
    who: list[str]
    holes: list[str]
    said: str | None
    held_by: list[str] = field(default_factory=list)
    title: str = ""
    line: int | None = None
    handed_to: str | None = None


@dataclass(frozen=True)
class RowsView:
    """A page of that table, and what was asked for."""

    rows: list[RowView]
    total: int
    page: int
    pages: int
    sort: str
    order: str
    state: str
    search: str


def as_json(view: Any) -> bytes:
    """A view, or something made of views, as JSON."""
    return _ENCODER.encode(view)
