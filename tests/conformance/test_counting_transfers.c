/* What a fit sends to an engine with a memory of its own, and what it fetches from there: the exact
 * numbers of a whole fit and of a prediction, so that a stage that goes through the host unasked is
 * noticed. And the rules of src/matrix/resident.h, by which this is done. */
#include "base/context.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "matrix/resident.h"
#include "model/model.h"
#include "support/support.h"

#include <pthread.h>
#include <string.h>

enum { N = 96, C = 3 };

/* ---- whole fits ------------------------------------------------------------------------------ */

static huddle_model *fit_ssc(huddle_context *context, const huddle_points *x, const char *prepare,
                             const char *refine) {
    huddle_model *model;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "connect", "true"));
    assert_ok(huddle_model_set_option(model, "prepare", prepare));
    assert_ok(huddle_model_set_option(model, "refine", refine));
    assert_ok(huddle_model_fit(context, model, x));
    return model;
}

/* Containers and bytes of each kind. */
typedef struct transfers {
    long long count[N_COUNTING_KINDS], bytes[N_COUNTING_KINDS];
} transfers;

static void check_transfers(const char *what, const counting_transfers *made, transfers expected) {
    static const char *const kinds[] = {"points", "dense", "csr", "neighbors"};
    for (int k = 0; k < N_COUNTING_KINDS; k++) {
        long long count = atomic_load(&made->count[k]), bytes = atomic_load(&made->bytes[k]);
        if (count != expected.count[k] || bytes != expected.bytes[k])
            fail_msg("%s: %lld containers of %s, %lld bytes, instead of %lld, %lld", what, count,
                     kinds[k], bytes, expected.count[k], expected.bytes[k]);
    }
}

static long long csr_bytes(const huddle_csr *m) {
    return (long long)((m->rows + 1) * 8 + m->offsets[m->rows] * 12);
}

/* What every fit of ssc fetches: graphs, the span of the eigenvectors, G, Z and centres, once each,
 * because they are verified, certified or numbered on the host. */
static void check_bytes(const huddle_context *context, const hd_fit *fit, int64_t d, bool refined) {
    int64_t groups = fit->shrunk.g.n_groups, edges = fit->shrunk.w.matrix.offsets[N] / 2;
    /* One vector more than wanted shows the gap; the refinement wants twice as many. */
    int64_t vectors = refined ? 2 * C : C, commute = refined ? 2 * C : 0;
    assert_true(groups < N);
    check_transfers("sent", &counting_state_of(context)->sent,
                    (transfers){.count = {2 + refined, 1},
                                .bytes = {4 * (N * d + groups * C + N * commute), 8 * N * C}});
    check_transfers(
        "fetched", &counting_state_of(context)->fetched,
        (transfers){.count = {0, 5 + refined, 2},
                    .bytes = {0, 8 * (N * vectors + N * C + edges * C + 2 * C * C + C * commute),
                              csr_bytes(&fit->graph.matrix) + csr_bytes(&fit->shrunk.w.matrix)}});
}

/* X goes there once, F once, of G the rows that K-means gets, which the certificate has moved, and
 * for the refinement the rows of the commute embedding. Lists of neighbours stay there, and so do
 * the rows of F that K-means gets. */
static void a_fit_sends_and_fetches_once(void **state) {
    (void)state;
    for (int refined = 0; refined < 2; refined++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, 12, 1);
        huddle_model *model = fit_ssc(context, &x, "none", refined ? "auto" : "none");
        check_bytes(context, &model->fit, 12, refined);
        /* No prediction needs the graphs. */
        assert_null(hd_resident_own(context, model->fit.graph.matrix.resident));
        assert_null(hd_resident_own(context, model->fit.shrunk.w.matrix.resident));
        assert_int_equal(model->fit.refined.present, refined);
        assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
        assert_int_equal(counting_calls(context, COUNTING_COMPONENTS), 1);
        assert_int_equal(counting_calls(context, COUNTING_ROUND_ROWS), 1);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* With prepare = auto the candidates come on top of that. Without refinement there are four here,
 * one of which is X as it is, and three are sent; each has a graph, eigenvectors, and a K-means
 * with rows to send and centres to fetch. The chosen one is prepared again. One has a graph of two
 * components: its lists of neighbours across and the joined graph are transferred too. With
 * refinement a graph of X decides that none of them is needed. */
static void candidates_are_sent_once(void **state) {
    (void)state;
    static const transfers sent[] = {{.count = {2 + 3 + 4 + 1, 1, 1}}, {.count = {3, 1}}},
                           fetched[] = {{.count = {0, 5 + 2 * 4, 2 + 4, 1}}, {.count = {0, 7, 3}}};
    for (int refined = 0; refined < 2; refined++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, 12, 1);
        huddle_model *model = fit_ssc(context, &x, "auto", refined ? "auto" : "none");
        assert_int_equal(model->fit.prepared.trials.count, refined ? 0 : 4);
        for (int k = 0; k < N_COUNTING_KINDS; k++) {
            assert_int_equal(atomic_load(&counting_state_of(context)->sent.count[k]),
                             sent[refined].count[k]);
            assert_int_equal(atomic_load(&counting_state_of(context)->fetched.count[k]),
                             fetched[refined].count[k]);
        }
        assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* The training points, F and G are there after the fit: a prediction sends what is new. */
static void a_prediction_sends_what_is_new(void **state) {
    (void)state;
    enum { M = 20 };
    huddle_context *context = counting_context("resident");
    huddle_points x = counting_clouds(N, 4, 1), y = counting_clouds(M, 4, 2);
    huddle_model *model = fit_ssc(context, &x, "none", "none");
    int32_t labels[M];
    for (int time = 0; time < 2; time++) {
        counting_forget(counting_state_of(context));
        assert_ok(huddle_model_predict(context, model, &y, labels));
        long long dense = atomic_load(&counting_state_of(context)->sent.count[COUNTING_DENSE]);
        assert_int_equal(atomic_load(&counting_state_of(context)->sent.bytes[COUNTING_POINTS]),
                         M * 4 * 4);
        /* New rows, for W and the shrinking, whose result stays there for the labels; the first
         * time also G and centres. */
        assert_int_equal(dense, time == 0 ? 3 : 1);
        assert_int_equal(counting_transferred(&counting_state_of(context)->fetched),
                         atomic_load(&counting_state_of(context)->fetched.count[COUNTING_LISTS]));
    }
    assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_context_free(context);
}

/* ---- points that only the engine has --------------------------------------------------------- */

/* A prediction on a thread of its own. */
typedef struct prediction {
    const huddle_model *model;
    const huddle_points *x;
    int32_t labels[N];
} prediction;

static void *predict(void *argument) {
    prediction *p = argument;
    assert_ok(huddle_model_predict(NULL, p->model, p->x, p->labels));
    return NULL;
}

/* They are fetched into the fit's own view, if at all: the caller's struct stays as it is. What the
 * model has of them is fetched by whichever thread needs it first. */
static void points_may_be_with_the_engine(void **state) {
    (void)state;
    static const char *const methods[] = {"ssc", "kmeans"};
    for (int k = 0; k < 4; k++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, 4, 1), there = counting_clouds(N, 4, 1);
        huddle_model *a, *b;
        const size_t size = N * sizeof(int32_t);
        assert_ok(counting_keep_points(context, &there));
        assert_null(there.values);
        assert_ok(huddle_model_new(methods[k % 2], &a));
        assert_ok(huddle_model_new(methods[k % 2], &b));
        huddle_model_borrow_points(a, k >= 2);
        assert_ok(huddle_model_set_option(a, "n_clusters", "3"));
        assert_ok(huddle_model_set_option(b, "n_clusters", "3"));
        assert_ok(huddle_model_fit(context, a, &there));
        assert_null(there.values);
        assert_ok(huddle_model_fit(context, b, &x));
        assert_memory_equal(huddle_model_labels(a, NULL), huddle_model_labels(b, NULL), size);
        huddle_points_free(&there);
        huddle_context_free(context);
        prediction predictions[4];
        pthread_t threads[4];
        for (int t = 0; t < 4; t++) {
            predictions[t] = (prediction){.model = a, .x = &x};
            assert_int_equal(pthread_create(&threads[t], NULL, predict, &predictions[t]), 0);
        }
        for (int t = 0; t < 4; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            assert_memory_equal(huddle_model_labels(a, NULL), predictions[t].labels, size);
        }
        huddle_model_free(a);
        huddle_model_free(b);
        huddle_points_free(&x);
        assert_int_equal(counting_open_engines(), 0);
    }
}

/* K-means takes the engine's word for them; with fewer distinct rows than clusters the engine
 * declines, and they are fetched. */
static void kmeans_does_not_fetch(void **state) {
    (void)state;
    for (int few = 0; few < 2; few++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, 4, 1);
        huddle_kmeans_options options = huddle_kmeans_defaults();
        huddle_kmeans_result result;
        huddle_kmeans_info info;
        int32_t labels[N];
        for (int64_t e = 0; e < N * 4 && few; e++)
            x.values[e] = (float)(e / 4 % 2);
        options.n_clusters = C;
        assert_ok(counting_keep_points(context, &x));
        assert_ok(huddle_kmeans(context, &x, NULL, &options, &result, &info));
        assert_int_equal(counting_calls(context, COUNTING_CLUSTER_ROWS), 1);
        assert_int_equal(atomic_load(&counting_state_of(context)->fetched.count[COUNTING_POINTS]),
                         few);
        assert_int_equal(info.n_distinct, few ? 2 : C);
        assert_ok(huddle_kmeans_assign(context, &x, &result.centres, labels));
        assert_memory_equal(labels, result.labels, sizeof labels);
        assert_int_equal(atomic_load(&counting_state_of(context)->fetched.count[COUNTING_POINTS]),
                         few);
        assert_int_equal(atomic_load(&counting_state_of(context)->sent.count[COUNTING_POINTS]), 0);
        huddle_kmeans_result_free(&result);
        huddle_kmeans_info_free(&info);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* ---- owners ---------------------------------------------------------------------------------- */

static huddle_csr graph_of(huddle_context *context, const huddle_points *x) {
    huddle_neighbors lists;
    huddle_csr graph;
    assert_ok(huddle_graph_knn(context, x, NULL, &lists, NULL));
    assert_ok(huddle_graph_weigh(context, &lists, NULL, &graph, NULL));
    huddle_neighbors_free(&lists);
    return graph;
}

/* Two contexts, one engine: what one has made is not in the memory of the other. */
static void another_context_fetches(void **state) {
    (void)state;
    huddle_context *first = counting_context("resident"), *second = counting_context("resident");
    huddle_points x = counting_clouds(N, 4, 1);
    huddle_csr graph = graph_of(first, &x);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding f;
    int32_t component[N], count;
    options.n_components = C;
    assert_non_null(hd_resident_own(first, graph.resident));
    assert_null(hd_resident_own(second, graph.resident));
    assert_null(hd_resident_own(NULL, graph.resident));
    assert_ok(huddle_graph_components(second, &graph, component, &count));
    assert_int_equal(counting_calls(second, COUNTING_COMPONENTS), 0);
    assert_int_equal(counting_transferred(&counting_state_of(first)->fetched), 1);
    assert_ok(huddle_embed(second, &graph, &options, &f, NULL));
    assert_int_equal(counting_transferred(&counting_state_of(first)->fetched), 1);
    assert_int_equal(atomic_load(&counting_state_of(second)->sent.count[COUNTING_CSR]), 1);
    /* The first engine's copy stays where it is while that engine is in use. */
    assert_non_null(hd_resident_own(first, graph.resident));
    huddle_embedding_free(&f);
    /* Nobody computes with it any more: its place is taken. */
    huddle_context_free(first);
    assert_int_equal(counting_open_engines(), 2);
    assert_ok(huddle_embed(second, &graph, &options, &f, NULL));
    assert_int_equal(counting_open_engines(), 1);
    assert_non_null(hd_resident_own(second, graph.resident));
    huddle_embedding_free(&f);
    huddle_csr_free(&graph);
    huddle_points_free(&x);
    huddle_context_free(second);
    assert_int_equal(counting_open_engines(), 0);
}

/* The context chooses another engine, or is freed; the container is fetched after that. */
static void containers_keep_their_engine_open(void **state) {
    (void)state;
    for (int freed = 0; freed < 2; freed++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, 4, 1);
        huddle_csr graph = graph_of(context, &x);
        if (freed)
            huddle_context_free(context);
        else
            assert_ok(huddle_context_set_engine(context, "cpu"));
        assert_int_equal(counting_open_engines(), 1);
        assert_null(graph.offsets);
        assert_ok(huddle_csr_fetch(&graph));
        assert_ok(huddle_csr_check(&graph));
        huddle_csr_free(&graph);
        assert_int_equal(counting_open_engines(), 0);
        if (!freed)
            huddle_context_free(context);
        huddle_points_free(&x);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The lists of x by the engine, which are thrown away. */
static void search(huddle_context *context, const huddle_points *x) {
    huddle_neighbors lists;
    assert_ok(huddle_graph_knn(context, x, NULL, &lists, NULL));
    huddle_neighbors_free(&lists);
}

static long long sent_points(const huddle_context *context) {
    return atomic_load(&counting_state_of(context)->sent.count[COUNTING_POINTS]);
}

/* Without a place a container is sent for every call; with one, once, until it is changed. */
static void copies_are_adopted_and_invalidated(void **state) {
    (void)state;
    huddle_context *context = counting_context("resident");
    huddle_points x = counting_clouds(N, 4, 1), view = x;
    search(context, &x);
    search(context, &x);
    assert_int_equal(sent_points(context), 2);
    assert_null(x.resident);
    hd_resident_offer(context, &view.resident);
    hd_resident_offer(context, &view.resident);
    search(context, &view);
    search(context, &view);
    assert_int_equal(sent_points(context), 3);
    x.values[0]++;
    search(context, &view);
    assert_int_equal(atomic_load(&counting_state_of(context)->stale),
                     1); /* what the tests look for */
    hd_resident_invalidate(view.resident);
    search(context, &view);
    assert_int_equal(atomic_load(&counting_state_of(context)->stale), 1);
    assert_int_equal(sent_points(context), 4);
    /* The last of several users frees the copy. */
    huddle_resident *other = hd_resident_hold(view.resident);
    hd_resident_release(&view.resident);
    assert_null(view.resident);
    assert_non_null(hd_resident_own(context, other));
    hd_resident_release(&other);
    huddle_context_free(context);
    assert_int_equal(counting_open_engines(), 0);
    huddle_points_free(&x);
}

static void search_rows(huddle_context *context, const huddle_dense *rows) {
    huddle_neighbors lists;
    assert_ok(huddle_graph_knn_dense(context, rows, NULL, &lists, NULL));
    huddle_neighbors_free(&lists);
}

/* New rows are shrunk into a matrix of which the engine has a copy: another one, or the same. */
static void shrunk_rows_replace_a_copy(void **state) {
    (void)state;
    enum { M = 12 };
    for (int k = 0; k < 4; k++) {
        huddle_context *context = counting_context("resident"), *cpu = counting_context(NULL);
        huddle_dense f, g, anchors;
        huddle_csr w;
        assert_ok(huddle_dense_new(M, 2, &f));
        assert_ok(huddle_dense_new(M, 2, &g));
        assert_ok(huddle_dense_new(2, 2, &anchors));
        assert_ok(huddle_csr_new(M, 2, M, &w));
        for (int64_t i = 0; i < M; i++) {
            f.values[2 * i] = g.values[2 * i + 1] = (double)i;
            w.values[i] = 3;
            w.offsets[i + 1] = i + 1;
        }
        huddle_dense *to = k % 2 == 0 ? &g : &f;
        hd_resident_offer(context, &to->resident);
        search_rows(context, to);
        assert_non_null(hd_resident_own(context, to->resident));
        assert_ok(huddle_shrink_points(k < 2 ? context : cpu, &f, &w, &anchors, 1, "l21", to));
        search_rows(context, to);
        assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
        huddle_dense_free(&f);
        huddle_dense_free(&g);
        huddle_dense_free(&anchors);
        huddle_csr_free(&w);
        huddle_context_free(context);
        huddle_context_free(cpu);
    }
}

/* The CPU has no copies, so there is no place for any. */
static void the_cpu_gets_no_places(void **state) {
    (void)state;
    huddle_context *context;
    huddle_resident *resident = NULL;
    assert_ok(huddle_context_new(&context));
    hd_resident_offer(context, &resident);
    assert_null(resident);
    assert_ok(huddle_context_set_engine(context, "cpu"));
    hd_resident_offer(context, &resident);
    assert_null(resident);
    hd_resident_offer(NULL, &resident);
    assert_null(resident);
    huddle_context_free(context);
}

static void *fetch_graph(void *graph) {
    assert_ok(huddle_csr_fetch(graph));
    return ((const huddle_csr *)graph)->offsets;
}

/* A model is read by several threads: a container is fetched by one of them. */
static void threads_fetch_once(void **state) {
    (void)state;
    huddle_context *context = counting_context("resident");
    huddle_points x = counting_clouds(N, 4, 1);
    for (int round = 0; round < 20; round++) {
        huddle_csr graph = graph_of(context, &x);
        pthread_t threads[4];
        counting_forget(counting_state_of(context));
        for (int t = 0; t < 4; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, fetch_graph, &graph), 0);
        for (int t = 0; t < 4; t++) {
            void *offsets;
            assert_int_equal(pthread_join(threads[t], &offsets), 0);
            assert_ptr_equal(offsets, graph.offsets);
        }
        assert_int_equal(counting_transferred(&counting_state_of(context)->fetched), 1);
        huddle_csr_free(&graph);
    }
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* ---- components ------------------------------------------------------------------------------ */

/* Two components, which "claim" counts otherwise; or numbers that are none. */
static huddle_status claim_components(huddle_context *context, const huddle_csr *graph,
                                      int32_t *component, int32_t *count) {
    const int32_t *claim = hd_context_engine_state(context);
    for (int64_t v = 0; v < graph->rows; v++)
        component[v] = v < graph->rows / 2 ? claim[0] : claim[1];
    *count = claim[2];
    return claim[2] < 0 ? hd_fail(HUDDLE_UNSUPPORTED, "not today") : HUDDLE_OK;
}

static const hd_engine claiming_engine = {.text = {"claiming", "for this test"},
                                          .find_components = claim_components};

static void free_nothing(hd_engine_copy *copy) {
    (void)copy;
}

static void numbers_of_components_are_checked(void **state) {
    (void)state;
    static int32_t claims[][3] = {{0, 1, 2}, {0, 0, 1}, {0, 1, 1},  {0, 1, 3},
                                  {1, 0, 2}, {0, 2, 2}, {0, -1, 1}, {0, 0, -1}};
    huddle_context *context;
    hd_engine_copy copy = {.free = free_nothing};
    huddle_points x = counting_clouds(N, 4, 1);
    huddle_csr graph = graph_of(NULL, &x);
    int32_t component[N], count;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &claiming_engine, ""));
    hd_resident_offer(context, &graph.resident);
    /* Not asked for a graph that it does not have. */
    context->engine_state = claims[7];
    assert_ok(huddle_graph_components(context, &graph, component, &count));
    assert_true(hd_resident_adopt(context, graph.resident, &copy));
    for (int k = 0; k < 8; k++) {
        context->engine_state = claims[k];
        huddle_status status = huddle_graph_components(context, &graph, component, &count);
        assert_int_equal(status, k < 2 || k == 7 ? HUDDLE_OK : HUDDLE_INTERNAL);
        if (k < 2)
            assert_int_equal(count, claims[k][2]);
    }
    huddle_csr_free(&graph);
    huddle_points_free(&x);
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_sends_and_fetches_once),
        cmocka_unit_test(candidates_are_sent_once),
        cmocka_unit_test(a_prediction_sends_what_is_new),
        cmocka_unit_test(points_may_be_with_the_engine),
        cmocka_unit_test(kmeans_does_not_fetch),
        cmocka_unit_test(another_context_fetches),
        cmocka_unit_test(containers_keep_their_engine_open),
        cmocka_unit_test(copies_are_adopted_and_invalidated),
        cmocka_unit_test(shrunk_rows_replace_a_copy),
        cmocka_unit_test(the_cpu_gets_no_places),
        cmocka_unit_test(threads_fetch_once),
        cmocka_unit_test(numbers_of_components_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
