/* Rows of several processes collected on one or all of them, and back again: compared with the
 * rows of the whole. */
#include "engines/team.h"
#include "matrix/collect.h"
#include "support/support.h"

enum { N = 11, D = 3, MEMBERS = 3 };

/* Members have 4, 0 and 7 rows; row i of all is the numbers 10 i, 10 i + 1, 10 i + 2. A sparse row
 * has i % 4 entries. */
static const int64_t begins[MEMBERS + 1] = {0, 4, 4, N};
static const int64_t wanted[] = {0, 3, 4, 7, 10};
static const double shift[D] = {1, 2, 3};

static huddle_status check_rows(const float *rows, int64_t n, const int64_t *index) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < D; j++)
            if (rows[i * D + j] != (float)(10 * (index != NULL ? index[i] : i) + j))
                return hd_fail(HUDDLE_INTERNAL, "row %lld is wrong", (long long)i);
    return HUDDLE_OK;
}

static huddle_status fill_rows(int64_t begin, int64_t n, huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_points_new(n, D, x));
    for (int64_t e = 0; e < n * D; e++)
        x->values[e] = (float)(10 * (begin + e / D) + e % D);
    ALLOC(x->shift, D);
    memcpy(x->shift, shift, sizeof shift);
done:
    return status;
}

static huddle_status fill_sparse(int64_t begin, int64_t n, huddle_csr *x) {
    huddle_status status = huddle_csr_new(n, D, n * D, x);
    int64_t count = 0;
    for (int64_t i = 0; i < n && status == HUDDLE_OK; i++) {
        for (int32_t j = 0; j < (begin + i) % 4; j++) {
            x->columns[count] = j;
            x->values[count++] = (double)(10 * (begin + i) + j);
        }
        x->offsets[i + 1] = count;
    }
    return status;
}

static huddle_status check_sparse(const huddle_csr *x) {
    int64_t count = 0;
    if (x->rows != N || x->cols != D)
        return hd_fail(HUDDLE_INTERNAL, "%lld rows came", (long long)x->rows);
    for (int64_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < i % 4; j++, count++)
            if (x->columns[count] != j || x->values[count] != (double)(10 * i + j))
                return hd_fail(HUDDLE_INTERNAL, "an entry of row %lld is wrong", (long long)i);
        if (x->offsets[i + 1] != count)
            return hd_fail(HUDDLE_INTERNAL, "row %lld ends elsewhere", (long long)i);
    }
    return HUDDLE_OK;
}

/* All rows or those of an index, to one process or to all. */
static huddle_status collect_dense(huddle_context *context, int rank, const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    huddle_points y = {0};
    for (int32_t to = HD_EVERYWHERE; to < MEMBERS; to++)
        for (int some = 0; some < 2; some++) {
            int64_t n = some ? 5 : N;
            const int64_t *index = some ? wanted : NULL;
            TRY(hd_collect_points(context, x, index, 5, to, &y));
            bool mine = to == HD_EVERYWHERE || to == rank;
            if (y.n != (mine ? n : 0) || (y.values != NULL) != mine)
                FAIL(HUDDLE_INTERNAL, "%lld rows came for process %d", (long long)y.n, to);
            if (mine && (y.shift == NULL || memcmp(y.shift, shift, sizeof shift) != 0))
                FAIL(HUDDLE_INTERNAL, "the shift did not come");
            TRY(check_rows(y.values, y.n, index));
            huddle_points_free(&y);
        }
done:
    huddle_points_free(&y);
    return status;
}

static huddle_status collect_sparse(huddle_context *context, int rank) {
    huddle_status status = HUDDLE_OK;
    huddle_csr x = {0}, whole = {0};
    TRY(fill_sparse(begins[rank], begins[rank + 1] - begins[rank], &x));
    TRY(hd_collect_csr(context, &x, HD_EVERYWHERE, &whole));
    TRY(check_sparse(&whole));
    huddle_csr_free(&whole);
    TRY(hd_collect_csr(context, &x, 2, &whole));
    if ((whole.offsets != NULL) != (rank == 2))
        FAIL(HUDDLE_INTERNAL, "process %d got the matrix", rank);
    if (rank == 2)
        TRY(check_sparse(&whole));
done:
    huddle_csr_free(&x);
    huddle_csr_free(&whole);
    return status;
}

/* All rows from process 1, which has none of its own. */
static huddle_status distribute_rows(huddle_context *context, int rank, const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    huddle_points all = {0};
    float rows[N * D] = {0};
    if (rank == 1)
        TRY(fill_rows(0, N, &all));
    TRY(hd_scatter_rows(context, 1, all.values, x->n, D * sizeof *rows, rows));
    if (x->n > 0 && memcmp(rows, x->values, (size_t)(x->n * D) * sizeof *rows) != 0)
        FAIL(HUDDLE_INTERNAL, "rows of process %d did not come", rank);
done:
    huddle_points_free(&all);
    return status;
}

/* argument: the request for memory that fails, or 0. */
static huddle_status work(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    huddle_points x = {0};
    TRY(hd_agree(context, status));
    if (rank == 0)
        (void)hd_memory_fail_at(*(const int64_t *)argument);
    TRY(hd_agree(context, status));
    TRY(fill_rows(begins[rank], begins[rank + 1] - begins[rank], &x));
    TRY(collect_dense(context, rank, &x));
    TRY(collect_sparse(context, rank));
    TRY(distribute_rows(context, rank, &x));
done:
    huddle_points_free(&x);
    return hd_agree(context, status);
}

static void members_collect_and_distribute(void **state) {
    (void)state;
    int64_t failing = 0;
    assert_ok(team_run(MEMBERS, &team_engine, work, &failing));
}

/* What a member has received when another one fails is freed. */
static void failures_of_one_member_leave_nothing(void **state) {
    (void)state;
    int64_t before = hd_memory_live();
    bool failed = true;
    for (int64_t at = 1; failed; at++) {
        huddle_status status = team_run(MEMBERS, &team_engine, work, &at);
        failed = hd_memory_fail_at(0) >= at;
        assert_int_equal(status, failed ? HUDDLE_NO_MEMORY : HUDDLE_OK);
        assert_int_equal(hd_memory_live(), before);
    }
}

/* Without processes the rows are copied. */
static void alone_rows_are_copied(void **state) {
    (void)state;
    huddle_points x, y;
    huddle_csr sparse, whole;
    float rows[N * D];
    assert_ok(fill_rows(0, N, &x));
    assert_ok(hd_collect_points(NULL, &x, wanted, 5, 0, &y));
    assert_int_equal(y.n, 5);
    assert_ok(check_rows(y.values, y.n, wanted));
    assert_ok(hd_scatter_rows(NULL, 0, x.values, N, D * sizeof *rows, rows));
    assert_memory_equal(rows, x.values, sizeof rows);
    assert_ok(fill_sparse(0, N, &sparse));
    assert_ok(hd_collect_csr(NULL, &sparse, 0, &whole));
    assert_ok(check_sparse(&whole));
    huddle_csr_free(&sparse);
    huddle_csr_free(&whole);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_collect_and_distribute),
                                       cmocka_unit_test(failures_of_one_member_leave_nothing),
                                       cmocka_unit_test(alone_rows_are_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
