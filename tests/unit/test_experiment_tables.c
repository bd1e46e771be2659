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

/* The sample deviation over the seeds of a grid point, by a plain loop. */
static double spread_of(const experiment *e, int data, int entry, int point, const char *name) {
    double mean = mean_of(e, data, entry, point, name), sum = 0;
    int count = 0;
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        if (cell->data != data || cell->entry != entry || cell->point != point)
            continue;
        double x = json_number_value(json_object_get(cell->record, name));
        sum += (x - mean) * (x - mean);
        count++;
    }
    return count > 1 ? sqrt(sum / (count - 1)) : NAN;
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
                assert_close(number_of(found, "spread"), spread_of(&e, i, k, p, metrics[m]), 1e-12);
                assert_close(number_of(found, "seeds"), 2, 0);
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

/* One line of the file: block, method, data, then the numbers, which are empty where there are
 * none, and the grid point. */
static void check_csv_line(const paper *p, const char *line, const char *metric, int block,
                           int entry, int method, int data) {
    static const char *const blocks[] = {"letter", "ours", "default", "prepared", "related"};
    char start[96], name[32];
    int best = best_point(&p->e, data, entry, metric), n_seeds = block == 3 ? 1 : 2;
    bool is_related = block == 4;
    double ours = shown(mean_of(&p->e, data, entry, best, metric));
    double expected[8] = {ours, shown(spread_of(&p->e, data, entry, best, metric)), n_seeds};
    snprintf(name, sizeof name, "%s_mean", metric);
    expected[3] = shown(mean_of(&p->e, data, entry, best, name));
    snprintf(name, sizeof name, "%s_std", metric);
    expected[4] = shown(mean_of(&p->e, data, entry, best, name));
    if (!is_related) {
        expected[5] = paper_number(metric, method, p->set[data])->mean;
        expected[6] = paper_number(metric, method, p->set[data])->std;
        expected[7] = ours - expected[5];
    }
    snprintf(start, sizeof start, "%s,%s,%s,", blocks[block],
             is_related ? paper_related(method) : paper_methods[method], p->e.data[data].name);
    assert_memory_equal(line, start, strlen(start));
    for (int k = 0; k < 8; k++)
        if ((k == 1 && n_seeds == 1) || (k > 4 && is_related))
            assert_int_equal(*field_of(line, 3 + k), ',');
        else
            assert_close(strtod(field_of(line, 3 + k), NULL), expected[k], 1e-6);
}

static void check_csv(const paper *p, const char *metric) {
    static const int entries[] = {ENTRY_LETTER, ENTRY_GRID, ENTRY_DEFAULT, ENTRY_PREPARED,
                                  ENTRY_RELATED};
    char name[16];
    snprintf(name, sizeof name, "%s.csv", metric);
    char *text = read_text(p->e.output, name), *line = strchr(text, '\n') + 1;
    for (int b = 0; b < 5; b++) {
        int count = b == 4 ? paper_related_count() : PAPER_METHODS;
        for (int m = b == 3 ? PAPER_SSC : 0; m < count; m++)
            for (int i = 0; i < 2; i++) {
                check_csv_line(p, line, metric, b, b == 3 ? ENTRY_PREPARED : entries[b] + m, m, i);
                line = strchr(line, '\n') + 1;
            }
    }
    assert_string_equal(line, "");
    free(text);
}

/* The largest number of each data set is bold in each block. */
static void check_bold(const paper *p) {
    char *text = read_text(p->e.output, "acc.md"), *at = strstr(text, "(a) to the letter\n"),
         *end = strstr(text, "(b) with our choices\n");
    assert_true(at != NULL && at < end);
    *end = '\0';
    for (int i = 0; i < 2; i++) {
        double best = 0;
        char bold[32];
        for (int m = 0; m < PAPER_METHODS; m++)
            best = fmax(best, shown(best_of(&p->e, i, ENTRY_LETTER + m, "acc")));
        snprintf(bold, sizeof bold, "**%.1f**", best);
        assert_non_null(strstr(at, bold));
    }
    free(text);
}

static int count_of(const char *text, const char *words) {
    int count = 0;
    for (; (text = strstr(text, words)) != NULL; text++)
        count++;
    return count;
}

/* Cells of all formats have the grid point, both deviations of ours, and the paper's. */
static void check_formats(const paper *p) {
    table_cell cell = paper_cell(p, "nmi", BY_LETTER, PAPER_SSC, 0);
    char *markdown = read_text(p->e.output, "nmi.md"), *latex = read_text(p->e.output, "nmi.tex");
    bool bold = paper_is_bold(p, "nmi", BY_LETTER, 0, &cell);
    char expected[256];
    assert_string_equal(text_of(item_of(p->e.plan, "methods", ENTRY_LETTER + PAPER_SSC), "method"),
                        "ssc");
    assert_memory_equal(cell.at, "gamma ", 6);
    snprintf(expected, sizeof expected,
             " %s%.1f%s ± %.1f<br>starts %.1f ± %.1f<br>%s<br>paper 88.6 ± 1.5 (%+.1f) |",
             bold ? "**" : "", cell.ours, bold ? "**" : "", cell.spread, cell.mean, cell.std,
             cell.at, cell.ours - 88.6);
    assert_non_null(strstr(markdown, "# Table 2"));
    assert_non_null(strstr(markdown, expected));
    snprintf(
        expected, sizeof expected,
        "\\raggedright %s%.1f%s $\\pm$ %.1f {\\tiny \\newline starts %.1f $\\pm$ %.1f \\newline "
        "%s \\newline paper 88.6 $\\pm$ 1.5 ($%+.1f$)}",
        bold ? "\\textbf{" : "", cell.ours, bold ? "}" : "", cell.spread, cell.mean, cell.std,
        cell.at, cell.ours - 88.6);
    assert_non_null(strstr(latex, expected));
    assert_non_null(strstr(latex, "{p{0.400\\textwidth}|}"));
    assert_int_equal(count_of(latex, "\\renewcommand{\\thetable}{2}\\addtocounter{table}{-1}\n"
                                     "\\caption"),
                     3); /* not of the others */
    assert_int_equal(count_of(latex, "\\renewcommand"), 3);
    free(markdown);
    free(latex);
}

static void tables_of_the_paper_compare_with_it(void **state) {
    (void)state;
    paper p;
    make_paper(&p, new_folder("paper"));
    assert_ok(paper_write_tables(&p));
    check_csv(&p, "acc");
    check_csv(&p, "nmi");
    check_bold(&p);
    check_formats(&p);
    paper_free(&p);
}

/* ACC of ssc over preparations: of the first data set below the paper's 76.0, of the second as
 * large as its 75.5. Only the second is bold, in every format. */
static void the_prepared_row_is_bold_where_it_reaches_the_paper(void **state) {
    (void)state;
    paper p;
    make_paper(&p, new_folder("bold"));
    for (int i = 0; i < p.e.n_cells; i++)
        if (p.e.cells[i].entry == ENTRY_PREPARED)
            json_object_set_new(p.e.cells[i].record, "acc",
                                json_real(p.e.cells[i].data == 0 ? 0.759 : 0.755));
    assert_ok(paper_write_tables(&p));
    assert_ok(paper_write_page(&p, (char *[]){"", ""}, NULL));
    char *markdown = read_text(p.e.output, "acc.md"), *latex = read_text(p.e.output, "acc.tex");
    const char *row = strstr(markdown, "## ssc, the best over"),
               *tex = strstr(latex, "ssc over preparations and gamma");
    assert_non_null(strstr(row, " 75.9<br>"));
    assert_non_null(strstr(row, " **75.5**<br>"));
    assert_non_null(strstr(tex, "\\raggedright 75.9 "));
    assert_non_null(strstr(tex, "\\raggedright \\textbf{75.5} "));
    assert_int_equal(count_of(row, "Bold: at least"), 1);
    json_t *data = read_page_data(p.e.output);
    const json_t *cells = item_of(item_of(block_of(data, "prepared", 0), "tables", 0), "rows", 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(json_is_true(json_object_get(json_array_get(cells, i + 1), "strong")), i);
    json_decref(data);
    free(markdown);
    free(latex);
    paper_free(&p);
}

/* Digests of labels: those of ssc at its best point are those of sc at another point than its best
 * with all seeds, those of llc with one seed only. */
static void set_labels(paper *p, int entry, int point, const char *first, const char *second) {
    for (int i = 0; i < p->e.n_cells; i++) {
        const experiment_cell *cell = &p->e.cells[i];
        if (cell->data == 1 && cell->entry == entry && cell->point == point)
            json_object_set_new(cell->record, "labels",
                                json_string(cell->seed == 0 ? first : second));
    }
}

static void equal_clusters_are_named(void **state) {
    (void)state;
    enum { KMEANS, SC, PCA_KMEANS, LLC = 6 };
    paper p;
    make_paper(&p, "unused");
    int ssc = ENTRY_LETTER + PAPER_SSC, llc = ENTRY_LETTER + LLC, sc = ENTRY_LETTER + SC;
    int point = (best_point(&p.e, 1, sc, "acc") + 1) % 3;
    static const char *const names[] = {"sc at scale mean", "sc at scale global",
                                        "sc at scale binary"};
    set_labels(&p, sc, point, "one", "two");
    set_labels(&p, ssc, best_point(&p.e, 1, ssc, "acc"), "one", "two");
    set_labels(&p, llc, best_point(&p.e, 1, llc, "acc"), "one", "one");
    assert_string_equal(paper_cell(&p, "acc", BY_LETTER, PAPER_SSC, 1).equal, names[point]);
    assert_string_equal(paper_cell(&p, "acc", BY_LETTER, LLC, 1).equal, "");
    assert_string_equal(paper_cell(&p, "acc", BY_LETTER, PAPER_SSC, 0).equal, "");
    assert_string_equal(paper_cell(&p, "acc", BY_ORACLE, PAPER_SSC, 1).equal, "");
    /* Any method before, at its best point. */
    int pca = ENTRY_LETTER + PCA_KMEANS;
    set_labels(&p, ENTRY_LETTER + KMEANS, 0, "three", "four");
    set_labels(&p, pca, best_point(&p.e, 1, pca, "acc"), "three", "four");
    assert_string_equal(paper_cell(&p, "acc", BY_LETTER, PCA_KMEANS, 1).equal, "kmeans");
    assert_string_equal(paper_cell(&p, "acc", BY_LETTER, KMEANS, 1).equal, "");
    paper_free(&p);
}

/* A fit of an optional entry that failed leaves its reason. */
static void refusals_are_shown(void **state) {
    (void)state;
    paper p;
    make_paper(&p, new_folder("refused"));
    for (int i = 0; i < p.e.n_cells; i++)
        if (p.e.cells[i].data == 1 && p.e.cells[i].entry == ENTRY_RELATED) {
            json_decref(p.e.cells[i].record);
            p.e.cells[i].record = NULL;
            p.e.cells[i].refusal = strdup("at most \"5_000\" rows");
        } else if (p.e.cells[i].data == 1 && p.e.cells[i].entry == ENTRY_RELATED + 1) {
            json_decref(p.e.cells[i].record);
            p.e.cells[i].record = NULL;
            p.e.cells[i].refusal = strdup("|x| < 1\n\nor 0");
        } else if (p.e.cells[i].data == 0 && p.e.cells[i].entry == ENTRY_LETTER) {
            json_decref(p.e.cells[i].record); /* failed without a reason */
            p.e.cells[i].record = NULL;
        }
    snprintf(p.found.note[0], sizeof p.found.note[0], "not AR|\n1.csv");
    assert_true(paper_cell(&p, "acc", BY_RELATED, 0, 1).missing);
    assert_false(paper_cell(&p, "acc", BY_RELATED, 0, 0).missing);
    assert_ok(paper_write_tables(&p));
    char *csv = read_text(p.e.output, "acc.csv"), *markdown = read_text(p.e.output, "acc.md"),
         *latex = read_text(p.e.output, "acc.tex");
    assert_non_null(strstr(csv, ",USPS,,,0,,,,,,,,\"at most \"\"5_000\"\" rows\"\n"));
    assert_non_null(strstr(markdown, " at most \"5_000\" rows |"));
    assert_non_null(strstr(latex, "5\\_000"));
    assert_non_null(strstr(markdown, " \\|x\\| < 1  or 0 |"));
    assert_non_null(strstr(latex, "{\\tiny $|$x$|$ $<$ 1  or 0}"));
    assert_non_null(strstr(markdown, "* AR: not AR\\| 1.csv\n"));
    assert_non_null(strstr(latex, "% AR: not AR| 1.csv\n"));
    assert_non_null(strstr(markdown, "| kmeans | - / "));
    assert_null(strstr(markdown, "nan"));
    free(csv);
    free(markdown);
    free(latex);
    paper_free(&p);
}

/* Methods that restart less often than the protocol by default keep to it. */
static void related_methods_have_their_restarts(void **state) {
    (void)state;
    static const char *const names[] = {"mixture", "ncut", "lsc"};
    static const int expected[][3] = {{5, 10, 0}, {0, 0, 0}, {5, 0, 0}}; /* 0: not set */
    static const int n_init[] = {50, 3, 10};
    for (int k = 0; k < 3; k++) {
        const paper_protocol protocol = {.n_init = n_init[k], .n_seeds = 1, .related = true};
        json_t *made = paper_plan(&(paper_found){0}, &protocol);
        const json_t *methods = json_object_get(made, "methods");
        for (int j = 0; j < 3; j++) {
            int m = 0;
            while (strcmp(paper_related(m), names[j]) != 0)
                m++;
            const json_t *options =
                json_object_get(json_array_get(methods, (size_t)(ENTRY_RELATED + m)), "options");
            assert_int_equal(json_integer_value(json_object_get(options, "n_init")),
                             expected[k][j]);
        }
        json_decref(made);
    }
}

/* The three blocks of the plan: what is to the letter, and which entries have all seeds. */
static void the_letter_has_no_choices_of_ours(void **state) {
    (void)state;
    paper p;
    make_paper(&p, "unused");
    for (int m = 0; m < PAPER_METHODS; m++) {
        const json_t *entry = experiment_entry(&p.e, ENTRY_LETTER + m);
        const json_t *options = json_object_get(entry, "options");
        const char *method = paper_methods[m];
        if (m == PAPER_SSC) {
            assert_string_equal(text_of(options, "preset"), "published");
            continue;
        }
        assert_string_equal(text_of(options, "prepare"), "none");
        assert_string_equal(text_of(options, "init"), "sample");
        bool is_spectral = strstr(method, "sc") != NULL || strcmp(method, "llc") == 0;
        assert_string_equal(text_of(options, "rows"), is_spectral ? "sym" : "");
    }
    for (int k = 0; k < paper_related_count(); k++)
        for (int m = 0; m < PAPER_METHODS; m++)
            assert_string_not_equal(paper_related(k), paper_methods[m]);
    const json_t *lda = json_object_get(experiment_entry(&p.e, ENTRY_LETTER + 4), "grid");
    assert_int_equal(json_array_size(json_object_get(lda, "dim")), 15);
    assert_int_equal(json_array_size(json_object_get(lda, "ridge")), 2);
    assert_int_equal(experiment_grid_size(&p.e, ENTRY_LETTER + PAPER_SSC), 15);
    for (int k = 0; k < experiment_entry_count(&p.e); k++) {
        bool all = k < ENTRY_PREPARED || k >= ENTRY_LETTER || k == ENTRY_TRACE;
        int n_cells = 0;
        for (int i = 0; i < p.e.n_cells; i++)
            n_cells += p.e.cells[i].entry == k && p.e.cells[i].data == 0;
        assert_int_equal(n_cells, experiment_grid_size(&p.e, k) * (all ? 2 : 1));
    }
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
    assert_true(json_is_true(json_object_get(found.entry[4], "draw")));
    assert_non_null(strstr(found.note[2], "8 points, the paper's has 400"));
    assert_null(strstr(found.note[4], "the paper's has"));
    assert_null(json_object_get(found.entry[2], "classes"));
    paper_found_free(&found);
}

/* Classes are looked at one by one: of the last letter, with 40 points, 30 are drawn although all
 * letters together have fewer than 26 times 30. */
static void a_class_with_many_points_is_reduced(void **state) {
    (void)state;
    char path[600];
    paper_found found = {0}, exact = {0};
    const char *folder = new_folder("letters");
    snprintf(path, sizeof path, "%s/BinAlpha.csv", folder);
    write_set(folder, "BinAlpha.csv", 36 * 20, 36);
    FILE *out = fopen(path, "a");
    assert_non_null(out);
    for (int i = 0; i < 20; i++)
        fprintf(out, "%d,%g,36\n", 1000 + i, 0.3 * i);
    fclose(out);
    assert_ok(paper_find(NULL, folder, &found));
    assert_close(number_of(found.entry[4], "per_class"), 30, 0);
    assert_non_null(strstr(found.note[4], "; 530 points, the paper's has 780"));
    paper_found_free(&found);
    /* 26 letters of 30 points, and digits, which do not count. */
    write_set(folder, "BinAlpha.csv", 36 * 30, 36);
    assert_ok(paper_find(NULL, folder, &exact));
    assert_null(json_object_get(exact.entry[4], "per_class"));
    assert_string_equal(exact.note[4], "reduced to classes 11-36");
    paper_found_free(&exact);
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
        cmocka_unit_test(the_prepared_row_is_bold_where_it_reaches_the_paper),
        cmocka_unit_test(equal_clusters_are_named),
        cmocka_unit_test(refusals_are_shown),
        cmocka_unit_test(related_methods_have_their_restarts),
        cmocka_unit_test(the_letter_has_no_choices_of_ours),
        cmocka_unit_test(data_sets_are_found_by_their_names),
        cmocka_unit_test(a_class_with_many_points_is_reduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
