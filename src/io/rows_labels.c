#define _DEFAULT_SOURCE
/* Labels of which each process reads its rows, numbered by the classes of all. */
#include "base/check.h"
#include "io/formats.h"
#include "io/rows.h"
#include "matrix/collect.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes of all processes --------------------------------------------------------------- */

/* The classes of all processes one after the other, each followed by a zero byte; *before is how
 * many are those of the processes before this one. */
static huddle_status exchange_classes(huddle_context *context, char *const *classes, int32_t count,
                                      char **all, int64_t *size, int64_t *before) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 0;
    char *own = NULL;
    void *received = NULL;
    hd_slab slab = {0};
    for (int32_t k = 0; k < count; k++)
        bytes += (int64_t)strlen(classes[k]) + 1;
    ALLOC(own, bytes);
    char *to = own;
    for (int32_t k = 0; k < count; k++)
        to = stpcpy(to, classes[k]) + 1;
    TRY(hd_slab_locate(context, count, &slab));
    TRY(hd_collect_rows(context, HD_EVERYWHERE, bytes, own, 1, size, &received));
    *all = received;
    *before = slab.first;
done:
    huddle_free(own);
    return hd_agree(context, status);
}

/* The list as labels again, so that they are sorted and numbered like those of one process. */
static huddle_status list_classes(const char *all, int64_t size, bool numeric,
                                  hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    const char *begin = all;
    for (int64_t i = 0; i < size; i++)
        labels->n += all[i] == '\0';
    if (numeric)
        ALLOC(labels->numbers, labels->n);
    else
        ALLOC(labels->texts, labels->n);
    for (int64_t k = 0; k < labels->n; k++) {
        int64_t length = (int64_t)strlen(begin);
        if (numeric)
            labels->numbers[k] = strtoll(begin, NULL, 10);
        else
            labels->texts[k] = (hd_io_span){begin, length};
        begin += length + 1;
    }
done:
    return status;
}

/* A process without rows agrees with any sort of labels. */
huddle_status hd_io_rows_map(huddle_context *context, hd_io_labels *raw, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels united = {0};
    char **own = NULL, *all = NULL;
    int32_t n_own = 0, *renamed = NULL;
    int64_t size = 0, before = 0;
    double whole = hd_io_labels_whole(raw) ? 1 : 0;
    TRY(hd_reduce_min(context, 1, &whole));
    data->classes_numeric = whole > 0;
    if (data->classes_numeric)
        TRY(hd_io_labels_simplify(raw));
    TRY(hd_io_labels_map(raw, &data->labels, &n_own, &own));
    TRY(exchange_classes(context, own, n_own, &all, &size, &before));
    TRY(list_classes(all, size, data->classes_numeric, &united));
    TRY(hd_io_labels_map(&united, &renamed, &data->n_classes, &data->classes));
    for (int64_t i = 0; i < raw->n; i++)
        data->labels[i] = renamed[before + data->labels[i]];
done:
    FREE(renamed, all);
    hd_io_classes_free(own, n_own);
    hd_io_labels_free(&united);
    return hd_agree(context, status);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Files, those that options->y names, of which the processes read rows. */
typedef struct label_files {
    hd_io_request *request;
    int64_t total;
    hd_io_labels raw;
} label_files;

huddle_status hd_io_rows_append(hd_io_container *container, hd_io_variable *variable,
                                const hd_io_rows *rows, int64_t *begin, hd_io_labels *labels) {
    int64_t count = hd_io_variable_count(variable), n = rows->n - labels->n;
    int64_t first = rows->first + labels->n - *begin;
    int32_t axis = 0;
    *begin += count;
    if (first >= count || n <= 0)
        return HUDDLE_OK;
    while (axis + 1 < variable->array.rank && variable->array.dims[axis] == 1)
        axis++;
    hd_io_variable_divide(variable, axis, first, count - first < n ? count - first : n);
    return hd_io_container_append(container, variable, labels);
}

/* Counts the labels of one file, and reads those of the rows of this process. */
static huddle_status read_part(label_files *f, const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from;
    hd_io_variable *variable = NULL;
    f->request->failing_path = path;
    TRY(hd_io_open_file(f->request, path, &from));
    TRY(hd_io_container_find_labels(&from.container, &variable));
    TRY(hd_io_container_check_labels(variable));
    TRY(hd_io_rows_append(&from.container, variable, f->request->rows, &f->total, &f->raw));
done:
    hd_io_close_file(&from);
    return status;
}

/* The rows of this process, of which there are none while the labels are counted. */
static huddle_status read_files(void *argument) {
    label_files *f = argument;
    huddle_status status = HUDDLE_OK;
    f->total = 0;
    for (int64_t k = 0; k < f->request->options->n_y; k++)
        TRY(read_part(f, f->request->options->y[k]));
done:
    return status;
}

/* Process 0 reads all of it. */
static huddle_status read_whole(void *argument) {
    label_files *f = argument;
    huddle_status status = HUDDLE_OK;
    f->request->failing_path = NULL; /* messages contain the name already */
    if (f->request->rows->rank == 0)
        TRY(hd_io_labels_from_files(f->request, &f->raw));
    TRY(hd_io_labels_simplify(&f->raw));
done:
    return status;
}

static huddle_status send_from_first(label_files *f, huddle_data *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_data whole = {0};
    TRY(hd_io_rows_together(f->request, read_whole, f));
    if (f->request->rows->rank == 0) {
        TRY(hd_io_labels_map(&f->raw, &whole.labels, &whole.n_classes, &whole.classes));
        whole.points.n = f->raw.n;
        whole.classes_numeric = f->raw.texts == NULL;
    }
    TRY(hd_io_rows_send(f->request, f->request->options->y[0], &whole, labels));
done:
    huddle_data_free(&whole);
    return hd_agree(f->request->context, status);
}

huddle_status hd_io_rows_labels(hd_io_request *request, const char *const *paths, int64_t count,
                                huddle_data *labels) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options files = {.y = paths, .n_y = count};
    hd_io_rows rows = {.rank = request->rows->rank, .count = request->rows->count};
    hd_io_request own = {request->context, &files, NULL, &rows, .clusters = request->clusters};
    label_files f = {.request = &own};
    bool divisible = false;
    memset(labels, 0, sizeof *labels);
    TRY(hd_io_rows_divisible(&own, paths, count, &divisible));
    if (!divisible) {
        TRY(send_from_first(&f, labels));
        goto done;
    }
    TRY(hd_io_rows_in_turn(&own, read_files, &f));
    double total = (double)f.total;
    TRY(hd_io_rows_compare(own.context, paths[0], 1, &total));
    rows.total = f.total;
    hd_slab_share_of(f.total, rows.rank, rows.count, &rows.first, &rows.n);
    TRY(hd_io_rows_together(&own, read_files, &f));
    TRY(hd_io_rows_map(own.context, &f.raw, labels));
    labels->points.n = f.raw.n;
    labels->total_rows = f.total;
done:
    hd_io_labels_free(&f.raw);
    return hd_agree(request->context, status);
}
