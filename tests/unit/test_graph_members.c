/* graph: the parts of a search on several processes, with three members that are threads, against
 * what is computed here from all rows. */
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/team.h"
#include "graph/approximate.h"
#include "graph/layout.h"
#include "graph/regions.h"
#include "graph/ring.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>

enum { N = 750, MEMBERS = 3, K = 5, MAX_D = 70 };

static const int64_t begins[MEMBERS + 1] = {0, 240, 240 + 290, N};

/* All rows, and the lists of all pairs. */
typedef struct setting {
    int64_t d;
    float values[N * MAX_D];
    int32_t index[N * K];
    double distance2[N * K];
    bool sparse;
} setting;

static double square_distance(const setting *s, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t f = 0; f < s->d; f++) {
        double difference = (double)s->values[i * s->d + f] - (double)s->values[j * s->d + f];
        sum += difference * difference;
    }
    return sum;
}

static void fill_setting(setting *s, int64_t d, bool sparse, double size) {
    hd_rng rng = hd_rng_stream(1, (uint64_t)d);
    *s = (setting){.d = d, .sparse = sparse};
    for (int64_t e = 0; e < N * d; e++)
        s->values[e] =
            sparse && hd_rng_below(&rng, 3) > 0 ? 0 : (float)(size * hd_rng_normal(&rng));
    for (int64_t i = 0; i < N; i++) {
        double *distance2 = s->distance2 + i * K;
        int32_t *index = s->index + i * K, at;
        for (int c = 0; c < K; c++)
            distance2[c] = INFINITY;
        for (int32_t j = 0; j < N; j++) {
            double value = square_distance(s, i, j);
            if (j == i || value >= distance2[K - 1])
                continue;
            for (at = K - 1; at > 0 && value < distance2[at - 1]; at--) {
                distance2[at] = distance2[at - 1];
                index[at] = index[at - 1];
            }
            distance2[at] = value;
            index[at] = j;
        }
    }
}

static huddle_points own_points(setting *s, int rank) {
    return (huddle_points){.n = begins[rank + 1] - begins[rank],
                           .d = s->d,
                           .stride = s->d,
                           .values = s->values + begins[rank] * s->d};
}

/* ---- records and rows ------------------------------------------------------------------------ */

/* Each member sends a record about every third row to its owner. */
static huddle_status send_records(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    hd_graph_layout layout;
    int32_t(*records)[2] = NULL;
    const int32_t(*came)[2];
    void *received = NULL;
    int64_t count = 0, n_received;
    (void)argument;
    TRY(hd_graph_layout_new(context, begins[rank + 1] - begins[rank], &layout));
    for (int32_t row = 0; row < N; row++)
        if (row < begins[hd_graph_layout_owner(&layout, row)] ||
            row >= begins[hd_graph_layout_owner(&layout, row) + 1])
            FAIL(HUDDLE_INTERNAL, "row %d is elsewhere", row);
    ALLOC(records, N);
    for (int32_t row = N - 1 - rank; row >= 0; row -= 3, count++) { /* descending */
        records[count][0] = row;
        records[count][1] = 1000 * rank + row % 7;
    }
    TRY(hd_graph_layout_send(&layout, count, records, sizeof *records, &received, &n_received));
    came = received;
    int64_t e = 0;
    for (int32_t from = 0; from < MEMBERS; from++)
        for (int32_t row = N - 1 - from; row >= 0; row -= 3) {
            if (row < begins[rank] || row >= begins[rank + 1])
                continue;
            if (e >= n_received || came[e][0] != row || came[e][1] != 1000 * from + row % 7)
                FAIL(HUDDLE_INTERNAL, "the record of row %d from %d is wrong", row, from);
            e++;
        }
    if (e != n_received)
        FAIL(HUDDLE_INTERNAL, "%lld records came", (long long)n_received);
done:
    hd_graph_layout_free(&layout);
    huddle_free(records);
    huddle_free(received);
    return hd_agree(context, status);
}

static void records_come_to_the_owners_of_rows(void **state) {
    (void)state;
    assert_ok(team_run(MEMBERS, &team_engine, send_records, NULL));
}

/* Rows that came have their values and numbers; no row of another region is nearer than the bound
 * says. */
static huddle_status check_moved(const setting *s, const hd_graph_regions *regions,
                                 const hd_graph_moved *moved) {
    char here[N] = {0};
    double row[MAX_D];
    if (moved->n_received < N / 6 || moved->n_received > N / 2)
        return hd_fail(HUDDLE_INTERNAL, "%lld rows came", (long long)moved->n_received);
    for (int64_t i = 0; i < moved->n_received; i++) {
        int32_t number = moved->number[i];
        hd_graph_rows_read(&moved->rows, i, row);
        here[number] = 1;
        for (int64_t f = 0; f < s->d; f++)
            if (row[f] != (double)s->values[number * s->d + f] ||
                (i > 0 && number <= moved->number[i - 1]))
                return hd_fail(HUDDLE_INTERNAL, "row %d came wrong", number);
    }
    double farthest = 0;
    for (int64_t j = 0; j < N; j++) {
        double nearest2 = INFINITY;
        for (int64_t f = 0; f < s->d; f++)
            row[f] = (double)s->values[j * s->d + f];
        double bound = hd_graph_regions_distance(regions, row);
        for (int64_t i = 0; i < N; i++)
            if (here[i])
                nearest2 = fmin(nearest2, square_distance(s, i, j));
        if ((here[j] && bound > 0) || bound > sqrt(nearest2) + 1e-9)
            return hd_fail(HUDDLE_INTERNAL, "row %d is nearer than %g", (int)j, bound);
        farthest = fmax(farthest, bound);
    }
    return farthest > .5 ? HUDDLE_OK
                         : hd_fail(HUDDLE_INTERNAL, "the bound is at most %g", farthest);
}

static huddle_status move_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    setting *s = argument;
    huddle_points x = own_points(s, rank);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_regions regions = {0};
    hd_graph_moved moved = {0};
    int32_t *index = NULL, back[2 * N];
    double *distance2 = NULL, distance_back[2 * N];
    TRY(hd_graph_regions_new(context, &rows, &regions));
    TRY(hd_graph_move_rows(&regions, &rows, &moved));
    if (!moved.balanced)
        FAIL(HUDDLE_INTERNAL, "the regions are not balanced");
    TRY(check_moved(s, &regions, &moved));
    ALLOC(index, 2 * moved.n_received);
    ALLOC(distance2, 2 * moved.n_received);
    for (int64_t e = 0; e < 2 * moved.n_received; e++) {
        index[e] = 2 * moved.number[e / 2] + (int32_t)(e % 2);
        distance2[e] = .5 * index[e];
    }
    TRY(hd_graph_move_back(&moved, 2, index, distance2, back, distance_back));
    for (int64_t e = 0; e < 2 * x.n; e++)
        if (back[e] != 2 * begins[rank] + e || distance_back[e] != .5 * back[e])
            FAIL(HUDDLE_INTERNAL, "list %lld returned as %d", (long long)(e / 2), back[e]);
done:
    huddle_free(index);
    huddle_free(distance2);
    hd_graph_moved_free(&moved);
    hd_graph_regions_free(&regions);
    return hd_agree(context, status);
}

static void rows_move_to_their_regions_and_lists_return(void **state) {
    (void)state;
    static setting s;
    fill_setting(&s, 2, false, 1);
    assert_ok(team_run(MEMBERS, &team_engine, move_part, &s));
}

/* Rows 5 .. 9, and some that are picked, as bytes and back. */
static void rows_travel_as_bytes(void **state) {
    (void)state;
    static setting s;
    static const int32_t pick[] = {7, 0, 3, 9, 2, 11, 4},
                         rows_pick[] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23};
    fill_setting(&s, 4, false, 1);
    for (int t = 0; t < 4; t++) {
        huddle_points x = own_points(&s, 0);
        hd_graph_rows rows = hd_graph_rows_of_points(&x), back;
        char bytes[256];
        double row[4];
        rows.pick = t >= 2 ? rows_pick : NULL;
        assert_int_equal(hd_graph_rows_measure(&rows, 5), 5 * 4 * sizeof(float));
        hd_graph_rows_pack(&rows, t % 2 ? pick : NULL, t % 2 ? 2 : 5, t % 2 ? 7 : 10, bytes);
        assert_ok(hd_graph_rows_unpack(NULL, &rows, 5, bytes, &back));
        for (int64_t i = 0; i < 5; i++) {
            int64_t from = t % 2 ? pick[2 + i] : 5 + i;
            from = t >= 2 ? rows_pick[from] : from;
            hd_graph_rows_read(&back, i, row);
            for (int64_t f = 0; f < 4; f++)
                assert_true(row[f] == (double)s.values[from * 4 + f]);
        }
    }
}

/* ---- searches ------------------------------------------------------------------------------- */

/* The own rows as sparse points; the arrays belong to the result. */
static huddle_status own_sparse(setting *s, int rank, huddle_points *x) {
    huddle_points full = own_points(s, rank);
    huddle_status status = huddle_points_new_sparse(full.n, s->d, full.n * s->d, x);
    int64_t count = 0;
    for (int64_t i = 0; i < full.n && status == HUDDLE_OK; i++) {
        for (int32_t j = 0; j < s->d; j++)
            if (full.values[i * s->d + j] != 0) {
                x->columns[count] = j;
                x->values[count++] = full.values[i * s->d + j];
            }
        x->offsets[i + 1] = count;
    }
    return status;
}

static huddle_status search_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    setting *s = argument;
    huddle_points x = own_points(s, rank), sparse = {0};
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out = {0};
    options.n_neighbors = K;
    if (s->sparse)
        TRY(own_sparse(s, rank, &sparse));
    TRY(huddle_graph_knn(context, s->sparse ? &sparse : &x, &options, &out, NULL));
    for (int64_t e = 0; e < x.n * K; e++) {
        int64_t at = begins[rank] * K + e;
        if (out.index[e] != s->index[at] ||
            fabs(out.distance[e] - sqrt(s->distance2[at])) > 1e-9 * (1 + out.distance[e]))
            FAIL(HUDDLE_INTERNAL, "entry %lld is %d at %g instead of %d at %g", (long long)at,
                 out.index[e], out.distance[e], s->index[at], sqrt(s->distance2[at]));
    }
done:
    huddle_points_free(&sparse);
    huddle_neighbors_free(&out);
    return hd_agree(context, status);
}

/* Few columns, many (by projections), and sparse rows. */
static void lists_are_those_of_all_pairs(void **state) {
    (void)state;
    static setting s;
    fill_setting(&s, 3, false, 1);
    assert_ok(team_run(MEMBERS, &team_engine, search_part, &s));
    fill_setting(&s, MAX_D, false, 1);
    assert_ok(team_run(MEMBERS, &team_engine, search_part, &s));
    fill_setting(&s, 12, true, 1);
    assert_ok(team_run(MEMBERS, &team_engine, search_part, &s));
    fill_setting(&s, 3, false, 1e30); /* squares are beyond float */
    assert_ok(team_run(MEMBERS, &team_engine, search_part, &s));
}

/* Each member has the rows of its points of the matrix of all distances, whole and as the entries
 * up to a limit. */
static huddle_status take_distances(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    const setting *s = argument;
    int64_t n = begins[rank + 1] - begins[rank], count = 0;
    huddle_dense full = {0};
    huddle_csr some = {0};
    huddle_neighbors out = {0};
    double mean, sum = 0;
    TRY(huddle_dense_new(n, N, &full));
    TRY(huddle_csr_new(n, N, n * N, &some));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            sum += sqrt(square_distance(s, i, j));
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < N; j++) {
            /* The diagonal is not looked at. */
            double value =
                j == begins[rank] + i ? .01 : sqrt(square_distance(s, begins[rank] + i, j));
            full.values[i * full.stride + j] = value;
            some.columns[count] = j;
            some.values[count++] = value;
        }
        some.offsets[i + 1] = count;
    }
    TRY(huddle_graph_mean_of_distances(context, &full, &mean));
    if (fabs(mean - sum / ((double)N * (N - 1))) > 1e-9)
        FAIL(HUDDLE_INTERNAL, "a mean of %g instead of %g", mean, sum / ((double)N * (N - 1)));
    TRY(huddle_graph_from_distances(context, &some, K, &out));
    for (int64_t e = 0; e < n * K; e++)
        if (out.index[e] != s->index[begins[rank] * K + e])
            FAIL(HUDDLE_INTERNAL, "entry %lld is %d", (long long)e, out.index[e]);
done:
    huddle_dense_free(&full);
    huddle_csr_free(&some);
    huddle_neighbors_free(&out);
    return hd_agree(context, status);
}

static void distances_may_be_given(void **state) {
    (void)state;
    static setting s;
    fill_setting(&s, 3, false, 1);
    assert_ok(team_run(MEMBERS, &team_engine, take_distances, &s));
}

/* The distances of the sample are those of all pairs; lists that miss their last entry in every
 * other row have the recall that follows. */
static huddle_status probe_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    setting *s = argument;
    huddle_points x = own_points(s, rank);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_sample probe = {0};
    hd_graph_recall recall;
    int32_t ids[N];
    double distance2[N * K], missed = 0, count = 0;
    hd_graph_search search = {.train = &rows,
                              .query = &rows,
                              .self = true,
                              .k = K,
                              .ids = ids,
                              .reach = 8,
                              .distance2 = distance2};
    for (int32_t i = 0; i < x.n; i++)
        ids[i] = (int32_t)begins[rank] + i;
    TRY(hd_graph_sample_distributed(context, &search, &probe));
    for (int64_t e = 0; e < x.n * K; e++) {
        bool last = e % K == K - 1 && e / K % 2 == 0;
        distance2[e] = s->distance2[begins[rank] * K + e] * (last ? 1.5 : 1);
    }
    for (int64_t q = 0; q < probe.count; q++) {
        double expected = s->distance2[(begins[rank] + probe.row[q]) * K + K - 1];
        if (fabs(probe.kth2[q] - expected) > 1e-9 * (1 + expected))
            FAIL(HUDDLE_INTERNAL, "the distance of row %d is %g, not %g", probe.row[q],
                 probe.kth2[q], expected);
        missed += probe.row[q] % 2 == 0;
    }
    count = (double)probe.count;
    TRY(hd_reduce_sum(context, 1, &missed));
    TRY(hd_reduce_sum(context, 1, &count));
    TRY(hd_graph_sample_measure(context, &probe, &search, &recall));
    if (count != 500 || fabs(recall.share - (1 - missed / count / K)) > 1e-12)
        FAIL(HUDDLE_INTERNAL, "a recall of %g from %g rows", recall.share, count);
    double all = count - missed, part = 1 - 1.0 / K;
    hd_graph_recall expected =
        hd_graph_recall_interval(all + missed * part, all + missed * part * part, count, K);
    if (fabs(recall.low - expected.low) > 1e-12 || fabs(recall.high - expected.high) > 1e-12)
        FAIL(HUDDLE_INTERNAL, "between %g and %g", recall.low, recall.high);
done:
    hd_graph_sample_free(&probe);
    return hd_agree(context, status);
}

static void the_recall_is_that_of_the_sample(void **state) {
    (void)state;
    static setting s;
    fill_setting(&s, 3, false, 1);
    assert_ok(team_run(MEMBERS, &team_engine, probe_part, &s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_to_the_owners_of_rows),
        cmocka_unit_test(rows_move_to_their_regions_and_lists_return),
        cmocka_unit_test(rows_travel_as_bytes),
        cmocka_unit_test(lists_are_those_of_all_pairs),
        cmocka_unit_test(distances_may_be_given),
        cmocka_unit_test(the_recall_is_that_of_the_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
