#!/usr/bin/python3
"""Text as TF-IDF: make_corpus.py FILE [-n 11314] [-d 100000] [-c 20] [--seed 0]

Writes FILE (scipy.sparse.save_npz, n x d, float32, rows of norm 1) and the topics beside it (FILE with
-labels.npy instead of .npz). The default has the shape of the training part of 20 newsgroups.

Words follow Zipf's law (Mandelbrot's form), and every word of a document is drawn from one of four
distributions: the language as a whole, a group of related topics, the topic, or the thread, a few
documents about one subject. As in real text, the nearest documents are those of a thread, threads of
one topic are related by less frequent words, and topics of one group are easily confused. Some
documents belong to two topics, and the shares of the distributions vary from document to document. Words
are repeated within a document more often than chance would have it (Simon's process). The number of
threads grows with n.
"""
import argparse

import numpy as np
from scipy import sparse

from make_sheets import labels_path

GROUP = 4  # topics of a group
THREAD = 12  # mean number of documents of a thread
WORDS = {"group": 4000, "topic": 3000, "thread": 60}  # that a distribution consists of
SHARES = {"language": 13., "group": 1.5, "topic": 3., "thread": 3.}  # of words; Dirichlet weights
MEDIAN, SPREAD = 140, .85  # words of a document, log-normal
REPEATED = .15  # share of the words that repeat an earlier one of their document
TWO_TOPICS = .1  # share of the documents that belong to a second topic too


def zipf(count, offset=2.7, power=1.05):
    """The cumulative probabilities of ranks 0 .. count - 1."""
    sums = np.cumsum((np.arange(count) + 1 + offset) ** -power)
    return sums / sums[-1]


def draw(rng, cumulative, count):
    return np.searchsorted(cumulative, rng.random(count)).astype(np.int64)


def choose_words(rng, count, many, d):
    """`many` lists of `count` words each. Neither the most common words, which belong to no subject, nor
    only the rarest: ranks are log-uniform between 100 and d."""
    low = min(100, d // 10)
    return np.floor(low * (d / low) ** rng.random((many, count))).astype(np.int64)


def repeat_words(rng, word, begin):
    """Replaces some words by earlier ones of the same document; begin is where each document begins."""
    place = np.arange(len(word))
    source = np.where(rng.random(len(word)) < REPEATED,
                      begin + (rng.random(len(word)) * (place - begin)).astype(np.int64), place)
    while (source != source[source]).any():  # a repeated word may be repeated again
        source = source[source]
    return word[source]


def make(n=11314, d=100_000, c=20, seed=0):
    """The TF-IDF matrix and the topic of each document."""
    rng = np.random.default_rng(seed)
    n_threads = max(c, n // THREAD)
    thread_topic = rng.integers(c, size=n_threads)
    thread = rng.choice(n_threads, size=n, p=rng.dirichlet(np.full(n_threads, .7)))
    topic = thread_topic[thread]
    other = np.where(rng.random(n) < TWO_TOPICS, rng.integers(c, size=n), topic)
    length = np.maximum(8, np.exp(rng.normal(np.log(MEDIAN), SPREAD, n))).astype(np.int64)
    share = np.cumsum(rng.dirichlet(list(SHARES.values()), n), axis=1)

    document = np.repeat(np.arange(n), length)
    kind = (rng.random(len(document))[:, None] > share[document]).sum(1)
    word = draw(rng, zipf(d), len(document))
    words = {name: choose_words(rng, WORDS[name], many, d)
             for name, many in (("group", -(-c // GROUP)), ("topic", c), ("thread", n_threads))}
    which_topic = np.where(rng.random(len(document)) < .5, topic[document], other[document])
    for k, (name, of) in enumerate((("group", which_topic // GROUP), ("topic", which_topic),
                                    ("thread", thread[document])), 1):
        at = np.flatnonzero(kind == k)
        word[at] = words[name][of[at], draw(rng, zipf(WORDS[name]), len(at))]

    word = repeat_words(rng, word, np.repeat(np.cumsum(length) - length, length))
    counts = sparse.coo_matrix((np.ones(len(word), np.float32), (document, word)), (n, d)).tocsr()
    counts.sum_duplicates()
    found = np.bincount(counts.indices, minlength=d)
    x = counts @ sparse.diags(np.log((1 + n) / (1 + found)) + 1)  # as scikit-learn's TfidfTransformer
    x = sparse.diags(1 / np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())) @ x
    return sparse.csr_matrix(x, dtype=np.float32), topic.astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("-n", type=int, default=11314)
    parser.add_argument("-d", type=int, default=100_000)
    parser.add_argument("-c", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    x, y = make(options.n, options.d, options.c, options.seed)
    sparse.save_npz(options.file, x)
    np.save(labels_path(options.file), y)


if __name__ == "__main__":
    main()
