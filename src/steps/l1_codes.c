/* Coordinate descent with safe screening for one code, and Gauss-Seidel over the codes.
 *
 * With the other codes fixed, code a of a point x has the problem
 *
 *     ||x - sum_k a_k x_k||^2 + lambda ||a||_1 + beta (d ||a||^2 - 2 a'b) + constant,
 *
 * d the degree of the point in the graph and b the weighted sum of its neighbours' codes. Half of
 * it is the lasso ||y - Z a||^2 / 2 + l ||a||_1, l = lambda / 2, in which y is x continued by
 * sqrt(beta / d) b, and column k of Z is x_k continued by sqrt(beta d) times unit vector k. The
 * continuation is never stored: it enters by the two sums over b and a in which it occurs.
 *
 * For the residual rho = y - Z a, the point rho / max(l, max_k |z_k'rho|) is feasible for the dual
 * problem. The dual optimum is within sqrt(2 gap) / l of it, gap the difference of the objectives
 * (Fercoq, Gramfort and Salmon, Mind the duality gap: safer rules for the lasso, ICML 2015), so
 * that a column whose product with every point of that ball is below 1 has entry 0 in the
 * solution. Such columns are left out of all further steps. */
#include "steps/l1_codes.h"

#include "base/check.h"
#include "base/parallel.h"
#include "fit/fit.h"
#include "matrix/points.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CODES_PER_CHUNK: a code costs some 10^6 operations. Between two looks at all columns of a
 * dictionary, descent moves those that count, in at most DESCENTS rounds or until a round lowers
 * half of the objective by less than `idle` times the gap that is asked for. LOOKS ends codes whose
 * columns are too alike to converge, which the next pass over all codes improves further. */
enum { CODES_PER_CHUNK = 4, DESCENTS = 100, LEAP_AFTER = 3, LOOKS = 100, LANES = 8 };
static const double idle = 1e-3;

/* ---- rows of unit norm --------------------------------------------------------------------- */

/* The product of a row, as it is stored, with a vector of doubles. Several sums, because one would
 * wait for itself. */
static double row_product(const huddle_points *x, int64_t i, const double *vector) {
    double sums[LANES] = {0}, sum = 0;
    if (x->offsets != NULL) {
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            sum += (double)x->values[e] * vector[x->columns[e]];
        return sum;
    }
    const float *row = x->values + i * x->stride;
    int64_t j = 0;
    if (x->shift == NULL)
        for (; j + LANES <= x->d; j += LANES)
            for (int64_t l = 0; l < LANES; l++)
                sums[l] += (double)row[j + l] * vector[j + l];
    for (; j < x->d; j++)
        sum += hd_points_value(x, i, j) * vector[j];
    for (int64_t l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

/* vector += factor times the row. */
static void add_row(const huddle_points *x, int64_t i, double factor, double *vector) {
    if (x->offsets != NULL)
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            vector[x->columns[e]] += factor * (double)x->values[e];
    else
        for (int64_t j = 0; j < x->d; j++)
            vector[j] += factor * hd_points_value(x, i, j);
}

/* 1 / norm of every row; 0 for a row of zeros, which stays one. */
static huddle_status find_factors(const huddle_points *x, double **factors) {
    huddle_status status = HUDDLE_OK;
    double *row = NULL;
    ALLOC(*factors, x->n);
    ALLOC_ZERO(row, x->d);
    for (int64_t i = 0; i < x->n; i++) {
        add_row(x, i, 1, row);
        double square = row_product(x, i, row);
        add_row(x, i, -1, row);
        (*factors)[i] = square > 0 ? 1 / sqrt(square) : 0;
    }
done:
    huddle_free(row);
    return status;
}

/* ---- one code ------------------------------------------------------------------------------ */

/* What codes are computed from. */
typedef struct coding {
    const hd_step_l1_problem *problem;
    const huddle_points *targets;
    const double *factors, *target_factors; /* of points and targets */
    const huddle_csr *weights;              /* NULL: no coupling */
    huddle_csr *codes;
    const int64_t *members; /* the codes of the current loop; NULL: all */
    double *terms;          /* of the objective, one for each code */
    int64_t longest;        /* of the dictionaries */
    double *reals;          /* scratch space of a worker: n_reals of these, 3 * longest of those */
    int64_t *integers, n_reals;
} coding;

/* What becomes of an entry while a code is solved: it is 0 in the solution, may be something else,
 * or is one of those that descent moves. */
enum { SCREENED, KEPT, ACTIVE };

/* One code while it is solved (20 fields: the problem, and the scratch space of both loops). */
typedef struct code {
    int64_t target, count;
    const int32_t *columns; /* the dictionary */
    double *a;              /* the code */
    double l, degree, norm; /* lambda / 2, beta d, ||y||^2 */
    double *residual;       /* x - sum_k a_k x_k */
    double *pull, *product; /* beta b, z_k'rho */
    int64_t *state;         /* SCREENED, KEPT or ACTIVE */
    /* Active entries, in the order in which they became it, and those of them that are not 0. */
    int64_t n_active, *active, *support;
    double *gram, *slope, *before; /* x_p'x_q, z_p'rho, a_p when descent began */
    double *column, *system, *step;
} code;

/* ||z_k||^2; x_k has norm 1 unless it is 0. */
static double column_square(const coding *c, const code *s, int64_t k) {
    return (c->factors[s->columns[k]] > 0 ? 1 : 0) + s->degree;
}

/* z_k'rho */
static double column_product(const coding *c, const code *s, int64_t k) {
    int32_t row = s->columns[k];
    return c->factors[row] * row_product(c->problem->points, row, s->residual) + s->pull[k] -
           s->degree * s->a[k];
}

/* pull = beta b and degree = beta d, from the codes of the neighbours. */
static void find_pull(const coding *c, code *s) {
    const huddle_csr *w = c->weights, *codes = c->codes;
    memset(s->pull, 0, (size_t)s->count * sizeof *s->pull);
    s->degree = 0;
    if (w == NULL)
        return;
    for (int64_t e = w->offsets[s->target]; e < w->offsets[s->target + 1]; e++) {
        double weight = c->problem->beta * w->values[e];
        int64_t f = codes->offsets[w->columns[e]], end = codes->offsets[w->columns[e] + 1];
        s->degree += weight;
        for (int64_t k = 0; k < s->count; k++) { /* both ascend */
            while (f < end && codes->columns[f] < s->columns[k])
                f++;
            if (f < end && codes->columns[f] == s->columns[k])
                s->pull[k] += weight * codes->values[f];
        }
    }
}

/* The code of a target as it is, with its residual. */
static code begin_code(const coding *c, int64_t target, int32_t worker) {
    int64_t begin = c->codes->offsets[target], d = c->problem->points->d, m = c->longest;
    double *reals = c->reals + worker * c->n_reals, *squares = reals + 2 * d + 6 * m;
    int64_t *integers = c->integers + worker * 3 * m;
    code s = {.target = target,
              .count = c->codes->offsets[target + 1] - begin,
              .columns = c->codes->columns + begin,
              .a = c->codes->values + begin,
              .l = c->problem->lambda / 2,
              .residual = reals,
              .column = reals + d,
              .pull = reals + 2 * d,
              .product = reals + 2 * d + m,
              .slope = reals + 2 * d + 2 * m,
              .before = reals + 2 * d + 3 * m,
              .step = reals + 2 * d + 4 * m,
              .gram = squares,
              .system = squares + m * m,
              .state = integers,
              .active = integers + m,
              .support = integers + 2 * m};
    find_pull(c, &s);
    memset(s.residual, 0, (size_t)d * sizeof *s.residual);
    add_row(c->targets, target, c->target_factors[target], s.residual);
    s.norm = c->target_factors[target] > 0 ? 1 : 0;
    for (int64_t k = 0; k < s.count; k++) {
        s.norm += s.degree > 0 ? s.pull[k] * s.pull[k] / s.degree : 0;
        s.state[k] = KEPT;
        if (s.a[k] != 0)
            add_row(c->problem->points, s.columns[k], -s.a[k] * c->factors[s.columns[k]],
                    s.residual);
    }
    return s;
}

/* The products of all columns that are kept with the residual, and the duality gap, computed as
 * the header says: with rho'rho and rho'y the objectives are rho'rho / 2 + l ||a||_1 and
 * s rho'y - s^2 rho'rho / 2, s = l / max(l, largest product). */
static double find_gap(const coding *c, code *s, double *largest) {
    double square = 0, with_y, size = 0;
    for (int64_t j = 0; j < c->problem->points->d; j++)
        square += s->residual[j] * s->residual[j];
    with_y = c->target_factors[s->target] * row_product(c->targets, s->target, s->residual);
    *largest = s->l;
    for (int64_t k = 0; k < s->count; k++) {
        /* b / d - a, the entry of the continued residual over sqrt(beta d) */
        double rest = s->degree > 0 ? s->pull[k] / s->degree - s->a[k] : 0;
        square += s->degree * rest * rest;
        with_y += rest * s->pull[k];
        size += fabs(s->a[k]);
        if (s->state[k] == SCREENED)
            continue;
        s->product[k] = column_product(c, s, k);
        *largest = fmax(*largest, fabs(s->product[k]));
    }
    double scale = s->l / *largest;
    return fmax(square / 2 + s->l * size - (scale * with_y - scale * scale * square / 2), 0);
}

/* Columns that cannot be in the solution. Entries that are not 0 yet are left to the descent, so
 * that no step raises the objective. */
static void screen(const coding *c, code *s, double gap, double largest) {
    double radius = sqrt(2 * gap) / s->l;
    for (int64_t k = 0; k < s->count; k++)
        if (s->state[k] == KEPT && s->a[k] == 0 &&
            fabs(s->product[k]) / largest + radius * sqrt(column_square(c, s, k)) < 1)
            s->state[k] = SCREENED;
}

/* Entries that are not 0 or want to change become active, and stay it while the code is solved, so
 * that their products with each other are computed once. */
static void activate(const coding *c, code *s) {
    const huddle_points *x = c->problem->points;
    for (int64_t k = 0; k < s->count; k++) {
        if (s->state[k] != KEPT || (s->a[k] == 0 && fabs(s->product[k]) <= s->l))
            continue;
        int64_t p = s->n_active++;
        s->state[k] = ACTIVE;
        s->active[p] = k;
        memset(s->column, 0, (size_t)x->d * sizeof *s->column);
        add_row(x, s->columns[k], c->factors[s->columns[k]], s->column);
        for (int64_t q = 0; q <= p; q++) {
            int32_t row = s->columns[s->active[q]];
            double product = c->factors[row] * row_product(x, row, s->column);
            s->gram[p * c->longest + q] = s->gram[q * c->longest + p] = product;
        }
    }
}

/* Changes an active entry; the slopes follow by x_p'x_q alone. */
static void set_entry(const coding *c, code *s, int64_t p, double entry) {
    int64_t k = s->active[p];
    double step = entry - s->a[k];
    s->a[k] = entry;
    for (int64_t q = 0; q < s->n_active; q++)
        s->slope[q] -= step * s->gram[p * c->longest + q];
    s->slope[p] -= step * s->degree;
}

/* One round over the active entries; by how much half of the objective falls. Each step is the
 * minimum over one entry: a soft threshold. */
static double descend(const coding *c, code *s) {
    double fall = 0;
    for (int64_t p = 0; p < s->n_active; p++) {
        int64_t k = s->active[p];
        double square = column_square(c, s, k);
        double wanted = s->slope[p] + square * s->a[k];
        double entry = square > 0 ? copysign(fmax(fabs(wanted) - s->l, 0), wanted) / square : 0;
        double step = entry - s->a[k];
        if (step == 0)
            continue;
        fall += step * (s->slope[p] - square * step / 2) - s->l * (fabs(entry) - fabs(s->a[k]));
        set_entry(c, s, p, entry);
    }
    return fall;
}

/* Straight to the minimum for the signs that the entries have now, or as far as none of them
 * changes (the feature-sign step of Lee, Battle, Raina and Ng, NIPS 2006): descent alone is slow
 * where columns are alike, as neighbours are. By how much half of the objective falls; 0 if there
 * is no such step. */
static double leap(const coding *c, code *s) {
    int m = 0;
    double length = 1, slope = 0;
    for (int64_t p = 0; p < s->n_active; p++)
        if (s->a[s->active[p]] != 0)
            s->support[m++] = p;
    for (int r = 0; r < m; r++) {
        int64_t p = s->support[r];
        for (int q = 0; q <= r; q++) /* one triangle is enough */
            s->system[q * m + r] = s->gram[p * c->longest + s->support[q]];
        s->system[r * m + r] += s->degree;
        s->step[r] = s->slope[p] - copysign(s->l, s->a[s->active[p]]);
        s->step[m + r] = s->step[r];
    }
    if (m == 0 || LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', m, 1, s->system, m, s->step, m) != 0)
        return 0; /* columns that depend on each other */
    for (int r = 0; r < m; r++) {
        double entry = s->a[s->active[s->support[r]]];
        slope += s->step[r] * s->step[m + r];
        if (entry * (entry + s->step[r]) < 0)
            length = fmin(length, -entry / s->step[r]);
    }
    for (int r = 0; r < m && slope > 0; r++) {
        int64_t p = s->support[r];
        double entry = s->a[s->active[p]], next = entry + length * s->step[r];
        set_entry(c, s, p, entry * next > 0 ? next : 0);
    }
    return slope > 0 ? length * (1 - length / 2) * slope : 0; /* rounding can turn it round */
}

/* Rounds over the active entries; the residual follows afterwards. */
static void descend_often(const coding *c, code *s, double tol) {
    for (int64_t p = 0; p < s->n_active; p++) {
        s->slope[p] = s->product[s->active[p]];
        s->before[p] = s->a[s->active[p]];
    }
    for (int32_t round = 0; round < DESCENTS; round++) {
        double fall = descend(c, s);
        if (round % LEAP_AFTER == LEAP_AFTER - 1)
            fall += leap(c, s);
        if (fall <= idle * tol)
            break;
    }
    for (int64_t p = 0; p < s->n_active; p++) {
        int32_t row = s->columns[s->active[p]];
        double step = s->a[s->active[p]] - s->before[p];
        if (step != 0)
            add_row(c->problem->points, row, -step * c->factors[row], s->residual);
    }
}

/* Solves for one code to the tolerance. Of equal columns of a dictionary the first has the entry of
 * both, as descent happens to leave it. */
static void solve_code(const coding *c, int64_t target, int32_t worker) {
    code s = begin_code(c, target, worker);
    double largest, tol = c->problem->tol * s.norm;
    for (int32_t look = 0; look < LOOKS; look++) {
        double gap = find_gap(c, &s, &largest);
        if (gap <= tol)
            break;
        screen(c, &s, gap, largest);
        activate(c, &s);
        descend_often(c, &s, tol);
    }
}

static huddle_status solve_codes(void *argument, hd_chunk chunk) {
    const coding *c = argument;
    for (int64_t m = chunk.begin; m < chunk.end; m++)
        solve_code(c, c->members != NULL ? c->members[m] : m, chunk.worker);
    return HUDDLE_OK;
}

/* ---- the objective ------------------------------------------------------------------------- */

/* ||a_i - a_j||^2 over the columns of either. */
static double code_distance(const huddle_csr *codes, int64_t i, int64_t j) {
    int64_t e = codes->offsets[i], f = codes->offsets[j];
    double sum = 0;
    while (e < codes->offsets[i + 1] || f < codes->offsets[j + 1]) {
        int32_t left = e < codes->offsets[i + 1] ? codes->columns[e] : INT32_MAX;
        int32_t right = f < codes->offsets[j + 1] ? codes->columns[f] : INT32_MAX;
        double difference = left <= right ? codes->values[e++] : 0;
        difference -= right <= left ? codes->values[f++] : 0;
        sum += difference * difference;
    }
    return sum;
}

static huddle_status measure_codes(void *argument, hd_chunk chunk) {
    const coding *c = argument;
    const huddle_csr *w = c->weights;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        code s = begin_code(c, i, chunk.worker);
        double term = 0;
        for (int64_t j = 0; j < c->problem->points->d; j++)
            term += s.residual[j] * s.residual[j];
        for (int64_t k = 0; k < s.count; k++)
            term += c->problem->lambda * fabs(s.a[k]);
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
            if (w->columns[e] < i)
                term += c->problem->beta * w->values[e] * code_distance(c->codes, i, w->columns[e]);
        c->terms[i] = term;
    }
    return HUDDLE_OK;
}

/* The terms are added in the order of the codes. */
static huddle_status find_objective(huddle_context *context, coding *c, double *objective) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_parallel(context, NULL, c->codes->rows, CODES_PER_CHUNK, measure_codes, c));
    *objective = 0;
    for (int64_t i = 0; i < c->codes->rows; i++)
        *objective += c->terms[i];
done:
    return status;
}

/* ---- all codes ----------------------------------------------------------------------------- */

static void coding_free(coding *c) {
    FREE((void *)c->factors, c->reals, c->integers, c->terms);
    if (c->target_factors != c->factors)
        huddle_free((void *)c->target_factors);
}

static huddle_status coding_begin(huddle_context *context, const hd_step_l1_problem *problem,
                                  const huddle_points *targets, huddle_csr *codes, coding *c) {
    huddle_status status = HUDDLE_OK;
    double *factors = NULL, *target_factors = NULL;
    *c = (coding){.problem = problem, .targets = targets, .codes = codes};
    TRY(find_factors(problem->points, &factors));
    if (targets != problem->points)
        TRY(find_factors(targets, &target_factors));
    for (int64_t i = 0; i < codes->rows; i++)
        if (codes->offsets[i + 1] - codes->offsets[i] > c->longest)
            c->longest = codes->offsets[i + 1] - codes->offsets[i];
    c->n_reals = 2 * problem->points->d + 6 * c->longest + 2 * c->longest * c->longest;
    ALLOC(c->reals, c->n_reals * hd_workers(context));
    ALLOC(c->integers, 3 * c->longest * hd_workers(context));
    ALLOC(c->terms, codes->rows);
done:
    c->factors = factors;
    c->target_factors = targets != problem->points ? target_factors : factors;
    return status;
}

huddle_status hd_step_l1_encode(huddle_context *context, const hd_step_l1_problem *problem,
                                const huddle_points *x, huddle_csr *codes) {
    huddle_status status = HUDDLE_OK;
    coding c;
    TRY(coding_begin(context, problem, x, codes, &c));
    TRY(hd_parallel(context, "codes", codes->rows, CODES_PER_CHUNK, solve_codes, &c));
done:
    coding_free(&c);
    return status;
}

/* Colours the graph: each vertex, in order, has the least colour that no neighbour before it has.
 * order lists the vertices by colour; those of colour k end at ends[k]. */
static huddle_status colour_graph(const huddle_csr *w, int64_t *order, int64_t *ends,
                                  int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t *colour = NULL, *seen = NULL, placed = 0;
    ALLOC(colour, w->rows);
    ALLOC(seen, w->rows + 1);
    for (int64_t i = 0; i <= w->rows; i++)
        seen[i] = -1;
    for (int64_t i = 0; i < w->rows; i++) {
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
            if (w->columns[e] < i)
                seen[colour[w->columns[e]]] = i;
        for (colour[i] = 0; seen[colour[i]] == i; colour[i]++)
            ;
    }
    for (*count = 0; placed < w->rows; ends[(*count)++] = placed)
        for (int64_t i = 0; i < w->rows; i++)
            if (colour[i] == *count)
                order[placed++] = i;
done:
    FREE(colour, seen);
    return status;
}

/* One pass: colour after colour. Vertices of one colour are not neighbours, so that their problems
 * are independent and can be solved at the same time: the result is that of solving them one after
 * the other, on any number of threads. */
static huddle_status pass(huddle_context *context, coding *c, const int64_t *order,
                          const int64_t *ends, int64_t count) {
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < count; k++) {
        int64_t begin = k > 0 ? ends[k - 1] : 0;
        c->members = order + begin;
        TRY(hd_parallel(context, NULL, ends[k] - begin, CODES_PER_CHUNK, solve_codes, c));
    }
done:
    return status;
}

/* The objective is convex, and what is not smooth in it is a sum over the codes, so that passes
 * converge to its minimum. */
huddle_status hd_step_l1_couple(huddle_context *context, const hd_step_l1_problem *problem,
                                huddle_csr *codes, huddle_alternation_info *passes) {
    huddle_status status = HUDDLE_OK;
    coding c = {0};
    int64_t *order = NULL, *ends = NULL, count = 0;
    double before, now;
    hd_fit_alternation_reset(passes);
    passes->stop = HUDDLE_STOP_MAX_ITER;
    TRY(coding_begin(context, problem, problem->points, codes, &c));
    c.weights = problem->weights;
    ALLOC(order, codes->rows);
    ALLOC(ends, codes->rows);
    TRY(colour_graph(c.weights, order, ends, &count));
    TRY(find_objective(context, &c, &before));
    TRY(hd_fit_alternation_add(passes, before));
    for (int32_t p = 0; p < problem->max_passes; p++, before = now) {
        TRY(hd_progress(context, "codes", p, problem->max_passes));
        TRY(pass(context, &c, order, ends, count));
        TRY(find_objective(context, &c, &now));
        TRY(hd_fit_alternation_add(passes, now));
        if (before - now <= problem->tol * before) {
            passes->stop = HUDDLE_STOP_CONVERGED;
            break;
        }
    }
done:
    coding_free(&c);
    FREE(order, ends);
    return status;
}

/* ---- before and after ---------------------------------------------------------------------- */

static int compare_columns(const void *a, const void *b) {
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* Lists are ordered by distance; columns ascend. */
huddle_status hd_step_l1_dictionaries(const huddle_neighbors *lists, int32_t m, int64_t columns,
                                      huddle_csr *codes) {
    huddle_status status = HUDDLE_OK;
    int32_t length = m < lists->k ? m : lists->k;
    TRY(huddle_csr_new(lists->n, columns, lists->n * length, codes));
    for (int64_t i = 0; i < lists->n; i++) {
        int64_t begin = codes->offsets[i], end = begin;
        for (int32_t j = 0; j < length && lists->index[i * lists->k + j] >= 0; j++)
            codes->columns[end++] = lists->index[i * lists->k + j];
        qsort(codes->columns + begin, (size_t)(end - begin), sizeof *codes->columns,
              compare_columns);
        codes->offsets[i + 1] = end;
    }
done:
    return status;
}

/* Writes row i of the graph from entry `at`, and returns where it ends; without a graph it only
 * counts. t is the transpose of a; columns ascend in both. */
static int64_t merge_rows(const huddle_csr *a, const huddle_csr *t, int64_t i, int64_t at,
                          huddle_csr *graph) {
    int64_t e = a->offsets[i], f = t->offsets[i];
    while (e < a->offsets[i + 1] || f < t->offsets[i + 1]) {
        int32_t left = e < a->offsets[i + 1] ? a->columns[e] : INT32_MAX;
        int32_t right = f < t->offsets[i + 1] ? t->columns[f] : INT32_MAX;
        double weight = left <= right ? fabs(a->values[e++]) : 0;
        weight += right <= left ? fabs(t->values[f++]) : 0;
        if (weight == 0)
            continue;
        if (graph != NULL) {
            graph->columns[at] = left < right ? left : right;
            graph->values[at] = weight / 2;
        }
        at++;
    }
    return at;
}

huddle_status hd_step_l1_graph(const huddle_csr *codes, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr transpose = {0};
    int64_t count = 0;
    TRY(huddle_csr_transpose(codes, &transpose));
    for (int64_t i = 0; i < codes->rows; i++)
        count = merge_rows(codes, &transpose, i, count, NULL);
    TRY(huddle_csr_new(codes->rows, codes->rows, count, graph));
    for (int64_t i = 0; i < codes->rows; i++)
        graph->offsets[i + 1] = merge_rows(codes, &transpose, i, graph->offsets[i], graph);
done:
    huddle_csr_free(&transpose);
    return status;
}
