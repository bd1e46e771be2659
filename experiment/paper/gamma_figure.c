/* Figure 1: ACC and NMI of ssc against gamma: to the letter, with our choices, and with the points
 * prepared by auto. */
#include "experiment/paper/paper_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Points: the height of a row of panels, of a panel, and the distances of both panels from the
 * top of their row. */
enum { ROW_HEIGHT = 556, PANEL_HEIGHT = 128, PANEL_DOWN = 38, NEXT_DOWN = 176 };

/* The panels of a data set, and the entries of the plan that each shows: the published grid and our
 * finer one; -1 where there is none. */
enum { LETTER, OURS, PREPARED, N_PANELS };
static const struct {
    const char *title;
    int grid, fine, ends;
} panels[N_PANELS] = {{"to the letter, best delta", ENTRY_LETTER + PAPER_SSC, -1, -1},
                      {"with our choices", ENTRY_GRID + PAPER_SSC, ENTRY_FINE, ENTRY_ENDS},
                      {"preparation", -1, ENTRY_FINE_AUTO, ENTRY_ENDS_AUTO}};

/* More than the points of the finer grid (27). */
enum { MAX_POINTS = 64 };

typedef struct curve {
    int n;
    double gamma[MAX_POINTS], value[MAX_POINTS]; /* value in per cent */
} curve;

static void read_curve(const paper *p, int data, int entry, const char *metric, curve *c) {
    c->n = paper_read_gammas(p, data, entry, metric, MAX_POINTS, c->gamma, c->value);
    for (int k = 0; k < c->n; k++)
        c->value[k] *= 100;
}

/* The published grid is the thick line with circles at its five points; our finer grid, which
 * extends it, is a thin dashed line of the same colour. They are never joined: which number belongs
 * to the protocol must be seen. The published result is a dotted level. The published protocol has
 * no preparation. */
static void draw_metric(const paper *p, const chart_panel *panel, int data, int kind,
                        const char *metric, const char *colour) {
    curve fine, grid;
    double published = paper_number(metric, PAPER_SSC, p->set[data])->mean;
    double ends[2] = {panel->x_axis.from, panel->x_axis.to}, level[2] = {published, published};
    chart_draw_line(panel, 2, ends, level, colour, 0.8)->dash = 1;
    read_curve(p, data, panels[kind].fine, metric, &fine);
    read_curve(p, data, panels[kind].grid, metric, &grid);
    chart_draw_line(panel, fine.n, fine.gamma, fine.value, colour, 1.1)->dash = 3;
    chart_draw_line(panel, grid.n, grid.gamma, grid.value, colour, 1.8);
    for (int i = 0; i < grid.n; i++) {
        figure_point at = {chart_x(panel, grid.gamma[i]), chart_y(panel, grid.value[i])};
        figure_shape *dot = figure_add_dot(panel->figure, at, 3, chart_white);
        dot->stroke = colour;
        dot->line_width = 1.3;
    }
}

/* The record of the fit at n/c, which has the two ends of gamma; NULL to the letter, where they
 * depend on delta. */
static const json_t *ends_record(const paper *p, int data, int kind) {
    if (panels[kind].ends < 0)
        return NULL;
    const experiment_cell *cell = grid_point(&p->e, data, panels[kind].ends, 0, "acc").cell;
    return cell == NULL ? NULL : cell->record;
}

/* One digit and an exponent, written as at the ticks: 5e7. printf() writes at least two digits
 * of exponent and its sign, 5e+07, which atoi() reads. */
static void format_power(double value, char *text, size_t size) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.0e", value); /* 5e+07 */
    snprintf(text, size, "%ce%d", digits[0], atoi(digits + 2));
}

/* Shades the two ranges in which gamma has no effect and marks their limits and n/c, the
 * default. A collapse beyond the axis is mentioned in words. */
static void draw_ends(const chart_panel *panel, const json_t *record) {
    double fit = number_of(record, "gamma_fit"), collapse = number_of(record, "gamma_up");
    double right = panel->x + panel->w;
    /* gamma_fit may be infinite, if no edge pulls. */
    if (isfinite(fit)) {
        figure_box left = {panel->x, panel->y, chart_x(panel, fit) - panel->x, panel->h};
        figure_add_box(panel->figure, left, paper_shade);
    }
    if (isfinite(collapse) && collapse < panel->x_axis.to) {
        double from = chart_x(panel, collapse);
        figure_box rest = {from, panel->y, right - from, panel->h};
        figure_add_box(panel->figure, rest, paper_shade);
    }
    const chart_mark marks[] = {{fit, chart_ink_light, "fit"},
                                {number_of(record, "gamma"), paper_green, "n/c"},
                                {collapse, chart_ink_light, "collapse"}};
    chart_draw_marks(panel, sizeof marks / sizeof *marks, marks);
    if (isfinite(collapse) && collapse > panel->x_axis.to) {
        char text[32];
        format_power(collapse, text, sizeof text);
        figure_add_text(panel->figure, (figure_point){right, panel->y - 13}, 7, chart_ink_light,
                        ANCHOR_END, "collapse at %s", text);
    }
}

/* The lower end of the axis: the smallest accuracy, ours or published, rounded down to a
 * multiple of 20. An NMI below it is drawn at the lower edge. */
static double find_axis_start(const paper *p, int data) {
    static const int entries[] = {ENTRY_FINE, ENTRY_FINE_AUTO, ENTRY_GRID + PAPER_SSC,
                                  ENTRY_LETTER + PAPER_SSC};
    double smallest = paper_number("acc", PAPER_SSC, p->set[data])->mean;
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
        curve c;
        read_curve(p, data, entries[k], "acc", &c);
        for (int i = 0; i < c.n; i++)
            smallest = fmin(smallest, c.value[i]);
    }
    return fmax(0, floor(smallest / 20) * 20);
}

/* NMI is drawn first, so that ACC, from which the axis is chosen, lies over it. */
static void draw_panel(const paper *p, figure *f, const panel_layout *layout, int data, int kind) {
    double down = PANEL_DOWN + kind * NEXT_DOWN;
    chart_panel panel = paper_panel(f, layout, data, down, PANEL_HEIGHT);
    const json_t *record = ends_record(p, data, kind);
    panel.x_axis = (chart_axis){1e-6, 1e6, true};
    panel.y_axis = (chart_axis){find_axis_start(p, data), 100, false};
    if (record != NULL)
        draw_ends(&panel, record);
    chart_draw_axes(&panel, true);
    draw_metric(p, &panel, data, kind, "nmi", paper_orange);
    draw_metric(p, &panel, data, kind, "acc", paper_blue);
    if (kind == LETTER)
        paper_draw_set_name(&panel, 26, p->e.data[data].name);
    if (kind == PREPARED)
        paper_draw_x_title(&panel, "gamma");
    const char *rule = kind != PREPARED ? "" : text_of(record, "prepare");
    figure_add_text(f, (figure_point){panel.x, panel.y - 13}, 8, chart_ink_light, ANCHOR_START,
                    "%s%s%s", panels[kind].title, kind == PREPARED ? " " : "",
                    kind == PREPARED && rule[0] == '\0' ? "auto" : rule);
    if (paper_is_leftmost(layout, data))
        paper_draw_y_title(&panel, "per cent");
}

/* Entries of the legend without a symbol explain the two marks. */
void paper_draw_gamma(const paper *p, figure *f) {
    static const legend_entry legend[] = {
        {"ACC", LEGEND_LINE, paper_blue, 0, false},
        {"NMI", LEGEND_LINE, paper_orange, 0, false},
        {"published grid", LEGEND_LINE_DOT, chart_ink, 0, false},
        {"our extension of it", LEGEND_LINE, chart_ink_light, 3, false},
        {"published result", LEGEND_LINE, chart_ink_light, 1, false},
        {"fit: no point moves below it", LEGEND_TEXT, chart_ink_light, 0, true},
        {"collapse: points of a component coincide above it", LEGEND_TEXT, chart_ink_light, 0,
         false}};
    panel_layout layout =
        paper_start_figure(f, "figure1", "Figure 1. Spectral shrunk clustering against gamma",
                           p->e.n_data, ROW_HEIGHT, sizeof legend / sizeof *legend, legend);
    for (int i = 0; i < p->e.n_data; i++)
        for (int kind = 0; kind < N_PANELS; kind++)
            draw_panel(p, f, &layout, i, kind);
}
