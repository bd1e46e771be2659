/* The arrays of a fit, by name. Views are borrowed: they are valid until the model is fitted again
 * or freed. Which arrays exist depends on the method; src/fit/fit.c lists them.
 * Merging is an implementation detail that users do not see: every array has as many rows as x. */
#include "model/model.h"

#include "base/check.h"
#include "matrix/insert.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* An array with a row for each row of x; a view of type HUDDLE_ARRAY_NONE: not made yet. */
typedef struct expanded {
    void *values;
    huddle_csr graph;
    huddle_array view;
} expanded;

/* Arrays are expanded when they are first requested, as most never are. Labels are expanded at
 * once, because huddle_model_labels() cannot fail. */
struct hd_model_rows {
    pthread_mutex_t lock;
    expanded items[HD_FIT_N_ARRAYS]; /* in the order of hd_fit_arrays */
};

static void expanded_free(expanded *item) {
    huddle_free(item->values);
    huddle_csr_free(&item->graph);
    memset(item, 0, sizeof *item);
}

/* ---- rows and columns ------------------------------------------------------------------------ */

static huddle_status expand_rows(const hd_fit_rows *rows, const huddle_array *from,
                                 expanded *item) {
    huddle_status status = HUDDLE_OK;
    int64_t n = hd_fit_rows_total(rows), size = from->type == HUDDLE_ARRAY_F64 ? 8 : 4;
    int64_t row_size = from->cols * size; /* in bytes */
    const char *values = from->values;
    char *to = NULL;
    ALLOC(to, n * row_size);
    item->values = to;
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * row_size, values + hd_fit_rows_node(rows, i) * from->stride * size,
               (size_t)row_size);
    item->view = (huddle_array){from->type, n, from->cols, from->cols, to, NULL, NULL};
done:
    return status;
}

/* Labels of restarts, one in each row. */
static huddle_status expand_columns(const hd_fit_rows *rows, const huddle_array *from,
                                    expanded *item) {
    huddle_status status = HUDDLE_OK;
    int64_t n = hd_fit_rows_total(rows);
    const int32_t *labels = from->values;
    int32_t *to = NULL;
    ALLOC(to, from->rows * n);
    item->values = to;
    for (int64_t r = 0; r < from->rows; r++)
        for (int64_t i = 0; i < n; i++)
            to[r * n + i] = labels[r * from->stride + hd_fit_rows_node(rows, i)];
    item->view = (huddle_array){from->type, from->rows, n, n, to, NULL, NULL};
done:
    return status;
}

huddle_status hd_model_expand_points(const hd_fit *fit, const huddle_points *points,
                                     huddle_points *to) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL, n = hd_fit_rows_total(&fit->rows);
    ALLOC(index, n);
    for (int64_t i = 0; i < n; i++)
        index[i] = hd_fit_rows_node(&fit->rows, i);
    TRY(huddle_points_take(points, index, n, to));
done:
    huddle_free(index);
    return status;
}

/* ---- graphs -------------------------------------------------------------------------------- */

/* The weight of the edge between a node and one of its copies in an expanded graph.
 *
 * In A the loop of a node is divided among the edges to its copies, each of which counts at both
 * ends, so that volumes and cuts are those of the merged graph. In W the edge is twice as heavy as
 * the largest force that could ever act on one of the m copies, the sum of all edges of the node
 * divided by m. A copy then stays with its node at any gamma, and the shrink problem of all rows
 * has the objective and the optimum of the weighted problem that was solved. */
static double copy_weight(const hd_fit_rows *rows, const huddle_csr *graph, int64_t node,
                          bool shrink) {
    double sum = 0, loop = 0, m = (double)rows->nodes.copies[node];
    for (int64_t e = graph->offsets[node]; e < graph->offsets[node + 1]; e++) {
        sum += graph->columns[e] != node ? graph->values[e] : 0;
        loop += graph->columns[e] == node ? graph->values[e] : 0;
    }
    double weight = shrink ? 2 * sum / m : loop / (2 * (m - 1));
    return weight > 0 ? weight : 1;
}

/* Sets the offsets of the expanded graph: the first row of each node has the edges of the node
 * and one to each copy, every other row one edge, to the first. ends[i] becomes the beginning of
 * row i. */
static void set_offsets(const huddle_distinct *nodes, const huddle_csr *from, huddle_csr *to,
                        int64_t *ends) {
    for (int64_t i = 0; i < nodes->n; i++) {
        int32_t v = nodes->of[i];
        int64_t size = 1;
        if (nodes->first[v] == i) {
            size = nodes->copies[v] - 1;
            for (int64_t e = from->offsets[v]; e < from->offsets[v + 1]; e++)
                size += from->columns[e] != v;
        }
        ends[i] = to->offsets[i];
        to->offsets[i + 1] = to->offsets[i] + size;
    }
}

static void insert_edge(huddle_csr *graph, int64_t *ends, int64_t row, int64_t column,
                        double weight) {
    hd_csr_insert(graph, row, &ends[row], (int32_t)column, weight);
}

/* Copies form a star around the first row instead of a complete graph: a value with a million
 * copies would otherwise have 10^12 edges. */
static huddle_status expand_graph(const hd_fit_rows *rows, const huddle_csr *from, bool shrink,
                                  huddle_csr *to) {
    huddle_status status = HUDDLE_OK;
    const huddle_distinct *nodes = &rows->nodes;
    int64_t *ends = NULL, n = nodes->n;
    /* At most: the loops on the diagonal are not copied. Each copy adds one edge, stored twice. */
    TRY(huddle_csr_new(n, n, from->offsets[rows->n] + 2 * (n - nodes->count), to));
    ALLOC(ends, n);
    set_offsets(nodes, from, to, ends);
    for (int64_t v = 0; v < nodes->count; v++)
        for (int64_t e = from->offsets[v]; e < from->offsets[v + 1]; e++)
            if (from->columns[e] != v)
                insert_edge(to, ends, nodes->first[v], nodes->first[from->columns[e]],
                            from->values[e]);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = nodes->of[i], first = nodes->first[v];
        if (first == i)
            continue;
        double weight = copy_weight(rows, from, v, shrink);
        insert_edge(to, ends, first, i, weight);
        insert_edge(to, ends, i, first, weight);
    }
done:
    huddle_free(ends);
    return status;
}

/* ---- by name ------------------------------------------------------------------------------- */

static huddle_status expand_array(const hd_fit *fit, const hd_fit_array *array, expanded *item) {
    huddle_status status = HUDDLE_OK;
    huddle_array from = hd_fit_view(fit, array);
    bool shrink = array->expansion == HD_FIT_EXPAND_SHRINK;
    if (array->expansion == HD_FIT_EXPAND_ROWS) {
        TRY(expand_rows(&fit->rows, &from, item));
    } else if (array->expansion == HD_FIT_EXPAND_COLS) {
        TRY(expand_columns(&fit->rows, &from, item));
    } else {
        TRY(expand_graph(&fit->rows, shrink ? &fit->shrunk.w.matrix : &fit->graph.matrix, shrink,
                         &item->graph));
        item->view = hd_fit_view_csr(&item->graph);
    }
done:
    if (status != HUDDLE_OK)
        expanded_free(item);
    return status;
}

/* ---- all expanded arrays ------------------------------------------------------------------- */

void hd_model_rows_free(hd_model_rows *rows) {
    if (rows == NULL)
        return;
    for (int k = 0; k < HD_FIT_N_ARRAYS; k++)
        expanded_free(&rows->items[k]);
    pthread_mutex_destroy(&rows->lock);
    huddle_free(rows);
}

static expanded *item_of(hd_model_rows *rows, const hd_fit_array *array) {
    return &rows->items[array - hd_fit_arrays];
}

huddle_status hd_model_rows_new(const hd_fit *fit, hd_model_rows **rows) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_array *labels = hd_fit_find_array("labels");
    hd_model_rows *made = NULL;
    *rows = NULL;
    if (fit->rows.nodes.n == 0)
        return status;
    ALLOC_ZERO(made, 1);
    pthread_mutex_init(&made->lock, NULL);
    TRY(expand_array(fit, labels, item_of(made, labels)));
    *rows = made;
    made = NULL;
done:
    hd_model_rows_free(made);
    return status;
}

const int32_t *hd_model_rows_labels(hd_model_rows *rows) {
    return item_of(rows, hd_fit_find_array("labels"))->view.values;
}

/* A view of an array of the fit with a row for each row of x. Safe to call from several threads. */
static huddle_status view_expanded(const hd_fit *fit, hd_model_rows *rows,
                                   const hd_fit_array *array, huddle_array *view) {
    huddle_status status = HUDDLE_OK;
    expanded *item = item_of(rows, array);
    pthread_mutex_lock(&rows->lock);
    if (item->view.type == HUDDLE_ARRAY_NONE)
        status = expand_array(fit, array, item);
    *view = item->view;
    pthread_mutex_unlock(&rows->lock);
    return status;
}

/* ---- all arrays ---------------------------------------------------------------------------- */

/* Views are cheap: they copy nothing, even if an engine keeps the array. */
static bool has_array(const huddle_model *model, const hd_fit_array *array) {
    return hd_fit_view(&model->fit, array).type != HUDDLE_ARRAY_NONE;
}

/* The list belongs to the model and is overwritten by the next call. */
const char *const *huddle_model_arrays(huddle_model *model) {
    static const char *const none[] = {NULL};
    int count = 0;
    if (model->array_names == NULL)
        model->array_names = hd_alloc_zero(HD_FIT_N_ARRAYS + 1, sizeof *model->array_names);
    if (model->array_names == NULL)
        return none;
    for (int k = 0; k < HD_FIT_N_ARRAYS; k++)
        if (has_array(model, &hd_fit_arrays[k]))
            model->array_names[count++] = hd_fit_arrays[k].name;
    model->array_names[count] = NULL;
    return model->array_names;
}

/* "no array named 'x'; there are labels, centres". */
static huddle_status no_such_array(const huddle_model *model, const char *name) {
    char list[512] = "";
    for (int k = 0; k < HD_FIT_N_ARRAYS; k++) {
        size_t length = strlen(list);
        if (has_array(model, &hd_fit_arrays[k]))
            snprintf(list + length, sizeof list - length, "%s%s", length == 0 ? "" : ", ",
                     hd_fit_arrays[k].name);
    }
    return hd_fail(HUDDLE_INVALID, "no array named '%s'; there are %s", name,
                   list[0] == '\0' ? "none yet" : list);
}

/* An array that an engine keeps is copied to the host only here, when it is asked for. */
huddle_status huddle_model_array(const huddle_model *model, const char *name, huddle_array *view) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_array *array = hd_fit_find_array(name);
    *view = (huddle_array){0};
    if (array != NULL)
        TRY(hd_fit_fetch_array(&model->fit, array));
    if (array == NULL || !has_array(model, array))
        return no_such_array(model, name);
    if (model->all_rows != NULL && array->expansion != HD_FIT_KEEP)
        TRY(view_expanded(&model->fit, model->all_rows, array, view));
    else
        *view = hd_fit_view(&model->fit, array);
done:
    return status;
}
