"""Storage, ledger and session together, as a server uses them."""

from uuid import uuid4

import numpy as np
import pytest
from projects.making import make_project
from slow_cases import rest_slow

from cpclean.storage.events import NewEvent
from cpclean.storage.following import Follower
from cpclean.storage.ledger import ledger_of
from cpclean.storage.opening import open_storage


class Person:
    """Somebody with a server of their own, who knows the truth but for a slip now and then."""

    def __init__(self, storage, who, slips):
        self.storage, self.who, self.slips = storage, who, slips
        self.project = storage.project()
        self.follower = Follower(self.project.session())
        self.events = []

    @property
    def session(self):
        return self.follower.session

    def look(self):
        self.events += self.storage.events(after=len(self.events))
        settings = self.project.settings
        ledger = ledger_of(self.events, settings.answers_per_row, self.project.spelling)
        self.follower.follow(ledger.log)
        return ledger

    def turn(self):
        """Look, lease, answer; whether there was something to do."""
        ledger = self.look()
        if self.session.done:
            return False
        gains = self.session.gains()
        dirty = self.session.data.dirty_rows
        ranking = ledger.ranking_for(self.who, dirty[np.argsort(-gains[dirty])].tolist())
        lease = self.storage.lease(
            ranking, self.who, 60, ledger.places(ranking), seen=len(self.events)
        )
        if lease is None:
            return False
        candidate = 0 if lease.row % self.slips == 0 else 1
        entry = self.project.entry(lease.row, candidate)
        self.storage.append(NewEvent("answer", self.who, **entry), uuid4().hex)
        return True


@pytest.mark.parametrize("answers_per_row", rest_slow([2, 1]))
def test_people_clean_together(empty_storage, answers_per_row):
    storage = empty_storage
    storage.create(make_project(answers_per_row=answers_per_row))
    people = [Person(storage, who, slips) for who, slips in (("Ann", 3), ("Bob", 99), ("Cem", 98))]
    while sum(person.turn() for person in people):  # everybody has a turn in every round
        pass
    ledgers = [person.look() for person in people]
    assert ledgers[0] == ledgers[1] == ledgers[2]
    ledger = ledgers[0]
    sessions = [person.session for person in people]
    assert {session.stopped for session in sessions} == {"all validation points are certain"}
    assert sessions[0].answers == sessions[1].answers == sessions[2].answers
    assert storage.leases() == []
    answered = [(event.row, event.who) for event in storage.events()]
    assert len(set(answered)) == len(answered)  # nobody was asked for a row twice
    if answers_per_row == 1:
        assert len({row for row, _ in answered}) == len(answered)
    else:
        # Ann slips, the others do not: where she was outvoted, a third person was asked.
        outvoted = [row for row, one in ledger.rows.items() if len(one.people) == 3]
        assert all(row % 3 == 0 for row in outvoted)
        assert {entry["candidate"] for entry in ledger.log if entry["row"] != 0} == {1}
        assert ledger.agreement["Bob", "Cem"].different == 0
        assert ledger.agreement["Ann", "Bob"].different > 0


def test_a_server_that_comes_later_knows_the_same(sqlite_url):
    with open_storage(sqlite_url) as storage:
        storage.create(make_project())
        first = Person(storage, "Ann", 5)
        for _ in range(5):
            first.turn()
        storage.append(NewEvent("undo", "Ann", undoes=first.look().latest["Ann"]), "back")
        first.look()
    with open_storage(sqlite_url, create=False) as storage:
        later = Person(storage, "Bob", 5)
        later.look()
        assert later.session.answers == first.session.answers
        mine, theirs = later.session.ask(), first.session.ask()
        assert (mine.row, mine.gain, mine.candidates) == (
            theirs.row,
            theirs.gain,
            theirs.candidates,
        )
