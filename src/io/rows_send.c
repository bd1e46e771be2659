/* What process 0 has read, sent to the processes that own the rows. */
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/rows.h"

#include <string.h>

/* Bytes that process 0 packs for one exchange, unless a single item is longer. */
enum { PIECE = 1 << 24 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Packs the items from `done` on, at most `step` for each process but the first. */
static void pack_items(const int64_t *begins, int32_t count, int64_t item_size, int64_t done,
                       int64_t step, const char *all, int64_t *sizes, char *packed) {
    for (int32_t r = 1; r < count; r++) {
        int64_t left = begins[r + 1] - begins[r] - done;
        sizes[r] = left > 0 ? smaller(left, step) * item_size : 0;
        if (sizes[r] > 0)
            memcpy(packed, all + (begins[r] + done) * item_size, (size_t)sizes[r]);
        packed += sizes[r];
    }
}

/* Sends items begins[r] .. begins[r + 1] - 1 of process 0 to process r, in pieces of bounded size.
 * begins, with count + 1 entries, is the same on all processes. */
static huddle_status scatter(huddle_context *context, const int64_t *begins, int64_t item_size,
                             const void *all, void *own) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context), rank = hd_slabs_rank(context);
    int64_t most = 0, step = PIECE / item_size / count, *sizes = NULL, *came = NULL;
    char *packed = NULL;
    void *received = NULL;
    bool sends = rank == 0 && all != NULL;
    step = step < 1 ? 1 : step;
    for (int32_t r = 1; r < count; r++)
        most = begins[r + 1] - begins[r] > most ? begins[r + 1] - begins[r] : most;
    step = smaller(step, most);
    ALLOC_ZERO(sizes, count);
    ALLOC_ZERO(came, count);
    ALLOC(packed, rank == 0 ? count * step * item_size : 0);
    if (sends && begins[1] > 0)
        memcpy(own, all, (size_t)(begins[1] * item_size));
    for (int64_t done = 0; done < most; done += step) {
        if (sends)
            pack_items(begins, count, item_size, done, step, all, sizes, packed);
        TRY(hd_slabs_exchange(context, sizes, packed, came, &received));
        if (rank > 0 && came[0] > 0)
            memcpy((char *)own + done * item_size, received, (size_t)came[0]);
        huddle_free(received);
        received = NULL;
    }
done:
    FREE(sizes, came, packed, received);
    return hd_agree(context, status);
}

/* ---- everything but the rows ---------------------------------------------------------------- */

/* Bytes that are written by process 0 and read by all with the same calls, so that both cannot
 * differ. */
typedef struct parcel {
    bool reading;
    char *bytes;
    int64_t size, capacity, at;
} parcel;

static huddle_status carry(parcel *p, void *value, int64_t size) {
    if (p->reading) {
        memcpy(value, p->bytes + p->at, (size_t)size);
        p->at += size;
        return HUDDLE_OK;
    }
    if (!hd_grow(&p->bytes, &p->capacity, p->size + size, 1))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to send %lld bytes", (long long)size);
    memcpy(p->bytes + p->size, value, (size_t)size);
    p->size += size;
    return HUDDLE_OK;
}

/* A text, or NULL; what is read is the caller's to free. */
static huddle_status carry_text(parcel *p, char **text) {
    huddle_status status = HUDDLE_OK;
    int64_t length = !p->reading && *text != NULL ? (int64_t)strlen(*text) : -1;
    TRY(carry(p, &length, sizeof length));
    if (length < 0)
        goto done;
    if (p->reading) {
        *text = hd_copy_part(p->bytes + p->at, length);
        if (*text == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
        p->at += length;
    } else if (length > 0) {
        TRY(carry(p, *text, length));
    }
done:
    return status;
}

/* A list of texts, or NULL. */
static huddle_status carry_texts(parcel *p, char ***texts, int64_t count) {
    huddle_status status = HUDDLE_OK;
    bool there = *texts != NULL;
    TRY(carry(p, &there, sizeof there));
    if (there && p->reading)
        ALLOC_ZERO(*texts, count + 1);
    for (int64_t k = 0; there && k < count; k++)
        TRY(carry_text(p, &(*texts)[k]));
done:
    return status;
}

/* data->format is static text, which is another address in another process. */
static const char *find_format(const char *name) {
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++)
        if (strcmp(f->name, name) == 0)
            return f->name;
    return strcmp(name, "tsv") == 0 ? "tsv" : "";
}

static huddle_status carry_format(parcel *p, huddle_data *data) {
    char *name = p->reading ? NULL : (char *)(uintptr_t)data->format;
    huddle_status status = carry_text(p, &name);
    if (p->reading) {
        data->format = find_format(name != NULL ? name : "");
        huddle_free(name);
    }
    return status;
}

static huddle_status carry_columns(parcel *p, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    int64_t count = data->n_columns;
    TRY(carry(p, &count, sizeof count));
    if (p->reading && count > 0)
        ALLOC_ZERO(data->columns, count);
    data->n_columns = count;
    for (int64_t c = 0; c < count; c++) {
        TRY(carry_text(p, &data->columns[c].name));
        TRY(carry(p, &data->columns[c].role, sizeof data->columns[c].role));
        TRY(carry_text(p, &data->columns[c].reason));
    }
done:
    return status;
}

/* What is sent of the points besides their rows. */
typedef struct outline {
    int64_t n, d;
    bool sparse, shifted, labelled;
} outline;

static huddle_status carry_data(parcel *p, outline *o, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    TRY(carry(p, o, sizeof *o));
    data->points.d = o->d; /* features are freed by it */
    TRY(carry_format(p, data));
    TRY(carry(p, &data->n_classes, sizeof data->n_classes));
    TRY(carry_texts(p, &data->classes, data->n_classes));
    TRY(carry(p, &data->classes_numeric, sizeof data->classes_numeric));
    TRY(carry_texts(p, &data->features, data->points.d));
    TRY(carry(p, &data->n_names, sizeof data->n_names));
    TRY(carry_texts(p, &data->names, data->n_names));
    TRY(carry(p, &data->height, sizeof data->height));
    TRY(carry(p, &data->width, sizeof data->width));
    TRY(carry(p, &data->channels, sizeof data->channels));
    TRY(carry(p, &data->column_major, sizeof data->column_major));
    TRY(carry(p, &data->planes, sizeof data->planes));
    TRY(carry_columns(p, data));
    TRY(carry(p, &data->n_dropped, sizeof data->n_dropped));
    if (data->n_dropped > 0 && p->reading)
        ALLOC(data->dropped, data->n_dropped);
    if (data->n_dropped > 0)
        TRY(carry(p, data->dropped, data->n_dropped * (int64_t)sizeof *data->dropped));
    if (o->shifted && p->reading)
        ALLOC(data->points.shift, o->d);
    if (o->shifted)
        TRY(carry(p, data->points.shift, o->d * (int64_t)sizeof *data->points.shift));
done:
    return status;
}

/* The bytes of process 0 on all processes, ready to be read. */
static huddle_status share_parcel(huddle_context *context, parcel *p) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_slabs_broadcast(context, 0, sizeof p->size, &p->size));
    if (hd_slabs_rank(context) > 0)
        ALLOC(p->bytes, p->size);
    TRY(hd_slabs_broadcast(context, 0, p->size, p->bytes));
    p->reading = true;
done:
    return hd_agree(context, status);
}

/* The non-zeros of a row follow those of the row before, so that process r gets one range of them.
 * First the number in each row. */
static huddle_status send_sparse(huddle_context *context, const huddle_points *whole,
                                 const int64_t *begins, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context), rank = hd_slabs_rank(context);
    int64_t n = begins[rank + 1] - begins[rank], d = points->d, *ends = NULL;
    int64_t before = 0;
    bool sends = whole->offsets != NULL; /* process 0 */
    ALLOC_ZERO(ends, count + 1);         /* the first non-zero of each process */
    for (int32_t r = 0; sends && r <= count; r++)
        ends[r] = whole->offsets[begins[r]];
    TRY(hd_slabs_broadcast(context, 0, (count + 1) * (int64_t)sizeof *ends, ends));
    TRY(huddle_points_new_sparse(n, d, ends[rank + 1] - ends[rank], points));
    /* Offsets of the rows' ends, which are then counted from the own first one. */
    TRY(scatter(context, begins, sizeof *points->offsets, sends ? whole->offsets + 1 : NULL,
                points->offsets + 1));
    before = ends[rank];
    for (int64_t i = 1; i <= n; i++)
        points->offsets[i] -= before;
    TRY(scatter(context, ends, sizeof *points->columns, whole->columns, points->columns));
    TRY(scatter(context, ends, sizeof *points->values, whole->values, points->values));
done:
    points->d = d; /* features are freed by it, also after a failure */
    huddle_free(ends);
    return hd_agree(context, status);
}

/* Readers leave no gaps between rows. */
static huddle_status send_dense(huddle_context *context, const huddle_points *whole,
                                const int64_t *begins, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    int32_t rank = hd_slabs_rank(context);
    int64_t d = points->d;
    huddle_points made;
    if (whole->stride != (rank == 0 ? d : 0))
        FAIL(HUDDLE_INTERNAL, "rows of %lld features are %lld apart", (long long)d,
             (long long)whole->stride);
    TRY(huddle_points_new(begins[rank + 1] - begins[rank], d, &made));
    made.shift = points->shift;
    *points = made;
    TRY(scatter(context, begins, d * (int64_t)sizeof *points->values, whole->values,
                points->values));
done:
    return hd_agree(context, status);
}

huddle_status hd_io_rows_send(const hd_io_request *request, const char *source,
                              const huddle_data *whole, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    parcel p = {0};
    huddle_context *context = request->context;
    bool selected = request->options->classes != NULL || request->options->per_class != 0;
    huddle_data copy = *whole; /* carry_data() does not change what it writes */
    const huddle_points *x = &whole->points;
    outline o = {x->n, x->d, x->offsets != NULL, x->shift != NULL, whole->labels != NULL};
    int64_t *begins = NULL; /* the first row of each process, and the end */
    int32_t rank = hd_slabs_rank(context), count = hd_slabs_count(context);
    if (rank == 0) {
        hd_log(context,
               "%s: read by process 0, which sends the others their rows; NPY, HDF5 and IDX are "
               "read in parallel%s",
               source, selected ? ", unless classes are selected" : "");
        TRY(carry_data(&p, &o, &copy));
    }
    TRY(share_parcel(context, &p));
    TRY(carry_data(&p, &o, data));
    ALLOC(begins, count + 1);
    for (int32_t r = 0; r <= count; r++)
        begins[r] = hd_slab_begin_of(o.n, r, count);
    data->first_row = begins[rank];
    data->total_rows = o.n;
    data->points.n = begins[rank + 1] - begins[rank];
    if (o.d > 0)
        TRY((o.sparse ? send_sparse : send_dense)(context, x, begins, &data->points));
    if (o.labelled) {
        ALLOC(data->labels, data->points.n);
        TRY(scatter(context, begins, sizeof *data->labels, whole->labels, data->labels));
    }
done:
    FREE(begins, p.bytes);
    return hd_agree(context, status);
}
