/* Files of labels: reading them, and writing labels with the values of the file they came from. */
#ifndef HUDDLE_APP_LABELS_H
#define HUDDLE_APP_LABELS_H

#include <huddle/io.h>

/* Reads the labels of a file, of a generator or of a built-in data set into labels, n_classes,
 * classes and points.n of l, which may have nothing else; clusters: those that a clustering has
 * found (huddle_clusters_read()). EXIT_DONE, or EXIT_FAILED after a message. */
int labels_read(huddle_context *context, const char *source, bool clusters, huddle_data *l);

/* Rows that have no cluster have the label -1 in the files that huddle writes, and in those of
 * other programs. Returns the number of the others and their rows, in an array that is freed by
 * free(), or all rows and NULL if there are none without a cluster: -1 means that only if the other
 * labels, if there are any, are 0 and larger numbers, and is a class of its own in files of -1 and
 * 1. */
int64_t labels_rows(const huddle_data *l, int64_t **rows);

/* Keeps the labels of these rows only. */
void labels_keep(huddle_data *l, int64_t n, const int64_t *rows);

/* Writes labels 0 .. l->n_classes - 1 with the values that l's file has for them: as numbers if all
 * of them are integers, else as texts; .npy then has the numbers 0 .. n_classes - 1. */
huddle_status labels_write(const huddle_data *l, const char *path, const int32_t *labels);

#endif
