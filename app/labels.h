/* Files of labels: reading them, and writing labels with the values of the file they came from. */
#ifndef HUDDLE_APP_LABELS_H
#define HUDDLE_APP_LABELS_H

#include <huddle/io.h>

/* Labels 0 .. n_classes - 1 and the texts that the file has for them. */
typedef struct labelling {
    int64_t n;
    int32_t *labels;
    int32_t n_classes;
    char **classes;
} labelling;

/* Reads the labels of a file, of a generator or of a built-in data set; clusters: those that a
 * clustering has found (huddle_clusters_read()). EXIT_DONE, or EXIT_FAILED after a message. */
int labelling_read(huddle_context *context, const char *source, bool clusters, labelling *l);
void labelling_free(labelling *l);

/* Rows that have no cluster have the label -1 in the files that huddle writes, and in those of
 * other programs. Returns the number of the others and their rows, in an array that is freed by
 * free(), or l->n and NULL if there are none without a cluster: -1 means that only if the other
 * labels, if there are any, are 0 and larger numbers, and is a class of its own in files of -1 and
 * 1. */
int64_t labelling_rows(const labelling *l, int64_t **rows);

/* Keeps the labels of these rows only. */
void labelling_keep(labelling *l, int64_t n, const int64_t *rows);

/* Writes labels 0 .. l->n_classes - 1 with the values that l's file has for them: as numbers if all
 * of them are integers, else as texts; .npy then has the numbers 0 .. n_classes - 1. */
huddle_status labelling_write(const labelling *l, const char *path, const int32_t *labels);

#endif
