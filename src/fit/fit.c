/* Everything that is done with all parts alike: freeing, saving and loading, checks, arrays by
 * name, and the info. */
#include "fit/fit.h"

#include "base/check.h"
#include "matrix/resident.h"

#include <stddef.h>
#include <string.h>

/* In the order of the data flow, which is also that of the info. Loading relies on it: the rows
 * come first, because their number is the length of most other arrays. */
static const hd_fit_part *const parts[] = {
    &hd_fit_part_rows,      &hd_fit_part_prepared, &hd_fit_part_graph,    &hd_fit_part_views,
    &hd_fit_part_embedding, &hd_fit_part_shrunk,   &hd_fit_part_clusters, &hd_fit_part_mixture,
    &hd_fit_part_encoder,   &hd_fit_part_refined,  &hd_fit_part_trials,
};

enum { N_PARTS = sizeof parts / sizeof *parts };

/* Scores belong to no part: they are computed after the fit, from all of it. */
static void walk_scores(hd_walk *walk, hd_fit *fit) {
    hd_walk_bool(walk, "scored", &fit->scored);
    hd_walk_real(walk, "score_silhouette", &fit->scores.silhouette);
    hd_walk_real(walk, "score_ncut", &fit->scores.ncut);
    hd_walk_real(walk, "score_stability", &fit->scores.stability);
}

void hd_fit_walk(hd_walk *walk, hd_fit *fit) {
    for (int k = 0; k < N_PARTS; k++)
        parts[k]->walk(walk, fit);
    walk_scores(walk, fit);
}

void hd_fit_free(hd_fit *fit) {
    hd_walk walk = {.mode = HD_WALK_FREE};
    hd_fit_walk(&walk, fit);
    hd_warnings_free(&fit->warnings);
    huddle_free(fit->texts);
    memset(fit, 0, sizeof *fit);
}

/* What is absent gets none. */
void hd_fit_offer(const huddle_context *context, hd_fit *fit) {
    huddle_dense *rows[] = {&fit->embedding.f.rows, &fit->shrunk.g.g};
    huddle_csr *graphs[] = {&fit->graph.matrix, &fit->shrunk.w.matrix};
    if (hd_points_present(&fit->prepared.points))
        hd_resident_offer(context, &fit->prepared.points.resident);
    for (int k = 0; k < 2; k++) {
        if (hd_dense_present(rows[k]))
            hd_resident_offer(context, &rows[k]->resident);
        if (hd_csr_present(graphs[k]))
            hd_resident_offer(context, &graphs[k]->resident);
    }
}

void hd_fit_release_graphs(hd_fit *fit) {
    huddle_csr *graphs[] = {&fit->graph.matrix, &fit->shrunk.w.matrix};
    for (int k = 0; k < 2; k++)
        if (!hd_csr_away(graphs[k]))
            hd_resident_release(&graphs[k]->resident);
}

huddle_status hd_fit_lacks(const char *name) {
    return hd_fail(HUDDLE_FORMAT, "the model file is damaged: %s is missing", name);
}

/* All sizes are checked before any content: the content of one part is checked by reading other
 * parts, which must have the sizes they claim. */
huddle_status hd_fit_check(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    for (int k = 0; k < N_PARTS; k++)
        TRY(parts[k]->fits(fit));
    for (int k = 0; k < N_PARTS; k++)
        if (parts[k]->check != NULL)
            TRY(parts[k]->check(fit));
done:
    return status;
}

/* ---- arrays -------------------------------------------------------------------------------- */

/* A matrix that only an engine keeps has no values yet; the view still has its type and shape, so
 * that the array is listed. */
static huddle_array view_dense(const huddle_dense *m) {
    if (!hd_dense_present(m))
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_F64, m->rows, m->cols, m->stride, m->values, NULL, NULL};
}

huddle_array hd_fit_view_csr(const huddle_csr *m) {
    if (!hd_csr_present(m))
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_CSR, m->rows, m->cols, 0, m->values, m->offsets, m->columns};
}

static huddle_array view_vector(huddle_array_type type, int64_t n, const void *values) {
    if (values == NULL)
        return (huddle_array){0};
    return (huddle_array){type, n, 1, 1, values, NULL, NULL};
}

/* Sparse points are not offered as an array: there is no array type for them. */
static huddle_array view_points(const huddle_points *x) {
    if (!hd_points_present(x) || x->offsets != NULL)
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_F32, x->n, x->d, x->stride, x->values, NULL, NULL};
}

/* One row per restart. */
static huddle_array view_starts(const hd_fit *fit) {
    const huddle_kmeans_info *info = &fit->clusters.kmeans;
    huddle_array view = view_vector(HUDDLE_ARRAY_I32, info->n_restarts, info->start_labels);
    view.cols = view.stride = fit->rows.n;
    return view;
}

/* One column per number of clusters, and a row for each row of x already. */
static huddle_array view_range(const hd_fit *fit) {
    int64_t n = hd_fit_rows_total(&fit->rows);
    huddle_array view = view_vector(HUDDLE_ARRAY_I32, n, fit->trials.labels);
    view.cols = view.stride = fit->trials.count;
    return view;
}

#define AT(member) offsetof(hd_fit, member)

/* In the order of the data flow, in which they are listed. */
const hd_fit_array hd_fit_arrays[] = {
    {"points", HD_FIT_EXPAND_ROWS, HD_FIT_POINTS, AT(prepared.points), 0, NULL},
    {"graph", HD_FIT_EXPAND_GRAPH, HD_FIT_CSR, AT(graph.matrix), 0, NULL},
    {"embedding", HD_FIT_EXPAND_ROWS, HD_FIT_DENSE, AT(embedding.f.rows), 0, NULL},
    {"eigenvalues", HD_FIT_KEEP, HD_FIT_REALS, AT(embedding.f.eigenvalues),
     AT(embedding.f.n_eigenvalues), NULL},
    {"shrink_graph", HD_FIT_EXPAND_SHRINK, HD_FIT_CSR, AT(shrunk.w.matrix), 0, NULL},
    {"shrunk", HD_FIT_EXPAND_ROWS, HD_FIT_DENSE, AT(shrunk.g.g), 0, NULL},
    {"groups", HD_FIT_EXPAND_ROWS, HD_FIT_LABELS, AT(shrunk.g.group), 0, NULL},
    {"objective", HD_FIT_KEEP, HD_FIT_REALS, AT(shrunk.info.history_objective),
     AT(shrunk.info.n_history), NULL},
    {"dual", HD_FIT_KEEP, HD_FIT_REALS, AT(shrunk.info.history_dual), AT(shrunk.info.n_history),
     NULL},
    {"labels", HD_FIT_EXPAND_ROWS, HD_FIT_LABELS, AT(clusters.labels), 0, NULL},
    {"centres", HD_FIT_KEEP, HD_FIT_DENSE, AT(clusters.centres), 0, NULL},
    {"start_labels", HD_FIT_EXPAND_COLS, HD_FIT_VIEWED, 0, 0, view_starts},
    {"unrefined_labels", HD_FIT_EXPAND_ROWS, HD_FIT_LABELS, AT(refined.own), 0, NULL},
    {"range_labels", HD_FIT_KEEP, HD_FIT_VIEWED, 0, 0, view_range},
};

huddle_array hd_fit_view(const hd_fit *fit, const hd_fit_array *array) {
    const void *at = (const char *)fit + array->offset;
    switch (array->storage) {
    case HD_FIT_DENSE:
        return view_dense(at);
    case HD_FIT_CSR:
        return hd_fit_view_csr(at);
    case HD_FIT_POINTS:
        return view_points(at);
    case HD_FIT_LABELS:
        return view_vector(HUDDLE_ARRAY_I32, fit->rows.n, *(int32_t *const *)at);
    case HD_FIT_REALS:
        return view_vector(HUDDLE_ARRAY_F64, *(const int32_t *)((const char *)fit + array->length),
                           *(double *const *)at);
    default:
        return array->view(fit);
    }
}

huddle_status hd_fit_fetch_array(const hd_fit *fit, const hd_fit_array *array) {
    const void *at = (const char *)fit + array->offset;
    switch (array->storage) {
    case HD_FIT_DENSE:
        return huddle_dense_fetch(at);
    case HD_FIT_CSR:
        return huddle_csr_fetch(at);
    case HD_FIT_POINTS:
        return huddle_points_fetch(at);
    default:
        return HUDDLE_OK;
    }
}

const hd_fit_array *hd_fit_find_array(const char *name) {
    for (int k = 0; k < HD_FIT_N_ARRAYS; k++)
        if (strcmp(hd_fit_arrays[k].name, name) == 0)
            return &hd_fit_arrays[k];
    return NULL;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Stages that did not run are left out, which a time of exactly 0 shows. */
void hd_fit_write_seconds(const hd_fit *fit, hd_json_writer *json) {
    hd_json_set_object(json, "seconds");
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        if (fit->stages.seconds[k] > 0)
            hd_json_set_real(json, hd_stage_name((hd_stage)k), fit->stages.seconds[k]);
    hd_json_set_real(json, "total", fit->seconds);
    hd_json_close_object(json);
}

/* What came from other processes; left out where there is one. */
void hd_fit_write_traffic(const hd_fit *fit, hd_json_writer *json) {
    if (fit->stages.processes <= 1)
        return;
    hd_json_set_object(json, "traffic");
    hd_json_set_integer(json, "processes", fit->stages.processes);
    for (int k = 0; k < HD_STAGE_COUNT; k++) {
        if (fit->stages.calls[k] == 0)
            continue;
        hd_json_set_object(json, hd_stage_name((hd_stage)k));
        hd_json_set_integer(json, "received", fit->stages.received[k]);
        hd_json_set_integer(json, "calls", fit->stages.calls[k]);
        hd_json_close_object(json);
    }
    hd_json_close_object(json);
}

hd_stage hd_fit_memory_peak(const hd_fit_memory *memory) {
    int largest = HD_STAGE_OTHER;
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        if (memory->stages[k] > memory->stages[largest])
            largest = k;
    return (hd_stage)largest;
}

/* Two numbers for each stage: what was predicted, and the arrays of the library that were measured
 * while it ran, both without what the process had before. */
static void write_stages(const hd_fit *fit, hd_json_writer *json) {
    hd_json_set_array(json, "stages");
    for (int k = 0; k < HD_STAGE_COUNT; k++) {
        if (fit->stages.seconds[k] <= 0)
            continue;
        hd_json_open_object(json);
        hd_json_set_string(json, "name", hd_stage_name((hd_stage)k));
        if (fit->memory.stages[k] > 0)
            hd_json_set_integer(json, "predicted", fit->memory.stages[k]);
        hd_json_set_integer(json, "arrays", fit->stages.peak[k] - fit->stages.live);
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
}

/* A fit of a given graph or embedding is not predicted and has no such member. */
void hd_fit_write_memory(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_memory *memory = &fit->memory;
    hd_stage peak = hd_fit_memory_peak(memory);
    hd_json_set_object(json, "memory");
    if (memory->stages[peak] > 0) {
        hd_json_set_integer(json, "predicted", memory->base + memory->stages[peak]);
        hd_json_set_string(json, "stage", hd_stage_name(peak));
    }
    if (memory->available < INT64_MAX)
        hd_json_set_integer(json, "limit", memory->base + memory->available);
    int64_t largest = 0;
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        largest = fit->stages.peak[k] > largest ? fit->stages.peak[k] : largest;
    hd_json_set_integer(json, "base", memory->base);
    hd_json_set_integer(json, "arrays", largest - fit->stages.live);
    hd_json_set_array(json, "leaner");
    for (int32_t k = 0; k < memory->n_economies; k++)
        hd_json_string(json, memory->economies[k]);
    hd_json_close_array(json);
    write_stages(fit, json);
    hd_json_close_object(json);
}

void hd_fit_write_scores(const hd_fit *fit, hd_json_writer *json) {
    hd_json_set_object(json, "internal");
    hd_json_set_real(json, "silhouette", fit->scores.silhouette);
    hd_json_set_real(json, "ncut", fit->scores.ncut);
    hd_json_set_real(json, "stability", fit->scores.stability);
    hd_json_close_object(json);
}

/* Part 0, the rows, is not included: its members are the first of the info, before the options.
 * Scores are written before the trials. */
void hd_fit_write_json(const hd_fit *fit, hd_json_writer *json) {
    for (int k = 1; k < N_PARTS; k++) {
        if (parts[k] == &hd_fit_part_trials && fit->scored)
            hd_fit_write_scores(fit, json);
        parts[k]->write_json(fit, json);
    }
}

/* Texts for people, codes for programs, in the same order. */
void hd_fit_write_warnings(const hd_fit *fit, hd_json_writer *json) {
    hd_json_set_array(json, "warnings");
    for (int64_t i = 0; i < fit->warnings.count; i++)
        hd_json_string(json, fit->warnings.items[i].text);
    hd_json_close_array(json);
    hd_json_set_array(json, "warning_codes");
    for (int64_t i = 0; i < fit->warnings.count; i++)
        hd_json_string(json, huddle_warning_name(fit->warnings.items[i].code));
    hd_json_close_array(json);
}
