"""Of two who answer a row in the same moment, the second learns of the first, at every door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient
from web.served import TOKEN
from web.tables import small_project, stored
from web.visiting import at_the_same_moment, desk_of, fields, post, site_over

from cpclean.errors import OvertakenError

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
SIZES = {"Ann": 3.0, "Bob": 4.0}
ROW = 1  # which lacks its size alone


@pytest.fixture
def site() -> Iterator[TestClient]:
    yield from site_over(small_project())


def at_once(desk: Any, send: Callable[[str], Any]) -> tuple[str, Any, Any]:
    """Ann and Bob answer at once: who was quicker, what comes back, and what the other gets."""
    came = at_the_same_moment(desk)
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(SIZES, pool.map(send, SIZES), strict=True))
    assert len(came) >= 2, "both had been checked before the first was saved"
    (saved,) = desk.storage.events()
    (quicker,) = (who for who, size in SIZES.items() if saved.value == {"size": size})
    return quicker, found.pop(quicker), next(iter(found.values()))


def told(desk: Any, who: str, size: float) -> str:
    number = desk.project.task.row_names[ROW]
    return (
        f"{who} has answered row {number} in the meantime: size = {size:g}. To correct that, send "
        "yours again."
    )


def test_at_the_door_for_programs(site: TestClient) -> None:
    desk = desk_of(site)

    def send(who: str) -> Any:
        sent = {"who": who, "row": ROW, "values": {"size": SIZES[who]}, "request_id": who}
        return site.post("/api/answer", json=sent, headers=HEADERS)

    quicker, first, second = at_once(desk, send)
    assert (first.status_code, second.status_code) == (200, 409)
    assert told(desk, quicker, SIZES[quicker]) in second.json()["error"]
    again = send(quicker)  # nobody knew whether it had arrived
    assert (again.status_code, again.json()["event_number"]) == (200, 1)
    (slower,) = SIZES.keys() - {quicker}
    assert send(slower).json()["kind"] == "correction", "who has learnt of it may"


def test_what_a_program_has_seen(site: TestClient) -> None:
    desk = desk_of(site)
    seen = desk.question("Bob", ROW).seen
    desk.answer("Ann", ROW, values={"size": "3"})
    desk.ready()
    sent = {"who": "Bob", "row": ROW, "values": {"size": "4"}, "seen": seen}
    refused = site.post("/api/answer", json=sent, headers=HEADERS)
    assert refused.status_code == 409
    assert told(desk, "Ann", 3) in refused.json()["error"]
    sent["seen"] = desk.question("Bob", ROW).seen
    assert site.post("/api/answer", json=sent, headers=HEADERS).status_code == 200


@pytest.mark.parametrize("same_name", [False, True])
def test_on_the_page(site: TestClient, same_name: bool) -> None:
    desk = desk_of(site)
    browsers = {"Ann": site, "Bob": TestClient(site.app, site.base_url)}
    browsers["Bob"].get("/", params={"token": TOKEN})
    name = {"who": "Ann", "same": "1"} if same_name else {"who": "Bob"}
    assert post(browsers["Bob"], "/name", **name).status_code == 200
    pages = {who: fields(one.get(f"/question?row={ROW}").text) for who, one in browsers.items()}

    def send(who: str) -> Any:
        sent = {**pages[who], "value-0": f"{SIZES[who]:g}"}
        return browsers[who].post("/answer", data=sent, follow_redirects=False)

    quicker, first, second = at_once(desk, send)
    assert (first.status_code, second.status_code) == (303, 422)
    who = "Ann (you in another window, or somebody with your name)" if same_name else quicker
    assert told(desk, who, SIZES[quicker]) in second.text
    assert fields(second.text)["correct"] == "1"
    assert send(quicker).status_code == 303, "the same again: saved already"
    assert len(desk.storage.events()) == 1


def test_two_who_correct_at_once(site: TestClient) -> None:
    desk = desk_of(site)
    desk.answer("Cem", ROW, values={"size": "9"})
    desk.ready()
    seen = desk.question("Ann", ROW).seen
    at_the_same_moment(desk)

    def send(who: str) -> str:
        try:
            values = {"size": SIZES[who]}
            return desk.answer(who, ROW, values=values, correct=True, seen=seen).kind
        except OvertakenError as problem:
            return problem.event.kind + str(problem.event.number)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(send, SIZES)) == ["correction", "correction2"]


def test_at_the_door_of_label_studio(site: TestClient) -> None:
    desk = desk_of(site)
    tasks = site.get("/api/export?what=labelstudio&limit=500", headers=HEADERS).json()
    task = next(one for one in tasks if one["data"]["row"] == ROW)

    def send(who: str) -> Any:
        result = [{"from_name": "values", "value": {"text": [f"size = {SIZES[who]}"]}}]
        given = {"id": who, "completed_by": who, "result": result}
        sent = {**task, "annotations": [given]}
        return site.post("/api/labelstudio", json=sent, headers=HEADERS).json()

    quicker, first, second = at_once(desk, send)
    assert first == {"taken": 1, "refused": []}
    assert second["taken"] == 0
    text = told(desk, f"{quicker} (Label Studio)", SIZES[quicker])
    assert text in second["refused"][0]["error"]
    (slower,) = SIZES.keys() - {quicker}
    assert send(slower)["taken"] == 0, "later as well: the task was made before"
    assert send(quicker)["taken"] == 1
    assert len(desk.storage.events()) == 1


def test_two_who_say_the_same(site: TestClient) -> None:
    desk = desk_of(site)
    at_the_same_moment(desk)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(desk.answer, who, ROW, values={"size": "4.0"}) for who in SIZES]
    assert {one.result().event_number for one in calls} == {1, 2}, "nobody is bothered"


def test_votes_do_not_overrule(desk_over: Any) -> None:
    desk = desk_over(stored("memory://", answers_per_row=2))
    at_the_same_moment(desk)
    with ThreadPoolExecutor(2) as pool:
        calls = [
            pool.submit(desk.answer, who, ROW, values={"size": size}) for who, size in SIZES.items()
        ]
    assert [one.result().kind for one in calls] == ["answer"] * 2
    desk.ready()
    assert desk.progress().disputed == 1
