/* shrink: what the steps of the solvers are made of, against plain loops, dense matrices and finite
 * differences: the reweighted step, its acceleration, and the Hessian of Newton's step. */
#include "shrink/newton_passes.h"
#include "shrink_problems.h"

/* ---- a problem with a state ------------------------------------------------------------------ */

/* One connected block of free vertices at a random point. The linear solver is direct where there
 * is one. */
typedef struct stage {
    example x;
    double *weights;
    hd_shrink_edges edges;
    hd_shrink_problem problem;
    hd_shrink_arrays arrays;
    hd_shrink_block *blocks;
    hd_shrink_irls_state irls;
} stage;

enum { N = 40 };

static void stage_open(stage *s, int64_t c, bool squared, bool anchored, uint64_t seed) {
    *s = (stage){.x = clouds(N, c, 2, 3, false, seed)};
    hd_rng rng = hd_rng_stream(seed, 4);
    s->weights = malloc(N * sizeof *s->weights);
    for (int64_t v = 0; v < N; v++)
        s->weights[v] = .5 + hd_rng_uniform(&rng) + (anchored && v % 8 == 0 ? 1000 : 0);
    assert_ok(hd_shrink_edges_read(NULL, &s->x.w, &s->edges));
    hd_shrink_input input = {.f = &s->x.f,
                             .w = &s->x.w,
                             .edges = &s->edges,
                             .weights = s->weights,
                             .gamma = anchored || seed % 4 < 2 ? 3 : .2,
                             .squared = squared};
    assert_ok(hd_shrink_problem_new(&input, anchored, 1e-9, &s->problem));
    assert_int_equal(s->problem.n_blocks, 1);
    assert_ok(hd_shrink_arrays_new(&s->problem, true, &s->arrays));
    for (int64_t k = 0; k < s->problem.n_free * c; k++)
        s->arrays.h[k] = .3 * hd_rng_normal(&rng);
    assert_ok(hd_shrink_blocks_new(NULL, &s->problem, &s->arrays, hd_shrink_linear_names[1], 0,
                                   &s->blocks));
    assert_ok(hd_shrink_block_open_linear(s->blocks));
    assert_ok(hd_shrink_irls_open(&s->problem, &s->arrays, true, &s->irls));
    s->irls.blocks[0].tau = .05;
}

static void stage_free(stage *s) {
    hd_shrink_irls_close(&s->irls);
    hd_shrink_blocks_free(s->blocks, 1);
    hd_shrink_arrays_free(&s->arrays);
    hd_shrink_problem_free(&s->problem);
    hd_shrink_edges_free(&s->edges);
    free(s->weights);
    example_free(&s->x);
}

/* The difference of the rows of G = F + h that edge e joins. */
static void difference(const stage *s, const double *h, int64_t e, double *x) {
    const hd_shrink_problem *p = &s->problem;
    for (int64_t k = 0; k < p->c; k++) {
        int64_t i = p->head[e] * p->c + k, j = p->tail[e] * p->c + k;
        x[k] = p->f[i] + h[i] - p->f[j] - h[j];
    }
}

/* The smoothed objective at h; without smoothing the objective itself. */
static double smoothed(const stage *s, const double *h, double eps_h, double eps_d) {
    const hd_shrink_problem *p = &s->problem;
    double sum = 0, x[128];
    for (int64_t v = 0; v < s->problem.n_free; v++) {
        double square = 0;
        for (int64_t k = 0; k < p->c; k++)
            square += h[v * p->c + k] * h[v * p->c + k];
        sum += p->mass[v] * (p->squared ? square : sqrt(square + eps_h * eps_h));
    }
    for (int64_t e = 0; e < p->n_live; e++) {
        double square = eps_d * eps_d;
        difference(s, h, e, x);
        for (int64_t k = 0; k < p->c; k++)
            square += x[k] * x[k];
        sum += p->lambda[e] * sqrt(square);
    }
    return sum;
}

/* ---- the reweighted step --------------------------------------------------------------------- */

enum { TAU_PERCENT = 5 };

/* The weights m_i / rho_i and lambda_e / r_e of (14) at h. */
static void find_weights(const stage *s, const double *h, double *vertex, double *edge) {
    const hd_shrink_problem *p = &s->problem;
    const hd_shrink_irls_block *own = &s->irls.blocks[0];
    double x[128];
    for (int64_t v = 0; v < s->problem.n_free; v++) {
        double square = own->eps_h * own->eps_h;
        for (int64_t k = v * p->c; k < (v + 1) * p->c; k++)
            square += h[k] * h[k];
        vertex[v] = p->squared ? 2 * p->mass[v] : p->mass[v] / sqrt(square);
    }
    for (int64_t e = 0; e < p->n_live; e++) {
        double square = own->eps_d * own->eps_d;
        difference(s, h, e, x);
        for (int64_t k = 0; k < p->c; k++)
            square += x[k] * x[k];
        edge[e] = p->lambda[e] / sqrt(square);
    }
}

/* image = (diag(vertex) + B' diag(edge) B) from */
static void apply_weights(const stage *s, const double *vertex, const double *edge,
                          const double *from, double *image) {
    const hd_shrink_problem *p = &s->problem;
    for (int64_t k = 0; k < s->problem.n_free * p->c; k++)
        image[k] = vertex[k / p->c] * from[k];
    for (int64_t e = 0; e < p->n_live; e++)
        for (int64_t k = 0; k < p->c; k++) {
            int64_t i = p->head[e] * p->c + k, j = p->tail[e] * p->c + k;
            image[i] += edge[e] * (from[i] - from[j]);
            image[j] -= edge[e] * (from[i] - from[j]); /* of no use for a fixed vertex */
        }
}

/* Minus the gradient of the smoothed objective at h by finite differences. */
static void find_descent(const stage *s, double *h, double *descent) {
    const hd_shrink_irls_block *own = &s->irls.blocks[0];
    const double step = 1e-4;
    for (int64_t k = 0; k < s->problem.n_free * s->problem.c; k++) {
        double at = h[k], around[2];
        for (int side = 0; side < 2; side++) {
            h[k] = at + (side ? step : -step);
            around[side] = smoothed(s, h, own->eps_h, own->eps_d);
        }
        h[k] = at;
        descent[k] = (around[0] - around[1]) / (2 * step);
    }
}

static void check_smoothing(const stage *s) {
    const hd_shrink_problem *p = &s->problem;
    const hd_shrink_irls_block *own = &s->irls.blocks[0];
    double sum_mass = 0, sum_lambda = 0, primal = smoothed(s, s->arrays.h, 0, 0);
    for (int64_t v = 0; v < s->problem.n_free; v++)
        sum_mass += p->mass[v];
    for (int64_t e = 0; e < p->n_live; e++)
        sum_lambda += p->lambda[e];
    assert_close(s->blocks[0].point.objective, primal, 1e-12);
    assert_close(own->eps_h, .01 * TAU_PERCENT * primal / sum_mass, 1e-12);
    assert_close(own->eps_d, .01 * TAU_PERCENT * primal / sum_lambda, 1e-12);
    assert_close(own->smooth, smoothed(s, s->arrays.h, own->eps_h, own->eps_d), 1e-12);
}

/* z_e = weight_e (x + B delta)_e, or shorter if that is longer than lambda_e. Returns how many
 * are. */
static int64_t check_dual(const stage *s, const double *z, const double *edge) {
    const hd_shrink_problem *p = &s->problem;
    double *moved = calloc((size_t)(N * p->c), sizeof *moved), x[128];
    int64_t clipped = 0;
    for (int64_t k = 0; k < s->problem.n_free * p->c; k++)
        moved[k] = s->arrays.h[k] + s->arrays.delta[k];
    for (int64_t e = 0; e < p->n_live; e++) {
        double length = 0;
        difference(s, moved, e, x);
        for (int64_t k = 0; k < p->c; k++)
            length += edge[e] * x[k] * edge[e] * x[k];
        double factor = edge[e] * fmin(1, p->lambda[e] / sqrt(length));
        clipped += length > p->lambda[e] * p->lambda[e];
        for (int64_t k = 0; k < p->c; k++)
            assert_true(fabs(z[e * p->c + k] - factor * x[k]) <= 1e-10 * p->lambda[e]);
    }
    free(moved);
    return clipped;
}

/* The bounds of "l21" and "l2" for s z (docs/method.md, "The certificate"). */
static double bound_at(const stage *s, double scale, double inner, const double *norm) {
    const hd_shrink_problem *p = &s->problem;
    double sum = scale * inner;
    for (int64_t v = 0; v < s->problem.n_free; v++)
        sum -= p->squared ? scale * scale * p->mass[v] * norm[v] * norm[v] / 4
                          : p->radius[v] * fmax(0, scale * norm[v] - 1);
    return sum;
}

/* norm_i = ||(B'Z)_i|| / m_i, and the bound at its best scale: one of a fine grid for "l2", at a
 * kink for "l21". */
static void check_bound(const stage *s, const double *z) {
    const hd_shrink_problem *p = &s->problem;
    int64_t c = p->c;
    double *force = calloc((size_t)(N * c), sizeof *force), norm[N], inner = 0, best = 0;
    for (int64_t e = 0; e < p->n_live; e++)
        for (int64_t k = 0; k < c; k++) {
            int64_t i = p->head[e] * c + k, j = p->tail[e] * c + k;
            inner += z[e * c + k] * (p->f[i] - p->f[j]);
            force[i] += z[e * c + k];
            force[j] -= z[e * c + k];
        }
    for (int64_t v = 0; v < s->problem.n_free; v++) {
        double square = 0;
        for (int64_t k = v * c; k < (v + 1) * c; k++)
            square += force[k] * force[k];
        norm[v] = sqrt(square) / p->mass[v];
        assert_close(s->arrays.norm[v], norm[v], 1e-9);
    }
    for (int64_t v = 0; v < s->problem.n_free; v++)
        best = fmax(best, norm[v] >= 1 ? bound_at(s, 1 / norm[v], inner, norm) : 0);
    for (int step = 0; step <= 1000; step++)
        best = fmax(best, bound_at(s, .001 * step, inner, norm));
    assert_true(s->blocks[0].point.bound >= best * (1 - 1e-9));
    assert_true(s->blocks[0].point.bound <= best * (1 + (p->squared ? 1e-5 : 1e-9)));
    free(force);
}

static void a_reweighted_step_minimises_its_quadratic(void **state) {
    (void)state;
    static const int64_t columns[] = {1, 3, 4, 70};
    int64_t clipped = 0, live = 0, anchored = 0;
    for (int trial = 0; trial < 16; trial++) {
        stage s;
        stage_open(&s, columns[trial / 2 % 4], trial % 2, trial >= 8, (uint64_t)trial);
        int64_t cells = s.problem.n_free * s.problem.c;
        double *vertex = malloc(N * sizeof *vertex), tolerance = 1e-9;
        double *edge = malloc((size_t)s.problem.n_live * sizeof *edge);
        double *image = malloc((size_t)(N * s.problem.c) * sizeof *image);
        double *descent = malloc((size_t)cells * sizeof *descent);
        bool is_done;
        const double *z = s.blocks[0].point.z;
        assert_ok(hd_shrink_irls_begin(&s.irls, s.blocks, &is_done));
        check_smoothing(&s);
        find_weights(&s, s.arrays.h, vertex, edge);
        find_descent(&s, s.arrays.h, descent);
        apply_weights(&s, vertex, edge, s.arrays.delta, image);
        if (strcmp(hd_shrink_linear_names[1], "approximate") == 0)
            tolerance = .3 * .01 * TAU_PERCENT * s.blocks[0].point.primal;
        for (int64_t k = 0; k < cells; k++) {
            assert_true(fabs(s.arrays.right[k] - descent[k]) <= 1e-5 * (1 + fabs(descent[k])));
            assert_true(fabs(image[k] - s.arrays.right[k]) <= tolerance);
        }
        /* A better bound than 0 has become the best, with its z. */
        assert_true(s.blocks[0].point.dual > 0 && s.blocks[0].point.best_z == z);
        clipped += check_dual(&s, z, edge);
        check_bound(&s, z);
        live += s.problem.n_live;
        anchored += s.problem.blocks[0].e1 - s.problem.blocks[0].anchor;
        free(vertex);
        free(edge);
        free(image);
        free(descent);
        stage_free(&s);
    }
    assert_true(clipped > live / 50 && clipped < live && anchored > 0);
}

/* ---- acceleration ---------------------------------------------------------------------------- */

/* The past, rounded as the solver rounds it. */
typedef struct past {
    int64_t cells;
    int32_t n;
    float *step[HD_SHRINK_PAIRS], *change[HD_SHRINK_PAIRS], *last;
} past;

/* The mixed step of Anderson's method from all pairs. */
static void mix(const past *p, const double *vertex, const double *delta, int64_t c, double *step) {
    double a[HD_SHRINK_PAIRS * HD_SHRINK_PAIRS] = {0}, theta[HD_SHRINK_PAIRS] = {0}, trace = 0;
    for (int32_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->cells; k++) {
            theta[i] += vertex[k / c] * (double)p->change[i][k] * delta[k];
            for (int32_t j = 0; j < p->n; j++)
                a[i * p->n + j] +=
                    vertex[k / c] * (double)p->change[i][k] * (double)p->change[j][k];
        }
    for (int32_t i = 0; i < p->n; i++)
        trace += a[i * p->n + i];
    for (int32_t i = 0; i < p->n; i++)
        a[i * p->n + i] += 1e-12 * trace;
    eliminate(p->n, 1, a, theta);
    for (int64_t k = 0; k < p->cells; k++) {
        step[k] = delta[k];
        for (int32_t i = 0; i < p->n; i++)
            step[k] -= theta[i] * ((double)p->step[i][k] + (double)p->change[i][k]);
    }
}

static double objective_after(const stage *s, const double *h, double factor, const double *step) {
    const hd_shrink_irls_block *own = &s->irls.blocks[0];
    int64_t cells = N * s->problem.c;
    double *there = malloc((size_t)cells * sizeof *there);
    for (int64_t k = 0; k < cells; k++)
        there[k] = h[k] + factor * step[k];
    double value = smoothed(s, there, own->eps_h, own->eps_d);
    free(there);
    return value;
}

/* One step from h: what was moved is the mixed step, if that is not worse than 1.5 plain ones.
 * Returns whether it was. */
static bool check_accelerated(const stage *s, past *p, const double *h, double *mixed) {
    int64_t c = s->problem.c;
    double vertex[N], size = 0, *edge = malloc((size_t)s->problem.n_live * sizeof *edge);
    const double *delta = s->arrays.delta, *step = s->irls.step;
    find_weights(s, h, vertex, edge);
    free(edge);
    if (p->n > 0)
        for (int64_t k = 0; k < p->cells; k++)
            p->change[p->n - 1][k] = (float)(delta[k] - (double)p->last[k]);
    mix(p, vertex, delta, c, mixed);
    double plain = objective_after(s, h, 1.5, delta), other = objective_after(s, h, 1, mixed);
    bool is_mixed = p->n > 0 && other <= plain;
    assert_true(fabs(other - plain) > 1e-9 * plain || p->n == 0);
    for (int64_t k = 0; k < p->cells; k++)
        size = fmax(size, fabs(delta[k]));
    for (int64_t k = 0; k < p->cells; k++) {
        double wanted = is_mixed ? mixed[k] : 1.5 * delta[k];
        assert_true(fabs(step[k] - wanted) <= 1e-4 * size);
        assert_true(fabs(s->arrays.h[k] - (h[k] + step[k])) <= 1e-12);
        p->step[p->n][k] = (float)step[k];
        p->last[k] = (float)delta[k];
    }
    p->n++;
    return is_mixed;
}

/* Five steps without a change of the smoothing, which would empty the history. */
static void accelerated_steps_are_those_of_anderson(void **state) {
    (void)state;
    int count = 0;
    for (int trial = 0; trial < 6; trial++) {
        stage s;
        stage_open(&s, 3, trial % 2, false, (uint64_t)trial);
        past p = {.cells = N * 3};
        double h[N * 3], mixed[N * 3];
        p.last = malloc(sizeof(float[N * 3]));
        for (int k = 0; k < HD_SHRINK_PAIRS; k++) {
            p.step[k] = malloc(sizeof(float[N * 3]));
            p.change[k] = malloc(sizeof(float[N * 3]));
        }
        s.irls.blocks[0].tau = 1e-5;
        for (int k = 0; k < HD_SHRINK_PAIRS; k++) {
            memcpy(h, s.arrays.h, sizeof h);
            assert_ok(hd_shrink_irls_step(&s.irls, s.blocks));
            count += check_accelerated(&s, &p, h, mixed);
            assert_int_equal(s.irls.blocks[0].n_pairs, k + 1);
        }
        for (int k = 0; k < HD_SHRINK_PAIRS; k++) {
            free(p.step[k]);
            free(p.change[k]);
        }
        free(p.last);
        stage_free(&s);
    }
    assert_true(count >= 6);
}

/* Another smoothing is another map: the step after it is a plain one, whatever was remembered. */
static void a_new_smoothing_forgets_the_past(void **state) {
    (void)state;
    int changes = 0;
    for (int trial = 0; trial < 4; trial++) {
        stage s;
        stage_open(&s, 3, trial % 2, false, (uint64_t)trial);
        hd_shrink_irls_block *own = &s.irls.blocks[0];
        bool changed = false;
        for (int k = 0; k < 30; k++) {
            double tau = own->tau;
            int32_t before = own->n_pairs, more = before + (before < HD_SHRINK_PAIRS);
            assert_ok(hd_shrink_irls_step(&s.irls, s.blocks));
            for (int64_t e = 0; e < N * 3 && changed; e++)
                assert_true(s.irls.step[e] == 1.5 * s.arrays.delta[e]);
            changes += changed = own->tau < tau && before > 0;
            assert_int_equal(own->n_pairs, own->tau < tau ? 0 : more);
        }
        stage_free(&s);
    }
    assert_true(changes >= 4);
}

/* ---- Newton's step --------------------------------------------------------------------------- */

/* u_new = (x + d - u (x . d) / r) / r, or the unit vector in its direction if that is longer. Moves
 * of all sizes, so that many are only a little longer. */
static void dual_vectors_follow_into_the_ball(void **state) {
    (void)state;
    enum { DIM = 3 };
    hd_rng rng = hd_rng_stream(9, 0);
    int outside = 0, little = 0;
    for (int trial = 0; trial < 400; trial++) {
        double x[DIM], d[DIM], unit[DIM], wanted[DIM], xx = .01, along = 0, length = 0;
        for (int k = 0; k < DIM; k++) {
            x[k] = hd_rng_normal(&rng);
            d[k] = .005 * trial * hd_rng_normal(&rng);
            xx += x[k] * x[k];
            along += x[k] * d[k];
        }
        for (int k = 0; k < DIM; k++) {
            unit[k] = .5 * (x[k] / sqrt(xx) + hd_rng_uniform(&rng) / DIM);
            wanted[k] = (x[k] + d[k] - unit[k] * along / sqrt(xx)) / sqrt(xx);
            length += wanted[k] * wanted[k];
        }
        outside += length > 1;
        little += length > 1 && length < 2;
        hd_shrink_follow_move(unit, x, d, 1 / sqrt(xx), DIM);
        for (int k = 0; k < DIM; k++)
            assert_true(fabs(unit[k] - wanted[k] / fmax(1, sqrt(length))) <= 1e-13);
    }
    assert_true(outside > 50 && outside < 350 && little > 20);
}

/* The Hessian of the smoothed objective times `from`, by differences of its gradient. */
static void apply_slowly(const stage *s, double *h, const double *from, double *image) {
    int64_t cells = N * s->problem.c;
    const double step = 1e-4;
    double *around[2];
    for (int side = 0; side < 2; side++) {
        around[side] = malloc((size_t)cells * sizeof *around[side]);
        for (int64_t k = 0; k < cells; k++)
            h[k] += (side ? 2 : -1) * step * from[k];
        find_descent(s, h, around[side]);
    }
    for (int64_t k = 0; k < cells; k++) {
        h[k] -= step * from[k];
        image[k] = (around[0][k] - around[1][k]) / (2 * step);
    }
    free(around[0]);
    free(around[1]);
}

/* With u = x / r the matrix of the primal-dual method is the Hessian itself. */
static void the_hessian_is_that_of_the_smoothed_objective(void **state) {
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        stage s;
        stage_open(&s, trial < 2 ? 3 : 4, trial % 2, false, (uint64_t)trial);
        const hd_shrink_problem *p = &s.problem;
        int64_t cells = N * p->c, c = p->c;
        double *from = malloc((size_t)cells * sizeof *from), product = 0, wanted = 0;
        double *to = malloc((size_t)cells * sizeof *to), *slow = malloc((size_t)cells * sizeof *to);
        double *unit_h = malloc((size_t)cells * sizeof *unit_h);
        double *unit_x = malloc((size_t)(p->n_live * c) * sizeof *unit_x);
        hd_rng rng = hd_rng_stream(7, (uint64_t)trial);
        assert_ok(hd_shrink_irls_set_weights(&s.irls, s.blocks));
        for (int64_t k = 0; k < cells; k++) {
            from[k] = hd_rng_normal(&rng);
            unit_h[k] = s.irls.vertex_weight[k / c] / p->mass[k / c] * s.arrays.h[k];
        }
        for (int64_t k = 0; k < p->n_live * c; k++)
            unit_x[k] = s.arrays.edge_weight[k / c] / p->lambda[k / c] * s.irls.x[k];
        hd_shrink_newton_pass q = {.irls = &s.irls,
                                   .unit_x = unit_x,
                                   .unit_h = unit_h,
                                   .b = s.blocks,
                                   .from = from,
                                   .to = to};
        assert_ok(
            hd_shrink_over_edges(s.blocks, HD_SHRINK_BODY(hd_shrink_apply_edges), &q, 0, NULL));
        assert_ok(hd_shrink_over_vertices(s.blocks, HD_SHRINK_BODY(hd_shrink_apply_vertices), &q, 1,
                                          &product));
        apply_slowly(&s, s.arrays.h, from, slow);
        for (int64_t k = 0; k < cells; k++) {
            assert_true(fabs(to[k] - slow[k]) <= 1e-3 * (1 + fabs(slow[k])));
            wanted += from[k] * to[k];
        }
        assert_close(product, wanted, 1e-12);
        free(from);
        free(to);
        free(slow);
        free(unit_h);
        free(unit_x);
        stage_free(&s);
    }
}

/* The vectors of its conjugate gradients: products, lengths of rows, sums. */
static void rows_are_multiplied_and_added(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3, false, false, 1);
    double a[N * 3], b[N * 3], to[N * 3], sums[2] = {0}, product = 0, lengths = 0;
    hd_rng rng = hd_rng_stream(8, 0);
    for (int64_t k = 0; k < N * 3; k++) {
        a[k] = hd_rng_normal(&rng);
        b[k] = hd_rng_normal(&rng);
        product += a[k] * b[k];
        if (k % 3 == 2)
            lengths += sqrt(a[k] * a[k] + a[k - 1] * a[k - 1] + a[k - 2] * a[k - 2]);
    }
    hd_shrink_newton_pass q = {.b = s.blocks, .from = a, .with = b, .to = to, .factor = -.7};
    assert_ok(
        hd_shrink_over_vertices(s.blocks, HD_SHRINK_BODY(hd_shrink_multiply_rows), &q, 2, sums));
    assert_ok(hd_shrink_over_vertices(s.blocks, HD_SHRINK_BODY(hd_shrink_add_rows), &q, 0, NULL));
    assert_close(sums[0], product, 1e-12);
    assert_close(sums[1], lengths, 1e-12);
    for (int64_t k = 0; k < N * 3; k++)
        assert_close(to[k], b[k] - .7 * a[k], 1e-14);
    stage_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reweighted_step_minimises_its_quadratic),
        cmocka_unit_test(accelerated_steps_are_those_of_anderson),
        cmocka_unit_test(a_new_smoothing_forgets_the_past),
        cmocka_unit_test(dual_vectors_follow_into_the_ball),
        cmocka_unit_test(the_hessian_is_that_of_the_smoothed_objective),
        cmocka_unit_test(rows_are_multiplied_and_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
