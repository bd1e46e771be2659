/* Labels as files hold them, whole numbers or texts, and their mapping to 0 .. c - 1. */
#ifndef HUDDLE_SRC_IO_LABELS_H
#define HUDDLE_SRC_IO_LABELS_H

#include "io/array.h"

typedef struct hd_span {
    const char *begin;
    int64_t length;
} hd_span;

typedef struct hd_labels {
    int64_t n;
    int64_t *numbers; /* one of these two */
    hd_span *texts;
    char *arena; /* what texts point into, if it is owned */
} hd_labels;

void hd_labels_free(hd_labels *labels);

/* Writes a character as UTF-8, at most four bytes; returns where they end. */
char *hd_put_utf8(uint32_t c, char *to);

/* Whole numbers from a vector; HUDDLE_INVALID names the first that is not whole. */
huddle_status hd_labels_from_array(const hd_array *array, hd_labels *labels);

/* Adds `more` after `labels`; both must be of one sort. */
huddle_status hd_labels_append(hd_labels *labels, const hd_labels *more);

/* Numbers instead of texts, if every text is a whole number. */
huddle_status hd_labels_simplify(hd_labels *labels);

/* Maps to 0 .. c - 1 by ascending value; the outputs are the caller's to free. */
huddle_status hd_labels_map(const hd_labels *labels, int32_t **mapped, int32_t *n_classes,
                            char ***classes);
void hd_classes_free(char **classes, int64_t count);

#endif
