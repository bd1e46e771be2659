/* When a component is small: the connection of components and the choice of the number of clusters
 * use the same share (docs/method.md, "How many clusters?"). */
#ifndef HUDDLE_SRC_MATRIX_SMALL_H
#define HUDDLE_SRC_MATRIX_SMALL_H

/* A component smaller than this share of the mean cluster is small. Chosen by bench/clusters.py
 * of 0.2.0. */
#define HD_SMALL_SHARE 0.3

#endif
