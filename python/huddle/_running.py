"""Threads, engine and progress as Python's users ask for them."""
from __future__ import annotations

import contextlib
import numbers

import joblib
from sklearn.utils import check_random_state

from ._library import AUTO, Context


def threads(n_jobs):
    """The library's n_threads for scikit-learn's n_jobs.

    All threads the process may use are the library's own count; inside a worker of joblib one is
    enough, for there are others.
    """
    if n_jobs == -1:
        return AUTO if joblib.effective_n_jobs(2) > 1 else 1
    return joblib.effective_n_jobs(n_jobs)


def seed_of(random_state):
    """The library's seed: a number as it is, else one drawn."""
    if isinstance(random_state, numbers.Integral) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class Bar:
    """Progress on the terminal: tqdm if there is one, else a line a stage."""

    def __init__(self):
        self._stage, self._bar = None, None
        try:
            from tqdm.auto import tqdm
            self._tqdm = tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, stage, done, total):
        if self._tqdm is None:
            if stage != self._stage:
                print(f"huddle: {stage}", flush=True)
                self._stage = stage
            return False
        if stage != self._stage:
            self.close()
            self._stage, self._bar = stage, self._tqdm(total=total, desc=stage, leave=False)
        self._bar.total = total
        self._bar.update(done - self._bar.n)
        return False

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def running(n_jobs, progress, engine):
    """A context of the library for the length of a computation."""
    bar = Bar() if progress is True else None
    try:
        yield Context(threads(n_jobs), bar if bar is not None else progress or None, engine)
    finally:
        if bar is not None:
            bar.close()
