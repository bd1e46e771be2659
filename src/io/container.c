#include "io/container.h"

#include "base/check.h"
#include "base/text.h"
#include "io/parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Conventional names, in order of preference. X and fea are those of the MATLAB files of
 * clustering papers (with gnd for labels), data and target those of scikit-learn, arr_0 is
 * what numpy.savez() calls an array without a name. */
static const char *const point_names[] = {"X",       "fea",   "data",   "features", "feature",
                                          "feat",    "x",     "points", "samples",  "images",
                                          "vectors", "arr_0", NULL};
static const char *const label_names[] = {
    "gnd",   "labels", "label",       "target",       "targets", "class",    "classes", "y",
    "truth", "gt",     "groundtruth", "ground_truth", "species", "category", "cluster", NULL};

/* The position in the list is the rank, so that "gnd" wins over "cluster" where both exist. */
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

huddle_status hd_io_container_add(hd_io_container *container, const char *name, int64_t length,
                                  hd_io_variable **added) {
    char *copy = hd_copy_part(name, length);
    if (copy == NULL || !hd_grow(&container->variables, &container->capacity, container->count + 1,
                                 sizeof *container->variables)) {
        huddle_free(copy);
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
    }
    *added = &container->variables[container->count++];
    **added = (hd_io_variable){.name = copy};
    return HUDDLE_OK;
}

/* Cannot overflow: the readers have checked the product of the dimensions. */
int64_t hd_io_variable_count(const hd_io_variable *variable) {
    int64_t size = 1;
    for (int32_t k = 0; k < variable->array.rank; k++)
        size *= variable->array.dims[k];
    return size;
}

/* Bytes that are not owned belong to the mapped file, and stay valid after this. */
static void free_contents(hd_io_variable *variable) {
    if (variable->owned != NULL)
        variable->array.bytes = NULL;
    huddle_free(variable->owned);
    variable->owned = NULL;
    huddle_csr_free(&variable->sparse);
    hd_io_labels_free(&variable->texts);
}

void hd_io_variable_unload(const hd_io_container *container, hd_io_variable *variable) {
    if (container->load != NULL) /* else it could not be loaded again */
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

/* A variable that its reader had to produce has one of the three pointers set once it is
 * loaded. */
huddle_status hd_io_variable_load(hd_io_container *container, hd_io_variable *variable) {
    if (variable->kind == HD_IO_OTHER)
        return hd_fail(HUDDLE_UNSUPPORTED, "'%s' %s", variable->name, variable->refusal);
    if (container->load == NULL || variable->array.bytes != NULL ||
        variable->sparse.offsets != NULL || variable->texts.texts != NULL)
        return HUDDLE_OK;
    return container->load(container, variable);
}

/* Values in a mapped file are found from where they now begin; others are read by their reader,
 * which has the starts. */
void hd_io_variable_divide(hd_io_variable *variable, int32_t axis, int64_t first, int64_t count) {
    hd_io_array *array = &variable->array;
    variable->divided = true;
    variable->starts[axis] += first;
    array->dims[axis] = count;
    array->first += first;
    if (array->bytes != NULL)
        array->bytes += first * array->steps[axis] * hd_io_element_size(array->element);
    else
        hd_io_array_pack(array, false); /* as it will be loaded */
}

/* HDF5 users write absolute paths, "/train/X"; names are stored without the leading slash. */
hd_io_variable *hd_io_container_find(const hd_io_container *container, const char *name) {
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
    /* Eight bytes are reserved for the separator, "..." and the zero. */
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

/* Names come from the command line; a very long one is cut so that the list still fits the
 * message. */
static huddle_status no_such_name(const hd_io_container *container, const char *name) {
    char names[400];
    list_names(container, names, sizeof names);
    return hd_fail(HUDDLE_INVALID, "no variable named '%.200s'; the file contains %s", name, names);
}

static huddle_status no_conventional_name(const hd_io_container *container, const char *what) {
    char names[400];
    list_names(container, names, sizeof names);
    return hd_fail(HUDDLE_INVALID,
                   "no variable has a conventional name for %s; the file contains %s", what, names);
}

/* What separates the parts of a name: train/data, or train.data in a MATLAB struct. */
static char folder_sign(const hd_io_container *container) {
    return container->dotted ? '.' : '/';
}

/* The length of "train/" in "train/data": labels are looked for in the same folder. */
static int64_t folder_length(const hd_io_container *container, const char *name) {
    const char *sign = strrchr(name, folder_sign(container));
    return sign == NULL ? 0 : sign - name + 1;
}

/* The number of folders (HDF5 groups, structs) around a name. */
static int64_t folder_depth(const hd_io_container *container, const char *name) {
    int64_t signs = 0;
    for (; *name != '\0'; name++)
        signs += *name == folder_sign(container);
    return signs;
}

/* At most one dimension is not 1. Texts count as a vector too: they can be labels. */
static bool is_vector(const hd_io_variable *variable) {
    int32_t long_axes = 0;
    for (int32_t k = 0; k < variable->array.rank; k++)
        long_axes += variable->array.dims[k] != 1;
    return variable->kind != HD_IO_SPARSE && variable->kind != HD_IO_OTHER &&
           variable->array.rank > 0 && long_axes <= 1;
}

/* A part belongs to another variable, as the index arrays of a sparse matrix do, and is never
 * the points by itself. */
static bool may_be_points(const hd_io_variable *variable) {
    if (variable->part)
        return false;
    return variable->kind == HD_IO_SPARSE ||
           (variable->kind == HD_IO_ARRAY && variable->array.rank > 0);
}

/* ---- choosing the points -------------------------------------------------------------------- */

/* The list refers to variables of the container, which does not grow any more. */
static huddle_status add_part(hd_io_parts *chosen, hd_io_variable *variable) {
    if (!hd_grow(&chosen->items, &chosen->capacity, chosen->count + 1, sizeof *chosen->items))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld names", (long long)chosen->count + 1);
    chosen->items[chosen->count++] = variable;
    return HUDDLE_OK;
}

/* The variable whose last name is `name` in the fewest folders, so that /X wins over
 * /backup/X. One that cannot be read is found too, so that the user gets the reason instead of
 * "no such variable". *rival is another one at the same depth: the choice would be arbitrary. */
static hd_io_variable *find_conventional(const hd_io_container *container, const char *name,
                                         bool any_case, hd_io_variable **rival) {
    hd_io_variable *best = NULL;
    *rival = NULL;
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        const char *last = v->name + folder_length(container, v->name);
        if (!(may_be_points(v) || v->kind == HD_IO_OTHER) ||
            !(any_case ? hd_same_word(last, name) : strcmp(last, name) == 0))
            continue;
        if (best == NULL ||
            folder_depth(container, v->name) < folder_depth(container, best->name)) {
            best = v;
            *rival = NULL;
        } else if (folder_depth(container, v->name) == folder_depth(container, best->name)) {
            *rival = v;
        }
    }
    return best;
}

/* The only array that is not a vector; if all are vectors, the only one. A variable named like
 * labels is never taken for points. */
static hd_io_variable *find_only(const hd_io_container *container) {
    hd_io_variable *table = NULL, *vector = NULL;
    int64_t tables = 0, vectors = 0;
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        if (!may_be_points(v) ||
            hd_io_label_name_rank(v->name + folder_length(container, v->name)) >= 0)
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

/* Exact spelling is tried with every name before any other case is: a file may contain both X
 * and x. Without a conventional name the points are the only array that can be meant. The last
 * messages name the obstacle if the file contains a single variable. */
static huddle_status find_points(const hd_io_container *container, bool hints_as_flags,
                                 hd_io_variable **found) {
    for (int any_case = 0; any_case < 2; any_case++)
        for (const char *const *name = point_names; *name != NULL; name++) {
            hd_io_variable *rival;
            *found = find_conventional(container, *name, any_case, &rival);
            if (rival != NULL)
                return hd_fail(HUDDLE_INVALID,
                               "ambiguous: '%.200s' or '%.200s' could be the points; select one or "
                               "more arrays with %s",
                               (*found)->name, rival->name, hints_as_flags ? "--x" : "x");
            if (*found != NULL)
                return HUDDLE_OK;
        }
    *found = find_only(container);
    if (*found != NULL)
        return HUDDLE_OK;
    if (container->count == 1 && container->variables[0].kind == HD_IO_OTHER)
        return hd_fail(HUDDLE_UNSUPPORTED, "'%s' %s", container->variables[0].name,
                       container->variables[0].refusal);
    if (container->count == 1 && container->variables[0].kind == HD_IO_TEXTS)
        return hd_fail(HUDDLE_INVALID, "'%s' contains text, not numbers",
                       container->variables[0].name);
    return no_conventional_name(container, "points");
}

/* The points may be several variables, which are stacked in the order given. All are checked
 * before anything is read. The features of a model are names of columns, which only a table has,
 * not of variables. */
static huddle_status choose_points(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = r->request->options;
    hd_io_container *container = r->container;
    hd_io_parts *points = &r->points;
    hd_io_variable *found = NULL;
    int64_t n_x = options->x_by_name ? 0 : options->n_x;
    if (n_x == 0) {
        TRY(find_points(container, options->hints_as_flags, &found));
        TRY(add_part(points, found));
    }
    for (int64_t k = 0; k < n_x; k++) {
        found = hd_io_container_find(container, options->x[k]);
        if (found == NULL)
            TRY(no_such_name(container, options->x[k]));
        TRY(add_part(points, found));
    }
    if (points->items == NULL) /* only if n_x is negative */
        FAIL(HUDDLE_INVALID, "n_x = %lld must not be negative", (long long)options->n_x);
    /* Found or named, the points must be numbers. A variable that cannot be read reports its
     * own reason. */
    for (int64_t k = 0; k < points->count; k++) {
        found = points->items[k];
        if (found->kind == HD_IO_OTHER)
            TRY(hd_io_variable_load(container, found)); /* reports why not */
        if (!may_be_points(found))
            FAIL(HUDDLE_INVALID, "'%s' is not an array of numbers", found->name);
    }
done:
    return status;
}

/* ---- choosing the labels -------------------------------------------------------------------- */

/* Which of two variables has the name that suits labels better; the names begin after `folder`
 * bytes. The first of equals; NULL, which is none, if the second does not suit at all. */
static hd_io_variable *better_name(hd_io_variable *best, hd_io_variable *other, int64_t folder) {
    int32_t rank = hd_io_label_name_rank(other->name + folder);
    bool better = rank >= 0 && (best == NULL || rank < hd_io_label_name_rank(best->name + folder));
    return better ? other : best;
}

/* The vector with a conventional name in the same folder as the points. */
static hd_io_variable *find_labels_beside(const hd_io_container *container,
                                          const hd_io_variable *points) {
    hd_io_variable *best = NULL;
    int64_t folder = folder_length(container, points->name);
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        if (v != points && is_vector(v) && folder_length(container, v->name) == folder &&
            strncmp(v->name, points->name, (size_t)folder) == 0)
            best = better_name(best, v, folder);
    }
    return best;
}

/* A variable that cannot be read is passed on to hd_io_variable_load(), which reports why. */
huddle_status hd_io_container_check_labels(const hd_io_variable *variable) {
    if (variable->kind == HD_IO_OTHER || is_vector(variable))
        return HUDDLE_OK;
    return hd_fail(HUDDLE_INVALID, "'%s' is %lld x %lld, not one label for each sample",
                   variable->name, (long long)variable->array.dims[0],
                   (long long)variable->array.dims[1]);
}

/* Labels of a vector of any type, as long as every value is a whole number: MATLAB stores them
 * as doubles. The message counts labels from 1, as editors count lines. */
static huddle_status take_numbers(const hd_io_array *array, int64_t n, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    double value;
    ALLOC(labels->numbers, n);
    labels->n = n;
    for (int64_t i = 0; i < n; i++)
        if (!hd_io_array_whole(array, i, &labels->numbers[i], &value))
            FAIL(HUDDLE_INVALID, "label %lld is %g, which is not a whole number",
                 (long long)(array->first + i) + 1, value);
done:
    return status;
}

/* Labels of several variables (train and test) are appended in order. The variable is unloaded
 * at once, because the points still have to fit into memory. */
huddle_status hd_io_container_append(hd_io_container *container, hd_io_variable *variable,
                                     hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels part = {0};
    TRY(hd_io_container_check_labels(variable));
    TRY(hd_io_variable_load(container, variable));
    if (variable->kind == HD_IO_TEXTS) {
        TRY(hd_io_labels_append(labels, &variable->texts));
        goto done;
    }
    status = take_numbers(&variable->array, hd_io_variable_count(variable), &part);
    if (status == HUDDLE_INVALID)
        status = hd_fail_at(status, "'%s'", variable->name);
    TRY(status);
    TRY(hd_io_labels_append(labels, &part));
done:
    hd_io_variable_unload(container, variable);
    hd_io_labels_free(&part);
    return status;
}

/* A name that is no variable of the container may be a file that contains the labels. */
static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

huddle_status hd_io_labels_from_files(hd_io_request *request, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels part = {0};
    for (int64_t k = 0; k < request->options->n_y; k++) {
        TRY(hd_io_located(request, hd_io_labels_read_raw(request->context, request->options->y[k],
                                                         request->clusters, &part)));
        TRY(hd_io_labels_append(labels, &part));
        hd_io_labels_free(&part);
    }
done:
    hd_io_labels_free(&part);
    return status;
}

/* Every name is looked up before any is read, so that a typing error is reported at once. */
static huddle_status find_given_labels(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = r->request->options;
    int64_t files = 0;
    for (int64_t k = 0; k < options->n_y; k++) {
        hd_io_variable *found = hd_io_container_find(r->container, options->y[k]);
        if (found != NULL)
            TRY(add_part(&r->labels, found));
        else if (is_file(options->y[k]))
            files++;
        else
            TRY(no_such_name(r->container, options->y[k]));
    }
    /* Mixing both would leave the order of the labels open. */
    if (r->labels.count > 0 && files > 0)
        FAIL(HUDDLE_INVALID, "some of y are names in it and some are files");
    r->label_files = files > 0;
done:
    return status;
}

/* Without y, labels are used only if each part of the points has its own beside it: labels for some
 * of the rows would be useless. */
static huddle_status choose_labels(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    const hd_io_parts *points = &r->points;
    if (hd_io_labels_unwanted(r->request->options))
        return status;
    if (r->request->options->n_y > 0)
        return find_given_labels(r);
    for (int64_t k = 0; k < points->count; k++)
        if (find_labels_beside(r->container, points->items[k]) == NULL)
            return status;
    for (int64_t k = 0; k < points->count; k++)
        TRY(add_part(&r->labels, find_labels_beside(r->container, points->items[k])));
done:
    return status;
}

/* ---- the whole container -------------------------------------------------------------------- */

/* The labels of one file may be the numbers "1", "2", ... as texts: simplifying them first
 * makes classes sort as numbers and marks them as numeric. */
huddle_status hd_io_data_set_labels(hd_io_request *request, huddle_data *data,
                                    hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    if (labels->n != data->points.n) {
        request->failing_path = request->options->y[0];
        FAIL(HUDDLE_INVALID, "there are %lld labels for %lld samples", (long long)labels->n,
             (long long)data->points.n);
    }
    TRY(hd_io_labels_simplify(labels));
    data->classes_numeric = labels->texts == NULL;
    TRY(hd_io_labels_map(labels, &data->labels, &data->n_classes, &data->classes));
done:
    return status;
}

/* One element more than needed, so that an empty list is not NULL. */
static huddle_status copy_names(const hd_io_container *container, char ***names, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(*names, container->count + 1);
    for (int64_t k = 0; k < container->count; k++) {
        /* The parts of a sparse matrix are not shown: the matrix is. */
        if (container->variables[k].part)
            continue;
        TRY(hd_io_copy_text(container->variables[k].name, "a name", &(*names)[*count]));
        ++*count;
    }
done:
    return status;
}

huddle_status hd_io_container_choose(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    r->data->format = r->container->format;
    TRY(copy_names(r->container, &r->data->names, &r->data->n_names));
    TRY(choose_points(r));
    TRY(choose_labels(r));
done:
    return status;
}

void hd_io_chosen_free(hd_io_chosen *r) {
    FREE(r->points.items, r->labels.items);
    hd_io_intake_free(&r->intake);
}

/* Labels are read before the points: their number decides which axis of the points counts the
 * samples. */
huddle_status hd_io_container_read(hd_io_request *request, hd_io_container *container,
                                   huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_chosen r = {.request = request, .container = container, .data = data};
    hd_io_labels labels = {0};
    TRY(hd_io_container_choose(&r));
    if (r.label_files)
        TRY(hd_io_labels_from_files(request, &labels));
    for (int64_t k = 0; k < r.labels.count; k++)
        TRY(hd_io_container_append(container, r.labels.items[k], &labels));
    TRY(hd_io_parts_orient(&r, labels.n > 0 ? labels.n : -1));
    TRY(hd_io_parts_read(&r));
    TRY(hd_io_parts_image_size(&r));
    if (labels.n > 0)
        TRY(hd_io_data_set_labels(request, data, &labels));
done:
    hd_io_labels_free(&labels);
    hd_io_chosen_free(&r);
    return status;
}

/* A file that is read for its labels alone contains perhaps one vector under any name; a
 * conventional name wins over that. */
huddle_status hd_io_container_find_labels(const hd_io_container *container,
                                          hd_io_variable **variable) {
    hd_io_variable *best = NULL, *only = NULL;
    int64_t vectors = 0;
    /* Several vectors without a conventional name are ambiguous, so the second one rules out
     * this way. */
    for (int64_t k = 0; k < container->count; k++) {
        hd_io_variable *v = &container->variables[k];
        best = better_name(best, v, 0);
        vectors += is_vector(v);
        only = is_vector(v) ? v : only;
    }
    *variable = best == NULL && vectors == 1 ? only : best;
    return *variable != NULL ? HUDDLE_OK : no_conventional_name(container, "labels");
}

huddle_status hd_io_container_list(const hd_io_container *container, huddle_listing *listing) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *points;
    int64_t at = 0;
    TRY(copy_names(container, &listing->names, &listing->count));
    ALLOC_ZERO(listing->dims, container->count + 1);
    for (int64_t k = 0; k < container->count; k++) {
        const hd_io_variable *v = &container->variables[k];
        for (int32_t i = 0; !v->part && i < v->array.rank && i < HD_IO_MAX_RANK; i++)
            listing->dims[at][i] = v->array.dims[i];
        at += !v->part;
    }
    /* The listing is informative even where the points are ambiguous; a failure only clears
     * the flag. */
    listing->has_points = find_points(container, false, &points) == HUDDLE_OK;
done:
    return status;
}

huddle_status hd_io_container_matrix(hd_io_container *container, hd_io_variable **variable) {
    huddle_status status = find_points(container, false, variable);
    return status == HUDDLE_OK ? hd_io_variable_load(container, *variable) : status;
}
