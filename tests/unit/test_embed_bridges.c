/* embed: a graph that is nearly disconnected, on several processes. Its first eigenvalues are so
 * close to 0 that a Krylov method, which sees each direction once, reports others with a small
 * residual. Every one must be found, and what is missing must be noticed. */
#include "embed/chebyshev.h"
#include "embed_team.h"

/* Grids of LONG x WIDE vertices, PARTS of them, joined by a few edges. Such a graph is large enough
 * for the start from coarser graphs. */
enum { PARTS = 10, LONG = 25, WIDE = 20, N = PARTS * LONG * WIDE, BRIDGES = 12, DEGREE = 16 };

typedef struct lists {
    int32_t neighbour[N][DEGREE];
    int count[N];
} lists;

static void link(lists *l, int64_t i, int64_t j) {
    for (int k = 0; k < l->count[i]; k++)
        if (l->neighbour[i][k] == j)
            return;
    assert_true(i != j && l->count[i] < DEGREE && l->count[j] < DEGREE);
    l->neighbour[i][l->count[i]++] = (int32_t)j;
    l->neighbour[j][l->count[j]++] = (int32_t)i;
}

/* Vertices are numbered so that slabs know nothing of the parts. */
static int64_t number_of(int64_t vertex) {
    return vertex * 3989 % N;
}

static int compare_columns(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The part of each vertex, by its number. */
static void find_parts(int32_t *part) {
    for (int64_t v = 0; v < N; v++)
        part[number_of(v)] = (int32_t)(v / (LONG * WIDE));
}

/* Edges between parts are weak. */
static huddle_csr lists_to_csr(lists *l) {
    huddle_csr graph;
    int32_t part[N];
    int64_t count = 0;
    find_parts(part);
    for (int64_t i = 0; i < N; i++)
        count += l->count[i];
    assert_ok(huddle_csr_new(N, N, count, &graph));
    count = 0;
    for (int64_t i = 0; i < N; i++) {
        qsort(l->neighbour[i], (size_t)l->count[i], sizeof(int32_t), compare_columns);
        for (int k = 0; k < l->count[i]; k++) {
            graph.columns[count] = l->neighbour[i][k];
            graph.values[count++] = part[i] == part[l->neighbour[i][k]] ? 1 : .03;
        }
        graph.offsets[i + 1] = count;
    }
    return graph;
}

static huddle_csr bridged_grids(void) {
    lists *l = calloc(1, sizeof *l);
    hd_rng rng = hd_rng_stream(7, 0);
    const int64_t size = LONG * WIDE;
    for (int64_t v = 0; v < N; v++) {
        int64_t x = v % size / WIDE, y = v % WIDE;
        if (x + 1 < LONG)
            link(l, number_of(v), number_of(v + WIDE));
        if (y + 1 < WIDE)
            link(l, number_of(v), number_of(v + 1));
        if (x + 1 < LONG && y + 1 < WIDE)
            link(l, number_of(v), number_of(v + WIDE + 1));
    }
    for (int64_t p = 0; p + 1 < PARTS; p++)
        link(l, number_of(p * size), number_of((p + 1) * size + 7 * p));
    for (int b = 0; b < BRIDGES; b++)
        link(l, number_of(hd_rng_below(&rng, N)), number_of(hd_rng_below(&rng, N)));
    huddle_csr graph = lists_to_csr(l);
    free(l);
    return graph;
}

/* ---- engines ------------------------------------------------------------------------------- */

/* The part of each row, as a good partition would find it. */
static huddle_status by_part(void *state, int64_t n, const int64_t *offsets, const int32_t *columns,
                             int32_t *owner) {
    const team_member *m = state;
    int64_t first, total;
    (void)offsets, (void)columns;
    huddle_status status = team_locate(state, n, &first, &total);
    int32_t part[N];
    find_parts(part);
    for (int64_t i = 0; i < n; i++)
        owner[i] = part[first + i] * m->team->size / PARTS;
    return status;
}

/* Solves as the CPU does and returns all pairs but the fourth. */
static huddle_status drop_a_pair(huddle_context *context, const hd_eigen_request *request,
                                 hd_eigen_result *result) {
    huddle_status status = HUDDLE_OK;
    hd_embed_operator op = {0};
    hd_embed_pairs pairs = {0};
    hd_eigen_request larger = *request;
    hd_embed_problem problem = {&larger, &op, NULL, "chebyshev", "none"};
    larger.n_wanted++;
    TRY(hd_embed_operator_new(context, &larger, NULL, NULL, &op));
    TRY(hd_embed_solve_chebyshev(context, &problem, &pairs));
    result->count = request->n_wanted;
    result->stop = HUDDLE_STOP_CONVERGED;
    TRY(huddle_dense_new(op.n, result->count, result->vectors));
    for (int64_t i = 0; i < op.n; i++)
        for (int64_t k = 0; k < result->count; k++)
            result->vectors->values[i * result->count + k] =
                pairs.vectors.values[i * pairs.vectors.stride + k + (k >= 3)];
done:
    hd_embed_operator_free(&op);
    hd_embed_pairs_free(&pairs);
    return status;
}

/* ---- tests --------------------------------------------------------------------------------- */

typedef struct reference {
    huddle_csr graph;
    huddle_embedding e;
} reference;

/* A count by a factorisation proves that these are the first pairs. */
static reference solve_alone(void) {
    reference r = {.graph = bridged_grids()};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.n_components = PARTS;
    options.tol = 1e-9;
    options.verify = "inertia";
    assert_ok(huddle_embed(NULL, &r.graph, &options, &r.e, &info));
    assert_string_equal(info.verified, "inertia");
    assert_int_equal(info.proven_pairs, PARTS);
    assert_true(r.e.eigenvalues[PARTS - 1] < 1e-4 && r.e.eigenvalues[PARTS] > 3e-3);
    return r;
}

static void free_reference(reference *r) {
    huddle_embedding_free(&r->e);
    huddle_csr_free(&r->graph);
}

/* With slabs that cut everywhere and with rows moved to their parts. At the default tolerance the
 * error of an eigenvalue is of the order of tol^2 / gap. */
static void every_eigenvalue_is_found(void **state) {
    (void)state;
    reference r = solve_alone();
    hd_engine_slabs slabs = team_slabs;
    hd_engine moving = {.text = {"mover", "a team that moves rows"}, .slabs = &slabs};
    slabs.partition = by_part;
    for (int run = 0; run < 6; run++) {
        int size = run % 3 + 2;
        bool sharp = run % 2 == 1;
        task t = {.matrix = &r.graph, .options = huddle_embed_defaults(), .size = size};
        t.options.n_components = PARTS;
        t.options.tol = sharp ? 1e-8 : 1e-4;
        cut_unevenly(&t);
        assert_ok(run_task(run < 3 ? &team_engine : &moving, &t));
        assert_true(t.same_values);
        for (int member = 0; member < size; member++) {
            assert_string_equal(t.info[member].verified, "probe");
            assert_true(t.info[member].stop == HUDDLE_STOP_CONVERGED);
            assert_true(t.info[member].residual < t.options.tol);
            assert_int_equal(t.info[member].components, 1);
            assert_int_equal(t.n_warnings[member], 0);
        }
        for (int32_t k = 0; k < PARTS; k++)
            assert_close(t.out.eigenvalues[k], r.e.eigenvalues[k], sharp ? 1e-10 : 5e-6);
        assert_true(subspace_distance(&r.e.vectors, &t.out.vectors) < (sharp ? 1e-5 : .1));
        huddle_embedding_free(&t.out);
    }
    free_reference(&r);
}

static void a_missing_pair_is_noticed_on_all_processes(void **state) {
    (void)state;
    reference r = solve_alone();
    hd_engine_slabs slabs = team_slabs;
    hd_engine faulty = {.text = {"faulty", "a team that loses a pair"},
                        .slabs = &slabs,
                        .find_eigenpairs = drop_a_pair};
    slabs.partition = by_part;
    for (int size = 2; size <= 3; size++) {
        task t = {.matrix = &r.graph, .options = huddle_embed_defaults(), .size = size};
        t.options.n_components = PARTS;
        cut_unevenly(&t);
        assert_ok(run_task(&faulty, &t));
        for (int member = 0; member < size; member++) {
            assert_string_equal(t.info[member].solver, "faulty");
            assert_string_equal(t.info[member].verified, "none");
            assert_int_equal(t.n_warnings[member], 1);
        }
        huddle_embedding_free(&t.out);
    }
    free_reference(&r);
}

/* ---- the start from coarser graphs --------------------------------------------------------- */

/* Where one member's iteration starts, from coarser graphs and from random vectors. */
typedef struct starts {
    const huddle_csr *graph;
    int size;
    bool smooth[TEAM_MAX];
    double theta[TEAM_MAX][PARTS], random[TEAM_MAX][PARTS];
} starts;

static huddle_status start_run(huddle_context *context, const hd_embed_operator *op, bool coarse,
                               bool *smooth, double *theta) {
    huddle_status status = HUDDLE_OK;
    hd_embed_run run = {0};
    TRY(hd_embed_run_new(op, PARTS - 1, 0, &run));
    if (coarse)
        TRY(hd_embed_run_start(context, 1, &run));
    else
        TRY(hd_embed_run_begin_random(context, 1, &run));
    *smooth = run.smooth_start;
    memcpy(theta, run.ritz.theta, (PARTS - 1) * sizeof *theta);
done:
    hd_embed_run_free(&run);
    return status;
}

static huddle_status start_slab(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    starts *s = argument;
    const huddle_csr *m = s->graph;
    int64_t begin = N * rank / s->size, end = N * (rank + 1) / s->size, first = m->offsets[begin];
    huddle_csr own = {
        .rows = end - begin, .cols = N, .columns = m->columns + first, .values = m->values + first};
    hd_embed_laplacian laplacian = {0};
    hd_embed_operator op = {0};
    bool ignored;
    ALLOC(own.offsets, own.rows + 1);
    for (int64_t i = 0; i <= own.rows; i++)
        own.offsets[i] = m->offsets[begin + i] - first;
    TRY(hd_embed_laplacian_new(context, &own, &laplacian));
    hd_eigen_request request = request_of(&own, &laplacian);
    TRY(hd_embed_operator_new(context, &request, laplacian.order, NULL, &op));
    TRY(start_run(context, &op, true, &s->smooth[rank], s->theta[rank]));
    TRY(start_run(context, &op, false, &ignored, s->random[rank]));
done:
    hd_embed_operator_free(&op);
    hd_embed_laplacian_free(&laplacian);
    huddle_free(own.offsets);
    return status;
}

/* Ritz values of the start are below the eigenvalues, and the closer the better the start. */
static void the_start_uses_coarser_graphs(void **state) {
    (void)state;
    reference r = solve_alone();
    double last = 1 - r.e.eigenvalues[PARTS - 1];
    for (int size = 1; size <= TEAM_MAX; size++) {
        starts s = {.graph = &r.graph, .size = size};
        assert_ok(team_run(size, &team_engine, start_slab, &s));
        for (int member = 0; member < size; member++) {
            assert_true(s.smooth[member]);
            assert_memory_equal(s.theta[member], s.theta[0], sizeof s.theta[0]);
            double missing = last - s.theta[member][PARTS - 2];
            assert_true(missing > -1e-6 && missing < 2.5e-3);
            assert_true(last - s.random[member][PARTS - 2] > 10 * missing);
        }
    }
    free_reference(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_eigenvalue_is_found),
        cmocka_unit_test(a_missing_pair_is_noticed_on_all_processes),
        cmocka_unit_test(the_start_uses_coarser_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
