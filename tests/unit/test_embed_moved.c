/* embed on several processes with an engine that moves rows: whatever rows a process is given
 * before or during the solve, the answer is that of one process, in the rows as they were given. */
#include "embed/moved.h"
#include "embed/operator.h"
#include "embed_team.h"

#include <stdatomic.h>

enum { N = 700, C = 6 };

/* ---- engines that move rows ---------------------------------------------------------------- */

static int partitions; /* calls by the first member */

/* Rows go anywhere, neighbours apart. */
static huddle_status scramble(void *state, int64_t n, const int64_t *offsets,
                              const int32_t *columns, int32_t *owner) {
    const team_member *m = state;
    int64_t first, total;
    (void)offsets, (void)columns;
    huddle_status status = team_locate(state, n, &first, &total);
    for (int64_t i = 0; i < n; i++)
        owner[i] = (int32_t)((first + i) * 2654435761 / 1013 % m->team->size);
    if (m->rank == 0)
        partitions++;
    return status;
}

/* All rows of the last member but few, and none of the first. */
static huddle_status crowd(void *state, int64_t n, const int64_t *offsets, const int32_t *columns,
                           int32_t *owner) {
    const team_member *m = state;
    int64_t first, total;
    (void)offsets, (void)columns;
    huddle_status status = team_locate(state, n, &first, &total);
    for (int64_t i = 0; i < n; i++)
        owner[i] = m->team->size - 1 - ((first + i) % 97 == 0 && m->team->size > 2);
    if (m->rank == 0)
        partitions++;
    return status;
}

/* The hooks of a team with a partition, and the engine that has them. */
typedef struct mover {
    hd_engine_slabs slabs;
    hd_engine engine;
} mover;

static const hd_engine *new_mover(huddle_status (*partition)(void *, int64_t, const int64_t *,
                                                             const int32_t *, int32_t *),
                                  mover *m) {
    m->slabs = team_slabs;
    m->slabs.partition = partition;
    m->engine = (hd_engine){.text = {"mover", "a team that moves rows"}, .slabs = &m->slabs};
    return &m->engine;
}

static huddle_embed_options exact_options(void) {
    huddle_embed_options options = huddle_embed_defaults();
    options.n_components = C;
    options.tol = 1e-9;
    options.verify = "probe";
    return options;
}

/* ---- the answer of one process ------------------------------------------------------------- */

/* Facts about the whole graph are the same on all members, and so are the eigenvalues. */
static void check_infos(const task *t, const huddle_embed_info *one) {
    assert_true(t->same_values);
    for (int r = 0; r < t->size; r++) {
        assert_int_equal(t->info[r].components, one->components);
        assert_int_equal(t->info[r].stop, t->info[0].stop);
        assert_int_equal(t->info[r].n_iter, t->info[0].n_iter);
        assert_int_equal(t->info[r].n_products, t->info[0].n_products);
        assert_int_equal(t->info[r].proven_pairs, t->info[0].proven_pairs);
        assert_int_equal(t->info[r].cuts_cluster, t->info[0].cuts_cluster);
        assert_true(t->info[r].residual == t->info[0].residual);
        assert_true(isnan(one->gap) ? isnan(t->info[r].gap)
                                    : fabs(t->info[r].gap - one->gap) < 1e-9);
        assert_string_equal(t->info[r].verified, t->info[0].verified);
        assert_string_equal(t->info[r].solver, t->info[0].solver);
    }
}

/* Values, vectors, rows and infos of a task against one process. Vectors are unique, with their
 * sign, where eigenvalues differ: that is so for all graphs here. */
static void check_task(const hd_engine *engine, task *t, const huddle_embedding *one,
                       const huddle_embed_info *info, double tolerance) {
    int32_t c = t->options.n_components;
    assert_ok(run_task(engine, t));
    check_infos(t, info);
    for (int32_t k = 0; k < c; k++)
        assert_close(t->out.eigenvalues[k], one->eigenvalues[k], .1 * tolerance);
    assert_true(subspace_distance(&one->vectors, &t->out.vectors) < tolerance);
    for (int64_t i = 0; i < t->matrix->rows; i++)
        for (int32_t k = 0; k < c; k++) {
            assert_close(t->out.vectors.values[i * c + k], one->vectors.values[i * c + k],
                         tolerance);
            assert_close(t->out.rows.values[i * c + k], one->rows.values[i * c + k],
                         100 * tolerance);
        }
    huddle_embedding_free(&t->out);
}

/* Teams of all sizes, with slabs of different lengths, empty ones among them. */
static void check_teams(const hd_engine *engine, huddle_csr graph, huddle_embed_options options,
                        const char *verified) {
    huddle_embedding one;
    huddle_embed_info info;
    int64_t n = graph.rows;
    assert_ok(huddle_embed(NULL, &graph, &options, &one, &info));
    for (int size = 1; size <= TEAM_MAX; size++)
        for (int empty = 0; empty < 2; empty++) {
            task t = {.matrix = &graph, .options = options, .size = size};
            cut_unevenly(&t);
            for (int r = 1; r < size && empty; r++) /* the last has all but one row */
                t.begins[r] = r / 2;
            check_task(engine, &t, &one, &info, 1e-6);
            assert_true(strcmp(t.info[0].verified, verified) == 0);
            assert_true(t.begins[size] == n);
        }
    huddle_embedding_free(&one);
    huddle_csr_free(&graph);
}

static void moved_rows_give_the_answer_of_one_process(void **state) {
    (void)state;
    mover scrambling, crowding;
    const hd_engine *a = new_mover(scramble, &scrambling), *b = new_mover(crowd, &crowding);
    partitions = 0;
    check_teams(a, chain_of_clouds(N, 4, .05), exact_options(), "probe");
    assert_int_equal(partitions, 2 * (TEAM_MAX - 1)); /* one process needs none */
    check_teams(b, chain_of_clouds(N, 4, .05), exact_options(), "probe");
}

/* Vertices without edges are components of their own, and vectors of small components follow those
 * of large ones. */
static void isolated_vertices_and_components_are_moved(void **state) {
    (void)state;
    mover scrambling;
    const hd_engine *engine = new_mover(scramble, &scrambling);
    huddle_embed_options options = exact_options();
    sketch s = new_sketch(N);
    join_neighbours(s, 3, 400, 1);
    join_neighbours(s, 400, N - 2, 2);
    for (int64_t i = 3; i + 1 < N - 2; i++)
        if (i != 399 && s.w[i * N + i + 1] == 0)
            join(s, i, i + 1, .1);
    options.n_components = 10; /* five isolated, two large, three more vectors */
    check_teams(engine, to_csr(s), options, "probe");
}

/* Any symmetric matrix is moved too. */
static void any_matrix_is_moved(void **state) {
    (void)state;
    mover scrambling;
    const hd_engine *engine = new_mover(scramble, &scrambling);
    huddle_csr matrix = chain_of_clouds(N, 3, .2);
    huddle_embedding one;
    huddle_embed_info info;
    huddle_embed_options options = exact_options();
    options.n_components = 3;
    for (int64_t e = 0; e < matrix.offsets[N]; e++)
        matrix.values[e] *= 40;
    assert_ok(huddle_embed_symmetric(NULL, &matrix, -INFINITY, INFINITY, &options, &one, &info));
    for (int size = 1; size <= 3; size++) {
        task t = {.matrix = &matrix, .symmetric = true, .options = options, .size = size};
        cut_unevenly(&t);
        check_task(engine, &t, &one, &info, 1e-6);
    }
    huddle_embedding_free(&one);
    huddle_csr_free(&matrix);
}

/* Start vectors are drawn by the numbers of the rows as they were given: iterations, products and
 * vectors, which are not accurate here, do not depend on where the rows were. */
static void draws_do_not_depend_on_the_processes(void **state) {
    (void)state;
    mover scrambling;
    const hd_engine *engine = new_mover(scramble, &scrambling);
    huddle_csr graph = chain_of_clouds(N, 4, .05);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding first = {0};
    huddle_embed_info info = {0};
    options.n_components = C;
    options.tol = 1e-2;
    options.verify = "none";
    for (int size = 1; size <= TEAM_MAX; size++) {
        task t = {.matrix = &graph, .options = options, .size = size};
        cut_unevenly(&t);
        assert_ok(run_task(engine, &t));
        if (size == 1) {
            first = t.out;
            info = t.info[0];
            continue;
        }
        assert_int_equal(t.info[0].n_products, info.n_products);
        for (int64_t e = 0; e < N * C; e++)
            assert_close(t.out.vectors.values[e], first.vectors.values[e], 1e-5);
        huddle_embedding_free(&t.out);
    }
    huddle_embedding_free(&first);
    huddle_csr_free(&graph);
}

/* ---- whole components ---------------------------------------------------------------------- */

/* Four rings of equal size whose vertices alternate. */
static huddle_csr alternating_rings(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 0; i < n; i++) {
        join(s, i, (i + 4) % n, 1 + (double)(i * i % 7));
        join(s, i, (i + 20) % n, .01 * (1 + (double)(i % 4)));
    }
    return to_csr(s);
}

/* Rows that each member gets. */
typedef struct shares {
    const huddle_csr *graph;
    int size;
    int64_t moved[TEAM_MAX];
} shares;

static huddle_status deal_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    shares *s = argument;
    const huddle_csr *m = s->graph;
    int64_t begin = m->rows * rank / s->size, end = m->rows * (rank + 1) / s->size;
    int64_t first = m->offsets[begin];
    huddle_csr own = {.rows = end - begin,
                      .cols = m->cols,
                      .columns = m->columns + first,
                      .values = m->values + first};
    hd_embed_laplacian laplacian = {0};
    hd_embed_moved moved = {0};
    ALLOC(own.offsets, own.rows + 1);
    for (int64_t i = 0; i <= own.rows; i++)
        own.offsets[i] = m->offsets[begin + i] - first;
    TRY(hd_embed_laplacian_new(context, &own, &laplacian));
    hd_eigen_request request = request_of(&own, &laplacian);
    request.n_wanted = 2;
    hd_embed_problem problem = {.request = &request, .solver = "chebyshev"};
    TRY(hd_embed_move(context, &problem, &request, &moved));
    s->moved[rank] = moved.rows.moved;
done:
    hd_embed_moved_free(&moved);
    hd_embed_laplacian_free(&laplacian);
    huddle_free(own.offsets);
    return hd_agree(context, status);
}

/* Four components of 300 rows: two for each of two members, one for each of four. */
static void components_are_dealt_evenly(void **state) {
    (void)state;
    mover m;
    const hd_engine *engine = new_mover(scramble, &m);
    huddle_csr graph = alternating_rings(1200);
    for (int size = 2; size <= 4; size += 2) {
        shares s = {.graph = &graph, .size = size};
        assert_ok(team_run(size, engine, deal_part, &s));
        for (int r = 0; r < size; r++)
            assert_int_equal(s.moved[r], 1200 / size);
    }
    huddle_csr_free(&graph);
}

static atomic_llong fetched; /* ghost rows of vectors */

static huddle_status fetch_and_count(void *halo, void *rows, size_t row_size) {
    const team_halo *h = halo;
    if (row_size > sizeof(double))
        atomic_fetch_add(&fetched, h->ghosts);
    return team_fetch_halo(halo, rows, row_size);
}

/* Components that fit the processes are dealt as they are; no partition is asked for, and no rows
 * of vectors are fetched. */
static void components_are_kept_whole(void **state) {
    (void)state;
    huddle_csr graph = alternating_rings(N);
    huddle_embedding one;
    huddle_embed_info info;
    huddle_embed_options options = exact_options();
    mover dealing;
    const hd_engine *engine = new_mover(scramble, &dealing);
    dealing.slabs.fetch_halo = fetch_and_count;
    options.n_components = 5; /* the first of the next pairs is unique */
    assert_ok(huddle_embed(NULL, &graph, &options, &one, &info));
    assert_int_equal(info.components, 4);
    for (int size = 2; size <= TEAM_MAX; size++) {
        task t = {.matrix = &graph, .options = options, .size = size};
        cut_unevenly(&t);
        partitions = 0;
        fetched = 0;
        assert_ok(run_task(engine, &t));
        check_infos(&t, &info);
        for (int32_t k = 0; k < 5; k++)
            assert_close(t.out.eigenvalues[k], one.eigenvalues[k], 1e-9);
        /* Three processes cannot share four equal components. */
        assert_int_equal(partitions, size == 3);
        assert_true((fetched > 0) == (size == 3));
        huddle_embedding_free(&t.out);
    }
    huddle_embedding_free(&one);
    huddle_csr_free(&graph);
}

/* ---- small problems ------------------------------------------------------------------------ */

/* A graph too small for the iteration is solved on one process, as the CPU does it; there may be
 * fewer rows than processes. */
static void small_graphs_are_solved_on_one_process(void **state) {
    (void)state;
    mover scrambling;
    const hd_engine *engines[] = {new_mover(scramble, &scrambling), &team_engine};
    huddle_embed_options options = huddle_embed_defaults();
    for (int e = 0; e < 2; e++) {
        options.n_components = 3;
        options.n_exact = 2;
        check_teams(engines[e], path_graph(3), options, "inertia");
        check_teams(engines[e], path_graph(40), options, "inertia");
    }
    options.n_components = 240; /* with guard vectors more than half of all */
    options.n_exact = 0;
    check_teams(engines[0], path_graph(510), options, "inertia");
}

static int64_t hundred_rows(const void *state) {
    (void)state;
    return 100;
}

/* What an engine calls few rows is embedded by process 0 as a whole, with the bits of one process;
 * one row more is not. */
static void few_rows_are_embedded_on_one_process(void **state) {
    (void)state;
    hd_engine_slabs slabs = team_slabs;
    hd_engine engine = team_engine;
    slabs.few_rows = hundred_rows;
    engine.slabs = &slabs;
    for (int64_t n = 100; n <= 101; n++) {
        huddle_csr graph = path_graph(n);
        huddle_embed_options options = huddle_embed_defaults();
        options.n_components = 4;
        options.n_exact = 2;
        options.embed_solver = "chebyshev";
        huddle_embedding one;
        huddle_embed_info info;
        assert_ok(huddle_embed(NULL, &graph, &options, &one, &info));
        for (int size = 1; size <= 4; size++) {
            task t = {.matrix = &graph, .options = options, .size = size};
            cut_unevenly(&t);
            assert_ok(run_task(&engine, &t));
            assert_true(t.same_values);
            for (int r = 0; r < size && n == 100; r++) {
                assert_string_equal(t.info[r].solver, info.solver);
                assert_string_equal(t.info[r].verified, info.verified);
                assert_true(t.info[r].residual == info.residual);
            }
            bool same = memcmp(t.out.rows.values, one.rows.values,
                               (size_t)(n * one.rows.stride) * sizeof *one.rows.values) == 0;
            assert_true(n == 100 ? same : size == 1 || !same);
            huddle_embedding_free(&t.out);
        }
        huddle_embedding_free(&one);
        huddle_csr_free(&graph);
    }
}

/* A failure on the process that solves is one on all. */
static void a_failure_on_one_process_ends_the_others(void **state) {
    (void)state;
    huddle_csr graph = path_graph(5);
    task t = {.matrix = &graph, .options = huddle_embed_defaults(), .size = 3};
    cut_unevenly(&t);
    t.options.n_components = 6;
    assert_refused(run_task(&team_engine, &t), HUDDLE_INVALID, "more than the 5 vertices");
    huddle_embedding_free(&t.out);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved_rows_give_the_answer_of_one_process),
        cmocka_unit_test(isolated_vertices_and_components_are_moved),
        cmocka_unit_test(any_matrix_is_moved),
        cmocka_unit_test(draws_do_not_depend_on_the_processes),
        cmocka_unit_test(components_are_kept_whole),
        cmocka_unit_test(components_are_dealt_evenly),
        cmocka_unit_test(small_graphs_are_solved_on_one_process),
        cmocka_unit_test(few_rows_are_embedded_on_one_process),
        cmocka_unit_test(a_failure_on_one_process_ends_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
