"""Contexts made from the parameters random_state, n_jobs, engine, progress, verbose and memory."""
from __future__ import annotations

import contextlib
import multiprocessing
import numbers
import time

import joblib
from sklearn.utils import check_random_state

from ._library import AUTO, Context
from ._warnings import logger


def thread_count(n_jobs):
    """Convert n_jobs of scikit-learn to n_threads of the library.

    The library counts the available threads itself, except in a worker of joblib or of a pool of
    processes: there it uses one, since the other workers use the others. In a pool joblib says so
    too, but with a warning about processes that it could not start, and the library starts none.
    """
    if multiprocessing.current_process().daemon and n_jobs not in (None, 0):
        return 1
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


class StageLines:
    """Prints the stage, with verbose >= 2 also how far it is.

    Stages are short and many while options are chosen, so lines are some time apart.
    """

    def __init__(self, verbose):
        self._verbose, self._text = verbose, None
        self._begin = time.monotonic()
        self._next = self._begin
        self._pause = .5 if verbose < 2 else .1  # seconds

    def __call__(self, stage, done, total):
        now, text = time.monotonic(), stage
        if self._verbose >= 2 and total > 0:
            text += f" {100 * done / total:.0f} %"
        if text != self._text and now >= self._next:
            print(f"huddle {now - self._begin:7.2f} s  {text}", flush=True)
            self._text, self._next = text, now + self._pause
        return False


def _joined(*functions):
    """Return a progress function that calls several; any of them may cancel."""
    def call_all(*values):
        return any([function(*values) for function in functions])
    return call_all if len(functions) > 1 else next(iter(functions), None)


def print_lines(verbose, lines):
    """Log what was decided, and print it if the user wants to see it."""
    for line in lines:
        logger.info("%s", line)
        if verbose:
            print(f"huddle {'':9}  {line}", flush=True)


def _notes(context):
    """Return what the library has logged besides warnings."""
    return [text for code, text in context.messages if code == "none"]


@contextlib.contextmanager
def running_context(n_jobs, progress, engine, memory=None, distributed=False, verbose=0):
    """Provide a context for the duration of a computation.

    Unless `distributed`, an engine that distributes rows over processes is refused.
    """
    verbose = int(verbose or 0)
    bar = ProgressBar() if progress is True else None
    functions = [bar or progress] if progress else []
    if verbose:
        functions.append(StageLines(verbose))
    context = Context(thread_count(n_jobs), _joined(*functions), engine, memory)
    try:
        if context.distributed and not distributed:
            raise NotImplementedError(f"engine = {engine!r}: this function needs all rows on one "
                                      "process; the estimators do not")
        yield context
        print_lines(verbose >= 2 and context.process == 0, _notes(context))
    finally:
        context.close()
        if bar is not None:
            bar.close()


def options_context(options):
    """Provide a context for a function's own parameters."""
    return running_context(options["n_jobs"], options["progress"], options["engine"],
                           verbose=options["verbose"])
