/* Rows that are moved to other processes and back: the graph stays the same graph, and every row
 * returns to where it was. */
#include "engines/team.h"
#include "matrix/arrange.h"
#include "support/support.h"

enum { N = 60, MEMBERS = 3, LONG = 45 /* numbers of a row that is sent in pieces */ };

/* A symmetric graph of all rows, and what each member is given and finds. */
typedef struct setting {
    int64_t begins[MEMBERS + 1];
    int32_t owner[N];
    double edge[N][N]; /* the graph; 0: none */
    double seen[N][N]; /* put together from the arranged rows */
    int32_t at[N];     /* the member that got each row */
    double back[N];
} setting;

static huddle_status take_rows(huddle_context *context, const setting *s, int rank,
                               huddle_csr *graph) {
    (void)context;
    int64_t begin = s->begins[rank], rows = s->begins[rank + 1] - begin, count = 0;
    huddle_status status = huddle_csr_new(rows, N, rows * N, graph);
    for (int64_t i = 0; i < rows && status == HUDDLE_OK; i++) {
        for (int32_t j = 0; j < N; j++)
            if (s->edge[begin + i][j] != 0) {
                graph->columns[count] = j;
                graph->values[count++] = s->edge[begin + i][j];
            }
        graph->offsets[i + 1] = count;
    }
    return status;
}

/* The number before of every row after, on all processes. */
static huddle_status find_numbers(huddle_context *context, const hd_arrangement *a,
                                  double *numbers) {
    hd_slab slab;
    huddle_status status = hd_slab_locate(context, a->moved, &slab);
    for (int64_t i = 0; i < a->moved && status == HUDDLE_OK; i++)
        numbers[slab.first + i] = (double)a->number[i];
    return status == HUDDLE_OK ? hd_reduce_sum(context, N, numbers) : status;
}

/* Rows of several pieces there and back. */
static huddle_status move_long_rows(const hd_arrangement *a, int64_t begin) {
    huddle_status status = HUDDLE_OK;
    double rows[N][LONG], moved[N][LONG], back[N][LONG] = {{0}};
    for (int64_t i = 0; i < a->n; i++)
        for (int k = 0; k < LONG; k++)
            rows[i][k] = (double)(begin + i) + .01 * k;
    TRY(hd_arrange_rows(a, rows, sizeof *rows, moved));
    for (int64_t i = 0; i < a->moved; i++)
        for (int k = 0; k < LONG; k++)
            if (moved[i][k] != (double)a->number[i] + .01 * k)
                FAIL(HUDDLE_INTERNAL, "number %d of row %lld came as %g", k,
                     (long long)a->number[i], moved[i][k]);
    TRY(hd_arrange_back(a, moved, sizeof *moved, back));
    for (int64_t i = 0; i < a->n; i++)
        if (memcmp(back[i], rows[i], sizeof *rows) != 0)
            FAIL(HUDDLE_INTERNAL, "row %lld did not return", (long long)(begin + i));
done:
    return status;
}

/* The entries of the graph's rows, which have different lengths, return. */
static huddle_status return_entries(const hd_arrangement *a, const huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    double *entries = NULL;
    int64_t count = graph->offsets[graph->rows];
    ALLOC_ZERO(entries, count);
    TRY(hd_arrange_entries_back(a, a->graph.offsets, a->graph.values, sizeof *entries,
                                graph->offsets, entries));
    /* Entries of a row are ordered by the new columns: compared are their sums. */
    for (int64_t i = 0; i < graph->rows; i++) {
        double sum = 0, expected = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            sum += entries[e];
            expected += graph->values[e];
        }
        if (!(sum - expected < 1e-9 && expected - sum < 1e-9))
            FAIL(HUDDLE_INTERNAL, "entries of row %lld returned as %g", (long long)i, sum);
    }
done:
    huddle_free(entries);
    return status;
}

static huddle_status arrange_part(huddle_context *context, int rank, void *argument) {
    setting *s = argument;
    huddle_status status = HUDDLE_OK;
    huddle_csr graph = {0};
    hd_arrangement a = {0};
    double numbers[N] = {0}, rows[N], moved[N];
    int64_t begin = s->begins[rank];
    TRY(take_rows(context, s, rank, &graph));
    TRY(hd_arrange_open(context, &graph, s->owner + begin, true, &a));
    TRY(find_numbers(context, &a, numbers));
    for (int64_t i = 0; i < a.moved; i++) {
        s->at[a.number[i]] = rank;
        for (int64_t e = a.graph.offsets[i]; e < a.graph.offsets[i + 1]; e++)
            s->seen[a.number[i]][(int)numbers[a.graph.columns[e]]] = a.graph.values[e];
        for (int64_t e = a.graph.offsets[i] + 1; e < a.graph.offsets[i + 1]; e++)
            if (a.graph.columns[e] <= a.graph.columns[e - 1])
                FAIL(HUDDLE_INTERNAL, "columns of row %lld do not ascend", (long long)i);
    }
    for (int64_t i = 0; i < graph.rows; i++)
        rows[i] = 100 + (double)(begin + i);
    TRY(hd_arrange_rows(&a, rows, sizeof *rows, moved));
    for (int64_t i = 0; i < a.moved; i++)
        if (moved[i] != 100 + (double)a.number[i])
            FAIL(HUDDLE_INTERNAL, "row %lld came as %g", (long long)a.number[i], moved[i]);
    TRY(hd_arrange_back(&a, moved, sizeof *moved, s->back + begin));
    TRY(move_long_rows(&a, begin));
    TRY(return_entries(&a, &graph));
done:
    hd_arrange_close(&a);
    huddle_csr_free(&graph);
    return hd_agree(context, status); /* so that the others do not wait */
}

static void check_setting(setting *s) {
    assert_ok(team_run(MEMBERS, &team_engine, arrange_part, s));
    for (int i = 0; i < N; i++) {
        assert_int_equal(s->at[i], s->owner[i]);
        assert_true(s->back[i] == 100 + i);
        for (int j = 0; j < N; j++)
            assert_true(s->seen[i][j] == s->edge[i][j]);
    }
}

static void fill_graph(setting *s) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if ((i * 7 + j * 13) % 11 == 0)
                s->edge[i][j] = s->edge[j][i] = 1 + i + .01 * j;
}

static void rows_move_and_return(void **state) {
    (void)state;
    setting s = {.begins = {0, 25, 26, N}};
    fill_graph(&s);
    for (int i = 0; i < N; i++)
        s.owner[i] = (i * i + 3) % MEMBERS;
    check_setting(&s);
}

/* One process has no rows before, another none after. */
static void slabs_may_be_empty(void **state) {
    (void)state;
    setting s = {.begins = {0, 0, 31, N}};
    fill_graph(&s);
    for (int i = 0; i < N; i++)
        s.owner[i] = i % 2;
    check_setting(&s);
}

/* Without processes rows stay, ordered along the edges of a chain. */
static void alone_rows_follow_edges(void **state) {
    (void)state;
    huddle_csr graph;
    hd_arrangement a;
    const int32_t chain[5] = {0, 3, 1, 4, 2};
    assert_ok(huddle_csr_new(5, 5, 8, &graph));
    int64_t count = 0;
    for (int32_t i = 0; i < 5; i++) {
        for (int32_t j = 0; j < 5; j++)
            for (int k = 0; k < 4; k++)
                if ((chain[k] == i && chain[k + 1] == j) || (chain[k] == j && chain[k + 1] == i)) {
                    graph.columns[count] = j;
                    graph.values[count++] = 1;
                }
        graph.offsets[i + 1] = count;
    }
    assert_ok(hd_arrange_open(NULL, &graph, NULL, true, &a));
    for (int i = 0; i < 5; i++)
        assert_int_equal(a.number[i], chain[i]);
    hd_arrange_close(&a);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_move_and_return),
                                       cmocka_unit_test(slabs_may_be_empty),
                                       cmocka_unit_test(alone_rows_follow_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
