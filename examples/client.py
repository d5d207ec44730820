"""Answer questions over the JSON API of ``cpclean serve``, with Python's standard library alone.

Start a server, and then this, with the address and the token that the server printed::

    cpclean serve --demo --no-browser --token correct-horse
    python examples/client.py http://127.0.0.1:8421 correct-horse --answers 5

It always chooses the likeliest candidate. To answer with what your program knows, change `choose`.
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
        """The best free question: {"question": ... or null, "done": ..., "busy": ...}."""
        return self._call("question", {"who": self.who})

    def answer(self, row: int, candidate: int, seconds: float) -> dict[str, Any]:
        """Answer which candidate is true, and get the next question."""
        body = {"who": self.who, "row": row, "candidate": candidate, "seconds": seconds}
        # With the same request id, an answer can safely be sent again: it is saved once.
        return self._call("answer", body={**body, "next": True, "request_id": uuid4().hex})

    def progress(self) -> dict[str, Any]:
        """The progress so far."""
        return self._call("progress")

    def _call(
        self, name: str, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        address = f"{self.url}/api/{name}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(5):
            try:
                with urlopen(Request(address, data, headers), timeout=30) as response:
                    return dict(json.load(response))
            except HTTPError as problem:
                error = _error(problem)
                if not error["retry"] or attempt == 4:
                    raise SystemExit(f"{problem.code}: {error['error']}") from problem
                time.sleep(1)
            except (OSError, HTTPException, ValueError) as problem:  # no server, or another one
                why = problem.reason if isinstance(problem, URLError) else problem
                raise SystemExit(
                    f"{self.url} cannot be reached: {why}. Is cpclean serve running at this "
                    "address?"
                ) from problem
        raise AssertionError("the last attempt returns or raises")


def _error(problem: HTTPError) -> dict[str, Any]:
    """The error that the server describes; a different kind of server describes none."""
    try:
        error = json.load(problem)
        return {"retry": bool(error["retry"]), "error": str(error["error"])}
    except (ValueError, KeyError, TypeError):
        return {"retry": False, "error": f"{problem.reason}. Is this the address of cpclean serve?"}


def choose(question: dict[str, Any]) -> int:
    """The number of the candidate that is taken to be true. Here: the likeliest."""
    return int(max(question["candidates"], key=lambda one: one["prior"])["number"])


def main() -> None:
    """Answer some questions."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("token")
    parser.add_argument("--answers", type=int, default=5)
    parser.add_argument("--who", default="client.py")
    options = parser.parse_args()
    client = Client(options.url, options.token, options.who)
    asked, answered = client.question(), 0
    while asked and not asked["done"] and answered < options.answers:
        question = asked["question"]
        if question is None:  # the engine is busy, or others have leased all that is left
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
