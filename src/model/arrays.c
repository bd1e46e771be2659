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
    huddle_array view = vector_view(HUDDLE_ARRAY_I32, fit->n, fit->trial_labels);
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
} arrays[] = {
    {"points", points_view},
    {"graph", graph_view},
    {"embedding", embedding_view},
    {"eigenvalues", eigenvalues_view},
    {"shrink_graph", shrink_graph_view},
    {"shrunk", shrunk_view},
    {"groups", groups_view},
    {"labels", labels_view},
    {"centres", centres_view},
    {"objective", objective_view},
    {"dual", dual_view},
    {"range_labels", range_labels_view},
    {"start_labels", start_labels_view},
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

huddle_status huddle_model_get(const huddle_model *model, const char *name, huddle_array *view) {
    for (int i = 0; i < N_ARRAYS; i++)
        if (strcmp(arrays[i].name, name) == 0) {
            *view = arrays[i].view(&model->fit);
            if (view->type != HUDDLE_ARRAY_NONE)
                return HUDDLE_OK;
        }
    memset(view, 0, sizeof *view);
    return no_such_array(model, name);
}
