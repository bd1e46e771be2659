"""Creates, uses and deletes every estimator, or leaks on purpose; run by check_leaks.sh.

    cycle.py cycle|leak
"""
import ctypes
import gc
import pickle
import os
import sys
import tempfile
import warnings

import numpy as np

import huddle
from huddle._estimators import ESTIMATORS
from huddle.datasets import make_blobs


def expect_failure(call):
    try:
        call()
    except Exception:
        return
    sys.exit("the call should have failed")


def leak():
    huddle._library.lib.huddle_model_new(b"ssc", ctypes.byref(ctypes.c_void_p()))


def use_everything():
    warnings.simplefilter("ignore")
    X, y = make_blobs(150)
    for estimator in ESTIMATORS:
        model = estimator(5, n_init=3) if "n_init" in estimator().get_params() else estimator(5)
        model.fit(X).predict(X[:20].astype(np.float64))
        pickle.loads(pickle.dumps(model)).predict(X)
        with tempfile.TemporaryDirectory() as folder:
            huddle.report(model, os.path.join(folder, "page.html"), y=y, image_shape=(1, X.shape[1]))
            expect_failure(lambda: huddle.report(model, os.path.join(folder, "absent", "page.html")))
            path = os.path.join(folder, "model")
            model.save(path)
            huddle.load(path).transform(X[:20])
            expect_failure(lambda: huddle.load(os.path.join(folder, "page.html")))
        model.confidence_, model.silhouette_samples_, model.info_
        expect_failure(lambda: model.transform(X[:, :1]))
        del model
        expect_failure(lambda: estimator(0).fit(X))
        expect_failure(lambda: estimator(5, progress=lambda *values: True).fit(np.tile(X, (50, 1))))
    W = huddle.knn_graph(X, connect=True)
    huddle.SpectralClustering(5, affinity="precomputed").fit(W)
    huddle.shrink(huddle.spectral_embedding(W, 5), W, 10.0)
    huddle.cluster_path(X, 5, n_gamma=4, keep_shrunk=True)
    expect_failure(lambda: huddle.shrink(X, -W))
    huddle.metrics.scores(y, y)
    huddle.metrics.silhouette_samples(X, y)
    gc.collect()


if __name__ == "__main__":
    {"cycle": use_everything, "leak": leak}[sys.argv[1]]()
    print("cycle done")
