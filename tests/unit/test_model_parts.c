/* The parts of a fit: what is reported is what was computed, what is saved comes back, and files
 * whose parts contradict each other are refused. */
#include "archive/json.h"
#include "model/model.h"
#include "model_fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* arcs() with the first hundred rows once more. */
static huddle_points arcs_with_copies(void) {
    huddle_points x = arcs(.03, 1);
    for (int64_t i = 0; i < 100; i++)
        memcpy(x.values + (200 + i) * x.stride, x.values + i * x.stride,
               (size_t)x.d * sizeof *x.values);
    return x;
}

static huddle_model *fit(const char *method, const huddle_points *x, const char *n_clusters,
                         const char *refine) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    if (huddle_option_find(huddle_model_options(model), "refine") != NULL)
        assert_ok(huddle_model_set_option(model, "refine", refine));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    assert_ok(huddle_model_set_option(model, "n_init", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static const char *path_of(void) {
    static char path[256];
    snprintf(path, sizeof path, "%s/parts.huddle", test_directory());
    return path;
}

static huddle_model *save_and_load(const huddle_model *model) {
    huddle_model *loaded;
    assert_ok(huddle_model_save(model, path_of()));
    assert_ok(huddle_model_load(path_of(), &loaded));
    return loaded;
}

/* ---- the info -------------------------------------------------------------------------------- */

/* A number of the info, by the name of its part and its own; NAN for null. */
static double reported(const huddle_model *model, const char *part, const char *name) {
    char *text;
    hd_json_document document = {0};
    assert_ok(huddle_model_info_json(model, &text));
    assert_ok(hd_json_parse(text, (int64_t)strlen(text), &document));
    const hd_json_value *value = hd_json_get(hd_json_get(document.root, part), name);
    assert_non_null(value);
    double number = value->type == HD_JSON_NULL ? NAN : value->real;
    hd_json_document_free(&document);
    huddle_free(text);
    return number;
}

/* The gap is that of the number of clusters, also where there are more eigenvectors. */
static void the_reported_gap_is_that_of_the_clusters(void **state) {
    (void)state;
    huddle_points x = arcs(.03, 1);
    static const char *const numbers[] = {"3", "2-5", "auto"};
    for (int k = 0; k < 3; k++) {
        huddle_model *model = fit("sc", &x, numbers[k], "none");
        const huddle_embedding *f = &model->fit.embedding.f;
        int32_t c = model->fit.clusters.n_clusters;
        double gap = reported(model, "embed", "gap");
        assert_int_equal(c == f->vectors.cols, k == 0);
        if (k == 0) /* the next eigenvalue may be unknown */
            assert_true(gap == model->fit.embedding.info.gap ||
                        (isnan(gap) && isnan(model->fit.embedding.info.gap)));
        else
            assert_close(gap, f->eigenvalues[c] - f->eigenvalues[c - 1], 1e-12);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* An edge is a pair of vertices; the loop of a merged row is none. */
static void edges_are_pairs_of_vertices(void **state) {
    (void)state;
    for (int copies = 0; copies < 2; copies++) {
        huddle_points x = copies ? arcs_with_copies() : arcs(.03, 1);
        huddle_model *model = fit("sc", &x, "3", "auto");
        const huddle_csr *a = &model->fit.graph.matrix;
        int64_t edges = 0, loops = 0;
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
                edges += a->columns[e] > i;
                loops += a->columns[e] == i;
            }
        assert_int_equal(loops > 0, copies);
        assert_int_equal((int64_t)reported(model, "graph", "edges"), edges);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Rows of x are counted, not those of the arrays. */
static void changed_labels_are_counted_with_their_copies(void **state) {
    (void)state;
    int32_t of[] = {0, 1, 1, 2, 1}, own[] = {0, 1, 0}, labels[] = {0, 0, 0};
    int64_t first[] = {0, 1, 3}, copies[] = {1, 3, 1};
    hd_fit fit = {.rows = {.n = 3}};
    fit.refined.own = own;
    fit.clusters.labels = labels;
    assert_int_equal(hd_fit_refined_changed(&fit), 1);
    fit.rows.nodes =
        (huddle_distinct){.n = 5, .count = 3, .of = of, .first = first, .copies = copies};
    assert_int_equal(hd_fit_refined_changed(&fit), 3);
    own[0] = 2;
    assert_int_equal(hd_fit_refined_changed(&fit), 4);
}

/* Names of features are reported if there is one for each; options have their types. */
static void names_and_options_are_reported(void **state) {
    (void)state;
    static const char *const names[] = {"height", "width", "depth"};
    huddle_points x = arcs(.03, 1);
    for (int64_t n = 1; n <= 3; n++) {
        huddle_model *model;
        hd_json_document document = {0};
        char *text;
        assert_ok(huddle_model_new("kmeans", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        assert_ok(huddle_model_set_feature_names(model, n, names));
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_ok(huddle_model_info_json(model, &text));
        assert_ok(hd_json_parse(text, (int64_t)strlen(text), &document));
        const hd_json_value *found = hd_json_get(document.root, "feature_names");
        assert_int_equal(found != NULL, n == x.d);
        if (found != NULL)
            assert_string_equal(found->first->next->text, "width");
        const hd_json_value *options = hd_json_get(document.root, "options");
        assert_int_equal(hd_json_get(options, "n_init")->type, HD_JSON_INTEGER);
        assert_int_equal(hd_json_get(options, "n_clusters")->integer, 3);
        assert_int_equal(hd_json_get(options, "prepare")->type, HD_JSON_STRING);
        hd_json_document_free(&document);
        huddle_free(text);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

/* Every restart has a label for each row of x. */
static void labels_of_all_restarts_are_those_of_all_rows(void **state) {
    (void)state;
    huddle_points x = arcs_with_copies();
    huddle_model *model;
    huddle_array starts;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "5"));
    assert_ok(huddle_model_set_option(model, "refine", "none"));
    assert_ok(huddle_model_set_option(model, "n_init", "4"));
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_array(model, "start_labels", &starts));
    const hd_fit *f = &model->fit;
    assert_true(starts.rows == 4 && starts.cols == N && f->rows.nodes.count == f->rows.n);
    int differing = 0;
    for (int64_t r = 0; r < 4; r++)
        for (int64_t i = 0; i < N; i++) {
            const int32_t *label = (const int32_t *)starts.values + r * starts.stride + i;
            assert_int_equal(*label,
                             f->clusters.kmeans.start_labels[r * f->rows.n + f->rows.nodes.of[i]]);
            differing += *label != ((const int32_t *)starts.values)[i];
        }
    assert_true(differing > 0);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Repeated rows have the label that each has alone. */
static void repeated_new_rows_have_one_label(void **state) {
    (void)state;
    huddle_points x = arcs(.03, 1), y;
    huddle_model *model = fit("sc", &x, "3", "none");
    int32_t labels[30], single;
    assert_ok(huddle_points_new(30, 2, &y));
    for (int64_t i = 0; i < 30; i++)
        for (int64_t j = 0; j < 2; j++)
            y.values[i * y.stride + j] = x.values[(7 * (i / 2) + i / 20) * x.stride + j] + .001F;
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    for (int64_t i = 0; i < 30; i++) {
        huddle_points one = y;
        one.n = 1;
        one.values += i * y.stride;
        assert_ok(huddle_model_predict(NULL, model, &one, &single));
        assert_int_equal(labels[i], single);
    }
    huddle_points_free(&y);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* A graph of fewer or more vertices than there are points. */
static void a_graph_of_other_points_is_refused(void **state) {
    (void)state;
    huddle_points x = arcs(.03, 1);
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    for (int64_t n = N - 1; n <= N + 1; n += 2) {
        huddle_csr graph;
        assert_ok(huddle_csr_new(n, n, 0, &graph));
        memset(graph.offsets, 0, (size_t)(n + 1) * sizeof *graph.offsets);
        assert_ok(huddle_model_set_graph(model, &graph));
        assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID, "but there are 300");
        huddle_csr_free(&graph);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* K-means repeats the labels of clouds far from each other, with and without copies. */
static void separate_clouds_are_stable(void **state) {
    (void)state;
    huddle_points x = arcs(.01, 1);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < 2; j++) /* the last hundred rows are one point of each cloud */
            x.values[i * x.stride + j] = (float)(100 * (i % C == j)) +
                                         (i < 200 ? (x.values[i * x.stride + j] - 1) / 100 : .001F);
    huddle_model *model = fit("sc", &x, "3", "none");
    assert_true(model->fit.rows.nodes.n > 0);
    assert_ok(huddle_model_score(NULL, model, &x));
    assert_close(huddle_model_scores(model)->stability, 1, 1e-12);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void assert_same_trials(const hd_fit_trials *a, const hd_fit_trials *b) {
    assert_int_equal(a->count, b->count);
    for (int32_t t = 0; t < a->count; t++) {
        const huddle_trial *x = &a->items[t], *y = &b->items[t];
        const double before[] = {x->inertia,    x->silhouette, x->ncut,
                                 x->eigengap,   x->alignment,  x->modularity,
                                 x->divergence, x->stability,  x->bic};
        const double after[] = {y->inertia,    y->silhouette, y->ncut,
                                y->eigengap,   y->alignment,  y->modularity,
                                y->divergence, y->stability,  y->bic};
        assert_int_equal(x->n_clusters, y->n_clusters);
        for (size_t k = 0; k < sizeof before / sizeof *before; k++)
            assert_true(before[k] == after[k] || (isnan(before[k]) && isnan(after[k])));
    }
    assert_int_equal(a->choice.count, b->choice.count);
    for (int32_t k = 0; k < a->choice.count; k++) {
        assert_int_equal(a->choice.candidates[k], b->choice.candidates[k]);
        assert_true(a->choice.scores[k] == b->choice.scores[k]);
        assert_int_equal(a->choice.small_components[k], b->choice.small_components[k]);
    }
}

static void trials_and_choices_survive_a_file(void **state) {
    (void)state;
    huddle_points x = arcs(.03, 1);
    static const char *const methods[] = {"sc", "selftune-sc", "mixture"};
    static const char *const numbers[] = {"2-4", "auto"};
    for (int k = 0; k < 6; k++) {
        huddle_model *model = fit(methods[k % 3], &x, numbers[k / 3], "auto");
        huddle_model *loaded = save_and_load(model);
        assert_true(k / 3 == 0 ? model->fit.trials.count == 3 : model->fit.trials.choice.count > 0);
        assert_same_trials(&model->fit.trials, &loaded->fit.trials);
        assert_int_equal(model->fit.clusters.has_alignment, loaded->fit.clusters.has_alignment);
        huddle_model_free(model);
        huddle_model_free(loaded);
    }
    huddle_points_free(&x);
}

/* Labels other than those of the graph come from a decision, and those of commute rows from the one
 * that is about them. */
static void labels_and_decisions_agree(void **state) {
    (void)state;
    static const struct {
        bool present;
        const char *from, *reason;
        bool fits;
    } cases[] = {{false, "graph", NULL, true},        {false, "graph", "cut", false},
                 {true, "graph", NULL, true},         {true, "graph", "cut", true},
                 {true, "graph", "commute", false},   {true, "kmeans", NULL, false},
                 {true, "kmeans", "stability", true}, {true, "kmeans", "commute", false},
                 {true, "commute", "commute", true},  {true, "commute", "divergence", false},
                 {true, "commute", NULL, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hd_fit fit = {0};
        fit.refined.present = cases[k].present;
        fit.refined.from = cases[k].from;
        fit.refined.decision.reason = cases[k].reason;
        assert_int_equal(hd_fit_decision_fits(&fit) == HUDDLE_OK, cases[k].fits);
    }
}

/* A file without arrays, for which the values, if any, stand in. */
static huddle_status load_all(int64_t n, double *values) {
    const hd_zip_entry *entries[1];
    const hd_zip none = {.by_name = entries};
    hd_walk walk = {.mode = HD_WALK_LOAD, .input = &none};
    hd_walk_all_reals(&walk, "n", "v", n, &values);
    return walk.status;
}

static void arrays_have_their_lengths(void **state) {
    (void)state;
    double values[1] = {0};
    assert_ok(load_all(0, NULL));
    assert_ok(load_all(1, values));
    assert_int_equal(load_all(1, NULL), HUDDLE_FORMAT);
    assert_int_equal(load_all(-1, NULL), HUDDLE_FORMAT);
    assert_int_equal(load_all(-1, values), HUDDLE_FORMAT);
}

/* The first row of a node is its first row, not another of its copies. */
static void nodes_begin_with_their_first_rows(void **state) {
    (void)state;
    huddle_points x = arcs_with_copies();
    huddle_model *model = fit("sc", &x, "3", "auto"), *loaded = save_and_load(model);
    assert_int_equal(loaded->fit.rows.nodes.n, N);
    assert_int_equal(loaded->fit.rows.nodes.of[207], 7);
    loaded->fit.rows.nodes.first[7] = 207;
    assert_ok(huddle_model_save(loaded, path_of()));
    huddle_model_free(loaded);
    assert_refused(huddle_model_load(path_of(), &loaded), HUDDLE_FORMAT, "nodes_n");
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Their array has a fixed length: no walk goes beyond it. */
static void more_trials_of_a_refinement_than_fit_are_refused(void **state) {
    (void)state;
    huddle_points x = arcs(.03, 1);
    huddle_model *model = fit("sc", &x, "3", "auto"), *loaded = save_and_load(model);
    static const int32_t wrong[] = {-1, HUDDLE_REFINE_MAX_TRIALS + 1, INT32_MAX};
    for (int k = 0; k < 3; k++) {
        loaded->fit.refined.info.n_trials = wrong[k];
        assert_refused(huddle_model_save(loaded, path_of()), HUDDLE_FORMAT, "refine_n_trials");
    }
    loaded->fit.refined.info.n_trials = model->fit.refined.info.n_trials;
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reported_gap_is_that_of_the_clusters),
        cmocka_unit_test(edges_are_pairs_of_vertices),
        cmocka_unit_test(changed_labels_are_counted_with_their_copies),
        cmocka_unit_test(names_and_options_are_reported),
        cmocka_unit_test(labels_of_all_restarts_are_those_of_all_rows),
        cmocka_unit_test(repeated_new_rows_have_one_label),
        cmocka_unit_test(a_graph_of_other_points_is_refused),
        cmocka_unit_test(separate_clouds_are_stable),
        cmocka_unit_test(trials_and_choices_survive_a_file),
        cmocka_unit_test(labels_and_decisions_agree),
        cmocka_unit_test(arrays_have_their_lengths),
        cmocka_unit_test(nodes_begin_with_their_first_rows),
        cmocka_unit_test(more_trials_of_a_refinement_than_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
