/* embed: larger graphs against SciPy and against closed forms, so that coarser graphs come into
 * play; and the ways to notice a missed eigenvector. */
#include "base/check.h"
#include "embed/verify.h"
#include "embed_graphs.h"

/* ---- graphs -------------------------------------------------------------------------------- */

typedef struct edge {
    int32_t i, j;
    double weight;
} edge;

/* Edges in both directions, on their way to a graph. */
typedef struct list {
    edge *edges;
    int64_t count, capacity;
} list;

static void add(list *l, int64_t i, int64_t j, double weight) {
    assert_true(hd_grow(&l->edges, &l->capacity, l->count + 2, sizeof *l->edges));
    l->edges[l->count++] = (edge){(int32_t)i, (int32_t)j, weight};
    l->edges[l->count++] = (edge){(int32_t)j, (int32_t)i, weight};
}

static int by_place(const void *left, const void *right) {
    const edge *a = left, *b = right;
    if (a->i != b->i)
        return a->i < b->i ? -1 : 1;
    return a->j < b->j ? -1 : a->j > b->j;
}

/* Sorts, and drops repetitions. */
static huddle_csr to_graph(int64_t n, list *l) {
    huddle_csr graph;
    int64_t count = 0;
    qsort(l->edges, (size_t)l->count, sizeof *l->edges, by_place);
    assert_ok(huddle_csr_new(n, n, l->count, &graph));
    for (int64_t e = 0; e < l->count; e++) {
        if (e > 0 && by_place(&l->edges[e - 1], &l->edges[e]) == 0)
            continue;
        graph.columns[count] = l->edges[e].j;
        graph.values[count++] = l->edges[e].weight;
        graph.offsets[l->edges[e].i + 1] = count;
    }
    for (int64_t i = 0; i < n; i++)
        if (graph.offsets[i + 1] == 0)
            graph.offsets[i + 1] = graph.offsets[i];
    huddle_free(l->edges);
    return graph;
}

/* The graph of make_embed.py. */
static huddle_csr golden_graph(int64_t n, int64_t blocks) {
    list l = {0};
    int64_t size = n / blocks;
    for (int64_t first = 0; first < n; first += size) {
        for (int64_t i = 0; i < size; i++) {
            int64_t others[] = {(i + 1) % size, (i + 5) % size,
                                i % 4 == 0 ? (i * 3 + 1) % size : i};
            for (int k = 0; k < 3; k++) {
                int64_t a = first + (i < others[k] ? i : others[k]);
                int64_t b = first + (i < others[k] ? others[k] : i);
                if (a != b)
                    add(&l, a, b, (double)(1 + (a * 7919 + b * 104729) % 1000) / 1000);
            }
        }
        if (first > 0)
            add(&l, first - 1, first, .001);
    }
    return to_graph(n, &l);
}

/* Each vertex of an a x b grid that wraps around has four neighbours. */
static huddle_csr torus(int64_t a, int64_t b) {
    list l = {0};
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < b; j++) {
            add(&l, i * b + j, (i + 1) % a * b + j, 1);
            add(&l, i * b + j, i * b + (j + 1) % b, 1);
        }
    return to_graph(a * b, &l);
}

/* ---- eigenpairs ---------------------------------------------------------------------------- */

static void graphs_match_scipy(void **state) {
    (void)state;
    int64_t count;
    double *golden = test_golden("embed.txt", &count);
    static const char *const solvers[] = {"auto", "chebyshev"};
    for (const double *at = golden; at < golden + count;) {
        int64_t n = (int64_t)at[0];
        int32_t c = (int32_t)at[2];
        huddle_csr graph = golden_graph(n, (int64_t)at[1]);
        at += 3;
        for (int s = 0; s < 2; s++) {
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            huddle_embedding e;
            options.n_components = c;
            options.embed_solver = solvers[s];
            assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
            assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
            assert_true(strcmp(info.verified, "none") != 0);
            assert_true(info.residual <= 1e-4 && !info.cuts_cluster);
            for (int32_t k = 0; k < c; k++)
                assert_close(e.eigenvalues[k], at[k], 2e-6);
            assert_close(info.gap / (at[c] - at[c - 1]), 1, .05);
            for (int64_t k = 0; k <= 10; k++) {
                double leverage = 0;
                const double *row = e.vectors.values + k * (n - 1) / 10 * c;
                for (int32_t j = 0; j < c; j++)
                    leverage += row[j] * row[j];
                assert_close(leverage / at[c + 2 + k], 1, .02);
            }
            huddle_embedding_free(&e);
        }
        at += c + 2 + 11 + 10;
        huddle_csr_free(&graph);
    }
    free(golden);
}

/* Cosines between rows do not depend on signs or on the choice of vectors within equal
 * eigenvalues. */
static void commute_rows_are_numpys(void **state) {
    (void)state;
    int64_t count;
    double *golden = test_golden("embed.txt", &count);
    for (const double *at = golden; at < golden + count;) {
        int64_t n = (int64_t)at[0];
        int32_t c = (int32_t)at[2];
        const double *cosines = at + 3 + c + 2 + 11;
        huddle_csr graph = golden_graph(n, (int64_t)at[1]);
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embedding e;
        options.n_components = c;
        options.rows = "commute";
        options.tol = 1e-10; /* the smallest eigenvalues are about 1e-6 */
        assert_ok(huddle_embed(NULL, &graph, &options, &e, NULL));
        for (int64_t k = 0; k < 10; k++) {
            double cosine = 0;
            const double *row = e.rows.values + k * (n - 1) / 10 * c;
            const double *next = e.rows.values + (k + 1) * (n - 1) / 10 * c;
            for (int32_t j = 0; j < c; j++)
                cosine += row[j] * next[j];
            assert_close(cosine, cosines[k], 1e-6);
        }
        at = cosines + 10;
        huddle_embedding_free(&e);
        huddle_csr_free(&graph);
    }
    free(golden);
}

static int descending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* Eigenvalues of multiplicity four and eight, in closed form. */
static void a_torus_has_its_eigenvalues(void **state) {
    (void)state;
    enum { A = 70, B = 70, C = 13 };
    static double values[A * B];
    const double turn = 6.283185307179586;
    for (int i = 0; i < A; i++)
        for (int j = 0; j < B; j++)
            values[i * B + j] = .5 * (cos(turn * i / A) + cos(turn * j / B));
    qsort(values, A * B, sizeof *values, descending);
    huddle_csr graph = torus(A, B);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.n_components = C;
    for (double tol = 1e-4; tol > 1e-10; tol *= 1e-4) {
        options.tol = tol;
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
        assert_true(info.residual <= tol);
        for (int k = 0; k < C; k++)
            assert_close(1 - e.eigenvalues[k], values[k], tol * tol * 1e3 + 1e-12);
        huddle_embedding_free(&e);
    }
    options.n_components = 3; /* the second eigenvalue comes four times */
    options.tol = 1e-4;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_true(info.cuts_cluster && info.gap < 1e-5);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    huddle_csr graph = golden_graph(12000, 6);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding alone, e;
    options.n_components = 30;
    assert_ok(huddle_embed(NULL, &graph, &options, &alone, NULL));
    for (int32_t threads = 2; threads <= 3; threads++) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_embed(context, &graph, &options, &e, NULL));
        assert_memory_equal(e.vectors.values, alone.vectors.values, 12000 * 30 * sizeof(double));
        huddle_embedding_free(&e);
        huddle_context_free(context);
    }
    huddle_embedding_free(&alone);
    huddle_csr_free(&graph);
}

/* ---- verification -------------------------------------------------------------------------- */

static void inertia_counts_eigenvalues(void **state) {
    (void)state;
    solved k;
    hd_embed_inertia inertia;
    solve_graph(golden_graph(400, 5), 40, &k);
    for (int64_t j = 1; j < 40; j++) {
        double gap = k.pairs.theta[j - 1] - k.pairs.theta[j];
        if (gap < 1e-7)
            continue;
        double shift = k.pairs.theta[j] + gap / 2;
        assert_ok(hd_embed_count_above(NULL, &k.op, shift, 1e12, &inertia));
        assert_true(inertia.affordable);
        assert_true(inertia.error < 1e-9);
        assert_int_equal(inertia.above, k.op.n_known + j);
    }
    assert_ok(hd_embed_count_above(NULL, &k.op, -1.001, 1e12, &inertia));
    assert_int_equal(inertia.above, 400);
    assert_ok(hd_embed_count_above(NULL, &k.op, 0, 10, &inertia));
    assert_false(inertia.affordable);
    free_solved(&k);
}

static void a_singular_pivot_is_no_proof(void **state) {
    (void)state;
    solved k;
    hd_embed_inertia inertia;
    list l = {0};
    add(&l, 0, 1, 1);
    solve_graph(to_graph(2, &l), 1, &k); /* the diagonal of op is 0: so is the first pivot */
    assert_ok(hd_embed_count_above(NULL, &k.op, 0, 1e12, &inertia));
    assert_true(isinf(inertia.error));
    free_solved(&k);
}

static void each_missed_vector_is_noticed(void **state) {
    (void)state;
    static const char *const ways[] = {"auto", "inertia", "probe"};
    for (int64_t hidden = 0; hidden < 7; hidden++) {
        solved k;
        solve_graph(golden_graph(800, 8), 8, &k);
        bool missed = true;
        for (int way = 0; way < 3; way++) {
            k.problem.verify = ways[way];
            assert_ok(hd_embed_verify(NULL, &k.problem, &k.pairs, NULL, &missed));
            assert_false(missed);
            assert_string_equal(k.pairs.verified, way == 2 ? "probe" : "inertia");
        }
        /* Forget one pair; the ninth moves up. */
        hd_embed_pairs nine = {0};
        k.request.n_wanted = 9;
        assert_ok(hd_embed_solve_dense(NULL, &k.problem, &nine));
        for (int64_t j = hidden; j < 8; j++)
            k.pairs.theta[j] = nine.theta[j + 1];
        for (int64_t i = 0; i < 800; i++)
            for (int64_t j = hidden; j < 8; j++)
                k.pairs.vectors.values[i * k.pairs.vectors.stride + j] =
                    nine.vectors.values[i * nine.vectors.stride + j + 1];
        k.request.n_wanted = 8;
        for (int way = 0; way < 3; way++) {
            hd_embed_block probe = {0};
            k.problem.verify = ways[way];
            assert_ok(hd_embed_verify(NULL, &k.problem, &k.pairs, &probe, &missed));
            assert_true(missed);
            assert_string_equal(k.pairs.verified, "none");
            assert_non_null(probe.x);
            hd_embed_block_free(&probe);
        }
        hd_embed_pairs_free(&nine);
        free_solved(&k);
    }
}

/* A block of true eigenvectors, but for one: the probe must bring it in. */
static void a_missed_vector_is_brought_in(void **state) {
    (void)state;
    for (int in_double = 0; in_double < 2; in_double++) {
        solved k;
        hd_embed_run run;
        hd_embed_pairs pairs = {0};
        solve_graph(golden_graph(800, 8), 20, &k);
        k.request.n_wanted = 8;
        assert_ok(hd_embed_run_new(&k.op, 8, 0, &run));
        for (int64_t i = 0; i < 800; i++)
            for (int64_t j = 0; j < 16; j++)
                ((float *)run.block.x)[i * 16 + j] =
                    (float)k.pairs.vectors.values[i * k.pairs.vectors.stride + j + (j >= 3)];
        if (in_double)
            assert_ok(hd_embed_block_widen(&k.op, &run.block));
        assert_ok(hd_embed_run_begin(NULL, 0, 0, &run));
        assert_ok(hd_embed_run_iterate(NULL, NULL, 1e-4, 100, &run));
        assert_true(run.ritz.theta[6] < k.pairs.theta[6] - .01);
        assert_ok(hd_embed_run_finish(NULL, &k.problem, &run, &pairs));
        for (int64_t j = 0; j < 8; j++)
            assert_close(pairs.theta[j], k.pairs.theta[j], 1e-6);
        assert_string_equal(pairs.verified, "inertia");
        hd_embed_pairs_free(&pairs);
        hd_embed_run_free(&run);
        free_solved(&k);
    }
}

static void verification_can_be_chosen(void **state) {
    (void)state;
    huddle_csr graph = golden_graph(3000, 12);
    static const char *const ways[] = {"none", "probe", "inertia"};
    for (int way = 0; way < 3; way++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = 12;
        options.verify = ways[way];
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_string_equal(info.verified, ways[way]);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

/* Whatever is asked for: it finds the eigenvalues of the full matrix in order. */
static void the_dense_solver_misses_nothing(void **state) {
    (void)state;
    huddle_csr graph = golden_graph(300, 3);
    static const char *const ways[] = {"none", "probe", "inertia", "auto"};
    for (int way = 0; way < 4; way++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = 6;
        options.verify = ways[way];
        options.embed_solver = "dense";
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_string_equal(info.verified, "inertia");
        assert_int_equal(info.proven_pairs, 6);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

/* ---- faults -------------------------------------------------------------------------------- */

static huddle_status embed_by(void *argument) {
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e = {0};
    options.n_components = 4;
    options.verify = "inertia";
    options.tol = 1e-3;
    huddle_status status = huddle_embed(NULL, argument, &options, &e, NULL);
    huddle_embedding_free(&e);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_csr graph = golden_graph(2600, 2);
    test_each_allocation(embed_by, &graph);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_match_scipy),
        cmocka_unit_test(commute_rows_are_numpys),
        cmocka_unit_test(a_torus_has_its_eigenvalues),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(inertia_counts_eigenvalues),
        cmocka_unit_test(a_singular_pivot_is_no_proof),
        cmocka_unit_test(each_missed_vector_is_noticed),
        cmocka_unit_test(a_missed_vector_is_brought_in),
        cmocka_unit_test(verification_can_be_chosen),
        cmocka_unit_test(the_dense_solver_misses_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
