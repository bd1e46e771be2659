#include "io/container.h"

#include "base/check.h"
#include "base/parallel.h"
#include "io/sparse.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In order of preference. */
static const char *const point_names[] = {"X",       "fea",   "data",   "features", "feature",
                                          "feat",    "x",     "points", "samples",  "images",
                                          "vectors", "arr_0", NULL};
static const char *const label_names[] = {
    "gnd",   "labels", "label",       "target",       "targets", "class",    "classes", "y",
    "truth", "gt",     "groundtruth", "ground_truth", "species", "category", "cluster", NULL};

int32_t hd_io_label_name_rank(const char *name) {
    for (int32_t k = 0; label_names[k] != NULL; k++)
        if (hd_same_word(name, label_names[k]))
            return k;
    return -1;
}

bool hd_io_labels_unwanted(const huddle_read_options *options) {
    return options->n_y == 1 && strcmp(options->y[0], "none") == 0;
}

/* ---- variables ------------------------------------------------------------------------------ */

hd_io_variable *hd_io_container_add(hd_io_container *container, const char *name, int64_t length) {
    if (!hd_grow(&container->variables, &container->capacity, container->count + 1,
                 sizeof *container->variables))
        return NULL;
    hd_io_variable *variable = &container->variables[container->count];
    memset(variable, 0, sizeof *variable);
    variable->name = hd_copy_part(name, length);
    if (variable->name == NULL)
        return NULL;
    container->count++;
    return variable;
}

static void free_contents(hd_io_variable *variable) {
    if (variable->owned != NULL)
        variable->array.bytes = NULL;
    huddle_free(variable->owned);
    variable->owned = NULL;
    huddle_csr_free(&variable->sparse);
    hd_io_labels_free(&variable->texts);
}

void hd_io_variable_unload(const hd_io_container *container, hd_io_variable *variable) {
    if (container->load != NULL) /* else it could not be brought back */
        free_contents(variable);
}

void hd_io_container_close(hd_io_container *container) {
    if (container->close != NULL)
        container->close(container);
    for (int64_t k = 0; k < container->count; k++) {
        free_contents(&container->variables[k]);
        huddle_free(container->variables[k].name);
    }
    huddle_free(container->variables);
    memset(container, 0, sizeof *container);
}

huddle_status hd_io_variable_load(hd_io_container *container, hd_io_variable *variable) {
    if (variable->kind == HD_IO_OTHER)
        return hd_fail(HUDDLE_UNSUPPORTED, "'%s' %s", variable->name, variable->trouble);
    if (container->load == NULL || variable->array.bytes != NULL ||
        variable->sparse.offsets != NULL || variable->texts.texts != NULL)
        return HUDDLE_OK;
    return container->load(container, variable);
}

static hd_io_variable *find(const hd_io_container *container, const char *name) {
    name += *name == '/';
    for (int64_t k = 0; k < container->count; k++)
        if (strcmp(container->variables[k].name, name) == 0)
            return &container->variables[k];
    return NULL;
}

/* "X, gnd, im_height", cut short if there are very many. */
static void list_names(const hd_io_container *container, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int64_t k = 0; k < container->count; k++) {
        const char *name = container->variables[k].name;
        if (container->variables[k].part)
            continue;
        if (used + strlen(name) + 8 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
    if (container->count == 0)
        snprintf(text, size, "nothing");
}

static huddle_status no_such_name(const hd_io_container *container, const char *name) {
    char names[400];
    list_names(container, names, sizeof names);
    return hd_fail(HUDDLE_INVALID, "no variable named '%.200s'; it holds %s", name, names);
}

/* "train/" of "train/data". */
static int64_t folder_length(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash == NULL ? 0 : slash - name + 1;
}

static int64_t depth(const char *name) {
    int64_t slashes = 0;
    for (; *name != '\0'; name++)
        slashes += *name == '/';
    return slashes;
}

static int64_t size_of(const hd_io_variable *variable) {
    int64_t size = 1;
    for (int32_t k = 0; k < variable->array.rank; k++)
        size *= variable->array.dims[k];
    return size;
}

static bool is_vector(const hd_io_variable *variable) {
    int32_t long_axes = 0;
    for (int32_t k = 0; k < variable->array.rank; k++)
        long_axes += variable->array.dims[k] != 1;
    return variable->kind != HD_IO_SPARSE && variable->kind != HD_IO_OTHER &&
           variable->array.rank > 0 && long_axes <= 1;
}

static bool may_be_points(const hd_io_variable *variable) {
    if (variable->part)
        return false;
    return variable->kind == HD_IO_SPARSE ||
           (variable->kind == HD_IO_ARRAY && variable->array.rank > 0);
}

/* ---- which are the points ------------------------------------------------------------------- */

typedef struct choice {
    hd_io_variable **items;
    int64_t count, capacity;
} choice;

static huddle_status choose(choice *chosen, hd_io_variable *variable) {
    if (!hd_grow(&chosen->items, &chosen->capacity, chosen->count + 1, sizeof *chosen->items))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld names", (long long)chosen->count + 1);
    chosen->items[chosen->count++] = variable;
    return HUDDLE_OK;
}

/* The shallowest variable with that last name; one that cannot be read is found too, and then
 * named as the fault. */
static hd_io_variable *find_usual(const hd_io_container *container, const char *name, bool any_case,
                                  hd_io_variable **rival) {
    hd_io_variable *best = NULL;
    *rival = NULL;
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        const char *last = v->name + folder_length(v->name);
        if (!(may_be_points(v) || v->kind == HD_IO_OTHER) ||
            !(any_case ? hd_same_word(last, name) : strcmp(last, name) == 0))
            continue;
        if (best == NULL || depth(v->name) < depth(best->name)) {
            best = v;
            *rival = NULL;
        } else if (depth(v->name) == depth(best->name)) {
            *rival = v;
        }
    }
    return best;
}

/* The only array that is not a vector; if all are vectors, the only one. */
static hd_io_variable *find_only(const hd_io_container *container) {
    hd_io_variable *table = NULL, *vector = NULL;
    int64_t tables = 0, vectors = 0;
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        if (!may_be_points(v) || hd_io_label_name_rank(v->name + folder_length(v->name)) >= 0)
            continue;
        if (is_vector(v)) {
            vectors++;
            vector = v;
        } else {
            tables++;
            table = v;
        }
    }
    return tables == 1 ? table : tables == 0 && vectors == 1 ? vector : NULL;
}

static huddle_status find_points(const hd_io_container *container, hd_io_variable **found) {
    char names[400];
    for (int any_case = 0; any_case < 2; any_case++)
        for (const char *const *name = point_names; *name != NULL; name++) {
            hd_io_variable *rival;
            *found = find_usual(container, *name, any_case, &rival);
            if (rival != NULL)
                return hd_fail(HUDDLE_INVALID,
                               "'%.200s' and '%.200s' could both be the points; name x, one or "
                               "several to stack",
                               (*found)->name, rival->name);
            if (*found != NULL)
                return HUDDLE_OK;
        }
    *found = find_only(container);
    if (*found != NULL)
        return HUDDLE_OK;
    if (container->count == 1 && container->variables[0].kind == HD_IO_OTHER)
        return hd_fail(HUDDLE_UNSUPPORTED, "'%s' %s", container->variables[0].name,
                       container->variables[0].trouble);
    if (container->count == 1 && container->variables[0].kind == HD_IO_TEXTS)
        return hd_fail(HUDDLE_INVALID, "'%s' holds texts, not numbers",
                       container->variables[0].name);
    list_names(container, names, sizeof names);
    return hd_fail(HUDDLE_INVALID, "no variable has a usual name for points; it holds %s", names);
}

static huddle_status choose_points(const hd_io_request *request, hd_io_container *container,
                                   choice *points) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    hd_io_variable *found = NULL;
    if (options->n_x == 0) {
        TRY(find_points(container, &found));
        TRY(choose(points, found));
    }
    for (int64_t k = 0; k < options->n_x; k++) {
        found = find(container, options->x[k]);
        if (found == NULL)
            TRY(no_such_name(container, options->x[k]));
        TRY(choose(points, found));
    }
    if (points->items == NULL) /* only if n_x is negative */
        FAIL(HUDDLE_INVALID, "n_x = %lld variables are no points", (long long)options->n_x);
    for (int64_t k = 0; k < points->count; k++) {
        found = points->items[k];
        if (found->kind == HD_IO_OTHER)
            TRY(hd_io_variable_load(container, found)); /* says why not */
        if (!may_be_points(found))
            FAIL(HUDDLE_INVALID, "'%s' is not an array of numbers", found->name);
    }
done:
    return status;
}

/* ---- which are the labels ------------------------------------------------------------------- */

/* A usual name in the same folder as the points. */
static hd_io_variable *find_labels_beside(const hd_io_container *container,
                                          const hd_io_variable *points) {
    int64_t folder = folder_length(points->name);
    for (const char *const *name = label_names; *name != NULL; name++)
        for (int64_t k = 0; k < container->count; k++) {
            hd_io_variable *v = &container->variables[k];
            if (v == points || !is_vector(v) || folder_length(v->name) != folder ||
                strncmp(v->name, points->name, (size_t)folder) != 0)
                continue;
            if (hd_same_word(v->name + folder, *name))
                return v;
        }
    return NULL;
}

static huddle_status append_variable(hd_io_container *container, hd_io_variable *variable,
                                     hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels part = {0};
    if (variable->kind != HD_IO_OTHER && !is_vector(variable))
        FAIL(HUDDLE_INVALID, "'%s' is %lld x %lld, not one label for each sample", variable->name,
             (long long)variable->array.dims[0], (long long)variable->array.dims[1]);
    TRY(hd_io_variable_load(container, variable));
    if (variable->kind == HD_IO_TEXTS) {
        TRY(hd_io_labels_append(labels, &variable->texts));
        goto done;
    }
    status = hd_io_labels_from_array(&variable->array, &part);
    if (status == HUDDLE_INVALID)
        status = hd_fail_at(status, "'%s'", variable->name);
    TRY(status);
    TRY(hd_io_labels_append(labels, &part));
done:
    hd_io_variable_unload(container, variable);
    hd_io_labels_free(&part);
    return status;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

huddle_status hd_io_labels_from_files(hd_io_request *request, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels part = {0};
    for (int64_t k = 0; k < request->options->n_y; k++) {
        const char *culprit = request->culprit;
        request->culprit = NULL; /* the sentence will name the labels' file */
        TRY(hd_io_labels_read_raw(request->context, request->options->y[k], &part));
        request->culprit = culprit;
        TRY(hd_io_labels_append(labels, &part));
        hd_io_labels_free(&part);
    }
done:
    hd_io_labels_free(&part);
    return status;
}

static huddle_status find_given_labels(hd_io_request *request, hd_io_container *container,
                                       hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    int64_t inside = 0, files = 0;
    for (int64_t k = 0; k < options->n_y; k++) {
        if (find(container, options->y[k]) != NULL)
            inside++;
        else if (is_file(options->y[k]))
            files++;
        else
            TRY(no_such_name(container, options->y[k]));
    }
    if (inside > 0 && files > 0)
        FAIL(HUDDLE_INVALID, "some of y are names in it and some are files");
    if (files > 0)
        TRY(hd_io_labels_from_files(request, labels));
    for (int64_t k = 0; k < inside; k++)
        TRY(append_variable(container, find(container, options->y[k]), labels));
done:
    return status;
}

/* Leaves labels empty if there are none. */
static huddle_status gather_labels(hd_io_request *request, hd_io_container *container,
                                   const choice *points, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    if (hd_io_labels_unwanted(request->options))
        goto done;
    if (request->options->n_y > 0) {
        TRY(find_given_labels(request, container, labels));
        goto done;
    }
    for (int64_t k = 0; k < points->count; k++)
        if (find_labels_beside(container, points->items[k]) == NULL)
            goto done;
    for (int64_t k = 0; k < points->count; k++)
        TRY(append_variable(container, find_labels_beside(container, points->items[k]), labels));
done:
    return status;
}

/* ---- which way round ------------------------------------------------------------------------ */

static int64_t samples_in(const hd_io_variable *variable, bool in_columns) {
    int32_t rank = variable->array.rank;
    return rank == 0 ? 1 : variable->array.dims[in_columns ? rank - 1 : 0];
}

static int64_t features_in(const hd_io_variable *variable, bool in_columns) {
    int64_t n = samples_in(variable, in_columns);
    return n == 0 ? 0 : size_of(variable) / n;
}

/* A vector of n labels beside a row vector of n numbers is the plain case of it. */
static huddle_status find_direction(hd_io_request *request, const hd_io_container *container,
                                    const choice *points, int64_t n_labels, bool *in_columns) {
    int64_t down = 0, across = 0;
    for (int64_t k = 0; k < points->count; k++) {
        down += samples_in(points->items[k], false);
        across += samples_in(points->items[k], true);
    }
    *in_columns = request->options->transpose || (n_labels == across && n_labels != down);
    int64_t n = *in_columns ? across : down, d = features_in(points->items[0], *in_columns);
    for (int64_t k = 1; k < points->count; k++)
        if (features_in(points->items[k], *in_columns) != d)
            return hd_fail(HUDDLE_INVALID,
                           "'%s' has %lld features and '%s' %lld, so they cannot be stacked",
                           points->items[0]->name, (long long)d, points->items[k]->name,
                           (long long)features_in(points->items[k], *in_columns));
    if (n_labels >= 0 && n_labels != n && request->options->n_y > 0 &&
        find(container, request->options->y[0]) == NULL)
        request->culprit = request->options->y[0];
    if (n_labels >= 0 && n_labels != n)
        return hd_fail(HUDDLE_INVALID, "there are %lld labels for %lld samples",
                       (long long)n_labels, (long long)n);
    return HUDDLE_OK;
}

/* ---- points --------------------------------------------------------------------------------- */

static huddle_status check_rows(huddle_context *context, const huddle_points *points, int64_t first,
                                int64_t count) {
    huddle_points view = *points;
    view.n = count;
    view.values = points->values + first * points->stride;
    return huddle_points_check(context, &view);
}

static huddle_status fill_part(hd_io_request *request, hd_io_container *container,
                               hd_io_variable *variable, bool in_columns, hd_io_intake *intake,
                               int64_t first_row) {
    huddle_status status = HUDDLE_OK;
    huddle_points *points = intake->points;
    hd_io_samples samples = hd_io_array_samples(&variable->array, in_columns);
    bool placed = false, checked = false;
    if (container->read_floats != NULL && points->shift == NULL &&
        hd_io_element_narrow(variable->array.element) && hd_io_samples_packed(&samples))
        TRY(container->read_floats(request, container, variable,
                                   points->values + first_row * points->stride, &placed, &checked));
    if (placed && !checked)
        TRY(check_rows(request->context, points, first_row, samples.n));
    if (placed)
        goto done;
    TRY(hd_io_variable_load(container, variable));
    samples = hd_io_array_samples(&variable->array, in_columns);
    TRY(hd_io_intake_samples(request->context, intake, &samples, first_row));
done:
    hd_io_variable_unload(container, variable);
    return status;
}

/* Rarely needed: a column has to be shifted, so everything is wanted as doubles. */
static huddle_status fill_shifted(hd_io_request *request, hd_io_container *container,
                                  const choice *parts, bool in_columns, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    double *values = NULL;
    int64_t n = points->n, d = points->d, row = 0;
    huddle_points_free(points);
    ALLOC(values, n * d);
    for (int64_t k = 0; k < parts->count; k++) {
        TRY(hd_io_variable_load(container, parts->items[k]));
        hd_io_samples samples = hd_io_array_samples(&parts->items[k]->array, in_columns);
        TRY(hd_io_samples_to_double(request->context, &samples, values + row * d));
        hd_io_variable_unload(container, parts->items[k]);
        row += samples.n;
    }
    TRY(huddle_points_from_double(request->context, n, d, values, d, 1, points));
done:
    huddle_free(values);
    return status;
}

static huddle_status fill_dense(hd_io_request *request, hd_io_container *container,
                                const choice *parts, bool in_columns, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    hd_io_intake intake = {0};
    int64_t n = 0, row = 0;
    bool narrow = true;
    for (int64_t k = 0; k < parts->count; k++) {
        n += samples_in(parts->items[k], in_columns);
        narrow = narrow && hd_io_element_narrow(parts->items[k]->array.element);
    }
    TRY(hd_io_points_reserve(n, features_in(parts->items[0], in_columns), points));
    TRY(hd_io_intake_begin(request->context, points, narrow, request->options, &intake));
    for (int64_t k = 0; k < parts->count; k++) {
        TRY(fill_part(request, container, parts->items[k], in_columns, &intake, row));
        row += samples_in(parts->items[k], in_columns);
    }
    if (hd_io_intake_shifts(request->context, &intake))
        TRY(fill_shifted(request, container, parts, in_columns, points));
done:
    hd_io_intake_free(&intake);
    return status;
}

static huddle_status fill_sparse(hd_io_container *container, const choice *parts, bool in_columns,
                                 huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_points part = {0};
    for (int64_t k = 0; k < parts->count; k++) {
        TRY(hd_io_variable_load(container, parts->items[k]));
        TRY(hd_io_points_from_csr(&parts->items[k]->sparse, in_columns, &part));
        hd_io_variable_unload(container, parts->items[k]);
        if (k == 0 && parts->count == 1) {
            *points = part;
            part = (huddle_points){0};
        } else {
            TRY(hd_io_points_append(points, &part));
        }
        huddle_points_free(&part);
    }
done:
    huddle_points_free(&part);
    return status;
}

static huddle_status fill_points(hd_io_request *request, hd_io_container *container,
                                 const choice *parts, bool in_columns, huddle_points *points) {
    int64_t sparse = 0;
    for (int64_t k = 0; k < parts->count; k++)
        sparse += parts->items[k]->kind == HD_IO_SPARSE;
    if (sparse == 0)
        return fill_dense(request, container, parts, in_columns, points);
    if (sparse < parts->count)
        return hd_fail(HUDDLE_UNSUPPORTED, "sparse and dense parts cannot be stacked");
    return fill_sparse(container, parts, in_columns, points);
}

/* ---- image size ----------------------------------------------------------------------------- */

static huddle_status read_number(hd_io_container *container, const char *const *names,
                                 int64_t *value) {
    huddle_status status = HUDDLE_OK;
    double ignored;
    *value = 0;
    for (; *names != NULL; names++) {
        hd_io_variable *v = find(container, *names);
        if (v == NULL || v->kind != HD_IO_ARRAY || size_of(v) != 1)
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

/* im_order is 1 when pixels run along rows, 2 when they run down columns. */
static huddle_status find_image_size(hd_io_container *container, const hd_io_variable *points,
                                     bool in_columns, huddle_data *data) {
    static const char *const heights[] = {"im_height", "image_height", "imheight", "height", NULL};
    static const char *const widths[] = {"im_width", "image_width", "imwidth", "width", NULL};
    static const char *const orders[] = {"im_order", NULL};
    huddle_status status = HUDDLE_OK;
    int64_t height, width, order;
    if (points->array.rank == 3 && points->kind == HD_IO_ARRAY) {
        int32_t first = in_columns ? 0 : 1;
        data->height = (int32_t)points->array.dims[first];
        data->width = (int32_t)points->array.dims[first + 1];
        goto done;
    }
    TRY(read_number(container, heights, &height));
    TRY(read_number(container, widths, &width));
    TRY(read_number(container, orders, &order));
    if (height < 1 || width < 1 || height > data->points.d || data->points.d % height != 0 ||
        data->points.d / height != width)
        goto done;
    data->height = (int32_t)height;
    data->width = (int32_t)width;
    data->column_major = order == 2 || (order != 1 && container->down_columns);
done:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

huddle_status hd_io_data_set_labels(huddle_data *data, hd_io_labels *labels) {
    if (labels->n != data->points.n)
        return hd_fail(HUDDLE_INVALID, "there are %lld labels for %lld samples",
                       (long long)labels->n, (long long)data->points.n);
    huddle_status status = hd_io_labels_simplify(labels);
    if (status != HUDDLE_OK)
        return status;
    data->classes_numeric = labels->texts == NULL;
    return hd_io_labels_map(labels, &data->labels, &data->n_classes, &data->classes);
}

huddle_status hd_io_data_set_file_labels(hd_io_request *request, huddle_data *data,
                                         hd_io_labels *labels) {
    if (labels->n != data->points.n)
        request->culprit = request->options->y[0];
    return hd_io_data_set_labels(data, labels);
}

static huddle_status keep_names(const hd_io_container *container, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(data->names, container->count + 1);
    for (int64_t k = 0; k < container->count; k++) {
        if (container->variables[k].part)
            continue;
        char *name = hd_copy_text(container->variables[k].name);
        if (name == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
        data->names[data->n_names++] = name;
    }
done:
    return status;
}

huddle_status hd_io_container_read(hd_io_request *request, hd_io_container *container,
                                   huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    choice points = {0};
    hd_io_labels labels = {0};
    bool in_columns = false;
    data->format = container->format;
    TRY(keep_names(container, data));
    TRY(choose_points(request, container, &points));
    TRY(gather_labels(request, container, &points, &labels));
    TRY(find_direction(request, container, &points, labels.n > 0 ? labels.n : -1, &in_columns));
    TRY(fill_points(request, container, &points, in_columns, &data->points));
    TRY(find_image_size(container, points.items[0], in_columns, data));
    if (labels.n > 0)
        TRY(hd_io_data_set_labels(data, &labels));
done:
    hd_io_labels_free(&labels);
    huddle_free(points.items);
    return status;
}

huddle_status hd_io_container_labels(hd_io_container *container, hd_io_labels *labels) {
    char names[400];
    hd_io_variable *found = NULL, *only = NULL;
    int64_t vectors = 0;
    *labels = (hd_io_labels){0};
    for (int64_t k = 0; k < container->count; k++)
        if (is_vector(&container->variables[k])) {
            vectors++;
            only = &container->variables[k];
        }
    for (const char *const *name = label_names; *name != NULL && found == NULL; name++)
        for (int64_t k = 0; k < container->count && found == NULL; k++)
            if (hd_same_word(container->variables[k].name, *name))
                found = &container->variables[k];
    if (found == NULL && vectors == 1)
        found = only;
    if (found == NULL) {
        list_names(container, names, sizeof names);
        return hd_fail(HUDDLE_INVALID, "no variable has a usual name for labels; it holds %s",
                       names);
    }
    return append_variable(container, found, labels);
}

huddle_status hd_io_container_list(const hd_io_container *container, huddle_listing *listing) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *points;
    ALLOC_ZERO(listing->names, container->count + 1);
    ALLOC_ZERO(listing->dims, container->count + 1);
    for (int64_t k = 0; k < container->count; k++) {
        const hd_io_variable *v = &container->variables[k];
        if (v->part)
            continue;
        char *name = hd_copy_text(v->name);
        if (name == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
        for (int32_t i = 0; i < v->array.rank && i < 3; i++)
            listing->dims[listing->count][i] = v->array.dims[i];
        listing->names[listing->count++] = name;
    }
    listing->has_points = find_points(container, &points) == HUDDLE_OK;
done:
    return status;
}

huddle_status hd_io_container_matrix(hd_io_container *container, hd_io_variable **variable) {
    huddle_status status = find_points(container, variable);
    return status == HUDDLE_OK ? hd_io_variable_load(container, *variable) : status;
}
