"""KMeans and SpectralClustering that take the place of scikit-learn's.

Parameters, attributes and defaults are those of the installed scikit-learn, from whose classes
these derive; the computation is that of the library. See docs/drop-in.md.

>>> from huddle.drop_in import KMeans
>>> from huddle.datasets import make_moons
>>> X, y = make_moons(500)
>>> KMeans(n_clusters=2, n_init=1, random_state=0).fit(X).cluster_centers_.shape
(2, 2)

``python -m huddle.drop_in SCRIPT [ARGUMENTS]`` or ``python -m huddle.drop_in -m MODULE
[ARGUMENTS]`` runs a program in which scikit-learn's classes are replaced.
"""
from ._drop_in_kmeans import KMeans, k_means
from ._drop_in_spectral import SpectralClustering, spectral_clustering

__all__ = ["KMeans", "SpectralClustering", "k_means", "spectral_clustering"]

if __name__ == "__main__":
    from ._patch import main
    main()
