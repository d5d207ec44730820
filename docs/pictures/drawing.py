"""What the pictures of the pages have in common: colours, boxes, dots and arrows."""

from __future__ import annotations

from cpclean.report.svg import Sheet

INK, GREY, PALE, GROUND = "#1f2430", "#6b7280", "#d9dde5", "#fbfbf9"
TONE = {"no": "#c2510c", "yes": "#1d5fa8"}
TINT = {"no": "#fbe3d2", "yes": "#dbe8f7"}


class Drawing(Sheet):
    """An SVG in the making, with what these pictures have in common."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        super().__init__()
        self.size, self.title, self.description = (width, height), title, description

    def box(self, x: float, y: float, width: float, height: float, **style: object) -> None:
        super().box(x, y, width, height, rx=4, **style)

    def line(self, x1: float, y1: float, x2: float, y2: float, **style: object) -> None:
        super().line(x1, y1, x2, y2, **({"stroke": GREY, "stroke_width": 1.5} | style))

    def dot(self, x: float, y: float, label: str, open_: bool) -> None:
        fill = TINT[label] if open_ else TONE[label]
        self.circle(x, y, 8, fill=fill, stroke=TONE[label], stroke_width=2)

    def arrow(self, x1: float, x2: float, y: float) -> None:
        self.line(x1, y, x2 - 6, y, stroke_width=2)
        self.polygon([(x2 - 8, y - 5), (x2, y), (x2 - 8, y + 5)], fill=GREY)

    def label_box(self, x: float, y: float, w: float, h: float, label: str, text: str = "") -> None:
        """A box in the colour of a label, with the label written in it."""
        self.box(x, y, w, h, fill=TINT[label], stroke=TONE[label])
        self.text(
            x + w / 2, y + h / 2 + 5, text or label, text_anchor="middle", fill=TONE[label],
            font_weight="bold",
        )  # fmt: skip

    def __str__(self) -> str:
        return self.alone(
            *self.size, self.title, self.description, ground={"rx": 8, "fill": GROUND},
            font_family="system-ui, sans-serif", font_size=14, fill=INK,
        )  # fmt: skip


MIDDLE = {"text_anchor": "middle"}
BOLD = {"font_weight": "bold"}
SMALL = {"font_size": 12, "fill": GREY}
