"""What differs between versions of scikit-learn."""
from __future__ import annotations

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)

__all__ = ["validate_data"]
