/* Reading under an engine that distributes rows: who reads what, and the points of which each
 * process reads its rows. */
#include "io/rows.h"

#include "base/check.h"
#include "io/formats.h"
#include "matrix/points.h"

#include <string.h>
#include <sys/stat.h>

/* ---- work without communication ------------------------------------------------------------- */

static huddle_status work_alone(hd_io_request *request, hd_io_work work, void *argument) {
    hd_alone before = hd_alone_begin(request->context);
    huddle_status status = work(argument);
    status = hd_io_locate_failure(request->failing_path, status);
    hd_alone_end(request->context, before);
    return status;
}

huddle_status hd_io_rows_together(hd_io_request *request, hd_io_work work, void *argument) {
    return hd_agree(request->context, work_alone(request, work, argument));
}

huddle_status hd_io_rows_in_turn(hd_io_request *request, hd_io_work work, void *argument) {
    bool first = request->rows->rank == 0;
    huddle_status status =
        hd_agree(request->context, first ? work_alone(request, work, argument) : HUDDLE_OK);
    if (status != HUDDLE_OK)
        return status;
    return hd_agree(request->context, first ? HUDDLE_OK : work_alone(request, work, argument));
}

/* ---- formats -------------------------------------------------------------------------------- */

/* Packed files and pipes can only be read from the beginning to the end, and a pipe only once: it
 * is not opened here. A file that is not recognised as it is may be packed or in another encoding:
 * who reads it reports what is wrong. */
static huddle_status examine_file(const char *path, bool *divisible) {
    hd_file file;
    const hd_io_format *format;
    struct stat about;
    *divisible = false;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return HUDDLE_OK;
    huddle_status status = hd_file_open(path, &file);
    if (status != HUDDLE_OK)
        return status;
    *divisible = hd_io_detect(&file, &format) == HUDDLE_OK && format->divisible;
    hd_file_close(&file);
    return status;
}

huddle_status hd_io_rows_divisible(hd_io_request *request, const char *const *paths, int64_t count,
                                   bool *divisible) {
    huddle_status status = HUDDLE_OK;
    double all = 1;
    for (int64_t k = 0; request->rows->rank == 0 && status == HUDDLE_OK && k < count; k++) {
        status = hd_io_locate_failure(paths[k], examine_file(paths[k], divisible));
        all = *divisible ? all : 0;
    }
    TRY(hd_agree(request->context, status));
    TRY(hd_reduce_min(request->context, 1, &all));
    *divisible = all > 0;
done:
    return status;
}

/* ---- each process reads its rows ------------------------------------------------------------ */

/* Restricts the parts to the rows of this process; the parts are numbered one after the other. */
static void divide_parts(const hd_io_rows *rows, const hd_io_parts *parts, bool in_columns) {
    int64_t begin = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        hd_io_variable *v = parts->items[k];
        int64_t n = hd_io_samples_in(v, in_columns);
        int64_t from = rows->first - begin, to = from + rows->n;
        from = from < 0 ? 0 : from > n ? n : from;
        to = to < from ? from : to > n ? n : to;
        hd_io_variable_divide(v, in_columns ? v->array.rank - 1 : 0, from, to - from);
        begin += n;
    }
}

static huddle_status take_again(void *argument) {
    hd_io_chosen *r = argument;
    return hd_io_parts_take(r, &r->intake);
}

/* Values are read twice more if some column of all rows needs a shift, first for the means, instead
 * of being kept as doubles. Without ranges no column can need one, on any process. Once one column
 * needs a shift, constant columns that float cannot represent get one too. */
static huddle_status shift_rows(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = r->request->context;
    huddle_points *points = &r->data->points;
    int64_t d = points->d;
    double *low = r->intake.low, *high = r->intake.high, *shift = NULL;
    if (low == NULL)
        return status;
    ALLOC_ZERO(shift, d);
    hd_io_intake_merge(context, &r->intake);
    TRY(hd_reduce_min(context, d, low));
    TRY(hd_reduce_max(context, d, high));
    if (!hd_io_intake_shifts(context, &r->intake))
        goto done;
    r->intake.sums = shift;
    TRY(hd_io_rows_together(r->request, take_again, r));
    r->intake.sums = NULL;
    TRY(hd_reduce_sum(context, d, shift));
    for (int64_t j = 0; j < d; j++)
        shift[j] = hd_column_shift(low[j], high[j], shift[j] / (double)r->request->rows->total);
    points->shift = shift;
    shift = NULL;
    TRY(hd_io_rows_together(r->request, take_again, r));
done:
    huddle_free(shift);
    return hd_agree(context, status);
}

/* A file that all processes have opened. */
typedef struct shared_source {
    hd_io_chosen chosen;
    const char *source;
    hd_io_opened opened;
    hd_io_labels raw;   /* labels that are in the file */
    huddle_data labels; /* labels of other files */
} shared_source;

static huddle_status open_source(void *argument) {
    shared_source *s = argument;
    huddle_status status = HUDDLE_OK;
    hd_io_request *request = s->chosen.request;
    TRY(hd_io_refuse_table_options(request->options));
    TRY(hd_io_open_file(request, s->source, &s->opened));
    TRY(hd_io_container_choose(&s->chosen));
    for (int64_t k = 0; k < s->chosen.labels.count; k++)
        TRY(hd_io_container_check_labels(s->chosen.labels.items[k]));
done:
    return status;
}

/* -1 without labels. */
static int64_t count_labels(const shared_source *s) {
    int64_t count = s->labels.total_rows;
    for (int64_t k = 0; k < s->chosen.labels.count; k++)
        count += hd_io_variable_count(s->chosen.labels.items[k]);
    return count > 0 ? count : -1;
}

huddle_status hd_io_rows_compare(huddle_context *context, const char *path, int64_t count,
                                 const double *values) {
    enum { MAX_COUNT = 8 };
    huddle_status status = HUDDLE_OK;
    double extremes[2 * MAX_COUNT] = {0};
    for (int64_t k = 0; k < count; k++) {
        extremes[k] = values[k];
        extremes[count + k] = -values[k];
    }
    TRY(hd_reduce_max(context, 2 * count, extremes));
    for (int64_t k = 0; k < count; k++)
        if (extremes[k] != -extremes[count + k])
            FAIL(HUDDLE_INVALID, "%s: it is not the same file for all processes", path);
done:
    return hd_agree(context, status);
}

/* Processes that see different files, perhaps copies of their own machines, would wait for each
 * other forever, or compute nonsense. */
static huddle_status compare_sources(const shared_source *s) {
    const hd_io_parts *points = &s->chosen.points;
    const hd_io_array *first = &points->items[0]->array;
    double elements = 0;
    for (int64_t k = 0; k < points->count; k++)
        elements += (double)hd_io_variable_count(points->items[k]);
    const double facts[] = {elements,
                            (double)points->count,
                            (double)first->element,
                            (double)first->rank,
                            (double)first->dims[0],
                            (double)count_labels(s),
                            s->chosen.label_files};
    return hd_io_rows_compare(s->chosen.request->context, s->source, sizeof facts / sizeof *facts,
                              facts);
}

/* The number of labels decides which axis of the points counts the samples. Labels beside the
 * points are those of the same rows. */
static huddle_status read_rows(void *argument) {
    shared_source *s = argument;
    huddle_status status = HUDDLE_OK;
    hd_io_chosen *r = &s->chosen;
    hd_io_rows *rows = r->request->rows;
    TRY(hd_io_parts_orient(r, count_labels(s)));
    rows->total = 0;
    for (int64_t k = 0; k < r->points.count; k++)
        rows->total += hd_io_samples_in(r->points.items[k], r->in_columns);
    int64_t d = hd_io_features_in(r->points.items[0], r->in_columns);
    TRY(hd_io_points_limit(rows->total, d));
    hd_slab_share_of(rows->total, rows->rank, rows->count, &rows->first, &rows->n);
    r->data->first_row = rows->first;
    r->data->total_rows = rows->total;
    for (int64_t k = 0, begin = 0; k < r->labels.count; k++)
        TRY(hd_io_rows_append(r->container, r->labels.items[k], rows, &begin, &s->raw));
    divide_parts(rows, &r->points, r->in_columns);
    TRY(hd_io_parts_fill(r, rows->n, d));
    TRY(hd_io_parts_image_size(r));
done:
    return status;
}

static huddle_status read_divided(hd_io_request *request, const char *source, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    bool labelled = false;
    shared_source s = {
        .chosen = {.request = request, .container = &s.opened.container, .data = data},
        .source = source};
    TRY(hd_io_rows_in_turn(request, open_source, &s));
    TRY(compare_sources(&s));
    if (s.chosen.label_files)
        TRY(hd_io_rows_labels(request, options->y, options->n_y, &s.labels));
    /* Afterwards the variables are those of this process only. */
    labelled = s.chosen.labels.count > 0 && count_labels(&s) > 0;
    TRY(hd_io_rows_together(request, read_rows, &s));
    TRY(shift_rows(&s.chosen));
    if (labelled)
        TRY(hd_io_rows_map(request->context, &s.raw, &s.labels));
    data->labels = s.labels.labels;
    data->n_classes = s.labels.n_classes;
    data->classes = s.labels.classes;
    data->classes_numeric = s.labels.classes_numeric;
    s.labels = (huddle_data){0}; /* they are the caller's now */
done:
    hd_io_chosen_free(&s.chosen);
    huddle_data_free(&s.labels);
    hd_io_labels_free(&s.raw);
    hd_io_close_file(&s.opened);
    return hd_agree(request->context, status);
}

/* ---- process 0 reads the file --------------------------------------------------------------- */

/* The argument of read_whole(). */
typedef struct whole_source {
    hd_io_request *request;
    const char *source;
    huddle_data *data;
} whole_source;

static huddle_status read_whole(void *argument) {
    const whole_source *w = argument;
    hd_io_request request = *w->request;
    request.rows = NULL;
    w->request->failing_path = NULL; /* messages contain the name already */
    return w->request->rows->rank == 0 ? hd_io_data_read(&request, w->source, w->data) : HUDDLE_OK;
}

static huddle_status read_by_first(hd_io_request *request, const char *source, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    huddle_data whole = {0};
    TRY(hd_io_rows_together(request, read_whole, &(whole_source){request, source, &whole}));
    TRY(hd_io_rows_send(request, source, &whole, data));
done:
    huddle_data_free(&whole);
    return hd_agree(request->context, status);
}

/* ---- generated data ------------------------------------------------------------------------- */

/* Every process makes all points, of which it keeps its own. */
static huddle_status keep_rows(hd_io_rows *rows, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL;
    huddle_points own = {0};
    rows->total = data->points.n;
    hd_slab_share_of(rows->total, rows->rank, rows->count, &rows->first, &rows->n);
    ALLOC(index, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        index[i] = rows->first + i;
    TRY(huddle_points_take(&data->points, index, rows->n, &own));
    huddle_points_free(&data->points);
    data->points = own;
    for (int64_t i = 0; data->labels != NULL && i < rows->n; i++)
        data->labels[i] = data->labels[rows->first + i];
done:
    huddle_free(index);
    return status;
}

/* The digits are few; other points are made one by one, unless classes are selected. */
static huddle_status generate_rows(void *argument) {
    const whole_source *w = argument;
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = w->request->options;
    hd_io_rows *rows = w->request->rows;
    hd_io_request request = *w->request;
    bool all =
        strcmp(w->source, "digits") == 0 || options->classes != NULL || options->per_class != 0;
    w->request->failing_path = NULL; /* messages contain the name already */
    if (all)
        request.rows = NULL;
    TRY(hd_io_data_read(&request, w->source, w->data));
    if (all)
        TRY(keep_rows(rows, w->data));
    w->data->first_row = rows->first;
    w->data->total_rows = rows->total;
done:
    return status;
}

huddle_status hd_io_rows_read(hd_io_request *request, const char *source, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    bool divisible = false;
    /* The rows that a selection keeps are only known to who has all labels. */
    bool selected = request->options->classes != NULL || request->options->per_class != 0;
    if (hd_io_is_generator(source))
        return hd_io_rows_together(request, generate_rows, &(whole_source){request, source, data});
    TRY(hd_io_rows_divisible(request, &source, 1, &divisible));
    if (divisible && !selected)
        TRY(read_divided(request, source, data));
    else
        TRY(read_by_first(request, source, data));
done:
    return status;
}
