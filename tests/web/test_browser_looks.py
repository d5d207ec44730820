"""How the pages look: nothing for axe-core to find, nothing too wide, pictures to look at.

The pictures go to the folder that CPCLEAN_SCREENSHOTS names; without it none are taken.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import until
from slow_cases import parts
from web.browsing import XSS, Server, Visit, needs_browser, serving, write_table

pytestmark = [needs_browser, pytest.mark.slow]

# Every other one has both colour schemes and both widths; with CPCLEAN_SWEEP=all, all of them.
LOOKS = [("light", 1280), ("light", 390), ("dark", 390), ("dark", 1280)]

in_every_look = pytest.mark.parametrize(
    ("scheme", "width"),
    [pytest.param(*look, id=f"{look[0]}-{look[1]}") for look in parts(LOOKS, 2)],
)


@pytest.fixture(scope="module")
def folder() -> Path | None:
    named = os.environ.get("CPCLEAN_SCREENSHOTS")
    if named is None:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)


@pytest.fixture(scope="module")
def wines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("wines"), "--demo") as server:
        yield server


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for a table."""
    with serving(tmp_path_factory.mktemp("empty")) as server:
        yield server


@pytest.fixture(scope="module")
def nearly_done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with so few holes that all is certain after a few answers."""
    place = tmp_path_factory.mktemp("done")
    write_table(place / "small.csv", n_rows=30, seed=4)
    with serving(place, "small.csv", "--label", "buys", "--val-share", "0.3") as server:
        yield server


class Looker:
    """Looks at one page after the other, in one colour scheme and width."""

    def __init__(self, visit: Visit, scheme: str, width: int, folder: Path | None) -> None:
        from axe_playwright_python.sync_playwright import Axe

        self.visit, self.width, self._axe = visit, width, Axe()
        self._name, self._folder = f"{scheme}-{width}", folder
        self.complaints: list[str] = []

    def look(self, name: str) -> None:
        page = self.visit.page
        page.wait_for_load_state("load")
        page.wait_for_timeout(150)
        for found in self._axe.run(page).response["violations"]:
            places = [node["html"][:160] for node in found["nodes"]][:3]
            self.complaints.append(f"{name}: {found['id']}: {found['help']}: {places}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > self.width:
            self.complaints.append(f"{name} is {wide} pixels wide")
        heights = "[...document.querySelectorAll('.top nav a')].map(one => one.offsetHeight)"
        if max(page.evaluate(heights), default=0) > 64:
            self.complaints.append(f"{name} has a name of a page in two lines")
        if self._folder is not None:
            page.screenshot(path=self._folder / f"{name}-{self._name}.png", full_page=True)


@pytest.fixture
def looking(chromium: Any, folder: Path | None) -> Iterator[Any]:
    made: list[Looker] = []

    def looker(server: Server, scheme: str, width: int) -> Looker:
        size = {"width": width, "height": 860}
        visit = Visit(chromium, server, viewport=size, color_scheme=scheme, has_touch=width < 500)
        made.append(Looker(visit, scheme, width, folder))
        return made[-1]

    yield looker
    for one in made:
        one.visit.context.close()
    assert [words for one in made for words in (*one.complaints, *one.visit.troubles)] == []


@in_every_look
def test_pages_of_a_table_in_work(wines: Server, looking: Any, scheme: str, width: int) -> None:
    looker = looking(wines, scheme, width)
    visit = looker.visit
    page = visit.page
    page.goto(wines.url("/question"))
    looker.look("login")
    page.goto(wines.entrance)
    looker.look("name")
    page.fill("#who", " ")
    page.evaluate("document.querySelector('form').noValidate = true")
    page.press("#who", "Enter")
    looker.look("name-wrong")
    visit.begin(f"Ann {scheme} {width}")
    visit.go("/rows")
    page.locator("tbody tr", has_text=" and ").locator("a.button").first.click()
    page.locator("#answer").wait_for()
    looker.look("question-of-several")
    if width > 1000:
        box = page.locator("[data-act=save]").bounding_box()
        assert box["y"] + box["height"] < 800, "Save is seen without scrolling"
    page.click("[data-act=save]")
    looker.look("question-empty")
    for one in page.locator(".card details").all():
        one.evaluate("one => { one.open = one.id !== 'help'; }")
    looker.look("question-unfolded")
    page.fill("#comment", f"Look at this: {XSS}")
    page.click("text=Save only the comment")
    page.locator(".comments li").first.wait_for()
    looker.look("question-comments")
    visit.go("/rows?search=magnesium")
    looker.look("rows")
    page.locator("tbody tr", has_not_text=" and ").locator("a.button").first.click()
    page.locator("#answer").wait_for()
    looker.look("question")
    page.fill("#value-0", "many")
    page.press("#value-0", "Enter")
    looker.look("question-wrong")
    page.fill("#value-0", "100000")
    page.press("#value-0", "Enter")
    page.locator(".strange").wait_for()
    looker.look("question-unusual")
    visit.answer()
    looker.look("question-saved")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator(".help-in").wait_for()
    looker.look("help")
    page.keyboard.press("Escape")
    visit.go("/rows?state=answered")
    page.locator("tbody a.button").first.click()
    page.wait_for_url("**/question?row=*")
    looker.look("question-correct")
    visit.go("/progress")
    until(page, "JSON.parse(document.getElementById('plot').dataset.picture)")
    looker.look("progress")
    page.locator("#plot").focus()
    page.keyboard.press("ArrowRight")
    looker.look("progress-read")
    page.locator("#columns table").wait_for()  # worked out meanwhile
    looker.look("progress-columns")
    visit.go("/predictions")
    looker.look("predictions")
    visit.go("/export")
    looker.look("export")
    visit.go("/question?row=999999")
    looker.look("no-such-row")


@in_every_look
def test_pages_of_the_set_up(
    empty: Server, looking: Any, scheme: str, width: int, tmp_path: Path
) -> None:
    looker = looking(empty, scheme, width)
    page = looker.visit.page
    page.goto(empty.entrance)
    looker.look("upload")
    page.set_input_files("#table", {"name": "no.txt", "mimeType": "a/b", "buffer": b"1"})
    page.click("text=Look at it")
    looker.look("upload-wrong")
    page.set_input_files("#table", write_table(tmp_path / "people.csv"))
    page.click("text=Look at it")
    looker.look("setup")
    page.click("text=More settings")
    page.locator("[aria-label='Leave out city']").check()
    page.click("text=Start")
    page.locator("#wrong").wait_for()
    looker.look("setup-wrong")


@in_every_look
def test_pages_at_the_end(nearly_done: Server, looking: Any, scheme: str, width: int) -> None:
    looker = looking(nearly_done, scheme, width)
    visit = looker.visit
    page = visit.begin(f"Ann {scheme} {width}")
    for _ in range(10):
        if not page.locator("#asked").count():
            break
        visit.answer()
        visit.ready()
    page.get_by_role("heading", name=re.compile("You can stop now: every")).wait_for()
    looker.look("stop")
    visit.go("/progress")
    assert page.locator("#stop").is_visible()
    looker.look("progress-end")
    visit.go("/rows")
    page.locator("tbody a.button").first.click()
    page.locator("#stop").wait_for(state="visible")
    looker.look("question-at-the-end")
    visit.go("/export")
    looker.look("export-end")


@in_every_look
def test_pages_of_a_dispute_and_without_a_server(
    looking: Any, scheme: str, width: int, tmp_path: Path
) -> None:
    write_table(tmp_path / "people.csv")
    with serving(tmp_path, "people.csv", "--label", "buys", "--answers-per-row", "2") as server:
        looker = looking(server, scheme, width)
        visit = looker.visit
        page = visit.begin("Ann")
        for name, age in (("Ann", "40"), ("Bob", "50")):
            visit.rename(name)
            visit.open_single()
            page.fill("#value-0", age)
            page.press("#value-0", "Enter")
            page.wait_for_url("**/question?saved=*")
        visit.rename("Cem")
        visit.open_single()
        visit.go("/rows?state=disputed")
        page.locator("text=held by Cem").wait_for()
        looker.look("rows-disputed")
        visit.go("/progress")
        page.locator("text=Who agrees with whom").wait_for()
        looker.look("progress-disputed")
        visit.rename("Bob")
        visit.open_single()
        looker.look("question-own-word")
    until(page, "cpclean.lost")
    page.press("#value-0", "s")
    page.press("#value-0", "Enter")
    page.locator("#held").wait_for(state="visible")
    looker.look("server-gone")


def test_a_page_prints_on_paper(wines: Server, looking: Any, folder: Path | None) -> None:
    looker = looking(wines, "dark", 1280)
    page = looker.visit.begin("Paper")
    looker.visit.go("/progress")
    page.emulate_media(media="print")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (background, ink) == ("rgb(255, 255, 255)", "rgb(28, 39, 51)")
    assert not page.locator("nav").is_visible()
    if folder is not None:
        page.screenshot(path=folder / "progress-print.png", full_page=True)
