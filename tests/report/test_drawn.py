"""The one SVG writer: what it is given stays text, and what it writes is valid."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path

import pytest
from analysis.samples import EVIL

from cpclean.report.axes import across_ticks, share_axis
from cpclean.report.colours import colours, drawing_style
from cpclean.report.drawn import side_by_side
from cpclean.report.picture_files import write_picture
from cpclean.report.pictures import Curve, Lines, Picture
from cpclean.report.svg import Sheet

SVG = "{http://www.w3.org/2000/svg}"


def panel(title: str, *curves: Curve, **options: bool) -> Picture:
    return Picture(title, title, "", Lines(curves, "z", "share", **options))


def test_text_and_attributes_are_escaped() -> None:
    sheet = Sheet()
    sheet.text(1, 2, EVIL, class_='"><script>')
    root = ET.fromstring(sheet.alone(10, 20, EVIL, EVIL))
    (text,) = root.iter(f"{SVG}text")
    assert text.text == root.findtext(f"{SVG}title") == root.findtext(f"{SVG}desc") == EVIL
    assert text.get("class") == '"><script>'
    assert ET.fromstring(sheet.embedded(10, 20, EVIL)).get("aria-label") == EVIL


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.001, "0"),
        (-0.5, "-0.5"),
        (100, "100"),
        (1234567.891, "1234567.89"),
        (1e-9, "0"),
    ],
)
def test_numbers_are_short_and_have_no_exponent(number: float, text: str) -> None:
    sheet = Sheet()
    sheet.circle(number, 1 / 3, 2)
    assert sheet.inside == f'<circle cx="{text}" cy="0.33" r="2"/>'


def test_pictures_side_by_side_are_valid_and_escaped() -> None:
    band = Curve("a < b", (0.0, 1.0), (0.1, 1.3), (0.0, 1.0), (0.2, 1.5))
    other = Curve("c", (0.0, 1.0), (-0.1, 0.5), dash="dash")
    text = side_by_side("x & y", [panel("p > q", band, other, x_percent=True), panel("r", band)])
    root = ET.fromstring(text)
    assert root.findtext(f"{SVG}title") == "x & y"
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert {"x & y", "p > q", "r", "a < b", "c", "z", "-20%", "160%", "20%"} <= set(texts)
    assert [one.get("class") for one in root.iter(f"{SVG}polyline")] == [
        "s1 solid", "s2 dash", "s1 solid"
    ]  # fmt: skip
    assert len(list(root.iter(f"{SVG}polygon"))) == 2
    assert not list(root.iter(f"{SVG}circle"))
    width = float(str(root.get("width")))
    assert all(0 <= float(str(one.get("x"))) <= width for one in root.iter(f"{SVG}text"))


def test_a_file_has_its_colours_written_out(tmp_path: Path) -> None:
    text = side_by_side("x", [panel("p", Curve("a", (0.0, 1.0), (0.1, 0.2)))])
    assert "var(" not in text
    assert colours()["c1"] in text
    write_picture(text, tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text("utf-8") == text
    assert text in (tmp_path / "x.html").read_text("utf-8")


def test_every_class_of_a_drawing_has_a_look() -> None:
    source = (files("cpclean.report") / "drawn.py").read_text("utf-8")
    named = set(re.findall(r'class_="(\w+)"', source)) | {"s1", "f4", "band", "dashdot", "empty"}
    assert {name for name in named if f".{name}" not in drawing_style()} == set()


def test_light_and_dark_name_the_same_colours() -> None:
    assert colours().keys() == colours(dark=True).keys() >= {"paper", "ink", "c1", "c4"}
    assert not set(colours().values()) & set(colours(dark=True).values())


@pytest.mark.parametrize(
    ("shares", "from_zero", "axis"),
    [
        ((0.3, 1.0), False, (0.0, 1.0, 0.2)),
        ((0.95, 1.0), False, (0.9, 1.0, 0.02)),
        ((0.95, 1.0), True, (0.0, 1.0, 0.2)),
        ((-0.1, 0.5), False, (-0.2, 1.0, 0.2)),
        ((-3.0, 0.5), False, (-3.0, 1.0, 0.5)),
    ],
)
def test_the_upright_axis(
    shares: tuple[float, ...], from_zero: bool, axis: tuple[float, ...]
) -> None:
    drawing = Lines((Curve("a", (0.0, 1.0), shares),), "x", "y", from_zero=from_zero)
    assert share_axis(drawing) == pytest.approx(axis)


def test_ticks_are_round() -> None:
    line = Lines((Curve("a", (0.0, 1.0), (0.0, 1.0)),), "x", "y", x_percent=True)
    assert across_ticks(line, 6) == [
        (0.0, "0%"), (0.2, "20%"), (0.4, "40%"), (0.6, "60%"), (0.8, "80%"), (1.0, "100%")
    ]  # fmt: skip
    line = Lines((Curve("a", (100.0, 1400.0), (0.0, 1.0)),), "x", "y")
    assert [text for _, text in across_ticks(line, 3)] == ["500", "1,000"]
