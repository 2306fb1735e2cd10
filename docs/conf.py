"""How Sphinx makes the pages: Markdown through MyST, the reference from docstrings."""

from __future__ import annotations

import wayfare

project = "Wayfare"
author = "The Wayfare authors"
copyright = "The Wayfare authors"
version = release = wayfare.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": False,
    # What scikit-learn adds to every estimator, with references into its own pages.
    "exclude-members": "set_fit_request, set_score_request, set_transform_request",
}
autosummary_generate = False
# Docstrings hold formulas as plain text with `code` in single backticks.
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = "Wayfare"
html_theme_options = {
    "navigation_depth": 2,
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
}
html_show_sourcelink = False
