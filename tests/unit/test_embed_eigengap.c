/* embed: the number of clusters by the eigengap rule, and the extents of vectors. */
#include "huddle/embed.h"
#include "support/support.h"

#include <math.h>

static huddle_spectrum spectrum_of(int64_t n, int32_t components, int32_t count,
                                   const double *eigenvalues, const double *extents) {
    return (huddle_spectrum){n, components, count, eigenvalues, count, extents};
}

static void the_eigengap_chooses(void **state) {
    (void)state;
    double lambda[] = {0, .01, .02, .3, .31, .5, .51, .52};
    huddle_embed_choice choice;
    huddle_spectrum s = spectrum_of(100, 1, 8, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.count, 5);
    assert_int_equal(choice.candidates[0], 3);
    assert_close(choice.scores[0], .28 / .3, 1e-12);
    assert_close(huddle_embed_gap(&s, 3), .28 / .3, 1e-12);
    assert_int_equal(choice.candidates[1], 2);
    assert_int_equal(choice.candidates[2], 5);
    assert_true(isnan(huddle_embed_gap(&s, 8)) && isnan(huddle_embed_gap(&s, 0)));
    assert_true(isnan(huddle_embed_gap(&s, 1))); /* the gap after one cluster means nothing */
    assert_ok(huddle_embed_choose(&s, 4, 7, &choice));
    assert_true(choice.count == 4 && choice.candidates[0] == 5);
    s.components = 4;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 5);
    assert_int_equal(choice.count, 4);
    s = spectrum_of(15, 1, 8, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.count, 2);
    s.n = 8;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.count == 1 && choice.candidates[0] == 2 && choice.scores[0] == 0);
    s = spectrum_of(1, 1, 1, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 1);
    double tiny[] = {0, 1e-17, 1e-12, 1e-9, .4};
    s = spectrum_of(100, 1, 5, tiny, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 4);
    s.n = 0;
    assert_refused(huddle_embed_choose(&s, 0, 0, &choice), HUDDLE_INVALID, "n = 0");
}

/* A clear gap further on counts for more than a wider one before it; without a clear one the widest
 * counts. */
static void the_last_clear_eigengap_chooses(void **state) {
    (void)state;
    double blobs[] = {0, 0, .001, .002, .02, .025, .03};
    huddle_spectrum s = spectrum_of(400, 2, 7, blobs, NULL);
    huddle_embed_choice choice;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.candidates[1] == 2 && choice.n_clear == 2);
    assert_close(choice.scores[0], .9, 1e-12);
    assert_true(choice.scores[1] > .999);
    /* Two chains: 1, 4, 9 times a small number each. */
    double chains[] = {0, 0, .001, .0011, .004, .0044, .009};
    s = spectrum_of(400, 2, 7, chains, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 2);
    double connected[] = {0, .001, .0035, .004, .013, .016, .017};
    s = spectrum_of(400, 1, 7, connected, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.n_clear == 0);
}

/* A few points away from all others make an eigenvalue of 0, or nearly; that is no evidence. */
static void a_small_component_does_not_decide_the_number_of_clusters(void **state) {
    (void)state;
    huddle_embed_choice choice;
    double lambda[] = {0, 0, .004, .006, .02, .022, .024};
    double extents[] = {380, 6.5, 250, 240, 100, 90, 80};
    huddle_spectrum s = spectrum_of(407, 2, 7, lambda, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 4); /* 3, and the speck */
    assert_int_equal(choice.small_components[0], 1);
    assert_close(choice.scores[0], .7, 1e-12);
    assert_true(isnan(huddle_embed_gap(&s, 2)));
    s.extents = NULL;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.small_components[0] == 0);
    /* A speck that hangs by a thread; and one between the clusters' eigenvalues and the rest. */
    double thread[] = {0, 1e-4, .004, .006, .02, .022, .024};
    s = spectrum_of(407, 1, 7, thread, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.small_components[0] == 1);
    double late[] = {0, .004, .006, .012, .02, .022, .024};
    double late_extents[] = {380, 250, 240, 6.5, 100, 90, 80};
    s = spectrum_of(407, 1, 7, late, late_extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 3 && choice.small_components[0] == 0);
    assert_close(choice.scores[0], .7, 1e-12);
    assert_true(isnan(huddle_embed_gap(&s, 4)));
}

/* A group that is large in itself or beside the mean cluster counts. */
static void small_clusters_are_not_small_components(void **state) {
    (void)state;
    huddle_embed_choice choice;
    double unequal[] = {0, 0, .002, .0023, .005, .006};
    double extents[] = {970, 18, 590, 490, 510, 400};
    huddle_spectrum s = spectrum_of(1020, 2, 6, unequal, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.small_components[0] == 0);
    double few[] = {0, 0, 0, 0, .2, .21};
    double of_ten[] = {9, 9, 9, 9, 8, 8};
    s = spectrum_of(40, 4, 6, few, of_ten);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.small_components[0] == 0);
    /* Of many points, a group of 30 is a speck. */
    extents[1] = 30;
    s = spectrum_of(10000, 2, 6, unequal, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.small_components[0], 1);
    assert_true(choice.candidates[0] > 2);
}

static void extents_count_vertices(void **state) {
    (void)state;
    double values[] = {.5, 0, 0, /**/ -.5, 3, 0, /**/ .5, 0, 0, /**/ .5, 4, 0}, extents[3];
    huddle_dense v = {.rows = 4, .cols = 3, .stride = 3, .values = values};
    assert_ok(huddle_embed_extents(NULL, &v, NULL, extents));
    assert_close(extents[0], 4, 1e-12);
    assert_close(extents[1], 625.0 / (81 + 256), 1e-12);
    assert_true(extents[2] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_eigengap_chooses),
        cmocka_unit_test(the_last_clear_eigengap_chooses),
        cmocka_unit_test(a_small_component_does_not_decide_the_number_of_clusters),
        cmocka_unit_test(small_clusters_are_not_small_components),
        cmocka_unit_test(extents_count_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
