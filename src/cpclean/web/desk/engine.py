"""The engine: a thread that follows the log, and works ahead while people think.

Requests never wait for it. It publishes where things stand as one value that is never changed,
`Now`; whoever looks gets the latest. In the order of importance it

1. takes in what people answered, here or in other processes, and ranks the rows anew;
2. works out what the candidates of the next questions would settle;
3. works out which predictions are sure, if that settles none, and the accuracy, if the labels are
   known;
4. simulates how it will go on;
5. works out which predictions were sure after earlier answers, for the picture of the progress;
6. finds out how far shares are off, if rows are represented by draws;
7. works out what each column would settle, and looks back at the answers once there is nothing more
   to ask, both in threads of their own.

Between any two small pieces of 2 to 6 it looks for news.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from threading import Condition, Event, Thread

from cpclean.analysis.certain_words import Standing
from cpclean.analysis.draw_errors import draws_note
from cpclean.analysis.forecast import Course, Forecast
from cpclean.analysis.looking_back import looking_back
from cpclean.analysis.ranking import rows_to_ask
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.view import SessionView
from cpclean.data.rows import Floats
from cpclean.errors import ClusterError, CPCleanError, StorageError
from cpclean.intake.sentences import said
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.storage.events import Event as LogEvent
from cpclean.storage.following import Follower
from cpclean.storage.ledger import Book, Ledger
from cpclean.web.desk.column_looks import ColumnLooks
from cpclean.web.desk.details import Detail, detail_of
from cpclean.web.desk.recalling import Recalling
from cpclean.web.desk.sure_shares import SureShares

AHEAD = 24  # questions that are worked out ahead
POLL_SECONDS = 0.25  # between looks for answers from other processes
MOST_REST = 0.02  # seconds after a piece of work
LIVELY_SECONDS = 1.0  # after an answer
RETRY_SECONDS = 1.0  # after the database could not be read
ACCURACY_SECONDS = 1.0  # between two looks at all points
RUNS, MOST_ANSWERS = 5, 400  # of a forecast
STEPS_SHOWN = 15  # steps of a forecast between two that are shown
SHOWN_SECONDS = 1.0  # between two looks at how far the looking back is

log = logging.getLogger("cpclean.web")


class NotReadyError(CPCleanError):
    """The engine has not had its first look at the table yet."""


class _OutdatedError(Exception):
    """What is looked back at is not how things stand any more."""


@dataclass(frozen=True)
class Now:
    """Where things stand after an event of the log.

    Attributes
    ----------
    events : list of Event
        The log so far; only ever read up to `ledger.last`.
    by_request : dict from request id to Event
    comments : dict from row to list of Event
        Those with a comment.
    session : CleaningSession
        Nobody changes it: the follower goes on with a copy. `view` shows it.
    ranking : list of int
        The rows that can be asked about, the best first.
    place : dict from row to int
        Where it stands in the ranking.
    start_shares : (float, float)
        The shares that were certain and settled before the first answer.
    start : SessionView
        As things stood before the first answer, by which gold questions are asked.
    """

    version: int
    ledger: Ledger
    events: list[LogEvent]
    by_request: dict[str, LogEvent]
    comments: dict[int, list[LogEvent]]
    session: CleaningSession
    view: SessionView
    ranking: list[int]
    place: dict[int, int]
    gains: Floats
    stopped: str | None
    start_shares: tuple[float, float]
    start: SessionView


class Engine:
    """Keeps `now` up to date.

    Parameters
    ----------
    storage : Storage
    project : Project
    answers_per_row : int
    """

    def __init__(
        self,
        storage: Storage,
        project: Project,
        answers_per_row: int,
        cluster: str | None = None,
    ) -> None:
        self._storage, self._project, self._cluster = storage, project, cluster
        self._book = Book(answers_per_row, project.spelling)
        self.now: Now | None = None
        self.accuracy: float | None = None
        self.outlook: Course | None = None
        self.draws: str | None = None  # None until it is worked out
        self.looked_back: list[str] = []
        self.looking_at: tuple[str, float] | None = None  # while looking back: what, and how far
        self._back_of: object = None  # the state that it is about
        self.trouble: str | None = None
        self.details: dict[int, Detail] = {}
        self.version = 0
        self._changed = Condition()
        self._news, self._stopping = Event(), Event()
        self._following = False
        self._recalling: Recalling | None = None
        self._looked = 0.0  # when the log was last looked at
        self._taken_at = -LIVELY_SECONDS  # when something new was in it
        self._events: list[LogEvent] = []
        self._by_request: dict[str, LogEvent] = {}
        self._comments: dict[int, list[LogEvent]] = {}
        self._follower: Follower | None = None
        self._start_shares = (0.0, 0.0)
        self._start: SessionView | None = None
        self._standing: Standing | None = None
        self.sure_shares = SureShares()
        self.columns = ColumnLooks(self.publish)
        self._accuracy_of = -1  # the version that it was worked out for
        self._accuracy_at = -ACCURACY_SECONDS
        self._turn = False
        self._forecast: Forecast | None = None
        self._forecast_of: object = None  # the state that it begins at
        self._forecast_steps = 0
        self._foreseen = False  # whether a forecast has come to its end
        self._thread: Thread | None = None

    # -- for requests ----------------------------------------------------------------------

    def ready_now(self) -> Now:
        """Where things stand, or an error before the first look."""
        if self.now is None:
            raise NotReadyError(
                "the table is still being looked at for the first time. Try again in a moment."
            )
        return self.now

    def standing(self, now: Now) -> Standing:
        """How many predictions are certain, sure and open.

        Where sure ones are not settled, how many these are may be some answers old.
        """
        view, found = now.view, self._standing
        if found is None or view.sure is not None:
            return Standing.of(view)
        certain = int(view.certain.sum())
        sure = max(0, found.certain + found.sure - certain)
        return replace(
            found,
            certain=certain,
            sure=sure,
            open=found.points - certain - sure,
            certain_share=view.certain_share,
            sure_share=max(found.sure_share, view.certain_share),
        )

    def start(self) -> None:
        """Begin to work; a second call does nothing."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="cpclean engine", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 0.3) -> None:
        """Work no more; a step that takes long is left to end by itself."""
        self._stopping.set()
        self._news.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)

    def wake(self) -> None:
        """Something was appended: look at once."""
        self._news.set()

    def publish(self) -> None:
        """Tell whoever looks that something else has changed."""
        self._publish()

    @property
    def behind(self) -> bool:
        """Whether something was appended that `now` does not know of."""
        # In this order: the engine says that it follows before it forgets that there is news.
        return self.now is None or self._news.is_set() or self._following

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def wait(self, version: int, timeout: float) -> int:
        """Wait until the version is another one, and return it; after a time in any case."""
        with self._changed:
            self._changed.wait_for(lambda: self.version != version or self.stopping, timeout)
            return self.version

    # -- the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            start = time.perf_counter()
            try:
                busy = self._catch_up() or self._recall() or self._work_ahead()
                self._tell_trouble(None)
            except (StorageError, ClusterError) as problem:
                self._tell_trouble(str(problem))
                self._stopping.wait(RETRY_SECONDS)
                self._looked = 0.0
                continue
            except Exception as problem:  # nobody else could report it; people go on meanwhile
                log.exception("the engine failed and will try again")
                known = isinstance(problem, CPCleanError)
                self._tell_trouble(str(problem) if known else f"{type(problem).__name__}.")
                self._stopping.wait(RETRY_SECONDS)
                continue
            self._news.wait(self._rest(time.perf_counter() - start) if busy else POLL_SECONDS)

    def _rest(self, seconds: float) -> float:
        """How long to rest after so many seconds of work, if there is no news.

        At least half of the time is for requests, which share the interpreter with this thread;
        more of it just after an answer, when more may come.
        """
        times = 3 if time.monotonic() - self._taken_at < LIVELY_SECONDS else 1
        return times * min(seconds, MOST_REST)

    def _tell_trouble(self, text: str | None) -> None:
        if text != self.trouble:
            self.trouble = text
            self._publish()

    def _publish(self, now: Now | None = None) -> None:
        with self._changed:
            if now is not None:
                self.now, self._following = now, False
            self.version += 1
            self._changed.notify_all()

    def _catch_up(self) -> bool:
        """Take in what is new in the log; whether there was anything."""
        woken = self._news.is_set()
        begun = self._follower is not None
        if begun and not woken and time.monotonic() - self._looked < POLL_SECONDS:
            return False
        if woken:  # otherwise what comes in this moment would be forgotten
            self._following = True
            self._news.clear()
        try:
            look = woken or self._is_more()
            fresh = self._storage.events(after=len(self._events)) if look else []
            self._looked = time.monotonic()
            if fresh or not begun:
                self._following = True
                self._taken_at = self._looked if begun else self._taken_at
                self._follow([*self._events, *fresh])
            elif woken:  # nothing new; those who saw the engine behind learn that it is not
                self._following = False
                self._publish()
        except BaseException:
            self._news.set()
            raise
        finally:
            self._following = False
        return bool(fresh)

    def _follow(self, events: list[LogEvent]) -> None:
        """Bring the session to what all events say; if that fails, it can be tried again."""
        self._book.add(events[self._book.last :])
        ledger = self._book.ledger()
        follower = self._follower
        if follower is None:
            session = self._new_session()
            self._start_shares = (session.certain_share, session.settled_share)
            self._start = session.view
            follower = Follower(session)
        follower.follow(ledger.log)
        if follower.resumed:
            self._recalling = Recalling(self._new_session, ledger.log, self._stopping, self.wake)
        if follower.aside:
            aside = {ledger.numbers[place]: why for place, why in follower.aside.items()}
            ledger = replace(ledger, left_out={**ledger.left_out, **aside})
        fresh = events[len(self._events) :]
        self._by_request |= {one.request_id: one for one in fresh}
        for one in fresh:
            if one.comment:
                self._comments.setdefault(one.row, []).append(one)
        self._events = events
        self._stand(ledger, follower.session)
        self._follower = follower

    def _new_session(self) -> CleaningSession:
        return self._project.session(cluster=self._cluster)

    def _recall(self) -> bool:
        """Take over what the answers of a long log did, once that is worked out."""
        found = None if self._recalling is None else self._recalling.found
        if found is None or self._follower is None or self.now is None:
            return False
        self._recalling = None
        self._follower.session.recall(found)
        self._stand(self.now.ledger, self._follower.session)
        return True

    def _is_more(self) -> bool:
        return self._storage.last() > len(self._events)

    def _stand(self, ledger: Ledger, session: CleaningSession) -> None:
        rows = rows_to_ask(session)
        if self._standing is None:  # later, while people think
            self._standing = Standing.of(session.view)
            self.sure_shares.keep(session.view)
        now = Now(
            version=self.version + 1,
            ledger=ledger,
            events=self._events,
            by_request=self._by_request,
            comments=self._comments,
            session=session,
            view=session.view,
            ranking=rows,
            place={row: place for place, row in enumerate(rows)},
            gains=self._gains(ledger, session.view),
            stopped=session.view.stopped,
            start_shares=self._start_shares,
            start=session.view if self._start is None else self._start,
        )
        self.details = {  # what they would settle may be some answers old until it is worked out
            row: one
            for row, one in self.details.items()
            if row in now.place and one.known == now.view.known_of(row)
        }
        self._publish(now)

    def _gains(self, ledger: Ledger, view: SessionView) -> Floats:
        """What knowing each row would bring; gold questions look as they did at the start."""
        asked = [row for row in ledger.truths if row not in ledger.rows]
        if not asked or self._start is None:
            return view.gains
        gains = view.gains.copy()
        gains[asked] = self._start.gains[asked]
        return gains

    # -- ahead -----------------------------------------------------------------------------

    def _work_ahead(self) -> bool:
        """One small piece of work; whether there was any to do."""
        now = self.now
        if now is None:
            return False
        lacking = [row for row in now.ranking[:AHEAD] if row not in self.details]
        if lacking:
            return self._explain(now, lacking[0])
        due = time.monotonic() - self._accuracy_at > ACCURACY_SECONDS
        if self._accuracy_of != now.version and due:
            self._standing = Standing.of(now.view)
            self.sure_shares.keep(now.view)
            self.accuracy = None if now.session.y_val is None else now.session.accuracy()
            self._accuracy_of, self._accuracy_at = now.version, time.monotonic()
            self._publish()
            return True
        # By turns, so that a forecast comes to its end though people answer all the time.
        self._turn = not self._turn
        if self._turn and self._look_further(now):
            return True
        old = [row for row in now.ranking[:AHEAD] if self.details[row].version != now.version]
        if old:
            return self._explain(now, old[0])
        return (
            self._look_further(now)
            or self._look_at_earlier(now)
            or self._look_at_draws(now)
            or self._look_at_columns(now)
            or self._look_back(now)
        )

    def _explain(self, now: Now, row: int) -> bool:
        """Work out what the candidates of a row would settle."""
        found = detail_of(now.view, row, now.version).with_settles()
        self.details = {**self.details, row: found}
        return True

    def _look_further(self, now: Now) -> bool:
        """One step of the forecast; a new one begins when it is over and things have changed."""
        if self._forecast is None or self._forecast.finished:
            if self._forecast is not None and self._forecast_of is now.view.version:
                return False
            begins = len(now.session.history)
            self._forecast = Forecast.from_prior(now.session, RUNS, MOST_ANSWERS, begins)
            self._forecast_of, self._forecast_steps = now.view.version, 0
        self._forecast.step()
        self._forecast_steps += 1
        early = not self._foreseen and self._forecast_steps % STEPS_SHOWN == 0
        if self._forecast.finished or early:
            self.outlook = self._forecast.course()
            self._foreseen |= self._forecast.finished
            self._publish()
        return True

    def _look_at_earlier(self, now: Now) -> bool:
        """What was sure after one of the earlier answers; whether that was still to do."""
        if not self.sure_shares.look(now.view):
            return False
        self._publish()
        return True

    def _look_at_columns(self, now: Now) -> bool:
        """What each column would settle; nobody waits for it."""
        self.columns.look(now.view)
        return False

    def _look_back(self, now: Now) -> bool:
        """Begin to look back, if all is answered; it takes long, and nobody waits for it."""
        if self._back_of is now.view.version:
            return False
        self._back_of = now.view.version  # one that is under way ends by itself
        if self.looked_back or self.looking_at:
            self.looked_back, self.looking_at = [], None
            self._publish()
        if now.stopped is not None:
            Thread(
                target=self._looking_back, args=(now,), name="cpclean looking back", daemon=True
            ).start()
        return False

    def _looking_back(self, now: Now) -> None:
        shown_at = time.monotonic()

        def follow(words: str, share: float) -> None:
            nonlocal shown_at
            if self._back_of is not now.view.version or self.stopping:
                raise _OutdatedError
            if time.monotonic() - shown_at > SHOWN_SECONDS:
                shown_at = time.monotonic()
                self.looking_at = (words, share)
                self._publish()

        try:
            found = looking_back(now.session, progress=follow).sentences
        except _OutdatedError:
            return
        except Exception:  # people can do without
            log.exception("looking back failed")
            found = []
        if self._back_of is now.view.version and not self.stopping:
            self.looked_back, self.looking_at = found, None
            self._publish()

    def _look_at_draws(self, now: Now) -> bool:
        """Once, how far the shares of the first look are off; whether that was still to do."""
        if self.draws is not None:
            return False
        view = now.view
        found = draws_note(view.start, view.points, view.model)
        self.draws = "" if found is None else said(found, "page")
        if found is not None:
            self._publish()
        return True
