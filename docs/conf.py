"""How Sphinx makes the site of these pages: ``make site``."""

from __future__ import annotations

project = "Lakeport"
author = "The Lakeport developers"
html_title = "Lakeport"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
# Folders of the project, which pages link to for readers of the repository; and attributes of one name in the SPI.
suppress_warnings = ["ref.python"]
