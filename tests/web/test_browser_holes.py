"""Rows with many holes, pictures and long texts, and the set-up of many columns, in a browser."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from web.browsing import CHROMIUM, Server, Visit, needs_browser, serving

pytestmark = [pytest.mark.slow, needs_browser]

SIZES = [(1280, 800, "light"), (390, 844, "dark")]


def png(width: int, height: int) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    lines = (b"\0" + b"\x99" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packed = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + packed


def wide_table(n_columns: int, n_rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    yes = rng.random(n_rows) < 0.5
    numbers = {f"m{n:04d} (mg)": rng.normal(5 + yes, 1).round(2) for n in range(n_columns)}
    towns = rng.choice(["Aarau", "Bern", "Genf", "Zug", "Chur", "Lugano"], n_rows)
    made = pd.DataFrame({**numbers, "town": towns, "job": rng.choice(["fixed", "free"], n_rows)})
    made["since"] = pd.date_range("2024-01-01", periods=n_rows).strftime("%Y-%m-%d")
    made["y"] = np.where(yes, "yes", "no")
    return made.astype(object)


@pytest.fixture(scope="module")
def holes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Row 0 lacks thirty values, row 1 four; all have a picture and a long text."""
    folder = tmp_path_factory.mktemp("holes")
    made = wide_table(34)
    made.iloc[0, :30] = None
    made.loc[1, ["m0000 (mg)", "m0001 (mg)", "town", "job"]] = None
    made.loc[2:9, "since"] = None
    made["note"] = [f"{n} " + "long words about a visit " * 90 for n in range(60)]
    made["scan"] = "scan.png"
    (folder / "scan.png").write_bytes(png(900, 500))
    made.to_csv(folder / "visits.csv", index=False)
    near = wide_table(34).iloc[30:40]
    near.iloc[:, :34] = 5.5  # between the labels, so that not all is certain at once
    near.to_csv(folder / "val.csv", index=False)
    given = ("visits.csv", "--label", "y", "--val", "val.csv", "--space", "plain")
    with serving(folder, *given, "--drop", "note", "--drop", "scan", "--image", "scan") as server:
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


def complaints(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {[node['html'][:120] for node in one['nodes']][:2]}" for one in found]


def in_sight(page: Any, selector: str) -> bool:
    """Whether it is within the window, and nothing lies over its middle."""
    return bool(
        page.locator(selector).first.evaluate(
            """one => {
                const box = one.getBoundingClientRect();
                const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                const top = document.elementFromPoint(x, y);
                return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0
                    && box.right <= innerWidth && (one === top || one.contains(top));
            }"""
        )
    )


def cut_off(page: Any) -> list[str]:
    """What reaches beyond the window to the right."""
    return page.evaluate(  # type: ignore[no-any-return]
        """() => Array.from(document.querySelectorAll("main *"))
            .filter(one => one.getBoundingClientRect().right > innerWidth + 1
                && one.checkVisibility({ contentVisibilityAuto: true }) && !one.closest(".unseen"))
            .map(one => one.outerHTML.slice(0, 80)).slice(0, 3)"""
    )


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_thirty_holes_and_four(
    holes: Server, chromium: Any, width: int, height: int, scheme: str
) -> None:
    size = {"width": width, "height": height}
    visit = Visit(chromium, holes, viewport=size, color_scheme=scheme)
    try:
        page = visit.begin(f"Ann {width}")
        visit.go("/question?row=0")
        assert page.locator(".hole-field").count() == 30
        assert in_sight(page, "[data-act=save]")
        page.locator("#value-29").scroll_into_view_if_needed()
        assert in_sight(page, "[data-act=save]")
        page.locator("#value-29").focus()
        assert in_sight(page, "#value-29"), "Save does not lie over the field"
        assert page.locator(".unit").first.inner_text() == "mg"
        assert cut_off(page) == []
        assert complaints(page) == []
        visit.go("/question?row=1")
        assert page.locator(".hole-field").count() == 4
        assert in_sight(page, "[data-act=save]")
        if width > 1000:  # all of it on one screen
            for at in range(4):
                assert in_sight(page, f"#value-{at}")
        else:
            assert in_sight(page, "#value-0"), "the question comes before the row"
        page.locator("summary:has-text('more columns')").click()
        assert page.locator("details.long:not([open])").count() == 1  # the note is folded
        picture = page.locator(".row-image img")
        picture.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelector('.row-image img').naturalWidth === 900")
        assert "scan.png, the picture of" in picture.get_attribute("alt")
        assert cut_off(page) == []
        assert complaints(page) == []
        visit.go("/predictions")
        assert cut_off(page) == []
        assert complaints(page) == []
        assert visit.troubles == []
    finally:
        visit.context.close()


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_three_hundred_columns_are_set_up(
    chromium: Any, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    script = width > 1000  # without script, too: all columns are there, and Start is seen
    made = wide_table(300)
    made.iloc[:9, 250] = None
    made.to_csv(tmp_path / "wide.csv", index=False)
    with serving(tmp_path, "--storage", "memory://") as server:
        size = {"width": width, "height": height}
        visit = Visit(
            chromium, server, viewport=size, color_scheme=scheme, java_script_enabled=script
        )
        page = visit.page
        page.goto(server.entrance)
        page.set_input_files("#table", tmp_path / "wide.csv")
        page.click("text=Look at it")
        page.locator("table.columns").wait_for()
        names = page.locator("table.columns tbody th")
        assert names.first.inner_text() == "m0250 (mg)"
        dates = page.locator("table.columns tbody tr", has_text="since").locator("select")
        assert "date (detected)" in dates.inner_text()
        assert in_sight(page, "button[value=start]") if script else True
        if script:
            page.fill("#filter", "m012")
            assert page.locator("table.columns tbody tr:visible").count() == 10
            page.press("#filter", "Enter")  # starts nothing
            assert page.locator("#filtered").inner_text() == "10 of 303 columns"
            assert complaints(page) == []
            assert cut_off(page) == []
        else:
            assert not page.locator("#filter").is_visible()
        page.click("button[value=start]")
        page.fill("#who", "Ann") if page.locator("#who").count() else None
        page.press("#who", "Enter") if page.locator("#who").count() else None
        visit.go("/progress")
        assert "held out to be predicted" in page.locator(".notes").inner_text()
        if script:
            assert visit.troubles == []
        visit.context.close()
