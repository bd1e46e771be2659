/* What a page draws, from inputs made by hand: the axes of the circle of clusters, the moves of
 * points through levels, the tree of fusions, the shares of components. */
#include "pages.h"

#include "report/run.h"

#include <math.h>

/* ---- the circle --------------------------------------------------------------------------- */

/* Clusters of 4, 6, ... rows that lie in some directions of four dimensions, not in the order of
 * their neighbourhood. */
enum { GROUPS = 5, COLS = 4, ROWS = 40 };

typedef struct directions {
    double f[ROWS * COLS], centres[GROUPS][COLS];
    int32_t labels[ROWS];
    int64_t sizes[GROUPS];
} directions;

static void make_directions(directions *t) {
    static const double angles[GROUPS] = {5.2, 2.7, 4.8, 0, 2.8};
    memset(t, 0, sizeof *t);
    for (int i = 0; i < ROWS; i++) {
        int k = i < 4 ? 0 : i < 10 ? 1 : i < 18 ? 2 : i < 28 ? 3 : 4;
        const double row[COLS] = {cos(angles[k]) + .03 * (i % 5), sin(angles[k]) - .02 * (i % 7),
                                  .3 + .01 * (i * 7 % 11), .1 * cos(angles[k] + i)};
        t->labels[i] = k;
        t->sizes[k]++;
        memcpy(t->f + (size_t)i * COLS, row, sizeof row);
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            t->centres[t->labels[i]][j] += t->f[i * COLS + j] / (double)t->sizes[t->labels[i]];
}

static double cosine(const double *a, const double *b) {
    double ab = 0, aa = 0, bb = 0;
    for (int j = 0; j < COLS; j++) {
        ab += a[j] * b[j];
        aa += a[j] * a[j];
        bb += b[j] * b[j];
    }
    return ab / sqrt(aa * bb);
}

/* The order of the clusters around the circle whose neighbours are the most alike, of all orders
 * that begin with cluster 0. */
static void find_best_order(const directions *t, int order[GROUPS]) {
    double best = -INFINITY;
    for (int code = 0; code < 256; code++) {
        int tried[GROUPS] = {0, 1 + code % 4, 1 + code / 4 % 4, 1 + code / 16 % 4, 1 + code / 64};
        int seen = 0;
        double sum = 0;
        for (int k = 0; k < GROUPS; k++) {
            seen |= 1 << tried[k];
            sum += cosine(t->centres[tried[k]], t->centres[tried[(k + 1) % GROUPS]]);
        }
        if (seen != (1 << GROUPS) - 1 || sum <= best)
            continue;
        best = sum;
        memcpy(order, tried, sizeof tried);
    }
}

/* Solves the regularised normal equations by elimination: side 0 is the sine. */
static void solve_axes(const directions *t, const int order[GROUPS], int side, double axes[COLS]) {
    double a[COLS][COLS + 1] = {{0}}, trace = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            for (int k = 0; k < COLS; k++)
                a[j][k] += t->f[i * COLS + j] * t->f[i * COLS + k] / (double)t->sizes[t->labels[i]];
    for (int j = 0; j < COLS; j++)
        trace += a[j][j];
    for (int j = 0; j < COLS; j++) {
        a[j][j] += 1e-3 * trace / COLS;
        for (int k = 0; k < GROUPS; k++) {
            double angle = 6.283185307179586 * k / GROUPS;
            a[j][COLS] += t->centres[order[k]][j] * (side == 0 ? sin(angle) : cos(angle));
        }
    }
    for (int j = 0; j < COLS; j++)
        for (int i = 0; i < COLS; i++) {
            double factor = a[i][j] / a[j][j];
            for (int k = 0; k <= COLS && i != j; k++)
                a[i][k] -= factor * a[j][k];
        }
    for (int j = 0; j < COLS; j++)
        axes[j] = a[j][COLS] / a[j][j];
}

static void test_circle_axes(void **state) {
    (void)state;
    directions t;
    int order[GROUPS] = {0};
    double expected[COLS];
    make_directions(&t);
    report_run run = {
        .n = ROWS,
        .labels = t.labels,
        .n_clusters = GROUPS,
        .sizes = t.sizes,
        .embedding = {
            .type = HUDDLE_ARRAY_F64, .rows = ROWS, .cols = COLS, .stride = COLS, .values = t.f}};
    assert_true(report_has_circle(&run));
    double *axes = NULL;
    assert_ok(report_circle_axes(&run, &axes));
    find_best_order(&t, order);
    for (int side = 0; side < 2; side++) {
        solve_axes(&t, order, side, expected);
        /* The other direction around the circle is as good: it changes the sign of the sines. */
        double sign = side == 0 && axes[0] * expected[0] < 0 ? -1 : 1;
        for (int j = 0; j < COLS; j++)
            assert_close(axes[2 * j + side], sign * expected[j], 1e-9);
    }
    free(axes);
    run.n_clusters = 2;
    assert_false(report_has_circle(&run));
}

/* ---- moves -------------------------------------------------------------------------------- */

enum { MOVED = 6, LEVELS = 3 };

/* Rows 0 and 1 meet at the second level and part again at the third, where rows 2 and 3 meet and
 * rows 4 and 5. */
static const double moved[LEVELS][MOVED][2] = {{{0, 0}, {2, 0}, {8, 1}, {5, 6}, {3, 7}, {1, 7}},
                                               {{1, 0}, {1, 0}, {7, 1}, {5, 5}, {3, 7}, {2, 7}},
                                               {{1, 1}, {2, 1}, {6, 2}, {6, 2}, {3, 6}, {3, 6}}};

/* The node of each point at each level, as the page follows them: through the map of the node
 * before, unless the point is one of the strays. */
static void follow_nodes(const json_t *moves, int nodes[LEVELS][MOVED]) {
    size_t n_maps, n_strays, map = MOVED, stray = 0;
    uint16_t *maps = numbers_of(moves, "maps", &n_maps);
    uint16_t *strays = numbers_of(moves, "strays", &n_strays);
    for (int i = 0; i < MOVED; i++)
        nodes[0][i] = maps[i];
    for (size_t l = 1; l < LEVELS; l++) {
        size_t count =
            (size_t)json_integer_value(json_array_get(json_object_get(moves, "stray_counts"), l));
        for (int i = 0; i < MOVED; i++)
            nodes[l][i] = maps[map + (size_t)nodes[l - 1][i]];
        for (size_t k = 0; k < count; k++, stray += 2)
            nodes[l][strays[stray]] = strays[stray + 1];
        map += (size_t)json_integer_value(json_array_get(json_object_get(moves, "nodes"), l - 1));
    }
    assert_int_equal(map, n_maps);
    assert_int_equal(stray, n_strays);
    free(maps);
    free(strays);
}

/* Distances between the places of the points are those of the rows, in one unit for all levels. */
static void check_places(const json_t *moves, int nodes[LEVELS][MOVED]) {
    const json_t *plane = json_array_get(json_object_get(moves, "projections"), 0);
    size_t n_places, first = 0;
    uint16_t *places = numbers_of(plane, "data", &n_places);
    double unit = 0;
    for (size_t l = 0; l < LEVELS; l++) {
        for (int i = 0; i < MOVED; i++)
            for (int j = 0; j < i; j++) {
                const double *a = moved[l][i], *b = moved[l][j];
                const uint16_t *p = places + 2 * (first + (size_t)nodes[l][i]);
                const uint16_t *q = places + 2 * (first + (size_t)nodes[l][j]);
                double far = hypot(a[0] - b[0], a[1] - b[1]);
                double shown = hypot(p[0] - q[0], p[1] - q[1]);
                unit = unit > 0 ? unit : shown / far;
                assert_close(shown / unit, far, 1e-3);
            }
        first += (size_t)json_integer_value(json_array_get(json_object_get(moves, "nodes"), l));
    }
    assert_int_equal(n_places, 2 * first);
    free(places);
}

static void test_moves_of_levels(void **state) {
    (void)state;
    static int32_t labels[MOVED];
    int64_t rows[MOVED] = {0, 1, 2, 3, 4, 5};
    int nodes[LEVELS][MOVED];
    json_t *moves = NULL;
    huddle_dense levels[LEVELS];
    for (int l = 0; l < LEVELS; l++)
        levels[l] = (huddle_dense){MOVED, 2, 2, (double *)(uintptr_t)moved[l]};
    report_run run = {
        .n = MOVED,
        .labels = labels,
        .n_clusters = 1,
        .rows = rows,
        .count = MOVED,
        .embedding = {
            .type = HUDDLE_ARRAY_F64, .rows = MOVED, .cols = 2, .stride = 2, .values = moved[0]}};
    assert_ok(report_moves_json(&run, levels, LEVELS, &moves));
    follow_nodes(moves, nodes);
    assert_int_equal(nodes[1][0], nodes[1][1]);
    assert_int_not_equal(nodes[2][0], nodes[2][1]);
    assert_int_equal(nodes[2][4], nodes[2][5]);
    check_places(moves, nodes);
    json_decref(moves);
}

/* ---- the tree ----------------------------------------------------------------------------- */

typedef struct expected_branch {
    int parent;
    bool join;
    double born, joined;
    int size, label;
    double share;
} expected_branch;

static void check_branch(const json_t *branch, const expected_branch *expected) {
    const json_t *cluster = json_object_get(branch, "cluster");
    assert_int_equal(json_integer_value(json_object_get(branch, "parent")), expected->parent);
    assert_int_equal(json_is_true(json_object_get(branch, "join")), expected->join);
    assert_int_equal(json_integer_value(json_object_get(branch, "size")), expected->size);
    assert_close(json_number_value(json_object_get(branch, "born")), expected->born, 0);
    assert_close(json_number_value(json_object_get(branch, "joined")), expected->joined, 0);
    assert_int_equal(json_integer_value(json_object_get(cluster, "label")), expected->label);
    assert_close(json_number_value(json_object_get(cluster, "share")), expected->share, 1e-12);
}

/* Rows 0 .. 2 and 3 .. 6 grow to the minimum size of three and join; rows 7 and 8 are added to the
 * join, and row 9 stays alone. */
static void test_tree(void **state) {
    (void)state;
    enum { POINTS = 10 };
    static huddle_path_fusion fusions[] = {{0, 1, 1, 2},  {3, 4, 1.5, 2}, {10, 2, 2, 3},
                                           {11, 5, 3, 3}, {13, 6, 4, 4},  {12, 14, 5, 7},
                                           {7, 15, 6, 8}, {16, 8, 7, 9}};
    static const int32_t labels[POINTS] = {0, 1, 1, 2, 2, 2, 0, 0, 0, 1};
    static const unsigned char members[POINTS] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 255};
    static const expected_branch expected[] = {
        {2, false, 2, 5, 3, 1, 2. / 3}, {2, false, 3, 5, 4, 2, 3. / 4}, {-1, true, 5, 0, 9, 0, 1}};
    int64_t rows[POINTS];
    unsigned char bytes[POINTS + 4];
    huddle_report_options options = huddle_report_defaults();
    huddle_path path = {.n = POINTS, .fusions = fusions, .n_fusions = 8};
    for (int i = 0; i < POINTS; i++)
        rows[i] = i;
    report_run run = {.n = POINTS,
                      .labels = labels,
                      .n_clusters = 3,
                      .rows = rows,
                      .count = POINTS,
                      .options = &options};
    json_t *tree = report_tree_json(&run, &path);
    const json_t *branches = json_object_get(tree, "branches");
    assert_int_equal(json_integer_value(json_object_get(tree, "least")), 3);
    assert_int_equal(json_array_size(branches), 3);
    for (size_t k = 0; k < 3; k++)
        check_branch(json_array_get(branches, k), &expected[k]);
    assert_int_equal(decode_bytes(text_of(tree, "members"), bytes), POINTS);
    assert_memory_equal(bytes, members, POINTS);
    json_decref(tree);
}

/* Three groups that meet at one gamma, listed as two fusions, are one join of three branches. */
static void test_join_of_three(void **state) {
    (void)state;
    enum { POINTS = 9 };
    static huddle_path_fusion fusions[] = {{0, 1, 1, 2},   {9, 2, 2, 3},  {3, 4, 2, 2},
                                           {11, 5, 3, 3},  {6, 7, 3, 2},  {13, 8, 4, 3},
                                           {10, 12, 5, 6}, {15, 14, 5, 9}};
    static const int32_t labels[POINTS] = {0};
    int64_t rows[POINTS] = {0};
    huddle_report_options options = huddle_report_defaults();
    huddle_path path = {.n = POINTS, .fusions = fusions, .n_fusions = 8};
    report_run run = {.n = POINTS,
                      .labels = labels,
                      .n_clusters = 1,
                      .rows = rows,
                      .count = 1,
                      .options = &options};
    json_t *tree = report_tree_json(&run, &path);
    const json_t *branches = json_object_get(tree, "branches");
    assert_int_equal(json_array_size(branches), 4);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(branches, k), "parent")),
                         3);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(branches, 3), "size")), 9);
    json_decref(tree);
}

/* ---- levels and shares -------------------------------------------------------------------- */

static void test_numbers_of_levels(void **state) {
    (void)state;
    static const char *const names[] = {"gamma", "objective", "dual", "gap", "groups", "n_iter"};
    huddle_path_level levels[] = {{1, 2, 3, 4, 5, 6, HUDDLE_STOP_CONVERGED},
                                  {7, 8, 9, 10, 11, 12, HUDDLE_STOP_CONVERGED}};
    huddle_path path = {.n_levels = 2, .levels = levels};
    json_t *list = report_levels_json(&path);
    for (size_t k = 0; k < 12; k++)
        assert_close(json_number_value(json_object_get(json_array_get(list, k / 6), names[k % 6])),
                     (double)k + 1, 0);
    json_decref(list);
}

/* The corners of a box of sides 6, 4 and 2: the variances of the components are 9, 4 and 1. */
static void test_shares(void **state) {
    fixture *f = *state;
    float corners[8 * 3];
    huddle_points x = {.n = 8, .d = 3, .stride = 3, .values = corners};
    huddle_model *model = NULL;
    for (int i = 0; i < 8 * 3; i++)
        corners[i] = (i / 3 >> i % 3 & 1) == 0 ? (float)(3 - i % 3) : (float)(i % 3 - 3);
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_report_write(NULL, model, &x, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *view = json_array_get(json_object_get(find_block(data, "views"), "views"), 0);
    for (size_t j = 0; j < 3; j++)
        assert_close(json_number_value(json_array_get(json_object_get(view, "share"), j)),
                     (3. - (double)j) * (3. - (double)j) / 14, 1e-6);
    json_decref(data);
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circle_axes),
                                       cmocka_unit_test(test_moves_of_levels),
                                       cmocka_unit_test(test_tree),
                                       cmocka_unit_test(test_join_of_three),
                                       cmocka_unit_test(test_numbers_of_levels),
                                       cmocka_unit_test(test_shares)};
    return cmocka_run_group_tests_name("report_drawing", tests, set_up, tear_down);
}
