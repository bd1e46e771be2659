"""A plugin for pytest that puts the classes of huddle.drop_in into scikit-learn's own tests.

It replaces the classes before the tests are imported, leaves out the tests that excluded.txt lists,
and counts the tests in which a class of huddle.drop_in computed something.
"""
import collections
import inspect
import pathlib

import pytest

EXCLUDED = pathlib.Path(__file__).with_name("excluded.txt")

_outcomes = collections.Counter()
_called = []


def excluded_names():
    """Return the names in excluded.txt with their reasons."""
    lines = (line.strip() for line in EXCLUDED.read_text().splitlines())
    return dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))


def _count_calls(cls):
    fit = cls.fit

    def counted(self, *arguments, **options):
        _called.append(cls.__name__)
        return fit(self, *arguments, **options)
    counted.__signature__ = inspect.signature(fit)
    cls.fit = counted


def pytest_configure(config):
    import huddle
    from huddle import drop_in
    huddle.patch_sklearn()
    _count_calls(drop_in.KMeans)
    _count_calls(drop_in.SpectralClustering)


def _name(item):
    return f"{item.path.name}::{getattr(item, 'originalname', item.name)}"


def pytest_collection_modifyitems(config, items):
    excluded = excluded_names()
    left_out = [item for item in items if _name(item) in excluded]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _name(item) not in excluded]
    _outcomes["excluded"] = len(left_out)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    if call.when == "call":
        outcome = result.get_result().outcome
        _outcomes[outcome, bool(_called)] += 1
        _called.clear()


def pytest_terminal_summary(terminalreporter):
    import sklearn
    own = {outcome: _outcomes[outcome, True] for outcome in ("passed", "failed")}
    terminalreporter.write_line(
        f"scikit-learn {sklearn.__version__}: of the tests in which huddle.drop_in computed, "
        f"{own['passed']} passed, {own['failed']} failed; of the others "
        f"{_outcomes['passed', False]} passed, {_outcomes['failed', False]} failed; "
        f"{_outcomes['excluded']} excluded")
