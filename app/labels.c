#include "labels.h"

#include "cli/messages.h"
#include "cli/text.h"
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The names of generators win over files, as for every command that reads data. */
int labels_read(huddle_context *context, const char *source, bool clusters, huddle_data *l) {
    if (is_listed(source, huddle_data_kinds()))
        return call_result(huddle_data_read(context, source, NULL, l), source);
    return call_result((clusters ? huddle_clusters_read : huddle_labels_read)(
                           context, source, &l->points.n, &l->labels, &l->n_classes, &l->classes),
                       source);
}

/* Classes are sorted, numbers by value. */
int64_t labels_rows(const huddle_data *l, int64_t **rows) {
    int64_t count = 0;
    *rows = NULL;
    if (l->n_classes < 1 || strcmp(l->classes[0], "-1") != 0 ||
        (l->n_classes > 1 && strcmp(l->classes[1], "0") != 0))
        return l->points.n;
    *rows = check_allocation(calloc((size_t)l->points.n, sizeof **rows));
    for (int64_t i = 0; i < l->points.n; i++)
        if (l->labels[i] != 0)
            (*rows)[count++] = i;
    return count;
}

/* In place: a row never moves down. */
void labels_keep(huddle_data *l, int64_t n, const int64_t *rows) {
    for (int64_t i = 0; i < n; i++)
        l->labels[i] = l->labels[rows[i]];
    l->points.n = n;
}

/* Whether a text is the usual way to write an int32: "007" is a name, not a number. */
static bool is_integer(const char *text, int32_t *value) {
    char *end, usual[16];
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < INT32_MIN || number > INT32_MAX)
        return false;
    *value = (int32_t)number;
    snprintf(usual, sizeof usual, "%d", *value);
    return strcmp(usual, text) == 0;
}

/* Files of numbers cannot have texts, so integers are looked up here rather than by the writer. */
huddle_status labels_write(const huddle_data *l, const char *path, const int32_t *labels) {
    int32_t *values = check_allocation(calloc((size_t)l->n_classes + 1, sizeof *values));
    int32_t *written = check_allocation(calloc((size_t)l->points.n + 1, sizeof *written));
    bool integers = true;
    for (int32_t k = 0; k < l->n_classes && integers; k++)
        integers = is_integer(l->classes[k], &values[k]);
    for (int64_t i = 0; i < l->points.n; i++)
        written[i] = integers ? values[labels[i]] : labels[i];
    huddle_status status = huddle_labels_write(path, l->points.n, written,
                                               integers ? NULL : (const char *const *)l->classes);
    free(written);
    free(values);
    return status;
}
