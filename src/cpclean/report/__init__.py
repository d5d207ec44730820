"""Pictures for notebooks, and one self-contained page for everybody else.

    pictures     what a picture shows, once: drawn as SVG, as a Plotly figure, and told as a table
    plots        `plot_certainty` and the others: Plotly figures
    page         `report`: one HTML file

Names are looked up when they are first used: importing this package loads no plotting library.
"""

from typing import TYPE_CHECKING

__all__ = [
    "Report",
    "plot_certainty",
    "plot_columns",
    "plot_gains",
    "plot_holes",
    "plot_shares",
    "report",
]

_HOMES = {
    "Report": "cpclean.report.page",
    "plot_certainty": "cpclean.report.plots",
    "plot_columns": "cpclean.report.plots",
    "plot_gains": "cpclean.report.plots",
    "plot_holes": "cpclean.report.plots",
    "plot_shares": "cpclean.report.plots",
    "report": "cpclean.report.page",
}

if TYPE_CHECKING:
    from cpclean.report.page import Report, report
    from cpclean.report.plots import (
        plot_certainty,
        plot_columns,
        plot_gains,
        plot_holes,
        plot_shares,
    )
else:
    # Hidden from type checkers, which would otherwise accept any misspelt name.
    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module 'cpclean.report' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value  # found at once from now on
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
