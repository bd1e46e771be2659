#include "labels.h"

#include "cli/messages.h"
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* classes is NULL only if reading failed early. */
void labelling_free(labelling *l) {
    for (int32_t i = 0; i < l->n_classes && l->classes != NULL; i++)
        huddle_free(l->classes[i]);
    huddle_free(l->classes);
    huddle_free(l->labels);
    *l = (labelling){0};
}

/* The labels of a generator or a built-in data set. Ownership moves: the members are cleared
 * before the rest is freed. */
static huddle_status take_labels(huddle_context *context, const char *kind, labelling *l) {
    huddle_data data;
    huddle_status status = huddle_data_read(context, kind, NULL, &data);
    if (status != HUDDLE_OK)
        return status;
    *l = (labelling){data.points.n, data.labels, data.n_classes, data.classes};
    data.labels = NULL;
    data.classes = NULL;
    data.n_classes = 0;
    huddle_data_free(&data);
    return HUDDLE_OK;
}

/* The names of generators win over files, as for every command that reads data. */
int labelling_read(huddle_context *context, const char *source, labelling *l) {
    huddle_status status;
    for (const char *const *kind = huddle_data_kinds(); *kind != NULL; kind++)
        if (strcmp(source, *kind) == 0) {
            status = take_labels(context, source, l);
            return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, source);
        }
    status = huddle_labels_read(context, source, &l->n, &l->labels, &l->n_classes, &l->classes);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, source);
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
huddle_status labelling_write(const labelling *l, const char *path, const int32_t *labels) {
    int32_t *values = check_allocation(calloc((size_t)l->n_classes + 1, sizeof *values));
    int32_t *written = check_allocation(calloc((size_t)l->n + 1, sizeof *written));
    bool integers = true;
    for (int32_t k = 0; k < l->n_classes && integers; k++)
        integers = is_integer(l->classes[k], &values[k]);
    for (int64_t i = 0; i < l->n; i++)
        written[i] = integers ? values[labels[i]] : labels[i];
    huddle_status status =
        huddle_labels_write(path, l->n, written, integers ? NULL : (const char *const *)l->classes);
    free(written);
    free(values);
    return status;
}
