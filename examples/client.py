"""Answer questions over the JSON API of ``cpclean serve``, with Python's standard library alone.

Start a server, and then this, with the address and the token that the server printed::

    cpclean serve --demo --no-browser --token correct-horse
    python examples/client.py http://127.0.0.1:8421 correct-horse --answers 5

It always takes the likeliest candidate; a program that knows better puts that into `choose`.
"""

from __future__ import annotations

import argparse
import json
import time
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4


class Client:
    """The API of a server: questions out, answers in."""

    def __init__(self, url: str, token: str, who: str) -> None:
        self.url, self.token, self.who = url.rstrip("/"), token, who

    def question(self) -> dict[str, Any]:
        """The best question that is free: {"question": ... or null, "done": ..., "busy": ...}."""
        return self._call("question", {"who": self.who})

    def answer(self, row: int, candidate: int, seconds: float) -> dict[str, Any]:
        """Tell which candidate is the true one, and get the next question."""
        body = {"who": self.who, "row": row, "candidate": candidate, "seconds": seconds}
        # The same request id makes it safe to send an answer again: it is taken in once.
        return self._call("answer", body={**body, "next": True, "request_id": uuid4().hex})

    def progress(self) -> dict[str, Any]:
        """How far it is."""
        return self._call("progress")

    def _call(
        self, name: str, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        address = f"{self.url}/api/{name}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(5):
            try:
                with urlopen(Request(address, data, headers), timeout=30) as answer:
                    return dict(json.load(answer))
            except HTTPError as problem:
                told = _told(problem)
                if not told["retry"] or attempt == 4:
                    raise SystemExit(f"{problem.code}: {told['error']}") from problem
                time.sleep(1)
            except (OSError, HTTPException, ValueError) as problem:  # no server, or another one
                why = problem.reason if isinstance(problem, URLError) else problem
                raise SystemExit(
                    f"{self.url} cannot be reached: {why}. Is cpclean serve running, at this "
                    "address?"
                ) from problem
        raise AssertionError("the last attempt returns or raises")


def _told(problem: HTTPError) -> dict[str, Any]:
    """What an error of the server says; one of another server says nothing that we know."""
    try:
        told = json.load(problem)
        return {"retry": bool(told["retry"]), "error": str(told["error"])}
    except (ValueError, KeyError, TypeError):
        return {"retry": False, "error": f"{problem.reason}. Is this the address of cpclean?"}


def choose(question: dict[str, Any]) -> int:
    """The number of the candidate that is true. Here: the likeliest."""
    return int(max(question["candidates"], key=lambda one: one["prior"])["number"])


def main() -> None:
    """Answer some questions."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("token")
    parser.add_argument("--answers", type=int, default=5)
    parser.add_argument("--who", default="client.py")
    given = parser.parse_args()
    client = Client(given.url, given.token, given.who)
    asked, answered = client.question(), 0
    while asked and not asked["done"] and answered < given.answers:
        question = asked["question"]
        if question is None:  # the engine is busy, or others hold all that is left
            time.sleep(0.5)
            asked = client.question()
            continue
        start = time.perf_counter()
        candidate = choose(question)
        asked = client.answer(question["row"], candidate, time.perf_counter() - start)["next"]
        answered += 1
        print(f"row {question['number']}: candidate {candidate}")
    share = client.progress()["certain_share"]
    print(f"{answered} answers; {share:.1%} of the predictions are certain.")


if __name__ == "__main__":
    main()
