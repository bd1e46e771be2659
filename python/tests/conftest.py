"""The settings of the tests inside the package. The tests here need the source tree."""
from huddle.tests.conftest import pytest_configure  # noqa: F401
