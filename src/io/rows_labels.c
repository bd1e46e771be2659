/* Labels of which each process reads its rows, numbered by the classes of all. */
#include "base/check.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/rows.h"

#include <stdlib.h>
#include <string.h>

void hd_io_row_labels_free(hd_io_row_labels *labels) {
    huddle_free(labels->labels);
    hd_io_classes_free(labels->classes, labels->n_classes);
    memset(labels, 0, sizeof *labels);
}

/* ---- classes of all processes --------------------------------------------------------------- */

/* The classes of all processes one after the other, each followed by a zero byte; *before is how
 * many are those of the processes before this one. */
static huddle_status exchange_classes(huddle_context *context, char *const *classes, int32_t count,
                                      char **all, int64_t *size, int64_t *before) {
    huddle_status status = HUDDLE_OK;
    int32_t processes = hd_slabs_count(context), rank = hd_slabs_rank(context);
    int64_t bytes = 0, at = 0, *sizes = NULL, *came = NULL;
    char *copies = NULL;
    void *received = NULL;
    for (int32_t k = 0; k < count; k++)
        bytes += (int64_t)strlen(classes[k]) + 1;
    ALLOC_ZERO(sizes, processes);
    ALLOC_ZERO(came, processes);
    ALLOC(copies, processes * bytes);
    for (int32_t r = 0; r < processes; r++) {
        sizes[r] = bytes;
        for (int32_t k = 0; k < count; k++) {
            size_t length = strlen(classes[k]) + 1;
            memcpy(copies + at, classes[k], length);
            at += (int64_t)length;
        }
    }
    TRY(hd_slabs_exchange(context, sizes, copies, came, &received));
    *size = *before = 0;
    for (int32_t r = 0; r < processes; r++) {
        for (int64_t i = *size; r < rank && i < *size + came[r]; i++)
            *before += ((const char *)received)[i] == '\0';
        *size += came[r];
    }
    *all = received;
    received = NULL;
done:
    FREE(received, sizes, came, copies);
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
huddle_status hd_io_rows_map(huddle_context *context, hd_io_labels *raw, hd_io_row_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels united = {0};
    char **own = NULL, *all = NULL;
    int32_t n_own = 0, *renamed = NULL;
    int64_t size = 0, before = 0;
    double whole = hd_io_labels_whole(raw) ? 1 : 0;
    TRY(hd_reduce_min(context, 1, &whole));
    labels->numeric = whole > 0;
    if (labels->numeric)
        TRY(hd_io_labels_simplify(raw));
    TRY(hd_io_labels_map(raw, &labels->labels, &n_own, &own));
    TRY(exchange_classes(context, own, n_own, &all, &size, &before));
    TRY(list_classes(all, size, labels->numeric, &united));
    TRY(hd_io_labels_map(&united, &renamed, &labels->n_classes, &labels->classes));
    labels->n = raw->n;
    for (int64_t i = 0; i < raw->n; i++)
        labels->labels[i] = renamed[before + labels->labels[i]];
done:
    FREE(renamed, all);
    hd_io_classes_free(own, n_own);
    hd_io_labels_free(&united);
    return hd_agree(context, status);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Files of which the processes read rows. */
typedef struct label_files {
    hd_io_request *request;
    const char *const *paths;
    int64_t count, total;
    hd_io_labels raw;
} label_files;

/* Counts the labels of one file; with `first` >= 0 reads those from first on, n at most. */
static huddle_status read_part(label_files *f, const char *path, int64_t first, int64_t n,
                               int64_t *count) {
    huddle_status status = HUDDLE_OK;
    hd_file file = {.descriptor = -1};
    hd_io_container container = {0};
    const hd_io_format *format = NULL;
    hd_io_variable *variable = NULL;
    int32_t axis = 0;
    f->request->failing_path = path;
    TRY(hd_io_open_file(f->request, path, &file, &format, &container));
    if (!container.divisible)
        FAIL(HUDDLE_INVALID, "it is not the same file for all processes");
    TRY(hd_io_container_find_labels(&container, &variable));
    TRY(hd_io_container_check_labels(variable));
    *count = hd_io_variable_count(variable);
    if (first < 0 || first >= *count || n <= 0)
        goto done;
    while (axis + 1 < variable->array.rank && variable->array.dims[axis] == 1)
        axis++;
    hd_io_variable_divide(variable, axis, first, *count - first < n ? *count - first : n);
    TRY(hd_io_container_append(&container, variable, &f->raw));
done:
    hd_io_container_close(&container);
    if (file.text != NULL)
        hd_file_close(&file);
    return status;
}

static huddle_status count_labels(void *argument) {
    label_files *f = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < f->count; k++) {
        int64_t count = 0;
        TRY(read_part(f, f->paths[k], -1, 0, &count));
        f->total += count;
    }
done:
    return status;
}

static huddle_status read_files(void *argument) {
    label_files *f = argument;
    huddle_status status = HUDDLE_OK;
    const hd_io_rows *rows = f->request->rows;
    int64_t begin = 0;
    for (int64_t k = 0; k < f->count; k++) {
        int64_t count = 0, from = rows->first + f->raw.n - begin;
        TRY(read_part(f, f->paths[k], from, rows->n - f->raw.n, &count));
        begin += count;
    }
done:
    return status;
}

/* Process 0 reads all of it. */
static huddle_status read_whole(void *argument) {
    label_files *f = argument;
    huddle_status status = HUDDLE_OK;
    hd_io_labels part = {0};
    f->request->failing_path = NULL; /* messages contain the name already */
    for (int64_t k = 0; f->request->rows->rank == 0 && k < f->count; k++) {
        TRY(hd_io_labels_read_raw(f->request->context, f->paths[k], f->request->clusters, &part));
        TRY(hd_io_labels_append(&f->raw, &part));
        hd_io_labels_free(&part);
    }
    TRY(hd_io_labels_simplify(&f->raw));
done:
    hd_io_labels_free(&part);
    return status;
}

static huddle_status send_from_first(label_files *f, hd_io_row_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_row_labels whole = {0};
    TRY(hd_io_rows_together(f->request, read_whole, f));
    if (f->request->rows->rank == 0) {
        hd_log(f->request->context,
               "%s: read by process 0, which sends the others their rows; NPY, HDF5 and IDX are "
               "read in parallel",
               f->paths[0]);
        TRY(hd_io_labels_map(&f->raw, &whole.labels, &whole.n_classes, &whole.classes));
        whole.total = f->raw.n;
        whole.numeric = f->raw.texts == NULL;
    }
    TRY(hd_io_rows_send_labels(f->request->context, &whole, labels));
done:
    hd_io_row_labels_free(&whole);
    return hd_agree(f->request->context, status);
}

huddle_status hd_io_rows_labels(hd_io_request *request, const char *const *paths, int64_t count,
                                hd_io_row_labels *labels) {
    huddle_status status = HUDDLE_OK;
    static const huddle_read_options plain = {0};
    hd_io_rows rows = *request->rows;
    hd_io_request own = {request->context, &plain, NULL, &rows, .clusters = request->clusters};
    label_files f = {.request = &own, .paths = paths, .count = count};
    bool divisible = false;
    double extremes[2];
    memset(labels, 0, sizeof *labels);
    TRY(hd_io_rows_divisible(&own, paths, count, &divisible));
    if (!divisible) {
        TRY(send_from_first(&f, labels));
        goto done;
    }
    TRY(hd_io_rows_in_turn(&own, count_labels, &f));
    extremes[0] = (double)f.total;
    extremes[1] = -(double)f.total;
    TRY(hd_reduce_max(own.context, 2, extremes));
    if (extremes[0] != -extremes[1])
        FAIL(HUDDLE_INVALID, "%s: it is not the same file for all processes", paths[0]);
    rows.total = f.total;
    hd_slab_share_of(f.total, rows.rank, rows.count, &rows.first, &rows.n);
    TRY(hd_io_rows_together(&own, read_files, &f));
    TRY(hd_io_rows_map(own.context, &f.raw, labels));
    labels->total = f.total;
done:
    hd_io_labels_free(&f.raw);
    return hd_agree(request->context, status);
}
