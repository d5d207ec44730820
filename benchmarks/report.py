"""The one table: measurements with their targets, then the agreement checks."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.measure import Times, ratio

HEADINGS = ("measured", "on", "yardstick", "ours", "ratio", "target", "met")
PLAIN_WIDTH = 160


@dataclass(frozen=True)
class Line:
    """One measurement; `met` is None where there is no target."""

    measured: str
    on: str
    ours: str
    yardstick: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        met = {None: "", True: "yes", False: "NO"}[self.met]
        return (self.measured, self.on, self.yardstick, self.ours, self.ratio, self.target, met)


@dataclass(frozen=True)
class Check:
    """A comparison of two ways to the same answer."""

    name: str
    holds: bool
    detail: str  # what was compared, or by how much it is off


@dataclass
class Report:
    """What a run has found so far."""

    notes: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.lines.append(line)

    def check(self, name: str, holds: bool, detail: str) -> None:
        self.checks.append(Check(name, bool(holds), detail))

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if not check.holds]

    def agreement(self) -> str:
        if not self.checks:
            return "Agreement: nothing checked."
        held = len(self.checks) - len(self.failed)
        return f"Agreement: {held} of {len(self.checks)} checks hold."


def compared(measured: str, on: str, times: Times, yardstick: Times, limit: float | None) -> Line:
    """A line that sets a time against a yardstick's."""
    against = ratio(times, yardstick)
    return Line(
        measured,
        on,
        ours=cpu_and_wall(times),
        yardstick=cpu_and_wall(yardstick),
        ratio=f"{against.median:.2f} ({against.lowest:.2f})",
        target="" if limit is None else f"≤ {limit:g}",
        met=None if limit is None else against.median <= limit,
    )


def cpu_and_wall(times: Times) -> str:
    return f"{milliseconds(times.best_cpu)} ({milliseconds(times.best_wall)}) ms"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.1f}"


def duration(seconds: float) -> str:
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} s"


def show(report: Report, console: Console) -> None:
    """Rounded lines in a terminal, plain text elsewhere."""
    plain = console.options.ascii_only or not console.is_terminal
    table = Table(box=box.ASCII2 if plain else box.ROUNDED)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("measured", "on") else "right")
    for line in report.lines:
        *cells, met = line.cells()
        table.add_row(*cells, {"yes": "[green]yes[/]", "NO": "[bold red]NO[/]"}.get(met, met))
    console.print(table)
    for note in report.notes:
        console.print(note)
    console.print(report.agreement())
    for check in report.failed:
        console.print(f"[bold red]DISAGREES[/] {check.name}: {check.detail}")


def markdown(report: Report, command: str) -> str:
    """The same for a README, with the command that made it."""
    rows = [
        "| " + " | ".join(cells) + " |"
        for cells in (
            HEADINGS,
            tuple("---" if name in ("measured", "on") else "---:" for name in HEADINGS),
            *(line.cells() for line in report.lines),
        )
    ]
    failed = [f"DISAGREES {check.name}: {check.detail}" for check in report.failed]
    text = [*report.notes, report.agreement(), *failed]
    return "\n".join([f"`{command}`", "", *rows, "", *text])
