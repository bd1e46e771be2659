"""Replaces scikit-learn's classes by those of huddle.drop_in, in modules imported before too."""
from __future__ import annotations

import os
import runpy
import sys

# Modules, by id, and names in them that were classes of huddle.drop_in before patch_sklearn(), by
# their own choice; None while nothing is replaced.
_chosen: set[tuple[int, str]] | None = None


def _defining_modules():
    """Return the modules in which scikit-learn defines its classes.

    These keep them: pickles refer to them by name.
    """
    from ._drop_in_kmeans import SklearnKMeans
    from ._drop_in_spectral import SklearnSpectralClustering
    return [sys.modules[cls.__module__] for cls in (SklearnKMeans, SklearnSpectralClustering)]


def _replacements():
    """Return pairs of scikit-learn's classes and functions and those that replace them."""
    from . import drop_in
    kmeans, spectral = _defining_modules()
    return [(kmeans.KMeans, drop_in.KMeans),
            (spectral.SpectralClustering, drop_in.SpectralClustering),
            (kmeans.k_means, drop_in.k_means),
            (spectral.spectral_clustering, drop_in.spectral_clustering)]


def _names():
    """Yield module, name and value of all names of the modules that may be changed."""
    defining = {id(module) for module in _defining_modules()}
    # A module may be registered under several names.
    for name, module in {id(module): (name, module) for name, module in sys.modules.items()
                         }.values():
        names = getattr(module, "__dict__", None)
        is_own = id(module) in defining or name.partition(".")[0] == "huddle"
        if is_own or not isinstance(names, dict):
            continue
        for key, value in list(names.items()):
            yield module, key, value


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
    global _chosen
    if _chosen is not None:
        return
    import sklearn.cluster  # noqa: F401  so that it is among the modules
    replacement_of = {id(original): replacement for original, replacement in _replacements()}
    own = {id(replacement) for replacement in replacement_of.values()}
    _chosen = set()
    for module, key, value in _names():
        if id(value) in replacement_of:
            setattr(module, key, replacement_of[id(value)])
        elif id(value) in own:
            _chosen.add((id(module), key))


def unpatch_sklearn() -> None:
    """Undo :func:`patch_sklearn`: modules have scikit-learn's classes again.

    Modules that were imported in between have them too, even if they imported the classes from
    huddle.drop_in.
    """
    global _chosen
    if _chosen is None:
        return
    original_of = {id(replacement): original for original, replacement in _replacements()}
    for module, key, value in _names():
        if id(value) in original_of and (id(module), key) not in _chosen:
            setattr(module, key, original_of[id(value)])
    _chosen = None


def main(arguments: list[str] | None = None) -> None:
    """Run a script, or a module after -m, with patch_sklearn() in effect."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments == ["-m"] or arguments[0] in ("-h", "--help"):
        print("usage: python -m huddle.drop_in SCRIPT [ARGUMENTS]\n"
              "       python -m huddle.drop_in -m MODULE [ARGUMENTS]")
        sys.exit(0 if arguments and arguments[0] in ("-h", "--help") else 2)
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        sys.exit(f"huddle.drop_in: there is no file {arguments[0]}")
    patch_sklearn()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))  # as Python does
        runpy.run_path(arguments[0], run_name="__main__")
