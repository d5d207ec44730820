"""Two people in two browsers: one name, a question taken over, experts, and how it looks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.browsing import XSS, Server, needs_browser, serving, write_table
from web.test_browser_looks import folder, in_every_look, looking  # noqa: F401

pytestmark = [needs_browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("team")
    write_table(place / "people.csv", n_rows=300)
    truth = [f"{number},40,Rome" for number in range(1, 40, 6)]
    (place / "truth.csv").write_text("\n".join(["row,age,city", *truth]) + "\n")
    # Nobody is asked gold: two people may have the same gold question open at the same time.
    gold = ("--gold", "truth.csv", "--gold-rate", "0", "--expert", "Cleo=city")
    with serving(place, "people.csv", "--label", "buys", *gold) as server:
        yield server


@in_every_look
def test_two_browsers(team: Server, looking: Any, scheme: str, width: int) -> None:  # noqa: F811
    name = f"Anna{width}"
    first, looker = looking(team, scheme, width), looking(team, scheme, width)
    first.visit.begin(name)
    row = first.visit.row
    visit, page = looker.visit, looker.visit.page
    page.goto(team.entrance)
    page.fill("#who", name.lower())
    page.press("#who", "Enter")
    page.locator("[name=same]").wait_for()
    assert f"“{name}” was used in another browser just now." in page.inner_text("#in-use")
    looker.look("name-in-use")
    page.click(f"text=Use “{name} (2)”")
    page.wait_for_url("**/question*")
    assert page.inner_text("a.who") == f"{name} (2)"
    visit.ready()

    place = first.visit.page.locator("#answer [name=row]").get_attribute("value")
    visit.go(f"/question?row={place}")
    assert f"{name} has this row open" in page.inner_text(".held")
    looker.look("question-held")
    with page.expect_navigation():
        page.click(".held button")
    page.locator("#asked").wait_for()
    assert visit.row == row
    assert not page.locator(".held").count()
    first.visit.go("/question")
    assert first.visit.row != row

    page.click("text=Your next questions")
    page.wait_for_url("**/next")
    assert page.locator(".next-rows li").count() > 3
    assert "being asked now" in page.locator(".next-rows li").first.inner_text()
    looker.look("next")

    visit.go("/progress")
    page.click("text=The team")
    page.wait_for_url("**/team")
    page.fill("#experts", f"Cleo = city\n{XSS[:40]} = age")
    page.click("form[action='/team/experts'] button")
    page.wait_for_url("**/team?saved=1")
    assert page.title() == "The team · cpclean"
    assert XSS[:40] in page.input_value("#experts")
    looker.look("team")
    page.fill("#experts", "Cleo = nothing")
    page.click("form[action='/team/experts'] button")
    page.locator("#wrong-experts").wait_for()
    looker.look("team-wrong")
    third = looking(team, scheme, width).visit
    third.begin(f"cleo{'' if width < 500 else ' '}")
    assert third.page.locator(".hole-field").count() == 1
    assert Path(third.page.url).name.startswith("question")
