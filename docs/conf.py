"""Settings of Sphinx for the site that ``python -m docs.build`` makes."""

from importlib.metadata import version as version_of

project = "lmrl-gym"
author = "the lmrl-gym developers"
project_copyright = "2026, the lmrl-gym developers"
version = release = version_of("lmrl-gym")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
highlight_language = "text"

# A link to a heading that is not there fails the build; headings get anchors as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["smartquotes"]
nitpicky = False

# Docstrings write code in single backticks, as the Markdown pages do.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"lmrl-gym {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "source_repository": "https://github.com/lmrl-gym/lmrl-gym/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": [],
}
