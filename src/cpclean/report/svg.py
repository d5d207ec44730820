"""The one SVG writer: elements with escaped text and rounded numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

Place = tuple[float, float]


class Sheet:
    """An SVG that elements are added to.

    Attributes of elements are keywords: ``stroke_width=2`` is ``stroke-width="2"``, and
    ``class_="rule"`` is ``class="rule"``.

    Examples
    --------
    >>> sheet = Sheet()
    >>> sheet.line(0, 0, 10 / 3, 0, class_="rule")
    >>> sheet.text(0, 5, "a < b", text_anchor="end")
    >>> print(sheet.inside)
    <line x1="0" y1="0" x2="3.33" y2="0" class="rule"/>
    <text x="0" y="5" text-anchor="end">a &lt; b</text>
    """

    def __init__(self) -> None:
        self._parts: list[str] = []

    def text(self, x: float, y: float, what: object, **attributes: object) -> None:
        place = _attributes({"x": x, "y": y, **attributes})
        self._parts.append(f"<text{place}>{escape(str(what))}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: object) -> None:
        self._add("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **attributes})

    def box(self, x: float, y: float, width: float, height: float, **attributes: object) -> None:
        self._add("rect", {"x": x, "y": y, "width": width, "height": height, **attributes})

    def circle(self, x: float, y: float, radius: float, **attributes: object) -> None:
        self._add("circle", {"cx": x, "cy": y, "r": radius, **attributes})

    def polyline(self, places: Iterable[Place], **attributes: object) -> None:
        """A line through places."""
        self._add("polyline", {"points": _places(places), **attributes})

    def polygon(self, places: Iterable[Place], **attributes: object) -> None:
        """An area within places."""
        self._add("polygon", {"points": _places(places), **attributes})

    def stripes(self, name: str, size: float, width: float, **attributes: object) -> None:
        """A pattern that ``fill="url(#name)"`` fills an area with."""
        pattern = {
            "id": name, "width": size, "height": size, "pattern_units": "userSpaceOnUse",
            "pattern_transform": "rotate(45)",
        }  # fmt: skip
        stripe = _attributes({"width": width, "height": size, **attributes})
        self._parts.append(f"<defs><pattern{_attributes(pattern)}><rect{stripe}/></pattern></defs>")

    @property
    def inside(self) -> str:
        """All elements so far."""
        return "\n".join(self._parts)

    def embedded(self, width: float, height: float, label: str) -> str:
        """The SVG as an element of a page, whose style sheet it follows."""
        frame = {**_frame(width, height), "aria_label": label}
        return f"<svg{_attributes(frame)}>{self.inside}</svg>"

    def alone(
        self,
        width: float,
        height: float,
        title: str,
        description: str = "",
        style: str = "",
        ground: Mapping[str, object] | None = None,
        **attributes: object,
    ) -> str:
        """The SVG as the text of a file.

        Parameters
        ----------
        width, height : float
        title, description : str
            For those who cannot see it.
        style : str
            A style sheet.
        ground : dict of attributes, optional
            Of a box behind everything.
        **attributes
            Of the whole.
        """
        frame = {"xmlns": "http://www.w3.org/2000/svg", **_frame(width, height), **attributes}
        told = f"<title>{escape(title)}</title>"
        if description:
            told += f"<desc>{escape(description)}</desc>"
        if style:
            told += f"\n<style>\n{style.strip()}\n</style>"
        if ground is not None:
            told += f"\n<rect{_attributes({'width': width, 'height': height, **ground})}/>"
        return f"<svg{_attributes(frame)}>\n{told}\n{self.inside}\n</svg>\n"

    def _add(self, tag: str, attributes: dict[str, object]) -> None:
        self._parts.append(f"<{tag}{_attributes(attributes)}/>")


# Names that SVG spells with a capital letter rather than a hyphen.
_SPELT = {
    "view_box": "viewBox",
    "pattern_units": "patternUnits",
    "pattern_transform": "patternTransform",
}


def _frame(width: float, height: float) -> dict[str, object]:
    wide, tall = _number(width), _number(height)
    return {"view_box": f"0 0 {wide} {tall}", "width": wide, "height": tall, "role": "img"}


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {_SPELT.get(name, name.rstrip("_").replace("_", "-"))}="{_value(value)}"'
        for name, value in attributes.items()
    )


def _value(value: object) -> str:
    return _number(value) if isinstance(value, int | float) else escape(str(value))


def _number(value: float) -> str:
    """With at most two decimals, and neither needless zeros nor an exponent."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _places(places: Iterable[Place]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in places)
