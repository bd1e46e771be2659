/* metrics on points that are distributed over processes: the scores are those of all points. */
#include "base/rng.h"
#include "engines/mirror.h"
#include "engines/team.h"
#include "huddle/metrics.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { N = 240, D = 5, EDGES = 6 };

/* The points of a test: labels with gaps and negative ones, and a graph whose edges cross the
 * borders of the slabs if `across` is true, or stay within each half. */
typedef struct sample {
    huddle_points x;
    int32_t truth[N], labels[N];
    huddle_csr graph;
} sample;

static void add_edge(const huddle_dense *weights, int64_t i, int64_t j, double weight) {
    weights->values[i * N + j] = weights->values[j * N + i] = weight;
}

static void fill_graph(sample *s, bool across) {
    huddle_dense weights;
    hd_rng rng = hd_rng_stream(3, 0);
    int64_t at = 0;
    assert_ok(huddle_dense_new(N, N, &weights));
    for (int64_t i = 0; i < N / 2; i++)
        for (int e = 0; e < EDGES; e++) {
            int64_t j = hd_rng_below(&rng, N / 2);
            double weight = hd_rng_uniform(&rng);
            add_edge(&weights, i, across ? j + N / 2 : j, weight);
            if (!across)
                add_edge(&weights, i + N / 2, j + N / 2, weight);
        }
    assert_ok(huddle_csr_new(N, N, N * N, &s->graph));
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++)
            if (weights.values[i * N + j] > 0) {
                s->graph.columns[at] = (int32_t)j;
                s->graph.values[at++] = weights.values[i * N + j];
            }
        s->graph.offsets[i + 1] = at;
    }
    huddle_dense_free(&weights);
}

/* With `copies` the second half repeats the first; otherwise all rows differ, and some labels occur
 * in few rows only. */
static void fill(sample *s, bool copies) {
    hd_rng rng = hd_rng_stream(5, 0);
    assert_ok(huddle_points_new(N, D, &s->x));
    for (int64_t i = 0; i < N; i++) {
        int64_t from = copies ? i % (N / 2) : i;
        if (from < i) {
            memcpy(s->x.values + i * D, s->x.values + from * D, D * sizeof(float));
            s->truth[i] = s->truth[from];
            s->labels[i] = s->labels[from];
            continue;
        }
        int32_t group = (int32_t)hd_rng_below(&rng, 4);
        for (int64_t j = 0; j < D; j++)
            s->x.values[i * D + j] = (float)(hd_rng_normal(&rng) + 3 * (group == j));
        s->truth[i] = group * 5000 - 7000;
        s->labels[i] = hd_rng_below(&rng, 5) == 0 ? (int32_t)i : group - 2;
    }
    fill_graph(s, !copies);
}

static void release(sample *s) {
    huddle_points_free(&s->x);
    huddle_csr_free(&s->graph);
}

typedef struct results {
    huddle_scores scores;
    huddle_confusion confusion;
    huddle_graph_scores graph;
    double silhouette, sampled, ncut, modularity;
    double samples[N]; /* of the own rows */
} results;

static huddle_status score(huddle_context *context, const huddle_points *x, const int32_t *truth,
                           const int32_t *labels, const huddle_csr *graph, results *r) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_metrics_scores(context, x->n, truth, labels, &r->scores));
    TRY(huddle_metrics_confusion(context, x->n, truth, labels, &r->confusion));
    TRY(huddle_metrics_graph_scores(context, graph, labels, &r->graph));
    TRY(huddle_metrics_ncut(context, graph, labels, &r->ncut));
    TRY(huddle_metrics_modularity(context, graph, labels, &r->modularity));
done:
    return status;
}

static void assert_same(const results *a, const results *b, double tolerance) {
    assert_true(a->scores.acc == b->scores.acc && a->scores.purity == b->scores.purity);
    assert_true(a->scores.nmi == b->scores.nmi && a->scores.ari == b->scores.ari);
    assert_true(a->confusion.n_classes == b->confusion.n_classes &&
                a->confusion.n_clusters == b->confusion.n_clusters);
    for (int64_t j = 0; j < b->confusion.n_clusters; j++) {
        assert_int_equal(a->confusion.clusters[j], b->confusion.clusters[j]);
        assert_int_equal(a->confusion.match[j], b->confusion.match[j]);
    }
    for (int64_t i = 0; i < b->confusion.n_classes; i++)
        assert_int_equal(a->confusion.classes[i], b->confusion.classes[i]);
    for (int64_t e = 0; e < b->confusion.n_classes * b->confusion.n_clusters; e++)
        assert_int_equal(a->confusion.counts[e], b->confusion.counts[e]);
    assert_close(a->graph.information, b->graph.information, tolerance);
    assert_close(a->graph.entropy, b->graph.entropy, tolerance);
    assert_close(a->graph.map, b->graph.map, tolerance);
    assert_close(a->graph.divergence, b->graph.divergence, tolerance);
    assert_true(a->graph.ncut == a->ncut && a->graph.modularity == a->modularity);
    assert_close(a->ncut, b->ncut, tolerance);
    assert_close(a->modularity, b->modularity, tolerance);
}

static void two_copies_under_the_mirror(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    sample s;
    results half = {0}, all = {0};
    fill(&s, true);
    huddle_points x = s.x;
    huddle_csr graph = s.graph;
    x.n = graph.rows = N / 2;
    assert_ok(score(NULL, &s.x, s.truth, s.labels, &s.graph, &all));
    assert_ok(score(mirror, &x, s.truth, s.labels, &graph, &half));
    assert_same(&half, &all, 1e-12);
    assert_true(mirror_counts_of(mirror)->reductions > 0);
    assert_true(mirror_counts_of(mirror)->open_halos == 0);
    huddle_confusion_free(&half.confusion);
    huddle_confusion_free(&all.confusion);
    release(&s);
    huddle_context_free(mirror);
}

/* ---- members with different rows ----------------------------------------------------------- */

typedef struct division {
    sample s;
    int64_t begins[4];
    results members[3];
} division;

static huddle_status score_part(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    results *r = &all->members[rank];
    huddle_status status = HUDDLE_OK;
    huddle_csr graph = {0};
    int64_t begin = all->begins[rank], rows = all->begins[rank + 1] - begin;
    huddle_points x = team_points(&all->s.x, all->begins, rank);
    int64_t *offsets = all->s.graph.offsets + begin;
    int64_t entries = offsets[rows] - offsets[0];
    TRY(huddle_csr_new(rows, N, entries, &graph));
    for (int64_t i = 0; i <= rows; i++)
        graph.offsets[i] = offsets[i] - offsets[0];
    memcpy(graph.columns, all->s.graph.columns + offsets[0],
           (size_t)entries * sizeof *graph.columns);
    memcpy(graph.values, all->s.graph.values + offsets[0], (size_t)entries * sizeof *graph.values);
    TRY(score(context, &x, all->s.truth + begin, all->s.labels + begin, &graph, r));
    TRY(huddle_metrics_silhouette(context, &x, all->s.labels + begin, N, 1, &r->silhouette));
    TRY(huddle_metrics_silhouette(context, &x, all->s.labels + begin, 90, 1, &r->sampled));
    TRY(huddle_metrics_silhouette_samples(context, &x, all->s.labels + begin, r->samples));
done:
    huddle_csr_free(&graph);
    return status;
}

static void three_members_score_as_one(void **state) {
    (void)state;
    division all = {.begins = {0, 100, 101, N}};
    results one = {0};
    fill(&all.s, false);
    assert_ok(score(NULL, &all.s.x, all.s.truth, all.s.labels, &all.s.graph, &one));
    assert_ok(huddle_metrics_silhouette(NULL, &all.s.x, all.s.labels, N, 1, &one.silhouette));
    assert_ok(huddle_metrics_silhouette(NULL, &all.s.x, all.s.labels, 90, 1, &one.sampled));
    assert_ok(huddle_metrics_silhouette_samples(NULL, &all.s.x, all.s.labels, one.samples));
    assert_true(one.silhouette != one.sampled && one.scores.acc < 1);
    assert_ok(team_run(3, &team_engine, score_part, &all));
    for (int m = 0; m < 3; m++) {
        assert_same(&all.members[m], &one, 1e-12);
        assert_close(all.members[m].silhouette, one.silhouette, 1e-12);
        assert_close(all.members[m].sampled, one.sampled, 1e-12);
        for (int64_t i = all.begins[m]; i < all.begins[m + 1]; i++)
            assert_close(all.members[m].samples[i - all.begins[m]], one.samples[i], 1e-12);
        huddle_confusion_free(&all.members[m].confusion);
    }
    huddle_confusion_free(&one.confusion);
    release(&all.s);
}

static void sparse_silhouettes_are_refused(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    huddle_points x;
    int32_t labels[3] = {0, 1, 1};
    double value;
    assert_ok(huddle_points_new_sparse(3, 2, 0, &x));
    assert_refused(huddle_metrics_silhouette(mirror, &x, labels, 10, 0, &value), HUDDLE_UNSUPPORTED,
                   "sparse points");
    huddle_points_free(&x);
    huddle_context_free(mirror);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_copies_under_the_mirror),
        cmocka_unit_test(three_members_score_as_one),
        cmocka_unit_test(sparse_silhouettes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
