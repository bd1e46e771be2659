"""Contexts made from the parameters random_state, n_jobs, engine, progress and memory."""
from __future__ import annotations

import contextlib
import numbers

import joblib
from sklearn.utils import check_random_state

from ._library import AUTO, Context


def thread_count(n_jobs):
    """Convert n_jobs of scikit-learn to n_threads of the library.

    The library counts the available threads itself, except in a worker of joblib: there it uses
    one, since the other workers use the others.
    """
    if n_jobs == -1:
        return AUTO if joblib.effective_n_jobs(2) > 1 else 1
    return joblib.effective_n_jobs(n_jobs)


def random_seed(random_state):
    """Return the seed for the library: random_state if it is a number, otherwise one drawn from it.
    """
    if isinstance(random_state, numbers.Integral) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class ProgressBar:
    """Progress on the terminal: a bar of tqdm if it is installed, otherwise one line per stage."""

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
def running_context(n_jobs, progress, engine, memory=None, spread=False):
    """Provide a context for the duration of a computation.

    Unless `spread`, an engine that spreads rows over processes is refused.
    """
    bar = ProgressBar() if progress is True else None
    context = Context(thread_count(n_jobs), bar if bar is not None else progress or None, engine,
                      memory)
    try:
        if context.spreads and not spread:
            raise NotImplementedError(f"engine = {engine!r}: this function needs all rows on one "
                                      "process; the estimators do not")
        yield context
    finally:
        context.close()
        if bar is not None:
            bar.close()
