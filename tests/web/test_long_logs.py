"""Projects with many answers: they open at once, and what each answer did is told later."""

import random

from waiting import until
from web.tables import stored

from cpclean.storage import following
from cpclean.storage.events import NewEvent


def test_a_project_with_a_long_log_opens_at_once_and_recalls_it_later(desk_over, monkeypatch):
    with stored("memory://") as storage:
        rng = random.Random(3)
        for number in range(60):
            said = NewEvent("answer", f"person {number % 4}", rng.randrange(40), rng.randrange(3))
            storage.append(said, f"r-{number}")
        undone = NewEvent("undo", "person 0", undoes=57)
        storage.append(undone, "r-60")
        slow = desk_over(storage)
        monkeypatch.setattr(following, "LONG", 10)
        monkeypatch.setattr("cpclean.web.desk.recalling.Recalling.__init__", _later)
        quick = desk_over(storage)
        one, other = slow.progress(), quick.progress()
        assert len(other.curve) == 2 < len(one.curve)
        assert other.curve == [one.curve[0], one.curve[-1]]
        for name in ("answers", "certain", "settled_share", "rows_left", "people", "stopped"):
            assert getattr(one, name) == getattr(other, name)
        assert slow.best_rows(5) == quick.best_rows(5)
        _made[-1].go()
        until(lambda: len(quick.progress().curve) > 2, "the answers are recalled")
        assert quick.progress().curve == one.curve
        assert quick.progress().certain_curve == one.certain_curve
        row = quick.best_rows(1)[0]
        quick.answer("Ann", row, candidate=1)
        for desk in (slow, quick):
            desk.ready()
            desk.engine.wake()
        until(lambda: slow.progress().answers == quick.progress().answers, "both have the answer")
        quick.undo("Ann")
        quick.ready()
        assert quick.progress().curve == one.curve


_made = []


def _later(self, session, entries, stopping, tell):
    """Only when the test says so."""
    self.found = None

    def go():
        found = session()
        found.replay(entries)
        self.found = found
        tell()

    self.go = go
    _made.append(self)
