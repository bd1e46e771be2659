"""Several matrices that describe the same points."""
from __future__ import annotations

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from ._sklearn import validate_data


def is_views(X):
    """Return whether X is a list or tuple of matrices; nested lists of numbers are one matrix."""
    return (isinstance(X, (list, tuple)) and
            any(getattr(matrix, "ndim", None) == 2 for matrix in X))


def validate_views(estimator, X, reset, **options):
    """Return the list of validated views; the first has the estimator's features.

    X may be one matrix if the estimator was fitted to one. `_view_features` of the estimator has the
    numbers of features; None for one matrix.
    """
    name = type(estimator).__name__
    expected = None if reset else estimator._view_features
    count = len(X) if is_views(X) else 1
    if not reset and count != (1 if expected is None else len(expected)):
        one = expected is None
        raise ValueError(f"X has {count} view{'s' if count > 1 else ''}, but {name} is expecting "
                         f"{1 if one else len(expected)} view{'' if one else 's'} as input.")
    if not is_views(X):
        estimator._view_features = None
        return validate_data(estimator, X, reset=reset, **options)
    first = validate_data(estimator, X[0], reset=reset, **options)
    views = [first] + [check_array(matrix, input_name=f"view {number}", estimator=estimator,
                                   **options) for number, matrix in enumerate(X[1:], start=2)]
    check_consistent_length(*views)
    features = [view.shape[1] for view in views]
    for number, (found, known) in enumerate(zip(features, expected or features), start=1):
        if found != known:
            raise ValueError(f"View {number} of X has {found} features, but {name} is expecting "
                             f"{known} features as input.")
    estimator._view_features = features if count > 1 else None
    return views if count > 1 else first


def first_view(X):
    """Return the matrix that stands for the points: of several views the first."""
    return X[0] if isinstance(X, list) else X


def view_weights(info):
    """Return the weights of the views, or None if there is one."""
    views = info.get("views")
    return None if views is None else np.array([view["weight"] for view in views])
