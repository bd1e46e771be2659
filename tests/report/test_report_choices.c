/* What a page shows of the choices of a run: the start of the refinement, and the number of
 * clusters. */
#include "pages.h"

/* ---- refinement --------------------------------------------------------------------------- */

/* The starts of a refinement: a row each, that of the labels marked; the lead says that the
 * certificate is not about the labels. */
static void test_refinement(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    options.follow_path = false;
    options.details =
        "{\"refine\": {\"start\": \"sum\", \"from\": \"graph\", \"n_changed\": 7, \"trials\": ["
        "{\"name\": \"shrunk\", \"map\": 1.5, \"divergence\": 0.4, \"information\": 0.3, "
        "\"modularity\": 0.2, \"ncut\": 0.1, \"n_sweeps\": 3, \"allowed\": true},"
        "{\"name\": \"sum\", \"map\": 1.25, \"divergence\": 0.5, \"information\": 0.6, "
        "\"modularity\": 0.7, \"ncut\": 0.8, \"n_sweeps\": 9, \"allowed\": false}]}}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *section = find_section(data, "refinement"), *table = first_block(section);
    assert_non_null(strstr(text_of(section, "lead"), "come from merging of single points"));
    assert_non_null(strstr(text_of(section, "lead"), "7 of 60 differ"));
    assert_non_null(strstr(text_of(section, "lead"), "not about these labels"));
    assert_int_equal(json_integer_value(json_object_get(table, "marked")), 1);
    const json_t *rows = json_object_get(table, "rows"), *row = json_array_get(rows, 1);
    static const double expected[] = {1.25, 0.5, 0.6, 0.7, 0.8, 9};
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_array_size(row), json_array_size(json_object_get(table, "columns")));
    assert_string_equal(json_string_value(json_array_get(row, 0)), "merging of single points");
    for (size_t j = 0; j < 6; j++)
        assert_close(json_number_value(json_array_get(row, j + 1)), expected[j], 0);
    assert_string_equal(json_string_value(json_array_get(row, 7)), "no");
    json_decref(data);
}

/* Labels that K-means gave in the end come from none of the starts, and no start is marked. */
static void check_preferred(fixture *f, const char *from, const char *words) {
    huddle_report_options options = huddle_report_defaults();
    char details[512];
    snprintf(details, sizeof details,
             "{\"decision\": \"K-means is more stable\", \"refine\": {\"start\": \"commute\", "
             "\"from\": \"%s\", \"n_changed\": 7, "
             "\"trials\": [{\"name\": \"commute\", \"map\": 1.5, \"allowed\": true}]}}",
             from);
    options.follow_path = false;
    options.details = details;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *section = find_section(data, "refinement");
    assert_non_null(strstr(text_of(section, "lead"), words));
    assert_non_null(strstr(text_of(section, "lead"), "without moves on the graph"));
    assert_int_equal(json_integer_value(json_object_get(first_block(section), "marked")), -1);
    const json_t *report = json_object_get(find_block(data, "summary"), "report");
    assert_string_equal(text_of(report, "decision"), "K-means is more stable");
    json_decref(data);
}

static void test_labels_of_kmeans(void **state) {
    check_preferred(*state, "kmeans", "come from K-means on the points");
    check_preferred(*state, "commute", "come from K-means on commute rows");
}

/* The page has the labels before the refinement of the same points, if any of them changed. */
static void test_labels_before(void **state) {
    fixture *f = *state;
    float values[N * D];
    huddle_points x = {.n = N, .d = D, .stride = D, .values = values};
    unsigned char index[4 * N + 4], before[4 * N + 4];
    huddle_array unrefined;
    huddle_model *model = NULL;
    /* No clusters at all, so that K-means and the graph do not agree. */
    for (int i = 0; i < N * D; i++)
        values[i] = (float)(i * 7919 % 1013) / 100;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "6"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "refine", "graph"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_array(model, "unrefined_labels", &unrefined));
    assert_ok(huddle_report_write(NULL, model, &x, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *points = json_object_get(json_object_get(data, "shared"), "points");
    const int32_t *labels = huddle_model_labels(model, NULL), *own = unrefined.values;
    int changed = 0;
    assert_int_equal(decode_bytes(text_of(points, "index"), index), 4 * N);
    assert_int_equal(decode_bytes(text_of(points, "before"), before), 4 * N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(int32_at(before, i), own[int32_at(index, i)]);
        changed += own[i] != labels[i];
    }
    assert_true(changed > 0);
    assert_non_null(find_section(data, "refinement"));
    json_decref(data);

    assert_ok(huddle_model_set_option(model, "refine", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_report_write(NULL, model, &x, NULL, f->page));
    data = read_data(f);
    points = json_object_get(json_object_get(data, "shared"), "points");
    assert_null(json_object_get(points, "before"));
    assert_null(find_section(data, "refinement"));
    json_decref(data);
    huddle_model_free(model);
}

/* ---- number of clusters -------------------------------------------------------------------- */

/* Candidates for the number of clusters are charts and a table; the first of them that were not
 * chosen are the runners-up. If a range of numbers was tried too, the charts show all of it, once.
 * A range alone has no order of merit, and two numbers are no curve. */
static void test_numbers_of_clusters(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    options.follow_path = false;
    options.details = "{\"choice\": [{\"n_clusters\": 3, \"modularity\": 0.6},"
                      "{\"n_clusters\": 8, \"modularity\": 0.5},"
                      "{\"n_clusters\": 2, \"modularity\": 0.4},"
                      "{\"n_clusters\": 4, \"modularity\": 0.3},"
                      "{\"n_clusters\": 5, \"modularity\": 0.2}]}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *numbers = find_block(data, "numbers"),
                 *others = json_object_get(numbers, "runners_up");
    assert_int_equal(json_array_size(json_object_get(numbers, "list")), 5);
    assert_int_equal(json_integer_value(json_object_get(numbers, "n_clusters")), 3);
    assert_int_equal(json_array_size(others), 3);
    assert_int_equal(json_integer_value(json_array_get(others, 0)), 8);
    json_decref(data);

    options.details = "{\"chosen_by\": \"modularity\", \"choice\": ["
                      "{\"n_clusters\": 3, \"modularity\": 0.6},"
                      "{\"n_clusters\": 4, \"modularity\": 0.5}], \"range\": ["
                      "{\"n_clusters\": 2, \"modularity\": 0.6},"
                      "{\"n_clusters\": 3, \"modularity\": 0.5},"
                      "{\"n_clusters\": 4, \"modularity\": 0.5},"
                      "{\"n_clusters\": 5, \"modularity\": 0.5}]}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    data = read_data(f);
    numbers = find_block(data, "numbers");
    assert_int_equal(json_array_size(json_object_get(numbers, "list")), 4);
    others = json_object_get(numbers, "runners_up");
    assert_int_equal(json_array_size(others), 1);
    assert_int_equal(json_integer_value(json_array_get(others, 0)), 4);
    assert_non_null(strstr(text_of(find_section(data, "choice"), "lead"), "modularity"));
    assert_string_equal(text_of(first_block(find_section(data, "choice")), "kind"), "numbers");
    assert_string_equal(text_of(first_block(find_section(data, "range")), "kind"), "table");
    json_decref(data);

    options.details = "{\"range\": [{\"n_clusters\": 2, \"ncut\": 0.6},"
                      "{\"n_clusters\": 3, \"ncut\": 0.5}, {\"n_clusters\": 4, \"ncut\": 0.5}]}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    data = read_data(f);
    numbers = find_block(data, "numbers");
    assert_int_equal(json_array_size(json_object_get(numbers, "runners_up")), 0);
    json_decref(data);

    options.details = "{\"range\": [{\"n_clusters\": 2, \"ncut\": 0.6},"
                      "{\"n_clusters\": 3, \"ncut\": 0.5}]}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    data = read_data(f);
    assert_null(find_block(data, "numbers"));
    assert_non_null(find_section(data, "range"));
    json_decref(data);
}

/* The preparations are explained by the score that compared them. */
static void test_preparations(void **state) {
    static const char *const cases[][2] = {
        {"\"tried_clusters\": [3]",
         "the largest modularity on its own graph, each with 3 clusters"},
        {"\"tried_clusters\": [3, 5]",
         "modularity on its own graph, averaged over 3 and 5 clusters"},
        {"\"score\": \"divergence\", \"tried_clusters\": [3]", "largest divergence J"},
        {"\"score\": \"largest modularity\", \"tried_clusters\": [2, 30]",
         "from 2 to 30 clusters"}};
    fixture *f = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_report_options options = huddle_report_defaults();
        char details[512];
        snprintf(details, sizeof details,
                 "{\"prepare\": {\"rule\": \"unit\", %s, \"tried\": ["
                 "{\"rule\": \"none\", \"modularity\": 0.5}, "
                 "{\"rule\": \"unit\", \"modularity\": 0.6}]}}",
                 cases[k][0]);
        options.follow_path = false;
        options.details = details;
        assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
        json_t *data = read_data(f);
        const json_t *section = find_section(data, "prepare");
        assert_non_null(strstr(text_of(section, "lead"), cases[k][1]));
        assert_int_equal(json_integer_value(json_object_get(first_block(section), "marked")), 1);
        json_decref(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refinement), cmocka_unit_test(test_labels_of_kmeans),
        cmocka_unit_test(test_labels_before), cmocka_unit_test(test_numbers_of_clusters),
        cmocka_unit_test(test_preparations)};
    return cmocka_run_group_tests_name("report_choices", tests, set_up, tear_down);
}
