/* Scores on the page of an experiment: methods by data sets as a heat map, and scores against an
 * option of a grid as charts. */
#include "experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- methods by data sets ------------------------------------------------------------------- */

/* The best of our numbers for a data set, as shown, so that two numbers that read the same are both
 * marked. */
static double find_best(const experiment *e, int data, const char *metric) {
    double best = -1;
    for (int k = 0; k < experiment_entry_count(e); k++) {
        grid_result found = grid_oracle(e, data, k, metric);
        best = found.cell == NULL ? best : fmax(best, shown_percent(found.best));
    }
    return best;
}

static json_t *heat_cell(const experiment *e, int data, int entry, const char *metric,
                         double best) {
    grid_result found = grid_oracle(e, data, entry, metric);
    char at[256] = "";
    if (found.cell == NULL)
        return json_null();
    cell_grid_text(e, found.cell, at, sizeof at);
    double shown = shown_percent(found.best);
    return json_pack("{s:f, s:o, s:o, s:b}", "value", shown, "text", json_sprintf("%.1f", shown),
                     "note",
                     json_sprintf("single restarts %.1f ± %.1f%s%s", shown_percent(found.mean),
                                  shown_percent(found.std), at[0] == '\0' ? "" : "; at ", at),
                     "strong", shown == best);
}

/* Rows are methods, columns data sets: for blocks.heat (report/page/72-tables.js). */
static json_t *heat_json(const experiment *e, const char *metric, const char *title) {
    json_t *columns = json_array(), *names = json_array(), *rows = json_array();
    double *best = malloc((size_t)(e->n_data + 1) * sizeof *best);
    char text[128];
    for (int i = 0; i < e->n_data; i++) {
        page_append(columns, page_text(e->data[i].name));
        if (best != NULL)
            best[i] = find_best(e, i, metric);
    }
    for (int k = 0; k < experiment_entry_count(e); k++) {
        json_t *row = json_array();
        page_append(names, page_text(experiment_title(e, k, text, sizeof text)));
        for (int i = 0; i < e->n_data; i++)
            page_append(row, best == NULL ? NULL : heat_cell(e, i, k, metric, best[i]));
        page_append(rows, row);
    }
    free(best);
    return json_pack("{s:s, s:o, s:o, s:o}", "title", title, "columns", columns, "names", names,
                     "rows", rows);
}

/* Without labels there are no scores. */
static bool has_scores(const experiment *e) {
    for (int i = 0; i < e->n_data; i++)
        for (int k = 0; k < experiment_entry_count(e); k++)
            if (grid_oracle(e, i, k, "acc").cell != NULL)
                return true;
    return false;
}

void add_heat_section(report_page *page, const experiment *e) {
    static const char lead[] =
        "The best grid point of every method on every data set, in per cent; the labels choose it. "
        "The best method of a data set is bold. Point at a number or touch it for the grid point "
        "and the single restarts.";
    if (!has_scores(e))
        return;
    report_section *section = page_section(page, "heat", "Methods by data sets", lead);
    page_add(section, "heat", heat_json(e, "acc", "ACC"));
    page_add(section, "heat", heat_json(e, "nmi", "NMI"));
}

/* ---- scores against an option ---------------------------------------------------------------- */

static bool read_number(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

/* A chart of one entry: its x axis is an option whose values are all numbers. */
typedef struct grid_chart {
    const experiment *e;
    int entry;
    const char *option;
    json_t *series;   /* {label, x, y, dots} */
    double low, high; /* of the option */
} grid_chart;

/* The first option of the grid that has at least two values and only numbers; NULL if none has. */
static const char *find_axis(const experiment *e, int entry) {
    const char *name, *found = NULL;
    json_t *values;
    json_object_foreach(json_object_get(experiment_entry(e, entry), "grid"), name, values) {
        bool numbers = json_array_size(values) > 1;
        for (int i = 0; i < e->n_cells && numbers; i++) {
            double number;
            if (e->cells[i].entry == entry)
                numbers = read_number(text_of(e->cells[i].settings, name), &number);
        }
        if (numbers && found == NULL)
            found = name;
    }
    return found;
}

/* "digits, prepare none": the data set, and the options of the grid that are not on the axis. */
static void series_label(const grid_chart *chart, const experiment_cell *cell, char *text,
                         size_t size) {
    const char *name;
    json_t *values;
    text[0] = '\0';
    append_text(text, size, "%s", chart->e->data[cell->data].name);
    json_object_foreach(json_object_get(experiment_entry(chart->e, chart->entry), "grid"), name,
                        values) {
        if (strcmp(name, chart->option) != 0)
            append_text(text, size, ", %s %s", name, text_of(cell->settings, name));
    }
}

/* The series of that label; a new one if there is none yet. */
static json_t *find_series(grid_chart *chart, const char *label) {
    size_t i;
    json_t *series;
    json_array_foreach(chart->series, i, series) {
        if (strcmp(text_of(series, "label"), label) == 0)
            return series;
    }
    series = json_pack("{s:o, s:[], s:[], s:b}", "label", page_text(label), "x", "y", "dots", true);
    page_append(chart->series, series);
    return series;
}

/* Puts a point where it belongs in the order of x: "n/c" may lie anywhere in a grid. */
static void insert_point(json_t *series, double x, double y) {
    json_t *xs = json_object_get(series, "x"), *ys = json_object_get(series, "y");
    size_t at = 0;
    while (at < json_array_size(xs) && json_number_value(json_array_get(xs, at)) < x)
        at++;
    if (json_array_insert_new(xs, at, json_real(x)) != 0 ||
        json_array_insert_new(ys, at, json_real(y)) != 0)
        page_append(NULL, NULL); /* makes page_write() fail */
}

static void add_points(grid_chart *chart, const char *metric) {
    const experiment *e = chart->e;
    for (int i = 0; i < e->n_data; i++)
        for (int p = 0; p < experiment_grid_size(e, chart->entry); p++) {
            grid_result found = grid_point(e, i, chart->entry, p, metric);
            char label[256];
            double x;
            if (found.cell == NULL)
                continue;
            series_label(chart, found.cell, label, sizeof label);
            if (!read_number(text_of(found.cell->settings, chart->option), &x))
                continue;
            insert_point(find_series(chart, label), x, 100 * found.best);
            chart->low = fmin(chart->low, x);
            chart->high = fmax(chart->high, x);
        }
}

/* Values over more than one and a half decades are spaced by their logarithms. */
static json_t *chart_json(const experiment *e, int entry, const char *option) {
    static const double many = 30;
    grid_chart chart = {.e = e,
                        .entry = entry,
                        .option = option,
                        .series = json_array(),
                        .low = INFINITY,
                        .high = -INFINITY};
    char title[128];
    add_points(&chart, "acc");
    bool empty = !(chart.low < chart.high);
    if (empty) {
        json_decref(chart.series);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:{s:s, s:b}, s:{s:s}}", "title",
                     page_text(experiment_title(e, entry, title, sizeof title)), "series",
                     chart.series, "x", "label", option, "log",
                     chart.low > 0 && chart.high >= many * chart.low, "y", "label",
                     "ACC, per cent");
}

/* One chart for each grid with an option that is a number. */
void add_grid_section(report_page *page, const experiment *e) {
    static const char lead[] = "ACC of the restart with the smallest inertia against an option of "
                               "the grid, one line per data set and value of the other options.";
    json_t *charts = json_array();
    for (int k = 0; k < experiment_entry_count(e); k++) {
        const char *option = find_axis(e, k);
        json_t *chart = option == NULL ? NULL : chart_json(e, k, option);
        if (chart != NULL)
            page_append(charts, chart);
    }
    if (json_array_size(charts) > 0)
        page_add(page_section(page, "grids", "Scores against an option", lead), "charts",
                 json_pack("{s:O}", "charts", charts));
    json_decref(charts);
}
