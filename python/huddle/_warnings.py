"""Python warnings for the warnings of the library, which are identified by a code."""
from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

# Names of codes (huddle_warning_name) for which scikit-learn would issue a ConvergenceWarning.
CONVERGENCE_CODES = frozenset({"not_converged", "not_verified", "few_distinct"})


def warning_class(code):
    """Return the category of a warning with this code."""
    return ConvergenceWarning if code in CONVERGENCE_CODES else UserWarning


def issue_warnings(found, stacklevel):
    """Issue (code, text) pairs as Python warnings; stacklevel as for the caller's warnings.warn."""
    for code, text in found:
        warnings.warn(text, warning_class(code), stacklevel=stacklevel + 1)
