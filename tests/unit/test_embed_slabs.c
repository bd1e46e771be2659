/* embed: with an engine, on two equal slabs (mirror.h), and on rows that are distributed over
 * several processes (team.h), against the answer of one process. */
#include "embed_team.h"
#include "engines/mirror.h"

enum { N = 600, C = 6 };

static huddle_embed_options exact_options(const char *solver) {
    huddle_embed_options options = huddle_embed_defaults();
    options.n_components = C;
    options.embed_solver = solver;
    options.tol = 1e-9;
    options.verify = "probe";
    return options;
}

/* ---- two equal slabs ----------------------------------------------------------------------- */

static void two_equal_slabs_give_the_vectors_of_one(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(N, 3, .05);
    huddle_embed_options options = exact_options("chebyshev");
    huddle_embedding one, two;
    huddle_embed_info info;
    assert_ok(huddle_embed(NULL, &graph, &options, &one, NULL));
    huddle_context *context = mirror_context();
    graph.cols = 2 * N;
    assert_ok(huddle_embed(context, &graph, &options, &two, &info));
    assert_int_equal(info.components, 1);
    assert_true(info.stop == HUDDLE_STOP_CONVERGED && info.residual < 1e-8);
    assert_string_equal(info.verified, "probe");
    for (int k = 0; k < C; k++)
        assert_close(two.eigenvalues[k], one.eigenvalues[k], 1e-12);
    for (int64_t e = 0; e < N * C; e++)
        assert_close(two.vectors.values[e], one.vectors.values[e] / sqrt(2), 1e-7);
    mirror_counts *counts = mirror_counts_of(context);
    assert_true(counts->reductions > 0 && counts->fetches > 0);
    /* On the numbers of the components, and on the outcome. */
    assert_true(counts->agreements == 2 && counts->open_halos == 0);
    double extents[C], alone[C];
    assert_ok(huddle_embed_extents(context, &two.vectors, NULL, extents));
    assert_ok(huddle_embed_extents(NULL, &one.vectors, NULL, alone));
    for (int k = 0; k < C; k++)
        assert_close(extents[k], 2 * alone[k], 1e-5);
    huddle_context_free(context);
    huddle_embedding_free(&one);
    huddle_embedding_free(&two);
    huddle_csr_free(&graph);
}

static void what_needs_all_rows_is_refused(void **state) {
    (void)state;
    huddle_csr graph = path_graph(1600);
    huddle_embedding e;
    huddle_context *context = mirror_context();
    static const char *const solvers[] = {"dense", "arpack"};
    graph.cols = 3200;
    for (int s = 0; s < 2; s++) {
        huddle_embed_options options = exact_options(solvers[s]);
        assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_UNSUPPORTED,
                       solvers[s]);
    }
    huddle_embed_options options = exact_options("auto");
    options.verify = "inertia";
    assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_UNSUPPORTED,
                   "inertia");
    options = exact_options("auto");
    options.n_components = 2000; /* more than the own rows, and too many for one process */
    assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_UNSUPPORTED, "dense");
    graph.cols = 1600;
    options = exact_options("auto");
    assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_INVALID,
                   "3200 x 1600");
    huddle_context_free(context);
    huddle_csr_free(&graph);
}

/* ---- several processes --------------------------------------------------------------------- */

/* Embeds by teams of two and three and compares with one process. `trivial` columns are components:
 * they must agree entry by entry. */
static void check_teams(huddle_csr matrix, bool symmetric, int32_t c, int64_t trivial) {
    huddle_embedding one;
    huddle_embed_info info;
    huddle_embed_options options = exact_options("auto");
    options.n_components = c;
    if (symmetric)
        assert_ok(
            huddle_embed_symmetric(NULL, &matrix, -INFINITY, INFINITY, &options, &one, &info));
    else
        assert_ok(huddle_embed(NULL, &matrix, &options, &one, &info));
    for (int size = 2; size <= 3; size++) {
        task t = {.matrix = &matrix, .symmetric = symmetric, .options = options, .size = size};
        cut_unevenly(&t);
        assert_ok(run_task(&team_engine, &t));
        assert_true(t.info[0].stop == info.stop || t.info[0].stop == HUDDLE_STOP_CONVERGED);
        assert_int_equal(t.info[0].components, info.components);
        assert_true(t.info[0].residual < 1e-8);
        for (int32_t k = 0; k < c; k++)
            assert_close(t.out.eigenvalues[k], one.eigenvalues[k], 1e-10);
        assert_true(subspace_distance(&one.vectors, &t.out.vectors) < 1e-6);
        for (int64_t i = 0; i < matrix.rows; i++)
            for (int64_t k = 0; k < trivial; k++)
                assert_close(t.out.vectors.values[i * c + k], one.vectors.values[i * c + k], 1e-12);
        huddle_embedding_free(&t.out);
    }
    huddle_embedding_free(&one);
    huddle_csr_free(&matrix);
}

/* The vectors of a path are even or odd, so that two entries on different processes are of largest
 * magnitude: the first of them determines the sign, as on one process. */
static void signs_are_those_of_one_process(void **state) {
    (void)state;
    huddle_csr path = path_graph(120);
    huddle_embedding one;
    task t = {.matrix = &path, .options = exact_options("auto"), .size = 2};
    t.options.n_components = 4;
    cut_unevenly(&t);
    assert_ok(huddle_embed(NULL, &path, &t.options, &one, NULL));
    assert_ok(run_task(&team_engine, &t));
    for (int64_t e = 0; e < 120 * 4; e++)
        assert_close(t.out.vectors.values[e], one.vectors.values[e], 1e-5);
    huddle_embedding_free(&t.out);
    huddle_embedding_free(&one);
    huddle_csr_free(&path);
}

static void a_graph_in_slabs_is_embedded_as_one(void **state) {
    (void)state;
    check_teams(chain_of_clouds(N, 4, .05), false, C, 1);
    check_teams(neighbour_graph(N, 3), false, C, 0);
}

/* Vertices of one component alternate between the ends of the list, so that it visits every process
 * more than once. */
static huddle_csr interleaved_components(int64_t n, int64_t isolated) {
    sketch s = new_sketch(n);
    for (int64_t i = isolated; i + 2 < n; i++)
        if (i % 2 == 0 || i < n / 2)
            join(s, i, i + 2, 1 + (double)(i % 5));
    for (int64_t i = isolated; i < n / 2; i += 2)
        join(s, i, n - 2 - (i - isolated), .5);
    return to_csr(s);
}

static void components_are_joined_across_processes(void **state) {
    (void)state;
    huddle_embed_info info;
    huddle_embedding e;
    huddle_csr graph = interleaved_components(N, 4);
    huddle_embed_options options = exact_options("auto");
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_true(info.components > 10);
    huddle_embedding_free(&e);
    int32_t q = info.components;
    check_teams(graph, false, q, q); /* the whole answer */
    check_teams(interleaved_components(N, 4), false, q + 3, 2);
    check_teams(chain_of_clouds(N, 3, 0), false, C, 3);
}

static void any_matrix_in_slabs_is_solved_as_one(void **state) {
    (void)state;
    huddle_csr matrix = chain_of_clouds(N, 3, .2);
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = matrix.offsets[i]; e < matrix.offsets[i + 1]; e++)
            matrix.values[e] = -3e5 * matrix.values[e];
    check_teams(matrix, true, 4, 0);
}

static void a_bad_weight_ends_the_call_on_all_processes(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(N, 4, .05);
    task t = {.matrix = &graph, .options = exact_options("auto"), .size = 3};
    cut_unevenly(&t);
    graph.values[graph.offsets[N] - 1] = -1;
    assert_refused(run_task(&team_engine, &t), HUDDLE_INVALID, "");
    huddle_embedding_free(&t.out);
    huddle_csr_free(&graph);
}

/* ---- engines ------------------------------------------------------------------------------- */

static enum { DECLINES, MIXES, DROPS_FIRST, ADDS_NOISE, TOO_FEW, FAILS } behaviour;
static int calls;

/* Vectors by LAPACK; returned mixed, incomplete or spoilt. */
static huddle_status find_eigenpairs(huddle_context *context, const hd_eigen_request *request,
                                     hd_eigen_result *result) {
    huddle_status status = HUDDLE_OK;
    hd_embed_operator op = {0};
    hd_embed_pairs pairs = {0};
    hd_eigen_request larger = *request;
    int64_t n = request->matrix->rows, wanted = request->n_wanted;
    hd_embed_problem problem = {&larger, &op, NULL, "dense", "none"};
    (void)context;
    calls++;
    if (behaviour == DECLINES)
        return hd_fail(HUDDLE_UNSUPPORTED, "not today");
    if (behaviour == FAILS)
        return hd_fail(HUDDLE_NUMERIC, "the device is on fire");
    larger.n_wanted += 2;
    TRY(hd_embed_operator_new(NULL, &larger, NULL, NULL, &op));
    TRY(hd_embed_solve_dense(NULL, &problem, &pairs));
    result->count = (int32_t)(behaviour == TOO_FEW ? wanted - 1 : wanted + 1);
    result->stop = HUDDLE_STOP_CONVERGED;
    result->n_iter = 3;
    TRY(huddle_dense_new(n, result->count, result->vectors));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < result->count; k++) {
            const double *v =
                pairs.vectors.values + i * pairs.vectors.stride + (behaviour == DROPS_FIRST);
            double *out = result->vectors->values + i * result->count + k;
            *out = behaviour == MIXES && k > 0 ? 2 * v[k] - v[k - 1] : v[k];
            if (behaviour == ADDS_NOISE)
                *out += 1e-3 * sin((double)(7 * i + k));
        }
done:
    hd_embed_operator_free(&op);
    hd_embed_pairs_free(&pairs);
    return status;
}

static const hd_engine solving_engine = {.text = {"solving", "LAPACK, with moods"},
                                         .find_eigenpairs = find_eigenpairs};

static huddle_status embed_by_engine(const huddle_csr *graph, bool symmetric, huddle_embedding *e,
                                     huddle_embed_info *info, hd_warnings *warnings) {
    huddle_embed_options options = huddle_embed_defaults();
    huddle_context *context = NULL;
    options.n_components = C;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &solving_engine, ""));
    context->warnings = warnings;
    huddle_status status =
        symmetric ? huddle_embed_symmetric(context, graph, -INFINITY, INFINITY, &options, e, info)
                  : huddle_embed(context, graph, &options, e, info);
    context->warnings = NULL;
    huddle_context_free(context);
    return status;
}

static void an_engine_solves_both_kinds_of_matrices(void **state) {
    (void)state;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        huddle_csr graph = chain_of_clouds(N, 2, .05);
        huddle_embedding own, other;
        huddle_embed_info info;
        huddle_embed_options options = exact_options("dense");
        if (symmetric)
            assert_ok(
                huddle_embed_symmetric(NULL, &graph, -INFINITY, INFINITY, &options, &own, NULL));
        else
            assert_ok(huddle_embed(NULL, &graph, &options, &own, NULL));
        behaviour = MIXES;
        calls = 0;
        assert_ok(embed_by_engine(&graph, symmetric, &other, &info, NULL));
        assert_int_equal(calls, 1);
        assert_string_equal(info.solver, "solving");
        assert_string_equal(info.verified, "inertia");
        assert_true(info.stop == HUDDLE_STOP_CONVERGED && info.n_iter == 3);
        assert_true(info.residual < 1e-10);
        for (int k = 0; k <= C; k++)
            assert_close(other.eigenvalues[k], own.eigenvalues[k], 1e-8);
        for (int64_t e = 0; e < N * C; e++)
            assert_close(other.vectors.values[e], own.vectors.values[e], 1e-6);
        huddle_embedding_free(&own);
        huddle_embedding_free(&other);
        huddle_csr_free(&graph);
    }
}

static void a_request_that_is_declined_is_the_cpus(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(N, 2, .05);
    huddle_embedding own, other;
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.n_components = C;
    behaviour = DECLINES;
    assert_ok(huddle_embed(NULL, &graph, &options, &own, NULL));
    assert_ok(embed_by_engine(&graph, false, &other, &info, NULL));
    assert_string_equal(info.solver, "chebyshev");
    assert_memory_equal(own.rows.values, other.rows.values, N * C * sizeof(double));
    huddle_embedding_free(&own);
    huddle_embedding_free(&other);
    behaviour = FAILS;
    assert_refused(embed_by_engine(&graph, false, &other, &info, NULL), HUDDLE_NUMERIC, "on fire");
    behaviour = TOO_FEW;
    assert_refused(embed_by_engine(&graph, false, &other, &info, NULL), HUDDLE_INTERNAL,
                   "4 eigenvectors where 5 were wanted");
    huddle_csr_free(&graph);
}

static void a_faulty_engine_is_noticed(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(N, 2, .05);
    huddle_embedding e;
    huddle_embed_info info;
    hd_warnings warnings = {0};
    behaviour = DROPS_FIRST;
    assert_ok(embed_by_engine(&graph, false, &e, &info, &warnings));
    assert_string_equal(info.verified, "none");
    assert_int_equal(warnings.count, 1);
    assert_int_equal(warnings.items[0].code, HUDDLE_WARNING_NOT_VERIFIED);
    huddle_embedding_free(&e);
    behaviour = ADDS_NOISE;
    assert_ok(embed_by_engine(&graph, false, &e, &info, NULL));
    assert_true(info.residual > 1e-4 && info.stop == HUDDLE_STOP_STALLED);
    assert_string_equal(info.verified, "none");
    huddle_embedding_free(&e);
    hd_warnings_free(&warnings);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_slabs_give_the_vectors_of_one),
        cmocka_unit_test(what_needs_all_rows_is_refused),
        cmocka_unit_test(signs_are_those_of_one_process),
        cmocka_unit_test(a_graph_in_slabs_is_embedded_as_one),
        cmocka_unit_test(components_are_joined_across_processes),
        cmocka_unit_test(any_matrix_in_slabs_is_solved_as_one),
        cmocka_unit_test(a_bad_weight_ends_the_call_on_all_processes),
        cmocka_unit_test(an_engine_solves_both_kinds_of_matrices),
        cmocka_unit_test(a_request_that_is_declined_is_the_cpus),
        cmocka_unit_test(a_faulty_engine_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
