"""Python warnings for the warnings of the library, which are identified by a code, and the logger."""
from __future__ import annotations

import logging
import warnings

from sklearn.exceptions import ConvergenceWarning

# What is decided is logged at level INFO, warnings at level WARNING. Python would print the latter
# a second time if no handler was configured.
logger = logging.getLogger("huddle")
logger.addHandler(logging.NullHandler())

# Names of codes (huddle_warning_name) for which scikit-learn would issue a ConvergenceWarning.
CONVERGENCE_CODES = frozenset({"not_converged", "not_verified", "few_distinct"})


def warning_class(code):
    """Return the category of a warning with this code."""
    return ConvergenceWarning if code in CONVERGENCE_CODES else UserWarning


def issue_warnings(found, stacklevel):
    """Issue (code, text) pairs as Python warnings, and log them.

    stacklevel is that of the caller's warnings.warn.
    """
    for code, text in found:
        logger.warning("%s", text, extra={"code": code})
        warnings.warn(text, warning_class(code), stacklevel=stacklevel + 1)
