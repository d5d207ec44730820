"""Sphinx: how the documentation is built. Nothing is fetched from a network."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "cpclean"
author = "The cpclean developers"
release = installed("cpclean")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "verbs",
]
exclude_patterns = ["extensions", "pictures/*.py"]

smartquotes_action = "D"  # dashes only: quotes are often code
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = False  # pages are written by hand; the tables only link to them
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give shapes, which types do not
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = "cpclean"
html_static_path = ["style"]
html_css_files = ["cpclean.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
