"""Pictures for notebooks, and one self-contained page for everybody else.

    pictures, compose             what a picture shows; the pictures of what analysis has found
    drawn, svg, axes, colours     pictures as SVG
    figures, plots                pictures as Plotly figures; `plot_certainty` and the others
    picture_files                 pictures as files
    page, lists                   `report`: one HTML file

Public names are declared in ``__init__.pyi`` and looked up when they are first used: importing
this package loads no plotting library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
