/* Rows of several processes in one file. A process that fails leaves the walk; the others learn of
 * it in their next exchange, and all agree at the end (model/file.c).
 *
 * The CRC-32 of an entry is that of all its bytes, of which a process that loads the file reads a
 * part only. The processes share the checksums of their parts and join them. */
#include "fit/walk_slab.h"

#include "base/check.h"
#include "base/slabs.h"

#include <stdio.h>
#include <string.h>

bool hd_walk_is_array_of(const hd_npy *npy, const hd_walk_element *e, int32_t rank) {
    return npy->kind == e->kind && npy->width == (int64_t)e->size && !npy->swapped &&
           npy->rank == rank && (!npy->fortran || rank == 1);
}

void hd_walk_agree_int(hd_walk *walk, int64_t *value) {
    double largest = (double)*value;
    if (walk->slab == NULL || walk->mode != HD_WALK_SAVE || walk->status != HUDDLE_OK)
        return;
    walk->status = hd_reduce_max(walk->slab->context, 1, &largest);
    *value = (int64_t)largest;
}

void hd_walk_sum(hd_walk *walk, const char *name, int64_t *value) {
    int64_t sum = *value;
    if (walk->slab == NULL || walk->mode != HD_WALK_SAVE || name == NULL) {
        hd_walk_int(walk, name, value);
        return;
    }
    if (walk->status == HUDDLE_OK)
        walk->status = hd_reduce_count(walk->slab->context, &sum);
    hd_walk_int(walk, name, &sum);
}

/* A file may contain any number: the arrays are compared with it when they are read. */
void hd_walk_divide(hd_walk *walk, const char *name, int64_t *n) {
    hd_walk_slab *slab = walk->slab;
    hd_walk_sum(walk, name, n);
    if (slab == NULL || walk->mode != HD_WALK_LOAD || walk->status != HUDDLE_OK)
        return;
    if (*n < 0 || *n == INT64_MAX) {
        hd_walk_fail(walk, name);
        return;
    }
    slab->total = *n;
    hd_slab_share_of(slab->total, hd_slabs_rank(slab->context), hd_slabs_count(slab->context),
                     &slab->first, &slab->n);
    *n = slab->n;
}

void hd_walk_row_count(hd_walk *walk, const char *name, int64_t *n) {
    const hd_walk_slab *slab = walk->slab;
    hd_walk_sum(walk, name, n);
    if (slab == NULL || walk->mode != HD_WALK_LOAD || walk->status != HUDDLE_OK || *n == 0)
        return;
    if (*n == slab->total)
        *n = slab->n;
    else
        hd_walk_fail(walk, name);
}

/* ---- saving -------------------------------------------------------------------------------- */

/* Rows begin .. end - 1 of all, of which this process has some or none, go to process 0, which
 * writes them. They are copied only if there are gaps between them. */
static huddle_status send_rows(hd_walk *walk, const hd_walk_rows_part *part, int64_t first,
                               int64_t begin, int64_t end) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = walk->slab->context;
    int64_t row_size = part->cols * (int64_t)part->element->size, total = 0;
    int64_t step = part->stride * (int64_t)part->element->size;
    char *packed = NULL;
    void *all = NULL;
    begin = begin > first ? begin - first : 0;
    end = end < first + part->n ? end - first : part->n;
    int64_t count = part->values != NULL && end > begin ? end - begin : 0;
    const char *rows = count > 0 ? (const char *)part->values + begin * step : NULL;
    if (count > 0 && step != row_size) {
        ALLOC(packed, count * row_size);
        for (int64_t i = 0; i < count; i++)
            memcpy(packed + i * row_size, rows + i * step, (size_t)row_size);
        rows = packed;
    }
    TRY(hd_slabs_gather(context, 0, count * row_size, rows, NULL, &total, &all));
    if (walk->output != NULL)
        TRY(hd_zip_write(walk->output, all, total));
done:
    FREE(packed, all);
    return status;
}

/* hd_zip_end() refuses an entry that did not get as many bytes as its header promises. */
huddle_status hd_walk_save_rows(hd_walk *walk, const char *name, const hd_walk_rows_part *part) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = walk->slab->context;
    double facts[2] = {part->values != NULL, (double)part->cols};
    hd_walk_rows_part own = *part;
    hd_slab place;
    TRY(hd_reduce_max(context, 2, facts));
    if (facts[0] == 0)
        goto done;
    own.cols = (int64_t)facts[1];
    TRY(hd_slab_locate(context, own.n, &place));
    int64_t dims[2] = {place.total, own.cols}, bytes;
    if (walk->output != NULL)
        TRY(hd_npy_begin(walk->output, name, HD_ZIP_STORED, own.element->type, own.rank, dims,
                         &bytes));
    int64_t row_size = own.cols * (int64_t)own.element->size;
    int64_t step = row_size > 0 ? walk->slab->piece / row_size : place.total;
    step = step > 1 ? step : 1;
    for (int64_t begin = 0; begin < place.total; begin += step) {
        int64_t end = begin + step < place.total ? begin + step : place.total;
        TRY(send_rows(walk, &own, place.first, begin, end));
    }
    if (walk->output != NULL)
        TRY(hd_zip_end(walk->output));
done:
    return status;
}

/* The offsets in the file count the entries of all processes; the first one, 0, is written by
 * process 0. */
static huddle_status save_sparse(hd_walk *walk, const char *name, const hd_walk_sparse *sparse) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = walk->slab->context;
    char entry[HD_WALK_NAME];
    int64_t n = *sparse->offsets != NULL ? sparse->n : 0, *ends = NULL;
    int64_t own = *sparse->offsets != NULL ? (*sparse->offsets)[n] : 0;
    int64_t before = hd_slabs_rank(context) == 0 ? 1 : 0;
    double present = *sparse->offsets != NULL;
    hd_slab place;
    TRY(hd_reduce_max(context, 1, &present));
    if (present == 0)
        goto done;
    TRY(hd_slab_locate(context, own, &place));
    ALLOC_ZERO(ends, n + 1);
    for (int64_t i = 0; i < n; i++)
        ends[before + i] = place.first + (*sparse->offsets)[i + 1];
    TRY(hd_walk_save_rows(walk, hd_walk_join(entry, name, "offsets"),
                          &(hd_walk_rows_part){&hd_walk_long, 1, n + before, 1, 1, ends}));
    TRY(hd_walk_save_rows(
        walk, hd_walk_join(entry, name, "columns"),
        &(hd_walk_rows_part){&hd_walk_int_element, 1, own, 1, 1, *sparse->columns}));
    TRY(hd_walk_save_rows(walk, hd_walk_join(entry, name, "values"),
                          &(hd_walk_rows_part){sparse->element, 1, own, 1, 1, *sparse->values}));
done:
    huddle_free(ends);
    return status;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* Which rows of an array a process has, and how many that belong to the next it reads as well. */
typedef struct section {
    int64_t first, n, extra, total;
} section;

/* Compares the CRC-32 of an entry of which this process has read bytes begin .. end - 1. */
static huddle_status check_crc(const hd_walk *walk, const hd_zip_entry *entry, int64_t begin,
                               int64_t end) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = walk->slab->context;
    int32_t count = hd_slabs_count(context), rank = hd_slabs_rank(context);
    double *parts = NULL;
    uint32_t crc = 0;
    if (entry->method == HD_ZIP_DEFLATED)
        return status; /* every process has unpacked and checked all of it */
    ALLOC_ZERO(parts, 2 * count);
    TRY(hd_zip_part_crc(walk->input, entry, begin, end - begin, &crc));
    parts[2 * rank] = crc;
    parts[2 * rank + 1] = (double)(end - begin);
    TRY(hd_reduce_sum(context, 2 * count, parts));
    crc = 0;
    for (int32_t r = 0; r < count; r++)
        crc = hd_zip_join_crc(crc, (uint32_t)parts[2 * r], (int64_t)parts[2 * r + 1]);
    TRY(hd_zip_check_crc(entry, crc));
done:
    huddle_free(parts);
    return status;
}

/* The first process checks the header as well, the last one what follows the elements. */
static huddle_status read_section(const hd_walk *walk, const hd_zip_entry *entry, const hd_npy *npy,
                                  const section *s, void **values) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = walk->slab->context;
    int32_t rank = hd_slabs_rank(context);
    int64_t row_size = hd_npy_element_size(npy) * (npy->rank > 1 ? npy->dims[1] : 1);
    int64_t from = npy->offset + s->first * row_size, to = from + s->n * row_size;
    char *bytes = NULL;
    ALLOC(bytes, (s->n + s->extra) * row_size);
    TRY(hd_zip_read_part(walk->input, entry, from, (s->n + s->extra) * row_size, bytes));
    TRY(check_crc(walk, entry, rank == 0 ? 0 : from,
                  rank == hd_slabs_count(context) - 1 ? entry->size : to));
    *values = bytes;
    bytes = NULL;
done:
    huddle_free(bytes);
    return status;
}

/* Reads a section of NAME.npy if the archive contains it. Every process reads the header, and
 * compares it before memory is allocated. */
static void load_section(hd_walk *walk, const char *name, const hd_walk_element *e, int32_t rank,
                         const section *s, int64_t *cols, void **values) {
    char entry_name[HD_WALK_NAME + 4];
    hd_npy npy = {0};
    if (walk->status != HUDDLE_OK)
        return;
    snprintf(entry_name, sizeof entry_name, "%s.npy", name);
    const hd_zip_entry *entry = hd_zip_find(walk->input, entry_name);
    if (entry == NULL)
        return;
    walk->status = hd_npy_peek(walk->input, entry, &npy);
    if (walk->status != HUDDLE_OK)
        return;
    if (!hd_walk_is_array_of(&npy, e, rank) || npy.dims[0] != s->total) {
        hd_walk_fail(walk, name);
        return;
    }
    *cols = rank > 1 ? npy.dims[1] : 1;
    walk->status = read_section(walk, entry, &npy, s, values);
}

void hd_walk_load_rows(hd_walk *walk, const char *name, const hd_walk_element *e, int32_t rank,
                       int64_t dims[2], void **values) {
    const hd_walk_slab *slab = walk->slab;
    section s = {.first = slab->first, .n = slab->n, .total = slab->total};
    load_section(walk, name, e, rank, &s, &dims[1], values);
    dims[0] = slab->n;
}

/* The offsets decide which entries are read: they must be within the arrays, whatever the file
 * contains. The parts of the processes have no gaps, since the last offset of one is the first of
 * the next. */
static bool offsets_fit(const hd_walk_slab *slab, const int64_t *offsets, int64_t nonzeros) {
    int64_t first = offsets[0], last = offsets[slab->n];
    return first >= 0 && first <= last && last <= nonzeros && (slab->first > 0 || first == 0) &&
           (slab->first + slab->n < slab->total || last == nonzeros);
}

static void load_sparse(hd_walk *walk, const char *name, const hd_walk_sparse *sparse) {
    const hd_walk_slab *slab = walk->slab;
    char entry[HD_WALK_NAME];
    section rows = {slab->first, slab->n, 1, slab->total + 1};
    int64_t cols, nonzeros = *sparse->nonzeros;
    void *offsets = NULL, *columns = NULL;
    load_section(walk, hd_walk_join(entry, name, "offsets"), &hd_walk_long, 1, &rows, &cols,
                 &offsets);
    *sparse->offsets = offsets;
    if (walk->status == HUDDLE_OK &&
        (offsets == NULL ? nonzeros != 0
                         : sparse->n != slab->n || !offsets_fit(slab, offsets, nonzeros)))
        hd_walk_fail(walk, name);
    if (walk->status != HUDDLE_OK || offsets == NULL)
        return;
    int64_t *own = *sparse->offsets, first = own[0];
    section entries = {first, own[slab->n] - first, 0, nonzeros};
    load_section(walk, hd_walk_join(entry, name, "columns"), &hd_walk_int_element, 1, &entries,
                 &cols, &columns);
    *sparse->columns = columns;
    load_section(walk, hd_walk_join(entry, name, "values"), sparse->element, 1, &entries, &cols,
                 sparse->values);
    for (int64_t i = 0; i <= slab->n; i++)
        own[i] -= first;
    *sparse->nonzeros = entries.n;
}

void hd_walk_sparse_rows(hd_walk *walk, const char *name, const hd_walk_sparse *sparse) {
    if (walk->mode == HD_WALK_SAVE)
        walk->status = save_sparse(walk, name, sparse);
    else
        load_sparse(walk, name, sparse);
}
