"""Replaces scikit-learn's classes by those of huddle.drop_in, in modules imported before too."""
from __future__ import annotations

import runpy
import sys

# The modules in which scikit-learn defines its classes keep them: pickles refer to them by name.
_DEFINING = ("sklearn.cluster._kmeans", "sklearn.cluster._spectral")

# What was replaced: (module, name, scikit-learn's).
_replaced: list = []


def _replacements():
    """Return pairs of scikit-learn's classes and functions and those that replace them."""
    from sklearn.cluster import _kmeans, _spectral

    from . import drop_in
    return [(_kmeans.KMeans, drop_in.KMeans),
            (_spectral.SpectralClustering, drop_in.SpectralClustering),
            (_kmeans.k_means, drop_in.k_means),
            (_spectral.spectral_clustering, drop_in.spectral_clustering)]


def _is_exempt(name):
    return name in _DEFINING or name == "huddle" or name.startswith("huddle.")


def patch_sklearn() -> None:
    """Replace KMeans, SpectralClustering, k_means and spectral_clustering of scikit-learn.

    Afterwards ``from sklearn.cluster import KMeans`` is the class of :mod:`huddle.drop_in`, and so
    is the name in modules that have imported scikit-learn's class before. Objects that exist
    already, and references other than by a name of a module, remain scikit-learn's.

    >>> import huddle
    >>> huddle.patch_sklearn()
    >>> from sklearn.cluster import KMeans
    >>> KMeans.__module__
    'huddle.drop_in'
    >>> huddle.unpatch_sklearn()
    """
    import sklearn.cluster  # noqa: F401  so that it is among the modules below
    pairs = _replacements()
    for name, module in list(sys.modules.items()):
        if module is None or _is_exempt(name):
            continue
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict):
            continue
        for key, value in list(names.items()):
            for original, replacement in pairs:
                if value is original:
                    names[key] = replacement
                    _replaced.append((module, key, original))


def unpatch_sklearn() -> None:
    """Undo :func:`patch_sklearn`: modules have scikit-learn's classes again.

    Modules that were imported in between have them too.
    """
    while _replaced:
        module, key, original = _replaced.pop()
        setattr(module, key, original)
    if "huddle.drop_in" not in sys.modules:
        return
    pairs = _replacements()
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if _is_exempt(name) or not isinstance(names, dict):
            continue
        for key, value in list(names.items()):
            for original, replacement in pairs:
                if value is replacement:
                    names[key] = original


def main(arguments: list[str] | None = None) -> None:
    """Run a script, or a module after -m, with patch_sklearn() in effect."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments == ["-m"] or arguments[0] in ("-h", "--help"):
        print("usage: python -m huddle.drop_in SCRIPT [ARGUMENTS]\n"
              "       python -m huddle.drop_in -m MODULE [ARGUMENTS]")
        sys.exit(0 if arguments and arguments[0] in ("-h", "--help") else 2)
    patch_sklearn()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
