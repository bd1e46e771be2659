/* A start from coarser graphs, as in algebraic multigrid (Vanek, Mandel and Brezina, Computing 56,
 * 1996) and in multilevel spectral clustering.
 *
 * Vertices are gathered into aggregates, P maps an aggregate to its vertices in proportion to their
 * entries of the known vector and has orthonormal columns, and P' op P is the operator of the
 * smaller graph, with the known vector that belongs to it. Its eigenvectors, prolonged by P,
 * are close to the larger ones: the filter only has to add detail.
 *
 * Aggregates lie within one process; the coarse graph is distributed over the processes as the fine
 * one is. */
#include "base/check.h"
#include "embed/chebyshev.h"
#include "matrix/labels.h"

#include <math.h>
#include <string.h>

/* Up to this many vertices a random start is as fast (`./dev bench embed`). */
enum { RANDOM_START_ROWS = 2500 };

/* Degree of the filter that smooths the steps between aggregates before the first Ritz values. */
enum { START_DEGREE = 20 };

/* Coarse pairs need not be more accurate than the prolongation is. */
static const double coarse_tolerance = 1e-2;
enum { COARSE_ROUNDS = 10 };

/* A level that keeps more than this share of the vertices is not worth its cost, and one with fewer
 * than so many vertices per column of the block has no room for it. */
static const double worthwhile_share = .7;
enum { ROWS_PER_COLUMN = 4 };

/* Amplitude of the random vectors that are added to prolonged ones: an eigenvector that is
 * orthogonal to all coarse vectors would otherwise never be found. */
static const double noise = .1;

/* ---- aggregates ---------------------------------------------------------------------------- */

/* Whether no neighbour of i is in an aggregate yet. Those of other processes do not count. */
static bool has_free_neighbours(const hd_embed_operator *op, const int32_t *aggregate, int64_t i) {
    for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
        if (op->columns[e] < op->n && aggregate[op->columns[e]] >= 0)
            return false;
    return true;
}

/* A vertex whose neighbours are all free forms an aggregate with them; the rest join that of their
 * strongest neighbour. Aggregates of the first kind have diameter at most 2 and do not overlap, so
 * that they are of similar size. Returns the number of aggregates. */
static int64_t aggregate_vertices(const hd_embed_operator *op, int32_t *aggregate) {
    int64_t count = 0;
    memset(aggregate, -1, (size_t)op->n * sizeof *aggregate);
    for (int64_t i = 0; i < op->n; i++) {
        if (aggregate[i] >= 0 || !has_free_neighbours(op, aggregate, i))
            continue;
        aggregate[i] = (int32_t)count;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            if (op->columns[e] < op->n)
                aggregate[op->columns[e]] = (int32_t)count;
        count++;
    }
    for (int64_t i = 0; i < op->n; i++) {
        double strongest = 0;
        if (aggregate[i] >= 0)
            continue;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            if (op->columns[e] < op->n && aggregate[op->columns[e]] >= 0 &&
                op->values[e] > strongest) {
                strongest = op->values[e];
                aggregate[i] = aggregate[op->columns[e]];
            }
        if (aggregate[i] < 0)
            aggregate[i] = (int32_t)count++;
    }
    return count;
}

/* ---- the coarse operator ------------------------------------------------------------------- */

/* What the rows of a coarse operator are computed from. */
typedef struct coarsening {
    const hd_embed_operator *op;
    int32_t *aggregate; /* n + ghosts: numbers of this process, then those given to the ghosts */
    int32_t *number;    /* of each aggregate among those of all processes */
    double *known;      /* n + ghosts */
    int64_t *last;      /* of each aggregate: its last entry in the coarse matrix */
} coarsening;

/* Row a of P' op P, appended at `end`; last[b] is the place of entry (a, b). Entries of earlier
 * rows lie before `begin`, so that `last` need not be cleared between rows. The factors 1 /
 * (known_a known_b) follow in divide_entries(). */
static int64_t add_row(const coarsening *c, const int32_t *members, int64_t size, int64_t end,
                       hd_embed_operator *coarse) {
    const hd_embed_operator *op = c->op;
    int64_t begin = end, *last = c->last;
    for (int64_t m = 0; m < size; m++) {
        int32_t i = members[m];
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++) {
            int32_t j = op->columns[e], b = c->aggregate[j];
            double value = c->known[i] * op->values[e] * c->known[j];
            if (last[b] < begin) {
                last[b] = end;
                coarse->columns[end] = c->number[b];
                coarse->values[end++] = 0;
            }
            coarse->values[last[b]] += value;
        }
    }
    return end;
}

static huddle_status new_coarse(huddle_context *context, const hd_embed_operator *op, int64_t count,
                                hd_embed_operator *coarse) {
    huddle_status status = HUDDLE_OK;
    int64_t entries = op->offsets[op->n];
    *coarse = (hd_embed_operator){
        .n = count, .lower = op->lower, .upper = op->upper, .n_known = op->n_known};
    TRY(hd_slab_locate(context, count, &coarse->slab));
    ALLOC_ZERO(coarse->offsets, count + 1);
    ALLOC(coarse->columns, entries);
    ALLOC(coarse->values, entries);
    ALLOC(coarse->rounded, entries);
    ALLOC(coarse->component, count);
    ALLOC_ZERO(coarse->known, count);
done:
    return status;
}

/* Aggregates of ghost rows get the numbers from `count` on, in the order of their numbers among all
 * processes; c->number has room for one per ghost. *all: how many there are in all. */
static huddle_status number_foreign(coarsening *c, int64_t count, int64_t *all) {
    huddle_status status = HUDDLE_OK;
    int64_t ghosts = c->op->halo.ghosts, foreign;
    int32_t *ghost = c->aggregate + c->op->n, *names = NULL;
    TRY(hd_rank_labels(NULL, ghosts, ghost, ghost, &foreign, &names));
    for (int64_t i = 0; i < ghosts; i++)
        ghost[i] += (int32_t)count;
    for (int64_t k = 0; k < foreign; k++)
        c->number[count + k] = names[k];
    *all = count + foreign;
done:
    huddle_free(names);
    return status;
}

/* Numbers the aggregates, those of ghost rows too, whose numbers and entries come from their
 * processes. */
static huddle_status open_coarsening(int64_t first, int64_t count, coarsening *c) {
    huddle_status status = HUDDLE_OK;
    const hd_embed_operator *op = c->op;
    int64_t rows = op->n + op->halo.ghosts, all;
    ALLOC(c->number, count + op->halo.ghosts);
    ALLOC(c->known, rows);
    for (int64_t a = 0; a < count; a++)
        c->number[a] = (int32_t)(first + a);
    if (op->halo.slabs != NULL) {
        for (int64_t i = 0; i < op->n; i++)
            c->aggregate[i] += (int32_t)first;
        TRY(hd_halo_fetch(&op->halo, c->aggregate, sizeof *c->aggregate));
        for (int64_t i = 0; i < op->n; i++)
            c->aggregate[i] -= (int32_t)first;
    }
    memcpy(c->known, op->known, (size_t)op->n * sizeof *c->known);
    TRY(hd_halo_fetch(&op->halo, c->known, sizeof *c->known));
    TRY(number_foreign(c, count, &all));
    ALLOC(c->last, all);
    memset(c->last, -1, (size_t)all * sizeof *c->last);
done:
    return status;
}

/* Entry (a, b) of P' op P is the sum over the members divided by known_a known_b. */
static huddle_status divide_entries(hd_embed_operator *coarse) {
    huddle_status status = HUDDLE_OK;
    double *known = NULL;
    ALLOC(known, coarse->n + coarse->halo.ghosts);
    memcpy(known, coarse->known, (size_t)coarse->n * sizeof *known);
    TRY(hd_halo_fetch(&coarse->halo, known, sizeof *known));
    for (int64_t a = 0; a < coarse->n; a++)
        for (int64_t e = coarse->offsets[a]; e < coarse->offsets[a + 1]; e++) {
            coarse->values[e] /= known[a] * known[coarse->columns[e]];
            coarse->rounded[e] = (float)coarse->values[e];
        }
done:
    huddle_free(known);
    return status;
}

/* Column a of P has the entries known_i / known_a for the members i of aggregate a, with known_a =
 * sqrt(sum known_i^2): P'P = I, and P maps the coarse known vector to the fine one, so that
 * deflation is exact on every level. An aggregate lies within one component, because it is
 * connected. Eigenvalues of P' op P lie within the bounds of op. The aggregates of ghost rows,
 * after the n own ones, are filled in. */
static huddle_status coarsen_operator(huddle_context *context, const hd_embed_operator *op,
                                      int32_t *aggregate, int64_t count,
                                      hd_embed_operator *coarse) {
    huddle_status status = HUDDLE_OK;
    coarsening c = {.op = op, .aggregate = aggregate};
    int64_t *begin = NULL, end = 0;
    int32_t *members = NULL;
    TRY(new_coarse(context, op, count, coarse));
    TRY(open_coarsening(coarse->slab.first, count, &c));
    ALLOC(begin, count + 2);
    ALLOC(members, op->n);
    hd_list_members(op->n, aggregate, count, begin, members);
    for (int64_t i = 0; i < op->n; i++) {
        coarse->known[aggregate[i]] += op->known[i] * op->known[i];
        coarse->component[aggregate[i]] = op->component[i];
    }
    for (int64_t a = 0; a < count; a++) {
        coarse->known[a] = sqrt(coarse->known[a]);
        end = add_row(&c, members + begin[a], begin[a + 1] - begin[a], end, coarse);
        coarse->offsets[a + 1] = end;
    }
    TRY(hd_halo_open(context, count, end, coarse->columns, &coarse->halo));
    TRY(divide_entries(coarse));
done:
    FREE(c.number, c.known, c.last, begin, members);
    return status;
}

/* What a prolongation reads and writes. */
typedef struct prolongation {
    const hd_embed_run *coarse;
    const int32_t *aggregate;
    hd_embed_run *run;
} prolongation;

static huddle_status prolong_rows(void *argument, hd_chunk chunk) {
    const prolongation *p = argument;
    int64_t width = p->run->block.width;
    float *x = p->run->block.x;
    const float *from = p->coarse->block.x;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int32_t a = p->aggregate[i];
        float share = (float)(p->run->op->known[i] / p->coarse->op->known[a]);
        for (int64_t k = 0; k < width; k++)
            x[i * width + k] += share * from[a * width + k];
    }
    return HUDDLE_OK;
}

/* x = P times the coarse x, with noise; columns that the coarse run could not fill remain noise.
 * The coarse block has the same width and is in float: its tolerance does not require double. */
static huddle_status prolong_vectors(huddle_context *context, const hd_embed_run *coarse,
                                     const int32_t *aggregate, uint64_t seed, hd_embed_run *run) {
    prolongation p = {coarse, aggregate, run};
    double amplitude = noise / sqrt((double)run->op->slab.total);
    huddle_status status =
        hd_embed_block_randomise(context, run->op, 0, amplitude, seed, &run->block);
    if (status == HUDDLE_OK)
        status = hd_parallel(context, NULL, run->op->n, HD_EMBED_LOOP_ROWS, prolong_rows, &p);
    return status;
}

/* ---- the start ----------------------------------------------------------------------------- */

/* hd_embed_run_start() calls this function again for the smaller graph, until a random start is as
 * fast. The edge of the coarse run is a good first interval, since P hardly changes the leading
 * eigenvalues. */
static huddle_status start_from_coarse(huddle_context *context, int32_t *aggregate, int64_t count,
                                       uint64_t seed, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    hd_embed_operator smaller = {0};
    hd_embed_run coarse = {0};
    TRY(coarsen_operator(context, run->op, aggregate, count, &smaller));
    TRY(hd_embed_run_new(&smaller, run->n_wanted, run->n_extra, &coarse));
    TRY(hd_embed_run_start(context, seed, &coarse));
    TRY(hd_embed_run_iterate(context, NULL, coarse_tolerance, COARSE_ROUNDS, &coarse));
    TRY(prolong_vectors(context, &coarse, aggregate, seed, run));
    run->smooth_start = true;
    double edge = hd_embed_run_edge(&coarse);
    hd_embed_run_free(&coarse); /* before the fine block is used */
    TRY(hd_embed_run_begin(context, edge, START_DEGREE, run));
done:
    hd_embed_run_free(&coarse);
    hd_embed_operator_free(&smaller);
    return status;
}

/* Only operators with known vectors are graphs, on which aggregates make sense. All processes
 * decide alike, by the vertices and aggregates of all of them. */
huddle_status hd_embed_run_start(huddle_context *context, uint64_t seed, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    int32_t *aggregate = NULL;
    const hd_embed_operator *op = run->op;
    int64_t count = 0, all = op->slab.total;
    if (all > RANDOM_START_ROWS && op->n_known > 0) {
        ALLOC(aggregate, op->n + op->halo.ghosts);
        all = count = aggregate_vertices(op, aggregate);
        TRY(hd_reduce_count(context, &all));
    }
    if (aggregate != NULL && (double)all < worthwhile_share * (double)op->slab.total &&
        all > ROWS_PER_COLUMN * run->block.width)
        TRY(start_from_coarse(context, aggregate, count, seed, run));
    else
        TRY(hd_embed_run_begin_random(context, seed, run));
done:
    huddle_free(aggregate);
    return status;
}
