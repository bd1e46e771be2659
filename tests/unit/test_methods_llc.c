/* Local learning clustering: ridges of any size, graphs in several components; and the warnings
 * that every method that embeds has in common. */
#include "base/rng.h"
#include "huddle/io.h"
#include "huddle/metrics.h"
#include "method_fits.h"
#include "model/model.h"
#include "steps/blocks.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool warns(const huddle_model *model, const char *part) {
    for (int64_t i = 0; i < model->fit.warnings.count; i++)
        if (strstr(model->fit.warnings.items[i].text, part) != NULL)
            return true;
    return false;
}

/* ---- ridges -------------------------------------------------------------------------------- */

/* || A'B ||_F^2: c if the columns span the same space. */
static double overlap(const huddle_dense *a, const huddle_dense *b) {
    double sum = 0;
    for (int64_t j = 0; j < a->cols; j++)
        for (int64_t k = 0; k < a->cols; k++) {
            double product = 0;
            for (int64_t i = 0; i < a->rows; i++)
                product += a->values[i * a->stride + j] * b->values[i * b->stride + k];
            sum += product * product;
        }
    return sum;
}

static void llc_with_every_ridge_spans_what_lapack_finds(void **state) {
    (void)state;
    static const char *const ridges[] = {"1e-6", "1e-3", "1", "1e3", "1e6", "1e12"};
    enum { ROWS = 900, C = 10 };
    huddle_data data;
    huddle_points x;
    int64_t rows[ROWS];
    assert_ok(huddle_data_read(NULL, "digits", NULL, &data));
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(huddle_points_take(&data.points, rows, ROWS, &x));
    for (size_t r = 0; r < sizeof ridges / sizeof *ridges; r++) {
        const char *options[] = {"alpha", ridges[r],      "prepare", "none", "tol",
                                 "1e-6",  "embed_solver", "dense",   NULL};
        huddle_model *dense = fit("llc", &x, "10", options);
        options[7] = "chebyshev";
        huddle_model *model = fit("llc", &x, "10", options);
        const huddle_embed_info *info = &model->fit.embedding.info;
        assert_string_equal(info->solver, "chebyshev");
        assert_int_equal(info->stop, HUDDLE_STOP_CONVERGED);
        assert_true(strcmp(info->verified, "none") != 0);
        assert_close(overlap(&model->fit.embedding.f.vectors, &dense->fit.embedding.f.vectors), C,
                     1e-3);
        for (int k = 0; k < C; k++)
            assert_close(model->fit.embedding.f.eigenvalues[k],
                         dense->fit.embedding.f.eigenvalues[k], 1e-9);
        huddle_model_free(model);
        huddle_model_free(dense);
    }
    huddle_points_free(&x);
    huddle_data_free(&data);
}

/* ---- components ---------------------------------------------------------------------------- */

enum { CLOUDS = 6, EACH = 120, N = CLOUDS * EACH };

/* Six round clouds in the plane in three pairs, the two of a pair `apart`. */
static huddle_points pairs_of_clouds(double apart) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(77, (uint64_t)i);
        int64_t cloud = i / EACH, pair = cloud / 2;
        x.values[i * x.stride] =
            (float)(.25 * hd_rng_normal(&rng) + (double)(cloud % 2) * apart + (pair == 1 ? 20 : 0));
        x.values[i * x.stride + 1] = (float)(.25 * hd_rng_normal(&rng) + (pair == 2 ? 20 : 0));
    }
    return x;
}

static double accuracy(const huddle_model *model, int64_t each) {
    int32_t truth[N];
    huddle_scores scores;
    for (int64_t i = 0; i < N; i++)
        truth[i] = (int32_t)(i / each);
    assert_ok(huddle_metrics_scores(NULL, N, truth, model->fit.clusters.labels, &scores));
    return scores.acc;
}

static void llc_gives_every_component_a_vector(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "chebyshev"};
    huddle_points x = pairs_of_clouds(1.1);
    for (int s = 0; s < 2; s++) {
        huddle_model *model = fit("llc", &x, "3",
                                  (const char *const[]){"prepare", "none", "alpha", "1", "tol",
                                                        "1e-7", "embed_solver", solvers[s], NULL});
        const huddle_embedding *e = &model->fit.embedding.f;
        assert_int_equal(model->fit.graph.connect.before, 3);
        assert_int_equal(model->fit.embedding.info.components, 3);
        assert_true(strcmp(model->fit.embedding.info.verified, "none") != 0);
        for (int64_t i = 0; i < N; i++) {
            int own = 0;
            for (int64_t k = 0; k < 3; k++)
                own += e->vectors.values[i * 3 + k] != 0;
            assert_int_equal(own, 1);
        }
        assert_true(accuracy(model, 2 * EACH) == 1);
        assert_int_equal(model->fit.warnings.count, 0);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

static void llc_joins_components_as_the_others_do(void **state) {
    (void)state;
    huddle_points x = pairs_of_clouds(3);
    huddle_model *model = fit("llc", &x, "3", (const char *const[]){"prepare", "none", NULL});
    assert_int_equal(model->fit.graph.connect.before, 6);
    assert_int_equal(model->fit.embedding.info.components, 1);
    assert_true(warns(model, "joined by 5 shortest bridges"));
    huddle_model_free(model);
    /* The ends of a bridge learn from each other: a vector reaches beyond its own cloud. */
    huddle_points near = pairs_of_clouds(1.8);
    model = fit("llc", &near, "3",
                (const char *const[]){"prepare", "none", "embed_solver", "dense", NULL});
    assert_int_equal(model->fit.graph.connect.before, 6);
    int64_t reached = 0;
    for (int64_t i = 0; i < N; i++)
        reached += fabs(model->fit.embedding.f.vectors.values[i * 3]) > 1e-11;
    assert_true(reached > EACH);
    huddle_model_free(model);
    huddle_points_free(&near);
    model = fit("llc", &x, "3", (const char *const[]){"prepare", "none", "connect", "false", NULL});
    assert_int_equal(model->fit.embedding.info.components, 6);
    assert_true(warns(model, "6 components for 3 clusters and was not joined"));
    assert_true(warns(model, "are not unique"));
    huddle_model_free(model);
    model = fit("llc", &x, "6", (const char *const[]){"prepare", "none", NULL});
    assert_int_equal(model->fit.warnings.count, 0);
    assert_true(accuracy(model, EACH) == 1);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Three blocks, the rows of which take turns; each is diagonal. */
static const double diagonal[] = {5, 1, .5, 4, 2, .4, 3, 1.5, .3, 2.5};
static const int32_t component[] = {2, 0, 1, 2, 0, 1, 2, 0, 1, 2};

static huddle_status embed_diagonal(int32_t c, bool prefixes, huddle_embedding *e,
                                    huddle_embed_info *info) {
    int64_t offsets[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int32_t columns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double values[10];
    huddle_csr matrix = {10, 10, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    memcpy(values, diagonal, sizeof values);
    options.n_components = c;
    return hd_spectral_embed_blocks(NULL, &matrix, component, 3, -INFINITY, INFINITY, &options,
                                    prefixes, e, info);
}

static void every_block_has_a_vector_in_every_prefix(void **state) {
    (void)state;
    /* The largest of the largest block, then of the others, then what is left. */
    static const int32_t order[] = {0, 4, 2, 3, 6, 9, 7, 1, 5, 8};
    for (int32_t c = 1; c <= 10; c++) {
        huddle_embedding e;
        huddle_embed_info info;
        assert_ok(embed_diagonal(c, true, &e, &info));
        for (int32_t k = 0; k < c; k++) {
            assert_close(e.eigenvalues[k], diagonal[order[k]], 1e-12);
            for (int32_t i = 0; i < 10; i++)
                assert_close(e.vectors.values[i * c + k], i == order[k], 1e-12);
        }
        assert_string_equal(info.verified, "inertia");
        assert_int_equal(info.proven_pairs, c);
        assert_int_equal(info.cuts_cluster, c < 3);
        /* The next is not told if it is larger than the last, or not known. */
        bool next = c >= 3 && c < 10 && diagonal[order[c]] <= diagonal[order[c - 1]];
        assert_int_equal(e.n_eigenvalues, next ? c + 1 : c);
        if (c > 3 && c < 10)
            assert_close(info.gap, diagonal[order[c - 1]] - diagonal[order[c]], 1e-12);
        if (c == 3)
            assert_close(info.gap, .1, 1e-12);
        huddle_embedding_free(&e);
    }
}

static void columns_of_one_embedding_are_in_order(void **state) {
    (void)state;
    static const int32_t order[] = {0, 3, 6, 4, 2}; /* every block, then the largest */
    huddle_embedding e;
    huddle_embed_info info;
    assert_ok(embed_diagonal(5, false, &e, &info));
    for (int32_t k = 0; k < 5; k++) {
        assert_close(e.eigenvalues[k], diagonal[order[k]], 1e-12);
        assert_close(e.vectors.values[order[k] * 5 + k], 1, 1e-12);
    }
    assert_int_equal(e.n_eigenvalues, 5); /* the next, 2.5, is larger than .5 */
    assert_close(info.gap, .5, 1e-12);
    huddle_embedding_free(&e);
}

static huddle_status embed_blocks_once(void *argument) {
    huddle_embedding e = {0};
    huddle_embed_info info;
    (void)argument;
    huddle_status status = embed_diagonal(5, true, &e, &info);
    huddle_embedding_free(&e);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_each_allocation(embed_blocks_once, NULL);
}

/* ---- warnings ------------------------------------------------------------------------------ */

static void every_method_that_embeds_warns_when_it_stops_early(void **state) {
    (void)state;
    static const char *const methods[] = {"sc",  "ssc",   "ncut", "selftune-sc", "pca-sc", "lda-sc",
                                          "llc", "ldmgi", "nsc",  "l1sc",        NULL};
    huddle_points x = pairs_of_clouds(.6);
    for (const char *const *method = methods; *method != NULL; method++) {
        const char *const options[] = {
            "prepare", "none",    "embed_solver", "chebyshev", "embed_max_iter", "1", "tol",
            "1e-12",   "connect", "true",         NULL};
        huddle_model *model = fit(*method, &x, "4", options);
        if (!warns(model, "the embedding stopped (max_iter)"))
            fail_msg("%s does not warn", *method);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

static void every_method_that_embeds_warns_of_a_cut_cluster(void **state) {
    (void)state;
    static const char *const methods[] = {"sc",    "ssc", "ncut", "selftune-sc", "llc",
                                          "ldmgi", "nsc", "l1sc", NULL};
    huddle_points x = pairs_of_clouds(3);
    for (const char *const *method = methods; *method != NULL; method++) {
        huddle_model *model = fit(
            *method, &x, "4", (const char *const[]){"prepare", "none", "connect", "false", NULL});
        if (!warns(model, "are not unique"))
            fail_msg("%s does not warn", *method);
        huddle_model_free(model);
    }
    huddle_model *model = fit("lsc", &x, "4", (const char *const[]){"prepare", "none", NULL});
    assert_true(warns(model, "are not unique"));
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* On a torus the eigenvalues after the first come in fours, here two nearly equal pairs: three
 * vectors are any three of four, however exactly they are found. */
static void llc_warns_of_nearly_equal_eigenvalues(void **state) {
    (void)state;
    enum { SIDE = 24 };
    huddle_points x;
    assert_ok(huddle_points_new(SIDE * SIDE, 4, &x));
    for (int64_t i = 0; i < x.n; i++)
        for (int j = 0; j < 2; j++) {
            double angle = 2 * acos(-1) * (double)(j == 0 ? i / SIDE : i % SIDE) / SIDE;
            double radius = j == 0 ? 1 : 1.0002;
            x.values[4 * i + 2 * j] = (float)(radius * cos(angle));
            x.values[4 * i + 2 * j + 1] = (float)(radius * sin(angle));
        }
    for (int clusters = 3; clusters <= 5; clusters += 2) {
        const char *const ridges[] = {"1", "1e6"};
        for (int k = 0; k < 2; k++) {
            huddle_model *model = fit("llc", &x, clusters == 3 ? "3" : "5",
                                      (const char *const[]){"prepare", "none", "alpha", ridges[k],
                                                            "n_neighbors", "4", NULL});
            assert_int_equal(warns(model, "are not unique"), clusters == 3);
            huddle_model_free(model);
        }
    }
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llc_with_every_ridge_spans_what_lapack_finds),
        cmocka_unit_test(llc_gives_every_component_a_vector),
        cmocka_unit_test(llc_joins_components_as_the_others_do),
        cmocka_unit_test(every_block_has_a_vector_in_every_prefix),
        cmocka_unit_test(columns_of_one_embedding_are_in_order),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_method_that_embeds_warns_when_it_stops_early),
        cmocka_unit_test(every_method_that_embeds_warns_of_a_cut_cluster),
        cmocka_unit_test(llc_warns_of_nearly_equal_eigenvalues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
