"""The pages of a team, without a browser: names in use, next questions, taking over, settings."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from web.served import TOKEN
from web.tables import stored
from web.visiting import TestClient, desk_of, fields, post

from cpclean.storage.events import NewEvent
from cpclean.web.desk.gold import WHO
from cpclean.web.server.app import make_app

XSS = "<img src=x onerror=alert(1)>"
ESCAPED = "&lt;img src=x onerror=alert(1)&gt;"


@pytest.fixture
def app() -> Iterator[Any]:
    storage = stored("memory://")
    for row in range(1, 12, 3):
        storage.append(NewEvent("truth", WHO, row, value={"size": 3.0}), f"gold-{row}")
    made = make_app(storage, TOKEN)
    made.state.cpclean.desk.ready()
    yield made
    made.state.cpclean.close()


@pytest.fixture
def visitor(app: Any) -> Any:
    """Makes browsers that have logged in, and perhaps have a name."""

    def visiting(who: str = "") -> TestClient:
        client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
        client.get("/", params={"token": TOKEN})
        if who:
            assert post(client, "/name", who=who).status_code == 303
            client.get("/question")
        return client

    return visiting


def name_of(client: TestClient) -> str:
    found = re.search(r'<a class="who"[^>]*>([^<]+)</a>', client.get("/progress").text)
    assert found
    return found[1]


# -- names -----------------------------------------------------------------------------------------


def test_a_name_that_another_browser_uses_is_warned_of(visitor: Any) -> None:
    visitor("Anna")
    other = visitor()
    response = post(other, "/name", who="anna", next="/rows")
    assert response.status_code == 409
    assert "“Anna” was used in another browser just now." in response.text
    assert "Use “Anna (2)”" in response.text
    assert other.get("/question").status_code == 303, "nobody is named yet"
    again = post(other, "/name", who="anna", next="/rows", same="1")
    assert again.headers["location"] == "/rows"
    assert name_of(other) == "Anna", "as it is written by the other"


def test_another_name_is_offered_that_is_free(visitor: Any) -> None:
    visitor("Anna")
    second, third = visitor(), visitor()
    post(second, "/name", who="Anna (2)")
    second.get("/question")
    page = post(third, "/name", who="Anna").text
    assert "Use “Anna (3)”" in page
    assert post(third, "/name", who="Anna (3)").status_code == 303
    assert name_of(third) == "Anna (3)"


def test_no_warning_in_ones_own_browser_or_after_a_while(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = visitor("Anna")
    assert post(anna, "/name", who="Anna").status_code == 303
    assert post(anna, "/name", who="Bob").status_code == 303
    assert post(anna, "/name", who="Anna").status_code == 303, "and back"
    other = visitor()
    desk = desk_of(other)
    for lease in desk.storage.leases():
        desk.storage.release(lease)
    monkeypatch.setattr("cpclean.web.desk.presence.RECENT_SECONDS", 0.0)
    assert post(other, "/name", who="Anna").status_code == 303


def test_who_answered_on_another_server_is_warned_of_too(visitor: Any) -> None:
    client = visitor()
    desk = desk_of(client)
    desk.answer("Anna", 0, values={"size": "1", "town": "Ulm"})
    desk.ready()
    assert post(client, "/name", who="Anna").status_code == 409
    desk.storage.lease([2], "Bob", 60)
    assert "“Bob” was used" not in post(client, "/name", who="bob").text, "that is old"
    desk.storage.lease([4], "Cem", 600)
    assert "“Cem” was used" in post(client, "/name", who="cem").text


def test_a_name_stays_text(visitor: Any) -> None:
    visitor(XSS)
    page = post(visitor(), "/name", who=XSS).text
    assert ESCAPED in page
    assert XSS not in page


# -- next questions, taking over -------------------------------------------------------------------


def test_the_next_questions_are_listed(visitor: Any) -> None:
    client = visitor("Ann")
    desk = desk_of(client)
    desk.skip(f"Bob{XSS}", 20, to="Ann")
    desk.ready()
    assert 'href="/next"' in client.get("/question").text
    page = client.get("/next").text
    rows = [int(one) for one in re.findall(r'href="/question\?row=(\d+)"', page)]
    assert rows == [one.row for one in desk.next_rows("Ann")]
    assert len(rows) == 10
    assert f"handed over by Bob{ESCAPED}" in page
    assert "being asked now" in page
    assert XSS not in page


def test_a_question_is_taken_over_without_script(visitor: Any) -> None:
    ann, bob = visitor(f"Ann{XSS}"), visitor("Bob")
    row = int(fields(ann.get("/question").text)["row"])
    page = bob.get(f"/question?row={row}").text
    assert f"Ann{ESCAPED} has this row open; it stays with them for 10 minutes." in page
    assert XSS not in page
    response = post(bob, "/take", row=row)
    assert response.headers["location"] == f"/question?row={row}"
    assert "has this row open" not in bob.get(f"/question?row={row}").text
    assert fields(bob.get("/question").text)["row"] == str(row)
    assert fields(ann.get("/question").text)["row"] != str(row)
    assert post(bob, "/take", row="x").status_code == 404


def test_whoever_has_nothing_to_do_can_take_over(visitor: Any) -> None:
    client = visitor("Cem")
    desk = desk_of(client)
    for lease in desk.storage.leases():
        desk.storage.release(lease)
    for row in desk.engine.now.ranking:
        desk.storage.lease([row], f"Ann{XSS}", 600)
    page = client.get("/question").text
    assert "All open questions are assigned" in page
    assert f"Ann{ESCAPED}, 10 minutes left" in page
    row = re.search(r'action="/take".*?name="row" value="(\d+)"', page, re.S)
    assert row
    post(client, "/take", row=row[1])
    assert fields(client.get("/question").text)["row"] == row[1]


def test_an_expert_for_whom_nothing_is_left_is_told_so(visitor: Any) -> None:
    client = visitor("Ann")
    desk = desk_of(client)
    desk.team.set_experts(["Ann = town"])
    for row in range(0, 40, 3):
        desk.answer("Bob", row, values={"town": "Ulm"})
    desk.ready()
    assert "There is nothing more to ask you" in client.get("/question").text


# -- settings --------------------------------------------------------------------------------------


def test_the_owner_says_who_is_asked_what(visitor: Any) -> None:
    client = visitor("Ann")
    assert 'href="/team"' in client.get("/progress").text
    response = post(client, "/team/experts", experts=f"Anna = town\n\nBob{XSS}= town")
    assert response.headers["location"] == "/team?saved=1"
    page = client.get("/team?saved=1").text
    assert "Saved." in page
    assert f"Anna = town\nBob{ESCAPED} = town</textarea>" in page
    assert "Nobody on the list is asked about size." in page
    assert re.search(r"\d+ rows are for nobody on the list", page)
    assert desk_of(client).storage.setting("experts") == {"Anna": ["town"], f"Bob{XSS}": ["town"]}
    page = client.get("/question?row=1").text
    assert fields(page)["column-0"] == "size"


def test_a_list_that_cannot_be_read_comes_back(visitor: Any) -> None:
    client = visitor("Ann")
    response = post(client, "/team/experts", experts=f"Anna = {XSS}")
    assert response.status_code == 422
    assert "got &#39;&lt;img src=x" in response.text
    assert f"Anna = {ESCAPED}</textarea>" in response.text
    assert desk_of(client).storage.setting("experts") is None


def test_the_share_of_gold(visitor: Any) -> None:
    client = visitor("Ann")
    assert 'name="rate" value="10"' in client.get("/team").text
    assert post(client, "/team/gold", rate="25 %").status_code == 303
    assert desk_of(client).team.gold_rate == 0.25
    for wrong in ("", "60", "-1", "nan", XSS):
        response = post(client, "/team/gold", rate=wrong)
        assert response.status_code == 422
        assert "The share is a number from 0 to 50" in response.text
        assert XSS not in response.text


def test_quality_is_shown_and_exported(visitor: Any) -> None:
    client = visitor("Ann")
    desk = desk_of(client)
    for row in range(1, 12, 3):
        desk.answer(f"=Bob{XSS}", row, values={"size": "3"})
    desk.ready()
    page = client.get("/team").text
    assert "too few to say" in page
    assert f"=Bob{ESCAPED}" in page
    assert "The truth about 4 rows is known" in page
    content = client.get("/export/quality.csv").text
    assert f"'=Bob{XSS},4,4,0,0,0,,," in content, "not a formula for spreadsheets"
    assert "gold" not in client.get("/question").text.lower()
    assert "truth" not in client.get("/question?row=1").text.lower()


def test_the_team_page_says_who_is_here(visitor: Any) -> None:
    visitor(f"Bob{XSS}")
    page = visitor("Ann").get("/team").text
    assert "<li>Ann: just now</li>" in page
    assert f"<li>Bob{ESCAPED}: just now</li>" in page
    assert XSS not in page
