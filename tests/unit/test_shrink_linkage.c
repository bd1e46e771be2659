/* shrink: the tree of a path as a linkage matrix. */
#include "huddle/path.h"
#include "shrink_problems.h"

/* Checks what scipy.cluster.hierarchy.is_valid_linkage() checks: n - 1 rows; each part is used
 * once, and not before it exists; heights do not decrease; sizes add up. */
static void assert_valid_linkage(const huddle_dense *linkage, int64_t n) {
    bool *used = calloc((size_t)(2 * n), sizeof *used);
    assert_int_equal(linkage->rows, n - 1);
    assert_int_equal(linkage->cols, 4);
    for (int64_t i = 0; i < n - 1; i++) {
        const double *row = linkage->values + i * linkage->stride;
        double size = 0;
        for (int k = 0; k < 2; k++) {
            int64_t part = (int64_t)row[k];
            assert_true(part >= 0 && part < n + i && !used[part]);
            used[part] = true;
            size += part < n ? 1 : linkage->values[(part - n) * linkage->stride + 3];
        }
        assert_true(row[3] == size);
        assert_true(i == 0 || row[2] >= linkage->values[(i - 1) * linkage->stride + 2]);
    }
    free(used);
}

/* {0, 1} and {2, 3} fuse, row 4 does not: three trees remain. */
static void separate_trees_are_joined_above_the_path(void **state) {
    (void)state;
    huddle_path_level levels[] = {{.gamma = 1}, {.gamma = 2}, {.gamma = 3}};
    huddle_path_fusion fusions[] = {{2, 3, 1, 2}, {0, 1, 2, 2}};
    huddle_path path = {
        .n = 5, .n_levels = 3, .levels = levels, .fusions = fusions, .n_fusions = 2};
    static const double expected[4][4] = {{2, 3, 1, 2}, {0, 1, 2, 2}, {4, 5, 30, 3}, {7, 6, 30, 5}};
    huddle_dense linkage;
    assert_ok(huddle_path_linkage(&path, &linkage));
    assert_valid_linkage(&linkage, 5);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            assert_true(linkage.values[i * linkage.stride + k] == expected[i][k]);
    huddle_dense_free(&linkage);
}

static void a_path_without_fusions_is_still_one_tree(void **state) {
    (void)state;
    huddle_path_level level = {.gamma = .5};
    huddle_path path = {.n = 3, .n_levels = 1, .levels = &level};
    huddle_dense linkage;
    assert_ok(huddle_path_linkage(&path, &linkage));
    assert_valid_linkage(&linkage, 3);
    assert_true(linkage.values[2] == 5);
    huddle_dense_free(&linkage);
}

static void the_fusions_of_a_solved_path_come_first(void **state) {
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        example x = clouds(60, 2, 3, 4, apart == 1, 7);
        huddle_path_options o = huddle_path_defaults();
        huddle_path path;
        huddle_dense linkage;
        o.n_gamma = 8;
        assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path));
        assert_true(apart ? path.n_fusions < 59 : path.n_fusions == 59);
        assert_ok(huddle_path_linkage(&path, &linkage));
        assert_valid_linkage(&linkage, 60);
        for (int64_t i = 0; i < 59; i++) {
            double height = linkage.values[i * linkage.stride + 2];
            assert_true(height ==
                        (i < path.n_fusions ? path.fusions[i].gamma : 10 * path.levels[7].gamma));
        }
        huddle_dense_free(&linkage);
        huddle_path_free(&path);
        example_free(&x);
    }
}

static void an_empty_path_is_refused(void **state) {
    (void)state;
    huddle_path path = {0};
    huddle_dense linkage;
    assert_refused(huddle_path_linkage(&path, &linkage), HUDDLE_INVALID, "no rows");
    assert_null(linkage.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separate_trees_are_joined_above_the_path),
        cmocka_unit_test(a_path_without_fusions_is_still_one_tree),
        cmocka_unit_test(the_fusions_of_a_solved_path_come_first),
        cmocka_unit_test(an_empty_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
