"""Another process that works on a storage: python worker.py VERB URL WHO."""

import sys
import time
from uuid import uuid4

from cpclean.storage.events import NewEvent
from cpclean.storage.opening import open_storage


def answer_all(storage, who):
    """Lease and answer rows until none is left; prints each row that was answered."""
    rows = storage.project().dirty_rows.tolist()
    done, last = set(), 0
    while True:
        for event in storage.events(after=last):
            done.add(event.row)
            last = event.number
        ranking = [row for row in rows if row not in done]
        if not ranking:
            return
        lease = storage.lease(ranking, who, 30, seen=last)
        if lease is None:
            time.sleep(0.01)
            continue
        event = storage.append(NewEvent("answer", who, lease.row, candidate=1), uuid4().hex)
        print(event.row, event.number, flush=True)


def write_forever(storage, who):
    """Append without end; prints each request id as soon as it is acknowledged."""
    number = 0
    while True:
        new = NewEvent("answer", who, number % 40, value={"a": float(number)}, seconds=0.5)
        storage.append(new, f"{who}-{number}")
        print(f"{who}-{number}", flush=True)
        number += 1


if __name__ == "__main__":
    verb, url, who = sys.argv[1:]
    with open_storage(url, create=False) as opened:
        {"answer_all": answer_all, "write_forever": write_forever}[verb](opened, who)
