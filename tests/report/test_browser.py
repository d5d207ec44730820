"""The page in a real browser: no network, no errors, for eyes, thumbs and screen readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.samples import evil_session, frames
from browsers import until
from slow_cases import parts

from cpclean import CleaningSession, IncompleteTable
from cpclean.report import report

pytestmark = pytest.mark.slow

PHONE, DESK = 390, 1280
# Every other one has both widths and both colour schemes; with CPCLEAN_SWEEP=all, all of them.
LOOKS = [(PHONE, "light"), (PHONE, "dark"), (DESK, "dark"), (DESK, "light")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    dirty, truth, val = frames()
    session = CleaningSession(
        IncompleteTable(dirty, label="buys"), val, y_val=val["buys"].to_numpy()
    )
    for _ in range(4):
        session.tell(session.ask().row, 0)
    folder = tmp_path_factory.mktemp("pages")
    live = report(session, folder / "live.html", truth=truth, n_random=2)
    still = report(session, folder / "still.html", truth=truth, n_random=2, interactive=False)
    evil = report(evil_session(), folder / "evil.html")
    return {"live": live.path, "still": still.path, "evil": evil.path}


class Visit:
    """A page that was opened, and what happened meanwhile."""

    def __init__(self, chromium: Any, path: Path, width: int = DESK, **context: Any) -> None:
        self.context = chromium.new_context(viewport={"width": width, "height": 800}, **context)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda one: self.requests.append(one.url))
        self.page.on("console", lambda one: self.complaints.append(one.text))
        self.page.on("pageerror", lambda one: self.complaints.append(str(one)))
        self.page.on("dialog", lambda one: self.complaints.append(one.message))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize(("width", "scheme"), parts(LOOKS, 2))
@pytest.mark.parametrize("name", ["live", "still", "evil"])
def test_a_page_is_sound(
    chromium: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with Visit(chromium, pages[name], width, color_scheme=scheme) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = axe.Axe().run(page).response
        assert len(found["passes"]) > 10  # it did look
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        beyond = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert beyond == 0
        assert page.evaluate("window.hacked") is None
        live = page.locator(".picture.live").count()
        assert live == (0 if name == "still" else page.locator(".picture").count())
        assert visit.complaints == []
        assert visit.requests == [pages[name].as_uri()]


def test_pictures_react_where_script_runs(chromium: Any, pages: dict[str, Path]) -> None:
    with Visit(chromium, pages["live"]) as visit:
        page = visit.page
        assert page.locator("#plot-certainty .main-svg").first.is_visible()
        assert page.locator("#picture-certainty .static").is_hidden()
        assert "so far" in page.locator("#plot-certainty .legend").text_content()


@pytest.mark.parametrize(("width", "shown"), [(PHONE, "narrow"), (DESK, "wide")])
def test_without_script_the_drawings_are_seen(
    chromium: Any, pages: dict[str, Path], width: int, shown: str
) -> None:
    with Visit(chromium, pages["live"], width, java_script_enabled=False) as visit:
        for place in visit.page.locator(".picture").all():
            assert place.locator(f".static .{shown} svg").is_visible()
            assert place.locator(".plot").is_hidden()
            assert place.locator(".static svg:visible").count() == 1


def test_in_print_the_drawings_are_seen(chromium: Any, pages: dict[str, Path]) -> None:
    with Visit(chromium, pages["live"], color_scheme="dark") as visit:
        visit.page.emulate_media(media="print")
        assert visit.page.locator("#picture-shares .static .wide svg").is_visible()
        assert visit.page.locator("#plot-shares").is_hidden()
        paper = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
        assert visit.page.evaluate(paper).strip() == "#ffffff"


def test_pictures_follow_a_change_of_the_look(chromium: Any, pages: dict[str, Path]) -> None:
    with Visit(chromium, pages["live"], color_scheme="light") as visit:
        ink = (
            "getComputedStyle(document.querySelector('#plot-shares .xtick text, "
            "#plot-shares .ytick text')).fill"
        )
        before = visit.page.evaluate(ink)
        visit.page.emulate_media(color_scheme="dark")
        until(visit.page, f"{ink} !== '{before}'")


def test_if_the_script_fails_the_drawings_stay(
    chromium: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    text = pages["live"].read_text("utf-8")
    broken = text.replace("window.Plotly.react(", "window.Plotly.nothing(")
    (tmp_path / "broken.html").write_text(broken, "utf-8")
    with Visit(chromium, tmp_path / "broken.html") as visit:
        assert visit.page.locator("#picture-shares .static .wide svg").is_visible()
        assert visit.page.locator(".live").count() == 0


def test_text_in_drawings_stays_within_them(chromium: Any, pages: dict[str, Path]) -> None:
    look = """() => [...document.querySelectorAll('.static svg')].filter(svg => svg.clientWidth)
        .flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
            const inner = text.getBoundingClientRect(), outer = svg.getBoundingClientRect();
            return inner.left < outer.left - 1 || inner.right > outer.right + 1
                || inner.bottom > outer.bottom + 1 || inner.top < outer.top - 1;
        }).map(text => text.textContent))"""
    for width in (PHONE, DESK):
        with Visit(chromium, pages["still"], width) as visit:
            assert visit.page.evaluate(look) == []


def test_what_to_type_for_trials_can_be_copied(chromium: Any, pages: dict[str, Path]) -> None:
    asked = {"permissions": ["clipboard-read", "clipboard-write"]}
    with Visit(chromium, pages["live"], **asked) as visit:
        page = visit.page
        assert page.locator("#try").is_hidden()
        page.get_by_text("Try it on my rows").click()
        assert page.locator("#try").is_visible()
        page.get_by_role("button", name="Copy").click()
        until(page, "document.getElementById('copied').textContent === 'Copied.'")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator("#try").text_content()
