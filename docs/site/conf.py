"""Sphinx configuration. build.py assembles the sources of the site and sets the two variables that are read here."""
import os
import pathlib
import re
import sys
import warnings

ROOT = pathlib.Path(os.environ["HUDDLE_ROOT"])
WORK = pathlib.Path(os.environ["HUDDLE_SITE_WORK"])
sys.path.insert(0, str(ROOT / "python"))

project = "Huddle"
author = "The Huddle authors"
copyright = "the Huddle authors"
release = version = re.search(r'define HUDDLE_VERSION +"(.*)"',
                              (ROOT / "include/huddle/version.h").read_text()).group(1)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc",
              "sphinx.ext.viewcode", "breathe", "sphinx_gallery.gen_gallery", "sphinx_copybutton"]
exclude_patterns = []
templates_path = ["templates"]
nitpicky = False
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

breathe_projects = {"huddle": str(WORK / "doxygen/xml")}
breathe_default_project = "huddle"
breathe_domain_by_extension = {"h": "c"}

ORDER = ["digits", "shapes", "faces", "segmentation", "documents", "time_series", "choosing_k", "million"]


def short_warning(message, category, *_):
    """A warning in the output of a program, without the folder in which the site was built."""
    return f"{category.__name__}: {message}\n"


warnings.formatwarning = short_warning


class GalleryOrder:
    """From the data that everybody knows to the largest."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        return ORDER.index(pathlib.PurePath(name).stem)


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "docs/gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": os.environ.get("HUDDLE_GALLERY", r"\.py$"),
    "within_subsection_order": GalleryOrder,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "reset_argv": lambda gallery, script: [],
    "thumbnail_size": (400, 280),
}

html_theme = "furo"
html_title = "Huddle"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False,
                      "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
                      "dark_css_variables": {"color-brand-primary": "#7fb2ea", "color-brand-content": "#7fb2ea"}}
