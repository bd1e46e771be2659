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

/* Reads the labels of a file, of a generator or of a built-in data set. EXIT_DONE, or EXIT_FAILED
 * after a message. */
int labelling_read(huddle_context *context, const char *source, labelling *l);
void labelling_free(labelling *l);

/* Writes labels 0 .. l->n_classes - 1 with the values that l's file has for them: as numbers if all
 * of them are integers, else as texts; .npy then has the numbers 0 .. n_classes - 1. */
huddle_status labelling_write(const labelling *l, const char *path, const int32_t *labels);

#endif
