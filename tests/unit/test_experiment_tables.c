/* Tables and pages of experiments whose results are made by hand. */
#include "experiment_records.h"

static const char plan[] =
    "{\"data\": [{\"source\": \"blobs\", \"n\": 60}, {\"source\": \"moons\", \"n\": 30}],"
    " \"methods\": [{\"method\": \"kmeans\", \"label\": \"plain, \\\"one\\\"\"},"
    "  {\"method\": \"kmeans\", \"label\": \"a grid\","
    "   \"grid\": {\"max_iter\": [20, 10, 700], \"n_clusters\": [\"c\", 3]}}],"
    " \"seeds\": [3, 8], \"n_init\": 2}";

static void open_experiment(experiment *e, const char *output) {
    *e = (experiment){.output = output};
    assert_ok(experiment_open_plan(NULL, "plan.json", json_loads(plan, 0, NULL), e));
    assert_ok(experiment_list_cells(e));
    make_records(e);
    /* The first method is the better one on the second data set. */
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].entry == 0 && e->cells[i].data == 1)
            json_object_set_new(e->cells[i].record, "acc", json_real(0.95));
}

/* ---- results.csv ---------------------------------------------------------------------------- */

/* The column of a name in the header. */
static int column_of(const char *text, const char *name) {
    int column = 0;
    size_t length = strlen(name);
    for (; *text != '\n'; text++) {
        if (strncmp(text, name, length) == 0 && (text[length] == ',' || text[length] == '\n'))
            return column;
        while (*text != ',' && text[1] != '\n')
            text++;
        column++;
    }
    fail_msg("no column %s", name);
    return -1;
}

/* Field `column` of a line; fields before it may be in quotes. */
static const char *field_of(const char *line, int column) {
    for (bool quoted = false; column > 0; line++) {
        quoted = quoted != (*line == '"');
        column -= *line == ',' && !quoted;
    }
    return line;
}

static void csv_has_a_line_for_each_cell(void **state) {
    (void)state;
    experiment e;
    open_experiment(&e, new_folder("csv"));
    json_object_del(e.cells[2].record, "nmi");
    json_decref(e.cells[3].record);
    e.cells[3].record = NULL;
    assert_ok(experiment_write_csv(&e));
    char *text = read_text(e.output, "results.csv"), *line = strchr(text, '\n') + 1;
    int acc = column_of(text, "acc"), nmi = column_of(text, "nmi"),
        std = column_of(text, "nmi_std");
    for (int i = 0; i < e.n_cells; i++) {
        char start[64];
        if (i == 3)
            continue;
        snprintf(start, sizeof start, "%s,kmeans,%s,%d,", e.data[e.cells[i].data].name,
                 e.cells[i].entry == 0 ? "\"plain, \"\"one\"\"\"" : "a grid", (int)e.cells[i].seed);
        assert_memory_equal(line, start, strlen(start));
        assert_close(strtod(field_of(line, acc), NULL), number_of(e.cells[i].record, "acc"), 1e-12);
        assert_close(strtod(field_of(line, std), NULL), made_score(i, 5), 1e-12);
        if (i == 2)
            assert_int_equal(*field_of(line, nmi), ',');
        else
            assert_close(strtod(field_of(line, nmi), NULL), made_score(i, 3), 1e-12);
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, "");
    free(text);
    experiment_free(&e);
}

/* ---- text and JSON -------------------------------------------------------------------------- */

static void the_best_points_are_printed(void **state) {
    (void)state;
    experiment e;
    char *text = NULL, expected[160];
    size_t size = 0;
    open_experiment(&e, "unused");
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    experiment_print(&e, out);
    fclose(out);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            int acc = best_point(&e, i, k, "acc"), nmi = best_point(&e, i, k, "nmi");
            snprintf(expected, sizeof expected, "  %-12s %6.1f %6.1f +- %4.1f %6.1f %6.1f +- %4.1f",
                     k == 0 ? "plain, \"one\"" : "a grid", shown(mean_of(&e, i, k, acc, "acc")),
                     shown(mean_of(&e, i, k, acc, "acc_mean")),
                     shown(mean_of(&e, i, k, acc, "acc_std")), shown(mean_of(&e, i, k, nmi, "nmi")),
                     shown(mean_of(&e, i, k, nmi, "nmi_mean")),
                     shown(mean_of(&e, i, k, nmi, "nmi_std")));
            if (strstr(text, expected) == NULL)
                fail_msg("'%s' is not in\n%s", expected, text);
        }
    free(text);
    experiment_free(&e);
}

static void the_best_points_are_in_the_json(void **state) {
    (void)state;
    static const char *const metrics[] = {"acc", "nmi"};
    experiment e;
    open_experiment(&e, "unused");
    json_t *json = experiment_json(&e);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            for (int m = 0; m < 2; m++) {
                const json_t *row = item_of(json, "oracle", (size_t)(2 * i + k));
                const json_t *found = json_object_get(row, metrics[m]);
                int p = best_point(&e, i, k, metrics[m]);
                char mean[16], std[16];
                snprintf(mean, sizeof mean, "%s_mean", metrics[m]);
                snprintf(std, sizeof std, "%s_std", metrics[m]);
                assert_close(number_of(found, "best"), mean_of(&e, i, k, p, metrics[m]), 1e-12);
                assert_close(number_of(found, "mean"), mean_of(&e, i, k, p, mean), 1e-12);
                assert_close(number_of(found, "std"), mean_of(&e, i, k, p, std), 1e-12);
            }
    json_decref(json);
    experiment_free(&e);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Methods by data sets, and the best method of each data set. */
static void check_heat(const experiment *e, const json_t *data) {
    const json_t *heat = block_of(data, "heat", 0);
    for (int i = 0; i < 2; i++) {
        double best = fmax(best_of(e, i, 0, "acc"), best_of(e, i, 1, "acc"));
        for (int k = 0; k < 2; k++) {
            const json_t *cell = json_array_get(item_of(heat, "rows", (size_t)k), (size_t)i);
            double own = best_of(e, i, k, "acc");
            assert_close(number_of(cell, "value"), shown(own), 1e-6);
            assert_int_equal(json_is_true(json_object_get(cell, "strong")), own == best);
        }
    }
}

/* One line for each data set and number of clusters, with max_iter ascending. */
static void check_chart(const experiment *e, const json_t *data) {
    static const int order[] = {1, 0, 2}; /* of 20, 10 and 700 */
    static const double max_iter[] = {10, 20, 700};
    const json_t *chart = item_of(block_of(data, "grids", 0), "charts", 0);
    assert_int_equal(json_array_size(json_object_get(chart, "series")), 4);
    assert_true(json_is_true(json_object_get(json_object_get(chart, "x"), "log")));
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 3; k++) {
            const json_t *series = item_of(chart, "series", (size_t)s);
            double y = mean_of(e, s / 2, 1, 2 * order[k] + s % 2, "acc");
            assert_close(json_number_value(item_of(series, "x", (size_t)k)), max_iter[k], 1e-9);
            assert_close(json_number_value(item_of(series, "y", (size_t)k)), 100 * y, 1e-5);
        }
}

/* The first cells of the second method on the second data set. */
static void check_cells(const experiment *e, const json_t *data) {
    const json_t *rows = json_object_get(block_of(data, "cells", 3), "rows");
    int first = 0;
    while (e->cells[first].data != 1 || e->cells[first].entry != 1)
        first++;
    assert_int_equal(json_array_size(rows), 12);
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 8; m++) {
            const json_t *cell = json_array_get(json_array_get(rows, (size_t)k), (size_t)(3 + m));
            assert_close(number_of(cell, "value"), 100 * made_score(first + k, m), 1e-5);
        }
}

static void the_page_has_the_numbers(void **state) {
    (void)state;
    experiment e;
    char seconds[32];
    open_experiment(&e, new_folder("page"));
    assert_ok(experiment_write_page(&e, NULL));
    json_t *data = read_page_data(e.output);
    check_heat(&e, data);
    check_chart(&e, data);
    check_cells(&e, data);
    snprintf(seconds, sizeof seconds, "%.1f s", 0.25 * e.n_cells);
    assert_string_equal(text_of(item_of(block_of(data, "summary", 0), "facts", 3), "value"),
                        seconds);
    json_decref(data);
    experiment_free(&e);
}

/* ---- the paper ------------------------------------------------------------------------------ */

static void published_numbers_are_those_of_the_paper(void **state) {
    (void)state;
    assert_close(paper_number("acc", PAPER_SSC, 2)->mean, 76.0, 0); /* ORL */
    assert_close(paper_number("acc", PAPER_SSC, 7)->mean, 75.5, 0); /* USPS */
    assert_close(paper_number("acc", 0, 0)->mean, 36.3, 0);         /* kmeans, AR */
    assert_close(paper_number("nmi", PAPER_SSC, 2)->mean, 88.6, 0);
    assert_close(paper_number("nmi", 1, 6)->std, 1.6, 0); /* sc, YaleB */
}

/* gamma from 1e-6 over 0.1 ... 1e5, four values for each power of ten, to 1e6. */
static void the_finer_grid_is_complete(void **state) {
    (void)state;
    paper p;
    make_paper(&p, "unused");
    const json_t *grid = json_object_get(experiment_entry(&p.e, ENTRY_FINE), "grid");
    assert_int_equal(json_array_size(json_object_get(grid, "gamma")), 27);
    assert_close(json_number_value(item_of(grid, "gamma", 0)), 1e-6, 1e-18);
    for (size_t k = 0; k < 25; k++)
        assert_close(json_number_value(item_of(grid, "gamma", k + 1)) /
                         pow(10, ((double)k - 4) / 4),
                     1, 1e-3);
    assert_close(json_number_value(item_of(grid, "gamma", 26)), 1e6, 1e-6);
    const json_t *dims = json_object_get(experiment_entry(&p.e, 2), "grid");
    assert_int_equal(json_array_size(json_object_get(dims, "dim")), 15);
    paper_free(&p);
}

/* Method, then for each data set: result, mean, deviation, the paper's number, the difference,
 * the default and, for ssc, the best over preparations. */
static void check_csv(const paper *p, const char *metric) {
    char name[16], mean[16], std[16];
    snprintf(name, sizeof name, "%s.csv", metric);
    snprintf(mean, sizeof mean, "%s_mean", metric);
    snprintf(std, sizeof std, "%s_std", metric);
    char *text = read_text(p->e.output, name), *line = text;
    for (int m = 0; m < PAPER_METHODS; m++) {
        line = strchr(line, '\n') + 1;
        for (int i = 0; i < 2; i++) {
            int best = best_point(&p->e, i, m, metric);
            double published = paper_number(metric, m, p->set[i])->mean;
            double ours = shown(mean_of(&p->e, i, m, best, metric));
            const double expected[] = {ours,
                                       shown(mean_of(&p->e, i, m, best, mean)),
                                       shown(mean_of(&p->e, i, m, best, std)),
                                       published,
                                       ours - published,
                                       shown(best_of(&p->e, i, ENTRY_DEFAULT + m, metric))};
            for (int k = 0; k < 6; k++)
                assert_close(strtod(field_of(line, 1 + 7 * i + k), NULL), expected[k], 1e-6);
            const char *prepared = field_of(line, 7 + 7 * i);
            if (m == PAPER_SSC)
                assert_close(strtod(prepared, NULL),
                             shown(best_of(&p->e, i, ENTRY_PREPARED, metric)), 1e-6);
            else
                assert_int_equal(*prepared, ',');
        }
    }
    free(text);
}

/* The largest number of each data set is bold, and no other. */
static void check_bold(const paper *p) {
    char *text = read_text(p->e.output, "acc.md"), *end = strstr(text, "## Defaults");
    *end = '\0';
    for (int i = 0; i < 2; i++) {
        double best = 0;
        char bold[32];
        for (int m = 0; m < PAPER_METHODS; m++)
            best = fmax(best, shown(best_of(&p->e, i, m, "acc")));
        snprintf(bold, sizeof bold, "**%.1f**", best);
        assert_non_null(strstr(text, bold));
    }
    free(text);
}

static void tables_of_the_paper_compare_with_it(void **state) {
    (void)state;
    paper p;
    make_paper(&p, new_folder("paper"));
    assert_ok(paper_write_tables(&p));
    check_csv(&p, "acc");
    check_csv(&p, "nmi");
    check_bold(&p);
    paper_free(&p);
}

/* ---- finding the data sets ------------------------------------------------------------------ */

static void write_set(const char *folder, const char *name, int n, int n_classes) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("x,y,label\n", out);
    for (int i = 0; i < n; i++)
        fprintf(out, "%g,%g,%d\n", i * 0.37, i * i % 13 * 0.5, 1 + i % n_classes);
    fclose(out);
}

static void data_sets_are_found_by_their_names(void **state) {
    (void)state;
    paper_found found = {0};
    const char *folder = new_folder("sets");
    write_set(folder, "orl_b.csv", 8, 2);
    write_set(folder, "ORL-a.csv", 8, 2);
    write_set(folder, "arrow.csv", 8, 2);
    write_set(folder, "BinAlpha.csv", 36 * 40, 36);
    write_set(folder, "usps.pdf", 8, 2);
    assert_ok(paper_find(NULL, folder, &found));
    assert_null(found.file[0]); /* AR, of which "arrow" is no abbreviation */
    assert_null(found.file[7]);
    assert_string_equal(strrchr(found.file[2], '/'), "/ORL-a.csv");
    assert_non_null(strstr(found.note[2], "not orl_b.csv"));
    assert_string_equal(text_of(found.entry[4], "classes"), "11-36");
    assert_close(number_of(found.entry[4], "per_class"), 30, 0);
    assert_null(json_object_get(found.entry[2], "classes"));
    paper_found_free(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_line_for_each_cell),
        cmocka_unit_test(the_best_points_are_printed),
        cmocka_unit_test(the_best_points_are_in_the_json),
        cmocka_unit_test(the_page_has_the_numbers),
        cmocka_unit_test(published_numbers_are_those_of_the_paper),
        cmocka_unit_test(the_finer_grid_is_complete),
        cmocka_unit_test(tables_of_the_paper_compare_with_it),
        cmocka_unit_test(data_sets_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
