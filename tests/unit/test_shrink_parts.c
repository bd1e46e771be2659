/* shrink: linear systems against dense elimination, geometric medians against their conditions of
 * optimality, and components. */
#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"
#include "shrink/linear.h"
#include "shrink/problem.h"
#include "shrink/published.h"
#include "shrink/solver.h"
#include "shrink_problems.h"

/* ---- linear systems -------------------------------------------------------------------------- */

/* A system whose vertices are numbered from BASE and whose edges from FIRST on, the last of them
 * anchored, that is, not part of the matrix. */
enum { BASE = 3, FIRST = 5 };

typedef struct dense_system {
    hd_shrink_linear_graph graph;
    int32_t *head, *tail;
    int64_t *incident_at;
    uint32_t *incident;
    double *excess, *weight, *right, *answer;
} dense_system;

/* A path and, with this probability, every other pair; a star around vertex 0 in between. */
static int64_t draw_edges(int32_t n, double density, hd_rng *rng, dense_system *s) {
    int64_t m = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++)
            if (j == i + 1 || i == 0 || hd_rng_uniform(rng) < density) {
                bool turned = hd_rng_below(rng, 2) == 0;
                s->head[m] = BASE + (turned ? j : i);
                s->tail[m++] = BASE + (turned ? i : j);
            }
    return m;
}

static void list_incident(dense_system *s, int32_t n, int64_t m) {
    int64_t at = 0;
    for (int32_t v = 0; v < n; v++) {
        s->incident_at[v] = at;
        for (int64_t e = 0; e < m; e++)
            if (s->head[e] == BASE + v || s->tail[e] == BASE + v)
                s->incident[at++] = (uint32_t)(2 * (FIRST + e) + (s->tail[e] == BASE + v));
        if (v == 1) /* an anchored edge: its other end is no vertex of the system */
            s->incident[at++] = (uint32_t)(2 * (FIRST + m));
    }
    s->incident_at[n] = at;
}

static dense_system system_new(int32_t n, int64_t c, double density, uint64_t seed) {
    dense_system s = {0};
    hd_rng rng = hd_rng_stream(seed, 9);
    size_t pairs = (size_t)n * (size_t)n, cells = (size_t)n * (size_t)c;
    s.head = calloc(pairs, sizeof *s.head);
    s.tail = calloc(pairs, sizeof *s.tail);
    s.incident_at = calloc((size_t)n + 1, sizeof *s.incident_at);
    s.incident = calloc(2 * pairs + 1, sizeof *s.incident);
    s.weight = calloc(pairs, sizeof *s.weight);
    s.excess = calloc((size_t)n, sizeof *s.excess);
    s.right = calloc(cells, sizeof *s.right);
    s.answer = calloc(cells, sizeof *s.answer);
    int64_t m = draw_edges(n, density, &rng, &s);
    list_incident(&s, n, m);
    for (int64_t e = 0; e < m; e++)
        s.weight[e] = e % 7 == 3 ? 0 : exp(3 * hd_rng_normal(&rng));
    for (int32_t v = 0; v < n; v++)
        s.excess[v] = exp(2 * hd_rng_normal(&rng));
    for (size_t k = 0; k < cells; k++)
        s.right[k] = hd_rng_normal(&rng);
    s.graph = (hd_shrink_linear_graph){.n = n,
                                       .m = m,
                                       .c = c,
                                       .head = s.head,
                                       .tail = s.tail,
                                       .base = BASE,
                                       .incident_at = s.incident_at,
                                       .incident = s.incident,
                                       .first_edge = FIRST,
                                       .seed = seed};
    return s;
}

static void system_solve(dense_system *s) {
    int64_t n = s->graph.n, c = s->graph.c;
    double *a = calloc((size_t)(n * n), sizeof *a);
    for (int64_t v = 0; v < n; v++)
        a[v * n + v] = s->excess[v];
    for (int64_t e = 0; e < s->graph.m; e++) {
        int64_t i = s->head[e] - BASE, j = s->tail[e] - BASE;
        a[i * n + i] += s->weight[e];
        a[j * n + j] += s->weight[e];
        a[i * n + j] -= s->weight[e];
        a[j * n + i] -= s->weight[e];
    }
    memcpy(s->answer, s->right, (size_t)(n * c) * sizeof *s->answer);
    eliminate(n, c, a, s->answer);
    free(a);
}

/* The sum over the rows of ||r - M x||. */
static double system_residual(const dense_system *s, const double *x) {
    int64_t n = s->graph.n, c = s->graph.c;
    double *r = malloc((size_t)(n * c) * sizeof *r), sum = 0;
    for (int64_t k = 0; k < n * c; k++)
        r[k] = s->right[k] - s->excess[k / c] * x[k];
    for (int64_t e = 0; e < s->graph.m; e++)
        for (int64_t k = 0; k < c; k++) {
            int64_t i = (s->head[e] - BASE) * c + k, j = (s->tail[e] - BASE) * c + k;
            r[i] -= s->weight[e] * (x[i] - x[j]);
            r[j] += s->weight[e] * (x[i] - x[j]);
        }
    for (int64_t v = 0; v < n; v++) {
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += r[v * c + k] * r[v * c + k];
        sum += sqrt(square);
    }
    free(r);
    return sum;
}

static void system_free(dense_system *s) {
    void *const all[] = {s->head,   s->tail,   s->incident_at, s->incident,
                         s->weight, s->excess, s->right,       s->answer};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

/* Factorised twice: the second time with other numbers. */
static void check_system(const char *name, dense_system *s) {
    hd_shrink_linear_system system;
    int64_t cells = s->graph.n * s->graph.c;
    double *x = malloc((size_t)cells * sizeof *x);
    assert_ok(hd_shrink_linear_open(NULL, name, &s->graph, &system));
    for (int again = 0; again < 2; again++) {
        for (int64_t e = 0; e < s->graph.m && again == 1; e++)
            s->weight[e] = 1 / (.1 + s->weight[e]);
        system_solve(s);
        assert_ok(system.solver->factor(system.state, s->excess, s->weight));
        assert_ok(system.solver->solve(system.state, s->right, 1e-11, x));
        for (int64_t k = 0; k < cells; k++)
            assert_true(fabs(x[k] - s->answer[k]) <= 1e-9 * (1 + fabs(s->answer[k])));
    }
    hd_shrink_linear_close(&system);
    free(x);
}

/* Sparse ones have a factor by columns, full ones one by supernodes. */
static void linear_systems_are_solved(void **state) {
    (void)state;
    for (const char *const *name = hd_shrink_linear_names; *name != NULL; name++)
        for (int trial = 0; trial < 8; trial++) {
            static const int64_t columns[] = {1, 3, 4, 7};
            dense_system s = system_new(trial % 2 ? 90 : 20, columns[trial / 2],
                                        trial % 2 ? .8 : .05, (uint64_t)trial);
            check_system(*name, &s);
            system_free(&s);
        }
}

/* An iteration may end where the tolerance is met, and not before. */
static void the_tolerance_of_a_system_is_kept(void **state) {
    (void)state;
    dense_system s = system_new(200, 2, .01, 1);
    hd_shrink_linear_system system;
    double x[200 * 2], last = INFINITY;
    assert_ok(hd_shrink_linear_open(NULL, "approximate", &s.graph, &system));
    assert_ok(system.solver->factor(system.state, s.excess, s.weight));
    for (double tolerance = 10; tolerance > 1e-10; tolerance *= .01) {
        assert_ok(system.solver->solve(system.state, s.right, tolerance, x));
        double left = system_residual(&s, x);
        assert_true(left <= tolerance * (1 + 1e-6) + 1e-11 && left < last);
        last = left;
    }
    hd_shrink_linear_close(&system);
    system_free(&s);
}

/* ---- solvers of an engine ----------------------------------------------------------------------
 */

static huddle_status answers[2]; /* of the two solvers below */

static huddle_status analyse_first(huddle_context *context, const hd_shrink_linear_graph *graph,
                                   void **state) {
    (void)context, (void)graph;
    *state = answers[0] == HUDDLE_OK ? &answers[0] : NULL;
    return answers[0] == HUDDLE_OK ? HUDDLE_OK : hd_fail(answers[0], "the first");
}

static huddle_status analyse_second(huddle_context *context, const hd_shrink_linear_graph *graph,
                                    void **state) {
    (void)context, (void)graph;
    *state = answers[1] == HUDDLE_OK ? &answers[1] : NULL;
    return answers[1] == HUDDLE_OK ? HUDDLE_OK : hd_fail(answers[1], "the second");
}

static void free_nothing(void *state) {
    (void)state;
}

static const hd_shrink_linear_solver second = {
    .name = "second", .analyse = analyse_second, .free = free_nothing, .is_direct = true};
static const hd_shrink_linear_solver first = {
    .name = "first", .analyse = analyse_first, .free = free_nothing, .next = &second};
static const hd_engine engine = {.text = {"two", "has two linear solvers"},
                                 .linear_solver = &first};

/* A solver that declines is passed over; lack of memory is reported. Across processes names stand
 * for the kinds of the engine's solvers. */
static void solvers_of_an_engine_are_tried_in_turn(void **state) {
    (void)state;
    static const struct {
        huddle_status first, second;
        const char *name;
        int64_t ghosts;
        huddle_status status;
        const char *chosen;
    } cases[] = {{HUDDLE_OK, HUDDLE_OK, "auto", 0, HUDDLE_OK, "first"},
                 {HUDDLE_UNSUPPORTED, HUDDLE_OK, "auto", 0, HUDDLE_OK, "second"},
                 {HUDDLE_NUMERIC, HUDDLE_OK, "auto", 0, HUDDLE_OK, "second"},
                 {HUDDLE_NO_MEMORY, HUDDLE_OK, "auto", 0, HUDDLE_NO_MEMORY, NULL},
                 {HUDDLE_OK, HUDDLE_OK, "approximate", 0, HUDDLE_OK, "approximate"},
                 {HUDDLE_OK, HUDDLE_OK, "approximate", 1, HUDDLE_OK, "first"},
                 {HUDDLE_OK, HUDDLE_OK, "cholmod", 1, HUDDLE_OK, "second"},
                 {HUDDLE_OK, HUDDLE_NUMERIC, "cholmod", 1, HUDDLE_UNSUPPORTED, NULL}};
    huddle_context *context = NULL;
    dense_system s = system_new(10, 1, .3, 1);
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &engine, ""));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hd_halo halo = {.ghosts = cases[k].ghosts};
        hd_shrink_linear_system system;
        answers[0] = cases[k].first;
        answers[1] = cases[k].second;
        s.graph.halo = &halo;
        assert_int_equal(hd_shrink_linear_open(context, cases[k].name, &s.graph, &system),
                         cases[k].status);
        if (cases[k].chosen != NULL)
            assert_string_equal(system.solver->name, cases[k].chosen);
        hd_shrink_linear_close(&system);
    }
    system_free(&s);
    huddle_context_free(context);
}

/* Every name of the option is that of another solver, but for the two that know no blocks; "auto"
 * needs linear systems across processes if the engine can solve them. */
static void solvers_are_found_by_name(void **state) {
    (void)state;
    hd_shrink_edges edges = {0};
    const hd_shrink_solver *solver;
    huddle_context *context = NULL;
    const char *const *names = hd_shrink_solver_names;
    for (int k = 1; names[k] != NULL; k++) {
        assert_ok(hd_shrink_find_solver(NULL, &edges, names[k], &solver));
        if (!hd_shrink_is_published(names[k]))
            assert_string_equal(solver->name, names[k]);
        for (int j = 0; j < k; j++)
            assert_string_not_equal(names[j], names[k]);
    }
    assert_ok(huddle_context_new(&context));
    for (int own = 0; own < 2; own++)
        for (int64_t ghosts = 0; ghosts < 2; ghosts++) {
            if (own == 1)
                assert_ok(hd_context_use_engine(context, &engine, ""));
            edges.halo.ghosts = ghosts;
            assert_ok(hd_shrink_find_solver(context, &edges, "auto", &solver));
            assert_string_equal(solver->name, ghosts > 0 && own == 0 ? "pdhg" : "newton");
        }
    huddle_context_free(context);
}

/* ---- medians --------------------------------------------------------------------------------- */

/* At a minimiser of sum_i m_i ||x - r_i|| the gradient of the rows elsewhere is at most as long as
 * the weight of the rows at x. */
static void check_median(int64_t n, int64_t c, const double *rows, const double *mass,
                         const double *at) {
    double gradient[80] = {0}, here = 0, total = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += (at[k] - rows[i * c + k]) * (at[k] - rows[i * c + k]);
        total += mass[i];
        here += square == 0 ? mass[i] : 0;
        for (int64_t k = 0; k < c && square > 0; k++)
            gradient[k] += mass[i] * (at[k] - rows[i * c + k]) / sqrt(square);
    }
    for (int64_t k = 0; k < c; k++)
        norm += gradient[k] * gradient[k];
    assert_true(sqrt(norm) <= here + 1e-7 * total);
}

/* Without a heavy row, with one that is the median, and with one from which the iteration starts
 * because it is the mean; and many columns, where Newton's step is not used. */
static void medians_are_optimal(void **state) {
    (void)state;
    enum { ROWS = 15 };
    static const int64_t columns[] = {1, 2, 3, 8, 70};
    hd_rng rng = hd_rng_stream(4, 0);
    for (int trial = 0; trial < 5 * 3 * 8; trial++) {
        int64_t c = columns[trial % 5];
        int kind = trial / 5 % 3;
        double rows[ROWS * 80], mass[ROWS], at[80], total = 0;
        for (int64_t i = 0; i < ROWS; i++)
            mass[i] = .2 + hd_rng_uniform(&rng) + (kind == 1 && i == 3 ? 100 : 0);
        for (int64_t k = 0; k < ROWS * c; k++)
            rows[k] = hd_rng_normal(&rng) + (k / c < 4 ? 5 : 0);
        for (int64_t k = 0; k < c && kind == 2; k++) {
            double sum = total = 0;
            for (int64_t i = 1; i < ROWS; i++) {
                sum += mass[i] * rows[i * c + k];
                total += mass[i];
            }
            rows[k] = sum / total;
        }
        assert_ok(hd_shrink_median(ROWS, c, rows, mass, at));
        check_median(ROWS, c, rows, mass, at);
        if (kind == 1)
            assert_memory_equal(at, rows + 3 * c, (size_t)c * sizeof *at);
    }
}

/* ---- components ------------------------------------------------------------------------------ */

/* Edges of weight 0 exist, but connect nothing. */
static void edges_without_weight_connect_nothing(void **state) {
    (void)state;
    const int32_t i[] = {0, 1, 3, 2, 4}, j[] = {1, 2, 4, 3, 5};
    const double weight[] = {1, 2, .5, 0, 1e-300};
    huddle_csr w = graph_of(7, 5, i, j, weight);
    hd_shrink_edges edges;
    int32_t component[7], count;
    assert_ok(hd_shrink_edges_read(NULL, &w, &edges));
    assert_int_equal(edges.count, 5);
    assert_ok(hd_shrink_components(NULL, &edges, 7, component, &count));
    assert_int_equal(count, 3);
    const int32_t wanted[7] = {0, 0, 0, 1, 1, 1, 2};
    assert_memory_equal(component, wanted, sizeof wanted);
    hd_shrink_edges_free(&edges);
    huddle_csr_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_systems_are_solved),
        cmocka_unit_test(the_tolerance_of_a_system_is_kept),
        cmocka_unit_test(solvers_of_an_engine_are_tried_in_turn),
        cmocka_unit_test(solvers_are_found_by_name),
        cmocka_unit_test(medians_are_optimal),
        cmocka_unit_test(edges_without_weight_connect_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
