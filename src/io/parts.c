/* The variables that were chosen as points become one set of points: orientation, values, image
 * size. */
#include "io/parts.h"

#include "base/check.h"
#include "io/sparse.h"
#include "matrix/points.h"

#include <math.h>
#include <string.h>

/* ---- orientation ---------------------------------------------------------------------------- */

/* A scalar is one sample; of images the last axis counts them if they are in columns. */
int64_t hd_io_samples_in(const hd_io_variable *variable, bool in_columns) {
    int32_t rank = variable->array.rank;
    return rank == 0 ? 1 : variable->array.dims[in_columns ? rank - 1 : 0];
}

/* Of images, features are all pixels. */
int64_t hd_io_features_in(const hd_io_variable *variable, bool in_columns) {
    int64_t n = hd_io_samples_in(variable, in_columns);
    return n == 0 ? 0 : hd_io_variable_count(variable) / n;
}

/* MATLAB's colour images are h x w x 3 x n: without labels the axis of the channels tells. */
static bool are_stacked_last(const hd_io_variable *v) {
    const int64_t *dims = v->array.dims;
    return v->array.rank == 4 && dims[2] == 3 && dims[1] != 3 && dims[3] != 3;
}

/* Files store samples in rows (NumPy, HDF5) or in columns (many MATLAB files), and nothing in
 * them states which. The number of labels decides if it fits one of the two only; without
 * labels rows are assumed. Of several parts the samples add up along either axis. */
huddle_status hd_io_parts_orient(hd_io_chosen *r, int64_t n_labels) {
    const hd_io_parts *points = &r->points;
    const huddle_read_options *options = r->request->options;
    int64_t down = 0, across = 0;
    for (int64_t k = 0; k < points->count; k++) {
        down += hd_io_samples_in(points->items[k], false);
        across += hd_io_samples_in(points->items[k], true);
    }
    r->in_columns = options->transpose || (n_labels == across && n_labels != down) ||
                    (n_labels < 0 && are_stacked_last(points->items[0]));
    int64_t n = r->in_columns ? across : down;
    int64_t d = hd_io_features_in(points->items[0], r->in_columns);
    /* Parts are stacked row by row, so they must have the same features; how many samples each
     * has does not matter. */
    for (int64_t k = 1; k < points->count; k++)
        if (hd_io_features_in(points->items[k], r->in_columns) != d)
            return hd_fail(HUDDLE_INVALID,
                           "'%s' has %lld features and '%s' %lld, so they cannot be stacked",
                           points->items[0]->name, (long long)d, points->items[k]->name,
                           (long long)hd_io_features_in(points->items[k], r->in_columns));
    if (n_labels < 0 || n_labels == n)
        return HUDDLE_OK;
    /* The message names the labels' file if they came from one. */
    if (options->n_y > 0 && hd_io_container_find(r->container, options->y[0]) == NULL)
        r->request->failing_path = options->y[0];
    return hd_fail(HUDDLE_INVALID, "there are %lld labels for %lld samples", (long long)n_labels,
                   (long long)n);
}

/* ---- points --------------------------------------------------------------------------------- */

/* huddle_points_check() numbers the rows from 1; in a part of a file they have other numbers. */
static huddle_status check_numbered(huddle_context *context, const huddle_points *points,
                                    int64_t first) {
    huddle_status status = huddle_points_check(context, points);
    for (int64_t i = 0; status == HUDDLE_INVALID && first > 0 && i < points->n; i++)
        for (int64_t j = 0; j < points->d; j++) {
            float value = points->values[i * points->stride + j];
            if (!isfinite(value))
                return hd_refuse_value((double)value, first + i, j);
        }
    return status;
}

/* True if the samples lie one after another in memory. The step of an axis of length 1 is never
 * used, so it may have any value. */
static bool are_packed(const hd_io_samples *s) {
    int64_t c = s->channels;
    return (s->channel_step == 1 || c == 1) && (s->step == c || s->width == 1) &&
           (s->row_step == s->width * c || s->d == s->width * c) &&
           (s->sample_step == s->d || s->n == 1);
}

/* Variables that are not in a mapped file are loaded in pieces of that many bytes if only some of
 * their rows are wanted: the doubles of all of them would take twice the memory of the points. */
enum { PIECE = 1 << 24 };

static huddle_status take_whole(const hd_io_chosen *r, hd_io_variable *variable,
                                hd_io_intake *intake, int64_t row) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_variable_load(r->container, variable));
    hd_io_samples samples = hd_io_array_samples(&variable->array, r->in_columns);
    TRY(hd_io_intake_samples(r->request->context, intake, &samples, row));
done:
    hd_io_variable_unload(r->container, variable);
    return status;
}

static huddle_status take_in(const hd_io_chosen *r, hd_io_variable *variable, hd_io_intake *intake,
                             int64_t first_row) {
    huddle_status status = HUDDLE_OK;
    int64_t n = hd_io_samples_in(variable, r->in_columns);
    int64_t row_bytes =
        hd_io_features_in(variable, r->in_columns) * hd_io_element_size(variable->array.element);
    if (!variable->divided || variable->array.bytes != NULL || row_bytes * n <= PIECE)
        return take_whole(r, variable, intake, first_row);
    int64_t step = row_bytes > PIECE ? 1 : PIECE / row_bytes;
    for (int64_t first = 0; first < n; first += step) {
        hd_io_variable piece = *variable;
        hd_io_variable_divide(&piece, r->in_columns ? piece.array.rank - 1 : 0, first,
                              n - first < step ? n - first : step);
        TRY(take_whole(r, &piece, intake, first_row + first));
    }
done:
    return status;
}

static huddle_status fill_part(const hd_io_chosen *r, hd_io_variable *variable,
                               hd_io_intake *intake, int64_t first_row) {
    huddle_status status = HUDDLE_OK;
    hd_io_container *container = r->container;
    huddle_points *points = intake->points;
    hd_io_samples samples = hd_io_array_samples(&variable->array, r->in_columns);
    bool placed = false, checked = false;
    /* The direct path needs elements that float represents exactly, no shift to subtract, no
     * doubles to keep for other parts, and samples that are contiguous in the order of the
     * points. */
    if (container->read_floats != NULL && points->shift == NULL && intake->exact == NULL &&
        intake->sums == NULL && hd_io_element_narrow(variable->array.element) &&
        are_packed(&samples))
        TRY(container->read_floats(r->request, container, variable,
                                   points->values + first_row * points->stride, &placed, &checked));
    if (placed && !checked) { /* a view: other rows may not have been written yet */
        huddle_points view = *points;
        view.n = samples.n;
        view.values = points->values + first_row * points->stride;
        TRY(check_numbered(r->request->context, &view, samples.array.first));
    }
    if (!placed)
        TRY(take_in(r, variable, intake, first_row));
done:
    return status;
}

/* Of several processes one may have no rows of a part. */
huddle_status hd_io_parts_take(const hd_io_chosen *r, hd_io_intake *intake) {
    huddle_status status = HUDDLE_OK;
    int64_t row = 0;
    for (int64_t k = 0; k < r->points.count; k++) {
        int64_t n = hd_io_samples_in(r->points.items[k], r->in_columns);
        if (n > 0 || r->request->rows == NULL)
            TRY(fill_part(r, r->points.items[k], intake, row));
        row += n;
    }
done:
    return status;
}

/* Leaves the values in their file, or the points empty. */
static huddle_status map_part(const hd_io_chosen *r, const hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    huddle_points *points = &r->data->points;
    hd_io_samples samples = hd_io_array_samples(&variable->array, r->in_columns);
    if (r->container->map_floats == NULL || r->request->options->copy || samples.n < 1 ||
        samples.d < 1 || !are_packed(&samples))
        return status;
    TRY(r->container->map_floats(r->container, variable, points));
    if (points->mapping == NULL)
        goto done;
    points->n = samples.n;
    points->d = points->stride = samples.d;
    TRY(check_numbered(r->request->context, points, samples.array.first));
done:
    return status;
}

/* The parts share one allocation. A process without rows has points with d features too. The intake
 * records ranges only if some part has elements that float cannot hold exactly. */
huddle_status hd_io_parts_fill(hd_io_chosen *r, int64_t n, int64_t d) {
    huddle_status status = HUDDLE_OK;
    huddle_points *points = &r->data->points;
    const hd_io_rows *rows = r->request->rows;
    bool narrow = true;
    for (int64_t k = 0; k < r->points.count; k++)
        narrow = narrow && hd_io_element_narrow(r->points.items[k]->array.element);
    if (r->points.count == 1)
        TRY(map_part(r, r->points.items[0]));
    if (points->mapping != NULL)
        goto done;
    r->request->typed = !narrow;
    TRY(n == 0 && rows != NULL ? huddle_points_new(0, d, points)
                               : hd_io_points_reserve(n, d, points));
    TRY(hd_io_intake_begin(r->request->context, points, narrow, r->request->options, &r->intake));
    r->intake.first = rows != NULL ? rows->first : 0;
    TRY(hd_io_parts_take(r, &r->intake));
done:
    return status;
}

/* Reads everything again as doubles because some column has to be shifted, which is only known
 * after all values have been seen, and rare. The floats are freed first: both together might
 * not fit into memory. */
static huddle_status fill_shifted(const hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    huddle_points *points = &r->data->points;
    double *values = NULL;
    int64_t n = points->n, d = points->d, row = 0;
    huddle_points_free(points);
    ALLOC(values, n * d);
    for (int64_t k = 0; k < r->points.count; k++) {
        hd_io_variable *part = r->points.items[k];
        TRY(hd_io_variable_load(r->container, part));
        hd_io_samples samples = hd_io_array_samples(&part->array, r->in_columns);
        TRY(hd_io_samples_to_double(r->request->context, &samples, values + row * d));
        hd_io_variable_unload(r->container, part);
        row += samples.n;
    }
    TRY(huddle_points_from_double(r->request->context, n, d, values, d, 1, points));
done:
    huddle_free(values);
    return status;
}

static huddle_status fill_dense(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    huddle_points *points = &r->data->points;
    hd_io_intake *intake = &r->intake;
    int64_t n = 0, d = hd_io_features_in(r->points.items[0], r->in_columns);
    bool long_integers = false;
    for (int64_t k = 0; k < r->points.count; k++) {
        hd_io_element element = r->points.items[k]->array.element;
        n += hd_io_samples_in(r->points.items[k], r->in_columns);
        long_integers = long_integers || element == HD_IO_I8 || element == HD_IO_U8;
    }
    TRY(hd_io_parts_fill(r, n, d));
    if (points->mapping != NULL)
        goto done;
    bool shifts = hd_io_intake_shifts(r->request->context, intake);
    if (shifts && intake->exact != NULL) {
        huddle_points_free(points);
        TRY(hd_io_exact_points(r->request->context, n, d, intake->exact, points));
    } else if (shifts)
        TRY(fill_shifted(r));
    if (intake->exact != NULL && long_integers)
        hd_io_exact_warn(r->request->context, intake->exact, n * d);
    r->data->exact = intake->exact;
    intake->exact = NULL;
done:
    return status;
}

/* A single part is taken over without a copy; several are appended one by one. */
static huddle_status fill_sparse(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    hd_io_request *request = r->request;
    huddle_points part = {0}, *points = &r->data->points;
    double *exact = NULL;
    int64_t entries = 0;
    for (int64_t k = 0; k < r->points.count; k++) {
        hd_io_variable *variable = r->points.items[k];
        TRY(hd_io_variable_load(r->container, variable));
        TRY(hd_io_points_from_csr(&variable->sparse, r->in_columns, &part,
                                  request->options->exact ? &exact : NULL));
        hd_io_variable_unload(r->container, variable);
        request->typed = request->typed || variable->wide;
        if (exact != NULL)
            TRY(hd_io_exact_append(&r->data->exact, entries, exact, part.offsets[part.n]));
        entries += part.offsets[part.n];
        huddle_free(exact);
        exact = NULL;
        if (r->points.count == 1) {
            *points = part;
            part = (huddle_points){0};
        } else {
            TRY(hd_io_points_append(points, &part));
        }
        huddle_points_free(&part);
    }
done:
    huddle_points_free(&part);
    huddle_free(exact);
    return status;
}

/* Dense and sparse parts are not mixed: making the sparse ones dense might take more memory
 * than there is. */
huddle_status hd_io_parts_read(hd_io_chosen *r) {
    int64_t sparse = 0;
    for (int64_t k = 0; k < r->points.count; k++)
        sparse += r->points.items[k]->kind == HD_IO_SPARSE;
    if (sparse > 0 && sparse < r->points.count)
        return hd_fail(HUDDLE_UNSUPPORTED, "sparse and dense parts cannot be stacked");
    return sparse == 0 ? fill_dense(r) : fill_sparse(r);
}

/* ---- image size ----------------------------------------------------------------------------- */

/* The whole number in the first of these variables that has one; 0 if there is none. Anything
 * else under such a name is ignored: the image size is a convenience for reports, not part of
 * the data. */
static huddle_status read_number(hd_io_container *container, const char *const *names,
                                 int64_t *value) {
    huddle_status status = HUDDLE_OK;
    double ignored;
    *value = 0;
    for (; *names != NULL; names++) {
        hd_io_variable *v = hd_io_container_find(container, *names);
        if (v == NULL || v->kind != HD_IO_ARRAY || hd_io_variable_count(v) != 1)
            continue;
        TRY(hd_io_variable_load(container, v));
        if (!hd_io_array_whole(&v->array, 0, value, &ignored))
            *value = 0;
        hd_io_variable_unload(container, v);
        break;
    }
done:
    return status;
}

/* height and width count only if the features are as many pixels, gray or colour. im_order decides
 * how pixels are stored; without it, MATLAB files are assumed to be column-major. */
huddle_status hd_io_parts_image_size(const hd_io_chosen *r) {
    static const char *const heights[] = {"im_height", "image_height", "imheight", "height", NULL};
    static const char *const widths[] = {"im_width", "image_width", "imwidth", "width", NULL};
    static const char *const orders[] = {"im_order", NULL};
    huddle_status status = HUDDLE_OK;
    const hd_io_variable *points = r->points.items[0];
    huddle_data *data = r->data;
    int64_t height, width, channels, order = 1;
    int32_t axes[3];
    if (points->kind == HD_IO_ARRAY && hd_io_array_images(&points->array, r->in_columns, axes)) {
        height = points->array.dims[axes[0]];
        width = points->array.dims[axes[1]];
        channels = axes[2] < 0 ? 1 : points->array.dims[axes[2]];
    } else {
        TRY(read_number(r->container, heights, &height));
        TRY(read_number(r->container, widths, &width));
        TRY(read_number(r->container, orders, &order));
        /* The divisions avoid the product, which could overflow. */
        if (height < 1 || width < 1 || height > data->points.d || width > data->points.d / height)
            goto done;
        channels = data->points.d / (height * width);
        if (channels * height * width != data->points.d)
            goto done;
    }
    if (channels != 1 && channels != 3) /* neither gray nor colours */
        goto done;
    data->height = (int32_t)height;
    data->width = (int32_t)width;
    data->channels = (int32_t)channels;
    data->column_major = order == 2 || (order != 1 && r->container->down_columns);
done:
    return status;
}
