/* The linear solvers of the engine mpi, run by mpirun with any number of processes: the residual of
 * what they return, computed here from the edges, is as small as was asked for, for numbers that
 * change on one pattern and differ by many orders of magnitude.
 *
 * Prints "ok" on process 0; a process that finds a mistake says so and ends the job. */
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "process.h"
#include "shrink/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, C = 3 };

/* A grid of SIDE x SIDE vertices, by rows of the grid; process r has an uneven part of them, and
 * the last of three or more processes none. */
typedef struct grid {
    int32_t first, n;
    int64_t m, own; /* edges; those between own vertices come first */
    int32_t *head, *tail;
    int64_t *incident_at;
    uint32_t *incident;
    hd_halo halo;
} grid;

static int32_t begin_of(int32_t r) {
    int32_t parts = count > 2 ? count - 1 : count;
    double share = r >= parts ? 1 : (double)r / parts;
    return (int32_t)(SIDE * SIDE * share * share);
}

static void add_edges(grid *g, bool outward) {
    static const int32_t steps[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (int32_t v = g->first; v < g->first + g->n; v++)
        for (int k = 0; k < 4; k++) {
            int32_t y = v / SIDE + steps[k][0], x = v % SIDE + steps[k][1], u = y * SIDE + x;
            if (y < 0 || y >= SIDE || x < 0 || x >= SIDE)
                continue;
            bool is_own = u >= g->first && u < g->first + g->n;
            if (is_own == outward || (is_own && u < v))
                continue;
            g->head[g->m] = v - g->first;
            g->tail[g->m++] = u;
        }
}

static grid make_grid(void) {
    grid g = {.first = begin_of(rank), .n = begin_of(rank + 1) - begin_of(rank)};
    size_t room = (size_t)(4 * g.n + 1);
    int64_t *at;
    g.head = calloc(room, sizeof *g.head);
    g.tail = calloc(room, sizeof *g.tail);
    g.incident = calloc(2 * room, sizeof *g.incident);
    g.incident_at = at = calloc((size_t)g.n + 2, sizeof *at);
    CHECK(g.head != NULL && g.tail != NULL && g.incident != NULL && at != NULL);
    add_edges(&g, false);
    g.own = g.m;
    add_edges(&g, true);
    CHECK_OK(hd_halo_open(context, g.n, g.m, g.tail, &g.halo));
    for (int64_t e = 0; e < g.m; e++) {
        at[g.head[e] + 1]++;
        if (g.tail[e] < g.n)
            at[g.tail[e] + 1]++;
    }
    for (int32_t v = 0; v < g.n; v++)
        at[v + 1] += at[v];
    for (int64_t e = 0; e < g.m; e++) {
        g.incident[at[g.head[e]]++] = (uint32_t)(2 * e);
        if (g.tail[e] < g.n)
            g.incident[at[g.tail[e]]++] = (uint32_t)(2 * e + 1);
    }
    memmove(at + 1, at, (size_t)g.n * sizeof *at);
    at[0] = 0;
    return g;
}

static void free_grid(grid *g) {
    hd_halo_close(&g->halo);
    free(g->head);
    free(g->tail);
    free(g->incident);
    free(g->incident_at);
}

/* The weight of an edge, the same for both processes that have it. */
static double weight_of(const grid *g, const int32_t *number, int64_t e, int round) {
    int32_t a = g->first + g->head[e], b = number[g->tail[e]];
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return pow(10, (double)((low * 7 + high * 13 + round) % 9) - 4);
}

/* The sum of the norms of the rows of r - M x, and of r. */
static void measure(const grid *g, const double *excess, const double *weight, const double *r,
                    double *x, double norms[2]) {
    double *left = calloc((size_t)(g->n + g->halo.ghosts) * C + 1, sizeof *left);
    CHECK(left != NULL);
    CHECK_OK(hd_halo_fetch(&g->halo, x, C * sizeof *x));
    for (int64_t k = 0; k < (int64_t)g->n * C; k++)
        left[k] = r[k] - excess[k / C] * x[k];
    for (int64_t e = 0; e < g->m; e++)
        for (int64_t k = 0; k < C; k++) {
            double pull = weight[e] * (x[g->head[e] * C + k] - x[g->tail[e] * C + k]);
            left[g->head[e] * C + k] -= pull;
            left[g->tail[e] * C + k] += pull;
        }
    norms[0] = norms[1] = 0;
    for (int64_t v = 0; v < g->n; v++) {
        double squares[2] = {0};
        for (int64_t k = v * C; k < (v + 1) * C; k++) {
            squares[0] += left[k] * left[k];
            squares[1] += r[k] * r[k];
        }
        norms[0] += sqrt(squares[0]);
        norms[1] += sqrt(squares[1]);
    }
    CHECK_OK(hd_reduce_sum(context, 2, norms));
    free(left);
}

static void check_solver(const hd_shrink_linear_solver *solver, const grid *g) {
    size_t rows = (size_t)(g->n + g->halo.ghosts + 1);
    double *excess = calloc(rows, sizeof *excess), *r = calloc(rows * C, sizeof *r);
    double *x = calloc(rows * C, sizeof *x), *weight = calloc((size_t)g->m + 1, sizeof *weight);
    int32_t *number = calloc(rows, sizeof *number);
    void *state = NULL;
    hd_shrink_linear_graph graph = {.n = g->n,
                                    .m = g->m,
                                    .c = C,
                                    .head = g->head,
                                    .tail = g->tail,
                                    .incident_at = g->incident_at,
                                    .incident = g->incident,
                                    .halo = &g->halo};
    CHECK(excess != NULL && r != NULL && x != NULL && weight != NULL && number != NULL);
    for (int32_t v = 0; v < g->n; v++)
        number[v] = g->first + v;
    CHECK_OK(hd_halo_fetch(&g->halo, number, sizeof *number));
    CHECK_OK(solver->analyse(context, &graph, &state));
    for (int round = 0; round < 3; round++) {
        double norms[2], tolerance;
        for (int32_t v = 0; v < g->n; v++) {
            excess[v] = 1e-3 * (1 + (number[v] + round) % 11);
            for (int64_t k = 0; k < C; k++)
                r[v * C + k] = sin((double)(number[v] * C + k + round));
        }
        for (int64_t e = 0; e < g->m; e++)
            weight[e] = weight_of(g, number, e, round);
        memset(x, 0, rows * C * sizeof *x);
        measure(g, excess, weight, r, x, norms);
        tolerance = 1e-7 * norms[1];
        CHECK_OK(solver->factor(state, excess, weight));
        CHECK_OK(solver->solve(state, r, tolerance, x));
        measure(g, excess, weight, r, x, norms);
        CHECK(norms[0] <= 1.01 * tolerance);
    }
    solver->free(state);
    free(excess);
    free(r);
    free(x);
    free(weight);
    free(number);
}

int main(void) {
    int solvers = 0;
    CHECK_OK(huddle_context_new(&context));
    CHECK_OK(huddle_context_set_engine(context, "mpi"));
    rank = hd_slabs_rank(context);
    count = hd_slabs_count(context);
    grid g = make_grid();
    const hd_shrink_linear_solver *solver = hd_context_engine(context)->linear_solver;
    for (; solver != NULL; solver = solver->next, solvers++)
        check_solver(solver, &g);
    CHECK(solvers == 2);
    free_grid(&g);
    huddle_context_free(context);
    if (rank == 0)
        puts("ok");
    return 0;
}
