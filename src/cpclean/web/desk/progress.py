"""How far it is, as a view."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import median

from cpclean.analysis.forecast import Course
from cpclean.data.rows import Floats
from cpclean.projects.project import Project
from cpclean.queries.sureness import LEVEL
from cpclean.report.pictures import thinned
from cpclean.storage.ledger import Ledger
from cpclean.web.desk.engine import MOST_ANSWERS, Engine, Now
from cpclean.web.desk.views import PairView, PersonView, ProgressView

MOST_SHOWN = 400  # points of the curve so far
MOST_AHEAD = 120  # points of the forecast


def progress_of(engine: Engine, project: Project) -> ProgressView:
    """What is known now; zeros and `busy` until there has been a first look."""
    version, now = engine.version, engine.now
    target = project.settings.target_share
    if now is None:
        n_rows, n_points = project.task.dataset.n_dirty_in_all, project.task.points.n_points
        return ProgressView(
            version, 0, n_rows, n_rows, 0.0, 0, n_points, [], [], [], [], None, target,
            None, [], 0, None, False, True, trouble=engine.trouble,
            points_with_holes=len(project.task.points.mixtures), open=n_points,
            sure_level=project.settings.sure or LEVEL,
            until_sure=project.settings.sure is not None, looked=False, to_go="not known yet",
        )  # fmt: skip
    view, ledger, outlook = now.view, now.ledger, engine.outlook
    data = project.task.dataset  # of files, the rows that matter, and how many others have holes
    standing = engine.standing(now)
    return ProgressView(
        version=version,
        answers=len(view.history),
        rows_total=data.n_dirty_in_all,
        rows_left=data.n_dirty_in_all - len(data.dirty_rows) + len(view.open_rows),
        **standing.numbers,
        curve=_settled_curve(now),
        expected=_ahead(outlook, outlook.mean) if outlook else [],
        low=_ahead(outlook, outlook.low) if outlook else [],
        high=_ahead(outlook, outlook.high) if outlook else [],
        to_target=_to_target(engine, now, target),
        target=target,
        to_go=_to_go(engine, now, target),
        accuracy=engine.accuracy,
        people=_people(now),
        disputed=len(ledger.disputed),
        stopped=now.stopped,
        done=now.stopped is not None,
        busy=engine.behind,
        pairs=[
            PairView(one, other, both.same, both.different)
            for (one, other), both in ledger.agreement.items()
        ],
        answers_per_row=ledger.answers_per_row,
        trouble=engine.trouble,
        left_out=[f"Event {number}: {why}" for number, why in ledger.left_out.items()],
        draws=engine.draws or "",
        certain_curve=_certain_curve(now),
        sure_curve=_sure_curve(engine, now),
        looking_back=engine.looked_back if now.stopped is not None else [],
        looking_at=engine.looking_at if now.stopped is not None else None,
    )


def _certain_curve(now: Now) -> list[tuple[int, float]]:
    shares = [now.start_shares[0], *(one.certain_share for one in now.view.history)]
    return _curve(shares, now.view.certain_share)


def _settled_curve(now: Now) -> list[tuple[int, float]]:
    shares = [now.start_shares[1], *(one.settled_share for one in now.view.history)]
    return _curve(shares, now.view.settled_share)


def _sure_curve(engine: Engine, now: Now) -> list[tuple[int, float]]:
    if now.view.sure is not None:
        return _settled_curve(now)
    return engine.sure_shares.curve(now.view)


def _curve(shares: list[float], last: float) -> list[tuple[int, float]]:
    """The shares by the number of answers, as far as they are known; the last one always is."""
    shares = [*shares[:-1], last] if len(shares) > 1 else shares
    places = thinned(len(shares), MOST_SHOWN)
    return [(place, shares[place]) for place in places if not math.isnan(shares[place])]


def _ahead(course: Course, shares: Floats) -> list[tuple[int, float]]:
    return [
        (int(course.answers[place]), float(shares[place]))
        for place in thinned(len(shares), MOST_AHEAD)
    ]


def _to_target(engine: Engine, now: Now, target: float) -> int | None:
    if now.view.settled_share >= target:
        return 0
    ahead = engine.outlook
    more = None if ahead is None else ahead.reach(target)
    if ahead is None or more is None or now.stopped is not None:
        return None
    # The forecast may be some answers old.
    rows = max(1, int(ahead.answers[more]) - len(now.view.history))
    return rows * now.ledger.answers_per_row


def _to_go(engine: Engine, now: Now, target: float) -> str:
    """What is left to do, in answers; at most one for each row and person."""
    if now.view.settled_share >= target:
        return "none"
    if now.stopped is not None:
        return "nothing more to ask"
    each, most = now.ledger.answers_per_row, len(now.view.open_rows)
    ahead, given = engine.outlook, len(now.view.history)
    since = 0 if ahead is None else given - int(ahead.answers[0])
    if ahead is not None and (found := ahead.more(since)) is not None:
        low, high = (min(one, most) * each for one in found)
        return f"{low:,} to {high:,}" if low < high else f"{low:,}"
    if ahead is not None and len(ahead.answers) > MOST_ANSWERS:
        return f"more than {max(1, MOST_ANSWERS - since) * each:,}"
    return f"at most {most * each:,}"


def _people(now: Now) -> list[PersonView]:
    """Who did what, the busiest first."""
    ledger = now.ledger
    took: dict[str, list[float]] = defaultdict(list)
    for event in now.events[: ledger.last]:
        if event.seconds is not None and event.kind != "undo" and event.number not in ledger.undone:
            took[event.who].append(event.seconds)
    agreement = _agreement(ledger)
    names = sorted(
        {*ledger.answers, *ledger.skips}, key=lambda one: (-ledger.answers.get(one, 0), one)
    )
    return [
        PersonView(
            name,
            ledger.answers.get(name, 0),
            ledger.skips.get(name, 0),
            float(median(took[name])) if took[name] else None,
            agreement.get(name),
        )
        for name in names
    ]


def _agreement(ledger: Ledger) -> dict[str, float]:
    """For each person, the share of pairs of answers in which theirs is the same."""
    same: dict[str, int] = defaultdict(int)
    both: dict[str, int] = defaultdict(int)
    for pair, found in ledger.agreement.items():
        for name in pair:
            same[name] += found.same
            both[name] += found.same + found.different
    return {name: same[name] / count for name, count in both.items() if count}
