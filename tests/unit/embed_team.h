/* A matrix that a team of processes (team.h) embeds, each member its own rows, and the results put
 * together. */
#ifndef HUDDLE_TESTS_EMBED_TEAM_H
#define HUDDLE_TESTS_EMBED_TEAM_H

#include "embed_graphs.h"
#include "engines/team.h"

typedef struct task {
    const huddle_csr *matrix;
    bool symmetric;
    huddle_embed_options options;
    int size;
    int64_t begins[TEAM_MAX + 1]; /* the slabs */
    huddle_embedding out;         /* vectors and rows of all; eigenvalues of the first member */
    huddle_embed_info info[TEAM_MAX];
    int32_t n_warnings[TEAM_MAX];
    bool same_values; /* all members have the same eigenvalues */
} task;

/* Slabs that differ in length. */
static inline void cut_unevenly(task *t) {
    int64_t n = t->matrix->rows;
    for (int r = 0; r <= t->size; r++)
        t->begins[r] = r == 0 ? 0 : r == t->size ? n : n * r / t->size + (n > 30 ? 7 : 0);
}

static inline void copy_rows(const huddle_dense *from, int64_t begin, huddle_dense *to) {
    for (int64_t i = 0; i < from->rows; i++)
        memcpy(to->values + (begin + i) * to->stride, from->values + i * from->stride,
               (size_t)from->cols * sizeof *to->values);
}

/* The values of the first member against the own ones. */
static inline huddle_status compare_values(huddle_context *context, const huddle_embedding *e,
                                           bool *same) {
    huddle_status status = HUDDLE_OK;
    double first[64] = {0};
    for (int32_t k = 0; k < e->n_eigenvalues && k < 64; k++)
        first[k] = e->eigenvalues[k];
    TRY(hd_slabs_broadcast(context, 0, sizeof first, first));
    for (int32_t k = 0; k < e->n_eigenvalues && k < 64; k++)
        *same &= first[k] == e->eigenvalues[k];
done:
    return status;
}

static inline huddle_status embed_slab(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    task *t = argument;
    const huddle_csr *m = t->matrix;
    int64_t begin = t->begins[rank], end = t->begins[rank + 1], first = m->offsets[begin];
    huddle_csr own = {.rows = end - begin,
                      .cols = m->cols,
                      .columns = m->columns + first,
                      .values = m->values + first};
    huddle_embedding e = {0};
    huddle_embed_info info;
    hd_warnings warnings = {0};
    bool same = true;
    context->warnings = &warnings;
    ALLOC(own.offsets, own.rows + 1);
    for (int64_t i = 0; i <= own.rows; i++)
        own.offsets[i] = m->offsets[begin + i] - first;
    if (t->symmetric)
        TRY(huddle_embed_symmetric(context, &own, -INFINITY, INFINITY, &t->options, &e, &info));
    else
        TRY(huddle_embed(context, &own, &t->options, &e, &info));
    copy_rows(&e.vectors, begin, &t->out.vectors);
    copy_rows(&e.rows, begin, &t->out.rows);
    TRY(compare_values(context, &e, &same));
    t->info[rank] = info;
    t->n_warnings[rank] = (int32_t)warnings.count;
    if (rank == 0) {
        t->same_values = true;
        t->out.eigenvalues = e.eigenvalues;
        t->out.n_eigenvalues = e.n_eigenvalues;
        e.eigenvalues = NULL;
    }
    TRY(hd_agree(context, HUDDLE_OK));
    if (!same)
        t->same_values = false;
done:
    context->warnings = NULL;
    hd_warnings_free(&warnings);
    huddle_free(own.offsets);
    huddle_embedding_free(&e);
    return status;
}

/* Runs the task on its slabs; the caller frees t->out. */
static inline huddle_status run_task(const hd_engine *engine, task *t) {
    int64_t n = t->matrix->rows, c = t->options.n_components;
    t->out = (huddle_embedding){0};
    assert_ok(huddle_dense_new(n, c, &t->out.vectors));
    assert_ok(huddle_dense_new(n, c, &t->out.rows));
    return team_run(t->size, engine, embed_slab, t);
}

/* Sine of the largest angle between the column spaces of two matrices with orthonormal columns. */
static inline double subspace_distance(const huddle_dense *a, const huddle_dense *b) {
    double square = 0;
    for (int64_t k = 0; k < a->cols; k++) {
        double inside = 0;
        for (int64_t m = 0; m < b->cols; m++) {
            double dot = 0;
            for (int64_t i = 0; i < a->rows; i++)
                dot += a->values[i * a->stride + k] * b->values[i * b->stride + m];
            inside += dot * dot;
        }
        square = fmax(square, 1 - inside);
    }
    return sqrt(fmax(0, square));
}

#endif
