/* The figures and the page of the paper, for results made by hand, and what is found of an earlier
 * run: all that a build without cairo does not have. */
#include "experiment_records.h"

#include "experiment/chart.h"
#include "experiment/paper/claims.h"
#include "experiment/paper/paper_figures.h"

/* Lines of this colour and width with more than two points, in the order of drawing. */
static const figure_shape *find_line(const figure *f, const char *colour, double width, int k) {
    int count = 0;
    for (int i = 0; i < f->count; i++) {
        const figure_shape *s = &f->shapes[i];
        if (s->kind == SHAPE_LINE && s->n_points > 2 && s->stroke == colour &&
            s->line_width == width && count++ == k)
            return s;
    }
    fail_msg("line %d is missing", k);
    return NULL;
}

/* ---- panels --------------------------------------------------------------------------------- */

/* Up to five data sets are side by side, more in two rows. */
static void panels_are_arranged(void **state) {
    (void)state;
    static const legend_entry legend[] = {{"one", LEGEND_LINE, paper_blue, 0, false}};
    static const int expected[][3] = {{1, 1, 1}, {5, 5, 1}, {6, 3, 2}, {7, 4, 2}};
    for (size_t k = 0; k < 4; k++) {
        figure f;
        int n = expected[k][0], columns = expected[k][1], rows = expected[k][2];
        panel_layout layout = paper_start_figure(&f, "name", "title", n, 300, 1, legend);
        assert_int_equal(layout.columns, columns);
        assert_int_equal(layout.rows, rows);
        chart_panel first = paper_panel(&f, &layout, 0, 20, 100);
        chart_panel last = paper_panel(&f, &layout, n - 1, 20, 100);
        chart_panel corner = paper_panel(&f, &layout, columns - 1, 20, 100);
        assert_close(last.y - first.y, 300 * (rows - 1), 1e-9);
        assert_close(corner.y, first.y, 1e-9);
        assert_true(f.width - (corner.x + corner.w) >= 14 - 1e-9);
        assert_true(f.height >= last.y + 280);
        for (int i = 1; i < columns; i++) {
            chart_panel left = paper_panel(&f, &layout, i - 1, 20, 100);
            chart_panel right = paper_panel(&f, &layout, i, 20, 100);
            assert_true(right.x - (left.x + left.w) >= 36 - 1e-9);
        }
        for (int i = 0; i < n; i++)
            assert_close(paper_panel(&f, &layout, i, 20, 100).y, first.y + 300 * (i / columns),
                         1e-9);
        for (int i = 0; i < n; i++)
            assert_int_equal(paper_is_leftmost(&layout, i), i == 0 || i == columns);
        figure_free(&f);
    }
}

/* ---- figure 1 ------------------------------------------------------------------------------- */

typedef struct curve_point {
    double gamma, value;
} curve_point;

static int by_gamma(const void *a, const void *b) {
    double x = ((const curve_point *)a)->gamma, y = ((const curve_point *)b)->gamma;
    return (x > y) - (x < y);
}

/* To the letter there are several points for each gamma, of which the best counts. */
static int list_points(const paper *p, int data, int entry, curve_point *points) {
    int count = 0;
    for (int k = 0; k < experiment_grid_size(&p->e, entry); k++) {
        curve_point own = {mean_of(&p->e, data, entry, k, "gamma"),
                           100 * mean_of(&p->e, data, entry, k, "acc")};
        int at = 0;
        while (at < count && points[at].gamma != own.gamma)
            at++;
        points[at] = at < count && points[at].value > own.value ? points[at] : own;
        count = at < count ? count : count + 1;
    }
    return count;
}

/* The smallest ACC of all curves of a data set, rounded down to a multiple of 20. */
static double axis_start(const paper *p, int data) {
    static const int entries[] = {ENTRY_FINE, ENTRY_FINE_AUTO, ENTRY_GRID + PAPER_SSC,
                                  ENTRY_LETTER + PAPER_SSC};
    double smallest = paper_number("acc", PAPER_SSC, p->set[data])->mean;
    for (size_t k = 0; k < 4; k++) {
        curve_point points[64];
        for (int i = list_points(p, data, entries[k], points) - 1; i >= 0; i--)
            smallest = fmin(smallest, points[i].value);
    }
    return 20 * floor(smallest / 20);
}

/* A line of figure 1: the points of an entry in order of gamma. Twelve powers of ten are the width
 * of the panel, and 100 less the start of the axis its height of 128. */
static void check_curve(const paper *p, const figure *f, const figure_shape *line, int data,
                        int entry) {
    curve_point points[64];
    int count = list_points(p, data, entry, points);
    double width = (f->width - 52 - 14 - 36) / 2;
    qsort(points, (size_t)count, sizeof *points, by_gamma);
    assert_int_equal(line->n_points, count);
    for (int k = 1; k < count; k++) {
        assert_close(line->points[k].x - line->points[0].x,
                     width / 12 * log10(points[k].gamma / points[0].gamma), 1e-6);
        assert_close(line->points[0].y - line->points[k].y,
                     128 * (points[k].value - points[0].value) / (100 - axis_start(p, data)), 1e-6);
    }
}

/* The published grid is a line of its own, with a circle at each point; our finer grid is another,
 * dashed and thinner. */
static void figure_1_has_the_published_grid_apart(void **state) {
    (void)state;
    paper p;
    figure f;
    make_paper(&p, "unused");
    paper_draw_gamma(&p, &f);
    for (int data = 0; data < 2; data++) {
        const figure_shape *letter = find_line(&f, paper_blue, 1.8, 2 * data);
        const figure_shape *grid = find_line(&f, paper_blue, 1.8, 2 * data + 1);
        const figure_shape *fine = find_line(&f, paper_blue, 1.1, 2 * data);
        check_curve(&p, &f, letter, data, ENTRY_LETTER + PAPER_SSC);
        check_curve(&p, &f, grid, data, ENTRY_GRID + PAPER_SSC);
        assert_int_equal(letter->n_points, 5);
        check_curve(&p, &f, fine, data, ENTRY_FINE);
        check_curve(&p, &f, find_line(&f, paper_blue, 1.1, 2 * data + 1), data, ENTRY_FINE_AUTO);
        assert_true(grid->dash == 0 && fine->dash > 0);
        for (int k = 0; k < grid->n_points; k++) {
            int n_dots = 0;
            for (int i = 0; i < f.count; i++)
                n_dots += f.shapes[i].kind == SHAPE_DOT && f.shapes[i].stroke == paper_blue &&
                          f.shapes[i].at.x == grid->points[k].x &&
                          f.shapes[i].at.y == grid->points[k].y;
            assert_int_equal(n_dots, 1);
        }
    }
    figure_free(&f);
    paper_free(&p);
}

/* ---- figure 2 ------------------------------------------------------------------------------- */

enum { ITERATIONS = 60 };

/* The first steps of the printed algorithm are far above those of the others. */
static double made_objective(const experiment *e, int cell, int i) {
    double factor = e->cells[cell].entry == ENTRY_PRINTED && i < 5 ? 3 : 1;
    return factor * (50 + cell * 5 % 7) * (1 + pow(0.8 + 0.01 * (cell % 4), i));
}

/* The bound is that of the last iteration, a little below the smallest objective of all. */
static double made_bound(int cell) {
    return (49.9 + cell * 5 % 7) * (1 - 1e-3);
}

static void add_traces(experiment *e) {
    for (int c = 0; c < e->n_cells; c++) {
        json_t *objective = json_array();
        for (int i = 0; i < ITERATIONS; i++)
            json_array_append_new(objective, json_real(made_objective(e, c, i)));
        json_object_set_new(
            e->cells[c].record, "trace",
            json_pack("{s:o, s:[f, f]}", "objective", objective, "dual", 1.0, made_bound(c)));
    }
}

/* The cell of a grid point. */
static int find_cell(const experiment *e, int data, int entry, int point) {
    int c = 0;
    while (e->cells[c].data != data || e->cells[c].entry != entry || e->cells[c].point != point)
        c++;
    return c;
}

/* Line k of a colour of the first data set: `heights` are the places of its values within the
 * panel, as shares of its height, 120. Places are compared with that of the last point, because the
 * first ones may be left out. */
static void check_trace(const figure *f, const char *colour, int k, const double *heights) {
    const figure_shape *line = find_line(f, colour, 1.7, k);
    const figure_point *last = &line->points[line->n_points - 1];
    double width = (f->width - 52 - 14 - 36) / 2;
    assert_true(line->n_points > ITERATIONS / 2 && line->n_points <= ITERATIONS);
    for (int i = 0; i < line->n_points; i++) {
        double along = log10(ITERATIONS) / 2 - (last->x - line->points[i].x) / width;
        int iteration = (int)lrint(pow(100, along)); /* the axis ends at 100 */
        assert_in_range(iteration, 1, ITERATIONS);
        assert_close(along, log10(iteration) / 2, 1e-6);
        assert_close((last->y - line->points[i].y) / 120,
                     heights[iteration - 1] - heights[ITERATIONS - 1], 1e-6);
    }
}

/* The runs in the order of drawing: in the first two panels published, default, printed, in the
 * third the first two. */
static const struct {
    int entry, point;
    const char *colour;
} runs[] = {{ENTRY_TRACE, 0, paper_orange},
            {ENTRY_TRACE, 1, paper_blue},
            {ENTRY_PRINTED, 0, paper_green},
            {ENTRY_TRACE_OURS, 0, paper_orange},
            {ENTRY_TRACE_OURS, 1, paper_blue}};

/* An objective that is missing in one run does not change where the others are. */
static void a_missing_objective_is_no_zero(void **state) {
    (void)state;
    paper p;
    figure whole, gap;
    make_paper(&p, "unused");
    add_traces(&p.e);
    paper_draw_convergence(&p, &whole);
    int cell = find_cell(&p.e, 0, ENTRY_TRACE, 0);
    json_t *trace = json_object_get(p.e.cells[cell].record, "trace");
    json_array_set_new(json_object_get(trace, "objective"), 30, json_null());
    paper_draw_convergence(&p, &gap);
    const figure_shape *before = find_line(&whole, paper_blue, 1.7, 0),
                       *after = find_line(&gap, paper_blue, 1.7, 0);
    assert_int_equal(before->n_points, after->n_points);
    for (int i = 0; i < before->n_points; i++)
        assert_close(before->points[i].y, after->points[i].y, 1e-9);
    figure_free(&whole);
    figure_free(&gap);
    paper_free(&p);
}

/* At gamma = 1 the objective as it is, on an axis with a margin of a twentieth, which the printed
 * algorithm extends by its end only; then the excess over the bound that the default has proven, on
 * ten powers of ten. */
static void figure_2_shows_the_objective_and_its_excess(void **state) {
    (void)state;
    paper p;
    figure f;
    int cell[5];
    make_paper(&p, "unused");
    add_traces(&p.e);
    paper_draw_convergence(&p, &f);
    double low = INFINITY, high = 0;
    for (int k = 0; k < 5; k++) {
        cell[k] = find_cell(&p.e, 0, runs[k].entry, runs[k].point);
        low = k < 3 ? fmin(low, made_objective(&p.e, cell[k], ITERATIONS - 1)) : low;
        high = k < 3 ? fmax(high, made_objective(&p.e, cell[k], k < 2 ? 0 : ITERATIONS - 1)) : high;
    }
    for (int k = 0; k < 5; k++) {
        double raw[ITERATIONS], above[ITERATIONS], bound = made_bound(cell[k < 3 ? 1 : 4]);
        for (int i = 0; i < ITERATIONS; i++) {
            raw[i] = made_objective(&p.e, cell[k], i) / (1.1 * (high - low));
            above[i] = log10(fmax(made_objective(&p.e, cell[k], i) / bound - 1, 1e-8)) / 10;
        }
        if (k < 3)
            check_trace(&f, runs[k].colour, 0, raw);
        check_trace(&f, runs[k].colour, k < 3 ? 1 : 2, above);
    }
    figure_free(&f);
    paper_free(&p);
}

/* The printed algorithm is not run on large data, which the panel says. */
static void figure_2_says_why_a_curve_is_missing(void **state) {
    (void)state;
    paper p;
    figure f;
    make_paper(&p, "unused");
    add_traces(&p.e);
    p.e.data[1].data.points.n = 5001;
    for (int c = 0; c < p.e.n_cells; c++)
        if (p.e.cells[c].entry == ENTRY_PRINTED && p.e.cells[c].data == 1) {
            json_decref(p.e.cells[c].record);
            p.e.cells[c].record = NULL;
        }
    paper_draw_convergence(&p, &f);
    int count = 0;
    for (int i = 0; i < f.count; i++)
        count += f.shapes[i].kind == SHAPE_TEXT &&
                 strstr(f.shapes[i].text, "not run on more than 5,000 rows") != NULL;
    assert_int_equal(count, 1);
    figure_free(&f);
    paper_free(&p);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* A line for each claim with the verdicts, the broken ones in bold and with their exceptions; and
 * the cells that the paper should not have set in bold. */
static void check_claims(const json_t *data, const paper *p) {
    claim_list *list = claims_find(p);
    assert_non_null(list);
    for (size_t k = 0; k < CLAIM_LINES; k++) {
        bool on_tables = k < CLAIM_OBSERVATIONS;
        const json_t *row = item_of(block_of(data, "claims", on_tables ? 0 : 1), "rows",
                                    on_tables ? k : k - CLAIM_OBSERVATIONS);
        assert_string_equal(text_of(json_array_get(row, 0), "value"), list->line[k].claim);
        size_t first = on_tables ? 0 : CLAIM_LETTER; /* the paper has no numbers for the others */
        for (size_t s = first; s < (on_tables ? CLAIM_SOURCES : CLAIM_OURS + 1); s++) {
            const json_t *cell = json_array_get(row, 1 + s - first);
            const claim_finding *found = &list->line[k].found[s];
            claim_verdict verdict = claim_judge(found);
            const char *word = claim_word((int)s, verdict);
            assert_memory_equal(text_of(cell, "value"), word, strlen(word));
            assert_int_equal(json_is_true(json_object_get(cell, "strong")),
                             verdict == CLAIM_BROKEN);
            assert_non_null(strstr(text_of(cell, "note"), found->exceptions));
        }
    }
    const json_t *sections = json_object_get(data, "sections");
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (strcmp(text_of(json_array_get(sections, i), "id"), "claims") == 0)
            assert_non_null(strstr(text_of(json_array_get(sections, i), "lead"),
                                   "MSRA50 NMI: ssc 72.2 < lda-sc 73.2; YaleB NMI"));
    free(list);
}

/* A number of a block, and the published one in the last table. */
static void check_page_cell(const paper *p, const json_t *data, int block, int method, int set) {
    static const int entries[] = {ENTRY_LETTER, ENTRY_GRID, ENTRY_DEFAULT};
    const json_t *tables = json_object_get(block_of(data, "nmi", 0), "tables");
    const json_t *ours = json_array_get(
        item_of(json_array_get(tables, (size_t)block), "rows", (size_t)method), (size_t)(1 + set));
    const json_t *theirs = json_array_get(
        item_of(json_array_get(tables, PAPER_BLOCKS), "rows", (size_t)method), (size_t)(1 + set));
    double own = shown(best_of(&p->e, set, entries[block] + method, "nmi")), best = 0;
    for (int k = 0; k < PAPER_METHODS; k++)
        best = fmax(best, shown(best_of(&p->e, set, entries[block] + k, "nmi")));
    assert_close(number_of(ours, "value"), own, 1e-5);
    assert_int_equal(json_is_true(json_object_get(ours, "strong")), own == best);
    assert_close(number_of(theirs, "value"), paper_number("nmi", method, p->set[set])->mean, 1e-5);
    assert_int_equal(json_is_true(json_object_get(theirs, "strong")), method == PAPER_SSC);
}

/* The tables of the page, and on how many data sets ssc reaches the published number. */
static void the_page_of_the_paper_compares_with_it(void **state) {
    (void)state;
    char *svg[2] = {"<svg/>", "<svg/>"}, expected[32];
    int reached = 0;
    paper p;
    make_paper(&p, new_folder("paper-page"));
    /* Less than the published numbers of these data sets, more than that of another. */
    for (int i = 0; i < p.e.n_cells; i++)
        if (p.e.cells[i].entry == ENTRY_DEFAULT + PAPER_SSC)
            json_object_set_new(p.e.cells[i].record, "acc", json_real(0.7));
    assert_ok(paper_write_page(&p, svg, NULL));
    json_t *data = read_page_data(p.e.output);
    for (int i = 0; i < 2; i++)
        reached += shown(best_of(&p.e, i, ENTRY_DEFAULT + PAPER_SSC, "acc")) >=
                   paper_number("acc", PAPER_SSC, p.set[i])->mean;
    snprintf(expected, sizeof expected, "%d of 2", reached);
    assert_string_equal(text_of(item_of(block_of(data, "summary", 0), "facts", 0), "value"),
                        expected);
    for (int block = 0; block < PAPER_BLOCKS; block++)
        for (int m = 0; m < PAPER_METHODS; m++)
            for (int i = 0; i < 2; i++)
                check_page_cell(&p, data, block, m, i);
    check_claims(data, &p);
    json_decref(data);
    paper_free(&p);
}

/* ---- running -------------------------------------------------------------------------------- */

/* All cells are found in OUT, and the data sets keep their places in the paper's tables. */
static void a_complete_paper_is_not_computed_again(void **state) {
    (void)state;
    static char output[512];
    snprintf(output, sizeof output, "%s", new_folder("complete"));
    paper first, again = {.e = {.output = output}};
    make_paper(&first, output);
    char path[600];
    snprintf(path, sizeof path, "%s/results.jsonl", output);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (int i = 0; i < first.e.n_cells; i++) {
        char *line = json_dumps(first.e.cells[i].record, JSON_COMPACT);
        fprintf(out, "%s\n", line);
        free(line);
    }
    fclose(out);
    for (int s = 0; s < PAPER_SETS; s++)
        again.found.entry[s] = json_incref(first.found.entry[s]);
    const paper_protocol protocol = {.n_init = 1, .n_seeds = 2, .related = true};
    assert_ok(paper_run(NULL, &protocol, &again));
    assert_int_equal(again.e.n_computed, 0);
    assert_int_equal(again.e.n_found, first.e.n_cells);
    assert_int_equal(again.set[0], 2);
    assert_int_equal(again.set[1], 7);
    paper_free(&again);
    paper_free(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_are_arranged),
        cmocka_unit_test(figure_1_has_the_published_grid_apart),
        cmocka_unit_test(figure_2_shows_the_objective_and_its_excess),
        cmocka_unit_test(a_missing_objective_is_no_zero),
        cmocka_unit_test(figure_2_says_why_a_curve_is_missing),
        cmocka_unit_test(the_page_of_the_paper_compares_with_it),
        cmocka_unit_test(a_complete_paper_is_not_computed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
