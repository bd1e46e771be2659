/* Labels as files hold them, whole numbers or texts, and their mapping to 0 .. c - 1. */
#ifndef HUDDLE_SRC_IO_LABELS_H
#define HUDDLE_SRC_IO_LABELS_H

#include "huddle/base.h"

typedef struct hd_io_span {
    const char *begin;
    int64_t length;
} hd_io_span;

typedef struct hd_io_labels {
    int64_t n;
    int64_t *numbers; /* one of these two */
    hd_io_span *texts;
    char *arena; /* what texts point into, if it is owned */
} hd_io_labels;

void hd_io_labels_free(hd_io_labels *labels);

/* Copies all texts into memory of the labels' own, which outlives what they pointed into. `copy`
 * writes a text, which may become shorter, and returns its end; a line feed is put there, since
 * readers of numbers look at the character after a number. */
typedef char *hd_io_copier(const char *p, const char *end, char *to);
huddle_status hd_io_labels_own(hd_io_labels *labels, hd_io_copier *copy);

/* Leaves out the labels of rows that were dropped, in ascending order. */
void hd_io_labels_drop(hd_io_labels *labels, const int64_t *dropped, int64_t count);

/* Adds `more` after `labels`; both must be of one sort. */
huddle_status hd_io_labels_append(hd_io_labels *labels, const hd_io_labels *more);

/* Whether hd_io_labels_simplify() would find, or has found, whole numbers only. */
bool hd_io_labels_whole(const hd_io_labels *labels);

/* Numbers instead of texts, if every text is a whole number. */
huddle_status hd_io_labels_simplify(hd_io_labels *labels);

/* Maps to 0 .. c - 1 by ascending value; the outputs are the caller's to free. */
huddle_status hd_io_labels_map(const hd_io_labels *labels, int32_t **mapped, int32_t *n_classes,
                               char ***classes);
void hd_io_classes_free(char **classes, int64_t count);

/* A copy of a text; HUDDLE_NO_MEMORY says what it is. */
huddle_status hd_io_copy_text(const char *text, const char *what, char **copy);

#endif
