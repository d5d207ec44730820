"""Pictures for notebooks, and one self-contained page for everybody else.

    pictures     what a picture shows, once: drawn as SVG, as a Plotly figure, and as a table
    plots        `plot_certainty` and the others: Plotly figures
    page         `report`: one HTML file

Public names are declared in ``__init__.pyi`` and looked up when they are first used: importing
this package loads no plotting library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
