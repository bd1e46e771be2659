/* The arrays inside a fit, by name. */
#include "model/model.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

static huddle_array dense_view(const huddle_dense *m) {
    return (huddle_array){m->values == NULL ? HUDDLE_ARRAY_NONE : HUDDLE_ARRAY_F64,
                          m->rows,
                          m->cols,
                          m->stride,
                          m->values,
                          NULL,
                          NULL};
}

static huddle_array csr_view(const huddle_csr *m) {
    return (huddle_array){m->offsets == NULL ? HUDDLE_ARRAY_NONE : HUDDLE_ARRAY_CSR,
                          m->rows,
                          m->cols,
                          0,
                          m->values,
                          m->offsets,
                          m->columns};
}

static huddle_array vector_view(huddle_array_type type, int64_t n, const void *values) {
    return (huddle_array){values == NULL ? HUDDLE_ARRAY_NONE : type, n, 1, 1, values, NULL, NULL};
}

static huddle_array points_view(const hd_fit *fit) {
    const huddle_points *x = &fit->points;
    if (x->values == NULL || x->offsets != NULL)
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_F32, x->n, x->d, x->stride, x->values, NULL, NULL};
}

static huddle_array graph_view(const hd_fit *fit) {
    return csr_view(&fit->graph);
}

static huddle_array embedding_view(const hd_fit *fit) {
    return dense_view(&fit->embedding.rows);
}

static huddle_array eigenvalues_view(const hd_fit *fit) {
    return vector_view(HUDDLE_ARRAY_F64, fit->embedding.n_eigenvalues, fit->embedding.eigenvalues);
}

static huddle_array shrink_graph_view(const hd_fit *fit) {
    return csr_view(&fit->shrink_graph);
}

static huddle_array shrunk_view(const hd_fit *fit) {
    return dense_view(&fit->shrunk.g);
}

static huddle_array groups_view(const hd_fit *fit) {
    return vector_view(HUDDLE_ARRAY_I32, fit->n, fit->shrunk.group);
}

static huddle_array labels_view(const hd_fit *fit) {
    return vector_view(HUDDLE_ARRAY_I32, fit->n, fit->labels);
}

static huddle_array centres_view(const hd_fit *fit) {
    return dense_view(&fit->centres);
}

static huddle_array objective_view(const hd_fit *fit) {
    return vector_view(HUDDLE_ARRAY_F64, fit->shrink_info.n_history,
                       fit->shrink_info.history_objective);
}

static huddle_array dual_view(const hd_fit *fit) {
    return vector_view(HUDDLE_ARRAY_F64, fit->shrink_info.n_history, fit->shrink_info.history_dual);
}

static huddle_array range_labels_view(const hd_fit *fit) {
    huddle_array view = vector_view(HUDDLE_ARRAY_I32, hd_fit_rows(fit), fit->trial_labels);
    view.cols = view.stride = fit->n_trials;
    return view;
}

static huddle_array start_labels_view(const hd_fit *fit) {
    huddle_array view = vector_view(HUDDLE_ARRAY_I32, fit->n, fit->kmeans_info.start_labels);
    view.rows = fit->kmeans_info.n_restarts;
    view.cols = view.stride = fit->n;
    return view;
}

static const struct {
    const char *name;
    huddle_array (*view)(const hd_fit *fit);
    bool per_row; /* has rows that a merged fit has to spread */
} arrays[] = {
    {"points", points_view, true},
    {"graph", graph_view, true},
    {"embedding", embedding_view, true},
    {"eigenvalues", eigenvalues_view, false},
    {"shrink_graph", shrink_graph_view, true},
    {"shrunk", shrunk_view, true},
    {"groups", groups_view, true},
    {"labels", labels_view, true},
    {"centres", centres_view, false},
    {"objective", objective_view, false},
    {"dual", dual_view, false},
    {"range_labels", range_labels_view, false},
    {"start_labels", start_labels_view, true},
};

enum { N_ARRAYS = sizeof arrays / sizeof *arrays };

const char *const *huddle_model_arrays(huddle_model *model) {
    static const char *const none[] = {NULL};
    if (model->array_names == NULL)
        model->array_names = hd_alloc_zero(N_ARRAYS + 1, sizeof *model->array_names);
    if (model->array_names == NULL)
        return none;
    int count = 0;
    for (int i = 0; i < N_ARRAYS; i++)
        if (arrays[i].view(&model->fit).type != HUDDLE_ARRAY_NONE)
            model->array_names[count++] = arrays[i].name;
    model->array_names[count] = NULL;
    return model->array_names;
}

/* "no array named 'x'; there are labels, centres". */
static huddle_status no_such_array(const huddle_model *model, const char *name) {
    char list[512] = "";
    for (int i = 0; i < N_ARRAYS; i++) {
        if (arrays[i].view(&model->fit).type == HUDDLE_ARRAY_NONE)
            continue;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length == 0 ? "" : ", ",
                 arrays[i].name);
    }
    return hd_fail(HUDDLE_INVALID, "no array named '%s'; there are %s", name,
                   list[0] == '\0' ? "none yet" : list);
}

huddle_array hd_array_view(const hd_fit *fit, const char *name) {
    for (int i = 0; i < N_ARRAYS; i++)
        if (strcmp(arrays[i].name, name) == 0)
            return arrays[i].view(fit);
    return (huddle_array){0};
}

huddle_status huddle_model_array(const huddle_model *model, const char *name, huddle_array *view) {
    *view = hd_array_view(&model->fit, name);
    if (view->type == HUDDLE_ARRAY_NONE) {
        memset(view, 0, sizeof *view);
        return no_such_array(model, name);
    }
    for (int i = 0; i < N_ARRAYS && model->all_rows != NULL; i++)
        if (strcmp(arrays[i].name, name) == 0 && arrays[i].per_row)
            return hd_all_rows_get(&model->fit, model->all_rows, name, view);
    return HUDDLE_OK;
}
