/* Everything that is done with all parts alike: freeing, saving and loading, checks, arrays by
 * name, and the report. */
#include "fit/fit.h"

#include "base/check.h"
#include "matrix/resident.h"

#include <string.h>

/* In the order of the data flow, which is also that of the report. Loading relies on it: the rows
 * come first, because their number is the length of most other arrays. */
static const hd_fit_part *const parts[] = {
    &hd_fit_part_rows,   &hd_fit_part_prepared, &hd_fit_part_graph,   &hd_fit_part_embedding,
    &hd_fit_part_shrunk, &hd_fit_part_clusters, &hd_fit_part_refined, &hd_fit_part_trials,
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
    hd_walk_texts_free(&fit->texts);
    memset(fit, 0, sizeof *fit);
}

/* What is absent gets none. */
void hd_fit_offer(const huddle_context *context, hd_fit *fit) {
    huddle_dense *rows[] = {&fit->embedding.f.rows, &fit->shrunk.g.g};
    huddle_csr *graphs[] = {&fit->graph.matrix, &fit->shrunk.w.matrix};
    if (fit->prepared.points.values != NULL)
        hd_resident_offer(context, &fit->prepared.points.resident);
    for (int k = 0; k < 2; k++) {
        if (rows[k]->values != NULL)
            hd_resident_offer(context, &rows[k]->resident);
        if (graphs[k]->offsets != NULL)
            hd_resident_offer(context, &graphs[k]->resident);
    }
}

void hd_fit_release_graphs(hd_fit *fit) {
    huddle_csr *graphs[] = {&fit->graph.matrix, &fit->shrunk.w.matrix};
    for (int k = 0; k < 2; k++)
        if (graphs[k]->offsets != NULL)
            hd_resident_release(&graphs[k]->resident);
}

huddle_status hd_fit_misfit(const char *name, long long value) {
    return hd_fail(HUDDLE_FORMAT,
                   "the model file is damaged: %s = %lld does not agree with the rest of it", name,
                   value);
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
huddle_array hd_fit_view_dense(const huddle_dense *m) {
    if (m->values == NULL && m->resident == NULL)
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_F64, m->rows, m->cols, m->stride, m->values, NULL, NULL};
}

huddle_array hd_fit_view_csr(const huddle_csr *m) {
    if (m->offsets == NULL && m->resident == NULL)
        return (huddle_array){0};
    return (huddle_array){HUDDLE_ARRAY_CSR, m->rows, m->cols, 0, m->values, m->offsets, m->columns};
}

huddle_array hd_fit_view_vector(huddle_array_type type, int64_t n, const void *values) {
    if (values == NULL)
        return (huddle_array){0};
    return (huddle_array){type, n, 1, 1, values, NULL, NULL};
}

/* A negative n must be refused explicitly: an array that is absent from the file was never compared
 * with it, and loops and allocations take n for granted. */
huddle_status hd_fit_check_array(const char *name, int64_t n, const void *values) {
    HD_FIT_REQUIRE(n == 0 || (n > 0 && values != NULL), name, n);
    return HUDDLE_OK;
}

/* Quadratic if all arrays are listed, but there are about a dozen. */
const hd_fit_array *hd_fit_list_array(int k) {
    for (int p = 0; p < N_PARTS; p++)
        for (const hd_fit_array *array = parts[p]->arrays; array != NULL && array->name != NULL;
             array++)
            if (k-- == 0)
                return array;
    return NULL;
}

const hd_fit_array *hd_fit_find_array(const char *name) {
    const hd_fit_array *array;
    for (int k = 0; (array = hd_fit_list_array(k)) != NULL; k++)
        if (strcmp(array->name, name) == 0)
            return array;
    return NULL;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Stages that did not run are left out, which a time of exactly 0 shows. */
void hd_fit_write_seconds(const hd_fit *fit, hd_json_writer *json) {
    hd_json_key(json, "seconds");
    hd_json_open_object(json);
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
    hd_json_key(json, "traffic");
    hd_json_open_object(json);
    hd_json_set_integer(json, "processes", fit->stages.processes);
    for (int k = 0; k < HD_STAGE_COUNT; k++) {
        if (fit->stages.calls[k] == 0)
            continue;
        hd_json_key(json, hd_stage_name((hd_stage)k));
        hd_json_open_object(json);
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
    hd_json_key(json, "stages");
    hd_json_open_array(json);
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
    hd_json_key(json, "memory");
    hd_json_open_object(json);
    if (memory->stages[peak] > 0) {
        hd_json_set_integer(json, "predicted", memory->base + memory->stages[peak]);
        hd_json_set_string(json, "stage", hd_stage_name(peak));
    }
    if (memory->available < INT64_MAX)
        hd_json_set_integer(json, "limit", memory->base + memory->available);
    int64_t arrays = 0;
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        arrays = fit->stages.peak[k] > arrays ? fit->stages.peak[k] : arrays;
    hd_json_set_integer(json, "base", memory->base);
    hd_json_set_integer(json, "arrays", arrays - fit->stages.live);
    hd_json_key(json, "leaner");
    hd_json_open_array(json);
    for (int32_t k = 0; k < memory->n_economies; k++)
        hd_json_string(json, memory->economies[k]);
    hd_json_close_array(json);
    write_stages(fit, json);
    hd_json_close_object(json);
}

void hd_fit_write_scores(const hd_fit *fit, hd_json_writer *json) {
    hd_json_key(json, "internal");
    hd_json_open_object(json);
    hd_json_set_real(json, "silhouette", fit->scores.silhouette);
    hd_json_set_real(json, "ncut", fit->scores.ncut);
    hd_json_set_real(json, "stability", fit->scores.stability);
    hd_json_close_object(json);
}

/* Part 0, the rows, is not included: its members are the first of the report, before the options.
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
    hd_json_key(json, "warnings");
    hd_json_open_array(json);
    for (int64_t i = 0; i < fit->warnings.count; i++)
        hd_json_string(json, fit->warnings.items[i].text);
    hd_json_close_array(json);
    hd_json_key(json, "warning_codes");
    hd_json_open_array(json);
    for (int64_t i = 0; i < fit->warnings.count; i++)
        hd_json_string(json, huddle_warning_name(fit->warnings.items[i].code));
    hd_json_close_array(json);
}
