/* shrink: which of several processes (team.h) solves which component. */
#include "base/check.h"
#include "engines/team.h"
#include "shrink/allot.h"
#include "shrink_problems.h"

enum { N = 480, C = 2 };

/* Components as lists of rows in the order of a path; `moves`: how far rows are from their mean. */
typedef struct parts {
    example x;
    int size;
    int64_t first[TEAM_MAX + 1]; /* rows of the members */
    bool squared;
    hd_shrink_limits limits;
    int32_t component[N];
    int32_t owner[TEAM_MAX][N]; /* as each member has them */
    int32_t count[TEAM_MAX];
} parts;

/* Row v belongs to component of[v] (-1: it has no edges), whose rows are joined in a path and lie
 * alternately at + and - moves[of[v]]. */
static void parts_new(const int32_t *of, const double *moves, parts *p) {
    int32_t i[N], j[N], last[N];
    double weight[N];
    int64_t m = 0;
    memset(last, -1, sizeof last);
    assert_ok(huddle_dense_new(N, C, &p->x.f));
    for (int32_t v = 0; v < N; v++) {
        int32_t q = of[v];
        double side = q >= 0 && last[q] >= 0 ? -p->x.f.values[last[q] * C] : 0;
        p->x.f.values[v * C] = q < 0 ? 0 : side != 0 ? side : moves[q];
        p->x.f.values[v * C + 1] = q;
        if (q >= 0 && last[q] >= 0) {
            i[m] = last[q];
            j[m] = v;
            weight[m++] = 1;
        }
        if (q >= 0)
            last[q] = v;
    }
    p->x.w = graph_of(N, m, i, j, weight);
}

static huddle_status allot(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    parts *p = argument;
    int64_t begin = p->first[rank], rows = p->first[rank + 1] - begin;
    int64_t offsets[N + 1], at = p->x.w.offsets[begin];
    huddle_dense f = p->x.f;
    huddle_csr w = p->x.w;
    hd_shrink_edges edges = {0};
    hd_shrink_allotment a = {0};
    for (int64_t v = 0; v <= rows; v++)
        offsets[v] = p->x.w.offsets[begin + v] - at;
    f.rows = w.rows = rows;
    f.values += begin * C;
    w.offsets = offsets;
    w.columns += at;
    w.values += at;
    TRY(hd_shrink_edges_read(context, &w, &edges));
    hd_shrink_input in = {
        .context = context, .f = &f, .w = &w, .edges = &edges, .gamma = 1, .squared = p->squared};
    TRY(hd_shrink_allot(&in, &p->limits, &a));
    memcpy(p->component + begin, a.component, (size_t)rows * sizeof *a.component);
    memcpy(p->owner[rank], a.owner, (size_t)a.count * sizeof *a.owner);
    p->count[rank] = a.count;
done:
    hd_shrink_allotment_free(&a);
    hd_shrink_edges_free(&edges);
    return status;
}

/* Owners are the same on all members. */
static void parts_allot(parts *p) {
    assert_ok(team_run(p->size, &team_engine, allot, p));
    for (int r = 1; r < p->size; r++) {
        assert_int_equal(p->count[r], p->count[0]);
        assert_memory_equal(p->owner[r], p->owner[0], (size_t)p->count[0] * sizeof(int32_t));
    }
}

static int32_t owner_of(const parts *p, int32_t row) {
    return p->owner[0][p->component[row]];
}

/* Twelve components over three members, their rows in turn. */
static void equal_components_are_spread_evenly(void **state) {
    (void)state;
    parts p = {.size = 3, .first = {0, 30, 200, N}, .limits = {.share = 1.2}};
    int32_t of[N], of_member[3] = {0};
    double moves[N];
    for (int32_t v = 0; v < N; v++) {
        of[v] = v % 12;
        moves[v] = 1;
    }
    parts_new(of, moves, &p);
    parts_allot(&p);
    assert_int_equal(p.count[0], 12);
    for (int32_t q = 0; q < 12; q++)
        of_member[p.owner[0][q]]++;
    for (int r = 0; r < 3; r++)
        assert_int_equal(of_member[r], 4);
    example_free(&p.x);
}

/* Components of more rows than `share` times what a member has, and of more than `rows`, belong to
 * all members. */
static void large_components_belong_to_all(void **state) {
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        parts p = {.size = 2, .first = {0, N / 2, N}, .limits = {.share = 1}};
        int32_t of[N];
        const double moves[2] = {1, 1};
        int32_t large = N / 2 + (trial > 0);
        p.limits.rows = trial == 2 ? large : 0;
        for (int32_t v = 0; v < N; v++)
            of[v] = v < large ? 0 : 1;
        parts_new(of, moves, &p);
        parts_allot(&p);
        assert_int_equal(p.count[0], 2);
        assert_int_equal(owner_of(&p, 0) == HD_SHRINK_TOGETHER, trial == 1);
        assert_true(owner_of(&p, N - 1) >= 0);
        if (trial != 1)
            assert_int_not_equal(owner_of(&p, 0), owner_of(&p, N - 1));
        example_free(&p.x);
    }
}

/* Pairs that lie on one member stay there; those that lie on two go where there is less work. */
static void small_components_stay_at_home(void **state) {
    (void)state;
    parts p = {.size = 2, .first = {0, N / 2, N}, .limits = {.share = 1e9}};
    int32_t of[N], of_member[2] = {0};
    double moves[N];
    for (int32_t v = 0; v < N; v++) {
        int32_t u = v % (N / 2);
        of[v] = u < 40 ? (v < N / 2 ? u / 2 : -1) : u; /* 20 pairs at home, 200 on both */
        moves[v] = 1;
    }
    parts_new(of, moves, &p);
    parts_allot(&p);
    for (int32_t v = 0; v < 40; v++)
        assert_int_equal(owner_of(&p, v), 0);
    for (int32_t v = 0; v < N / 2; v++)
        if (v >= 40 || v % 2 == 0)
            of_member[owner_of(&p, v)]++;
    assert_int_equal(of_member[0], 110);
    assert_int_equal(of_member[1], 110);
    example_free(&p.x);
}

/* Rows that are 20 times nearer to their mean have a share of 5 % of the cost, and of .2 % of its
 * squares; below 1 % a component counts as less work. */
static void components_that_hardly_move_are_less_work(void **state) {
    (void)state;
    for (int squared = 0; squared < 2; squared++) {
        parts p = {.size = 2, .first = {0, 100, N}, .limits = {.share = 1e9}, .squared = squared};
        int32_t of[N];
        const double moves[3] = {1, .05, .05};
        for (int32_t v = 0; v < N; v++)
            of[v] = v % 3;
        parts_new(of, moves, &p);
        parts_allot(&p);
        assert_int_equal(owner_of(&p, 0), 0);
        assert_int_equal(owner_of(&p, 1), 1);
        assert_int_equal(owner_of(&p, 2), squared ? 1 : 0);
        example_free(&p.x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_components_are_spread_evenly),
        cmocka_unit_test(large_components_belong_to_all),
        cmocka_unit_test(small_components_stay_at_home),
        cmocka_unit_test(components_that_hardly_move_are_less_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
