"""Ctrl-C, the interpreter lock, progress, and freeing of objects."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
import warnings
import weakref

import numpy as np
import pytest

import huddle
from huddle import KMeans, SpectralShrunkClustering
from huddle.datasets import load_digits, make_blobs

# A fit that takes too long on any machine; the tests cancel it.
ENDLESS = dict(n_clusters=300, n_init=100000, prepare="none")


def start_python(text, **options):
    return subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(text)],
                            stdout=subprocess.PIPE, text=True, env=dict(os.environ), **options)


INTERRUPTED = """
    import signal, threading, time
    import numpy as np
    from huddle import KMeans, SpectralShrunkClustering
    from huddle.datasets import load_digits

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    X, y = load_digits()
    print("ready")
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted", time.process_time())
    labels = KMeans(10, n_init=2).fit_predict(X)
    print("fitted", len(set(labels)), threading.active_count())
"""


def cpu_seconds(pid):
    """What a process and its threads have used: unlike the time of the day, other processes do not count."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("call", [
    "KMeans(n_clusters=300, n_init=100000).fit(X)",
    "SpectralShrunkClustering(10, n_init=10000000).fit(np.tile(X, (20, 1)) "
    "+ np.random.default_rng(0).random((20 * 1797, 64), np.float32))",
])
def test_ctrl_c_stops_within_half_a_second_and_later_fits_work(call):
    process = start_python(INTERRUPTED.format(call=call))
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert process.poll() is None
        sent = cpu_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        event, when = process.stdout.readline().split()
        assert event == "interrupted" and float(when) - sent < .5 * os.cpu_count()
        assert process.stdout.readline() == "fitted 10 1\n"
        assert process.wait(20) == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def test_other_threads_run_during_a_fit():
    X, _ = load_digits()
    count, stop = [0], threading.Event()

    def increment():
        while not stop.is_set():
            count[0] += 1
            time.sleep(.001)

    thread = threading.Thread(target=increment)
    thread.start()
    try:
        before = count[0]
        start = time.perf_counter()
        KMeans(50, n_init=300).fit(X)
        seconds = time.perf_counter() - start
        increments = count[0] - before
    finally:
        stop.set()
        thread.join()
    assert increments > 50 * seconds


def test_fits_in_threads_agree():
    X, _ = load_digits()
    expected = SpectralShrunkClustering(10).fit(X).labels_
    results = [None] * 3

    def fit(place):
        results[place] = SpectralShrunkClustering(10).fit(X).labels_

    workers = [threading.Thread(target=fit, args=(place,)) for place in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(result, expected) for result in results)


def test_progress_is_reported():
    X, _ = load_digits()
    calls = []
    SpectralShrunkClustering(10, progress=lambda *values: calls.append(values)).fit(X)
    stages = {stage for stage, _, _ in calls}
    assert len(stages) >= 3 and all(0 <= done <= total for _, done, total in calls)


@pytest.mark.parametrize("in_thread", [False, True])
def test_progress_can_cancel(in_thread):
    X, _ = load_digits()
    seen = []

    def fit():
        try:
            KMeans(**ENDLESS, progress=lambda *values: True).fit(X)
        except huddle.Cancelled as error:
            seen.append(error)

    if in_thread:
        worker = threading.Thread(target=fit)
        worker.start()
        worker.join()
    else:
        fit()
    assert len(seen) == 1


def test_exceptions_of_the_callback_are_raised():
    X, _ = load_digits()

    def fail(stage, done, total):
        raise LookupError(stage)

    with pytest.raises(LookupError):
        KMeans(**ENDLESS, progress=fail).fit(X)


class FakeBar:
    instances = []

    def __init__(self, total, desc, leave):
        self.total, self.desc, self.n, self.closed = total, desc, 0, False
        FakeBar.instances.append(self)

    def update(self, more):
        self.n += more

    def close(self):
        self.closed = True


def test_tqdm_is_used(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = FakeBar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    X, _ = make_blobs(3000)
    SpectralShrunkClustering(5, progress=True).fit(X)
    assert FakeBar.instances and all(bar.closed and bar.n <= bar.total for bar in FakeBar.instances)


def test_progress_without_tqdm(monkeypatch, capsys):
    X, _ = make_blobs(3000)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    SpectralShrunkClustering(5, progress=True).fit(X)
    assert "huddle: " in capsys.readouterr().out


def test_models_are_freed():
    gc.collect()
    freed, real = [], huddle._library.lib.huddle_model_free
    huddle._model.lib.huddle_model_free = lambda handle: (freed.append(1), real(handle))
    try:
        X, _ = make_blobs(100)
        model = KMeans(5).fit(X)
        model.fit(X)
        assert len(freed) == 1
        del model
        gc.collect()
        assert len(freed) == 2
    finally:
        huddle._model.lib.huddle_model_free = real


def test_contexts_are_freed_without_garbage_collection():
    gc.disable()
    try:
        context = huddle._library.Context()
        reference = weakref.ref(context)
        del context
        assert reference() is None
    finally:
        gc.enable()


def fit_in_pool(n_jobs):
    """Return the warnings of a fit; at the top of the module, for a pool."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KMeans(2, n_jobs=n_jobs).fit(X)
    return [str(warning.message) for warning in caught], model.labels_.tolist()


def test_fit_in_a_pool_of_processes_does_not_warn():
    """joblib warns there that it cannot start processes, which the library does not want."""
    expected = KMeans(2).fit_predict(np.random.default_rng(0).normal(size=(50, 2))).tolist()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(fit_in_pool, [-1, 2, None]) == [([], expected)] * 3
