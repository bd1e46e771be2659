/* Figure 1: ACC and NMI against gamma. Figure 2: objective and duality gap against iteration. */
#include "figure_chart.h"
#include "paper.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char blue[] = "#1f6fb4", orange[] = "#d9731a", green[] = "#2b8a57",
                  shade[] = "#f3f5f8";

enum { PANEL_W = 190, GAP_X = 18, LEFT = 52, RIGHT = 14 };

/* How the panels of all data sets are laid out: in columns, in as many bands as needed. */
typedef struct layout {
    int columns, bands;
    double top, band; /* where the first band begins, how high one is */
} layout;

static layout lay_out(int n, double top, double band) {
    int columns = n <= 5 ? n : (n + 1) / 2;
    return (layout){columns, (n + columns - 1) / columns, top, band};
}

static figure new_figure(const layout *l, const char *title) {
    figure f = {.width = LEFT + RIGHT + l->columns * PANEL_W + (l->columns - 1) * GAP_X,
                .height = l->top + l->bands * l->band + 4};
    f.width = f.width < 460 ? 460 : f.width;
    figure_box(&f, 0, 0, f.width, f.height, paper_white);
    figure_text(&f, 16, 24, 13, ink, ANCHOR_START, "%s", title)->bold = true;
    return f;
}

static chart_panel panel_at(figure *f, const layout *l, int data, double down, double height) {
    int column = data % l->columns, band = data / l->columns;
    return (chart_panel){.figure = f,
                         .x = LEFT + column * (PANEL_W + GAP_X),
                         .y = l->top + band * l->band + down,
                         .w = PANEL_W,
                         .h = height};
}

/* ---- legends -------------------------------------------------------------------------------- */

/* An entry of a legend: returns where the next begins. */
static double legend_line(figure *f, double x, double y, const char *colour, double dash,
                          const char *text) {
    shape *line =
        figure_segment(f, (shape_point){x, y - 3}, (shape_point){x + 20, y - 3}, colour, 1.8);
    line->dash = dash;
    figure_text(f, x + 25, y, 8.5, ink, ANCHOR_START, "%s", text);
    return x + 25 + figure_text_width(text, 8.5, false) + 18;
}

static double legend_dot(figure *f, double x, double y, const char *text) {
    shape *dot = figure_dot(f, x + 5, y - 3, 3, paper_white);
    dot->stroke = ink;
    dot->width = 1.3;
    figure_text(f, x + 14, y, 8.5, ink, ANCHOR_START, "%s", text);
    return x + 14 + figure_text_width(text, 8.5, false) + 18;
}

/* ---- figure 1 ------------------------------------------------------------------------------- */

enum { MOST_POINTS = 64 };

typedef struct curve {
    int n;
    double gamma[MOST_POINTS], value[MOST_POINTS]; /* value in per cent */
} curve;

static void curve_of(const paper *p, int data, int entry, const char *metric, curve *c) {
    int size = grid_size(&p->e, entry);
    c->n = 0;
    for (int k = 0; k < size && c->n < MOST_POINTS; k++) {
        grid_result point = grid_point(&p->e, data, entry, k, metric);
        if (point.cell == NULL)
            continue;
        c->gamma[c->n] = record_number(point.cell->record, "gamma");
        c->value[c->n++] = 100 * point.best;
    }
}

/* The published grid reaches further than the finer one: a thin line through all of them. */
static void merge(const curve *a, const curve *b, curve *all) {
    int i = 0, j = 0;
    all->n = 0;
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && a->gamma[i] <= b->gamma[j]);
        const curve *from = first ? a : b;
        int *at = first ? &i : &j;
        if (all->n == MOST_POINTS)
            return;
        all->gamma[all->n] = from->gamma[*at];
        all->value[all->n++] = from->value[(*at)++];
    }
}

static void draw_metric(const paper *p, const chart_panel *panel, int data, bool prepared,
                        const char *metric, const char *colour) {
    curve fine, grid = {.n = 0}, all;
    double published = paper_number(metric, PAPER_METHODS - 1, p->set[data])->mean;
    double ends[2] = {panel->across.from, panel->across.to}, level[2] = {published, published};
    chart_line(panel, 2, ends, level, colour, 0.8)->dash = 3;
    curve_of(p, data, prepared ? ENTRY_FINE_AUTO : ENTRY_FINE, metric, &fine);
    if (!prepared)
        curve_of(p, data, ENTRY_GRID + PAPER_METHODS - 1, metric, &grid);
    merge(&fine, &grid, &all);
    chart_line(panel, all.n, all.gamma, all.value, colour, 1.8);
    for (int i = 0; i < grid.n; i++) {
        shape *dot = figure_dot(panel->figure, chart_x(panel, grid.gamma[i]),
                                chart_y(panel, grid.value[i]), 3, paper_white);
        dot->stroke = colour;
        dot->width = 1.3;
    }
}

/* Where nothing moves, and where all has become one point. */
static void draw_ends(const paper *p, const chart_panel *panel, int data, bool prepared) {
    const json_t *record =
        grid_point(&p->e, data, prepared ? ENTRY_ENDS_AUTO : ENTRY_ENDS, 0, "acc").cell == NULL
            ? NULL
            : grid_point(&p->e, data, prepared ? ENTRY_ENDS_AUTO : ENTRY_ENDS, 0, "acc")
                  .cell->record;
    double fit = record_number(record, "gamma_fit"), up = record_number(record, "gamma_up");
    double right = panel->x + panel->w;
    if (isfinite(fit))
        figure_box(panel->figure, panel->x, panel->y, chart_x(panel, fit) - panel->x, panel->h,
                   shade);
    if (isfinite(up) && up < panel->across.to)
        figure_box(panel->figure, chart_x(panel, up), panel->y, right - chart_x(panel, up),
                   panel->h, shade);
    chart_mark(panel, fit, ink_light, "fit");
    chart_mark(panel, record_number(record, "gamma"), green, "n/c");
    chart_mark(panel, up, ink_light, "collapse");
    if (up > panel->across.to)
        figure_text(panel->figure, right, panel->y - 13, 7, ink_light, ANCHOR_END,
                    "collapse at %.0e", up);
}

static const char *preparation_of(const paper *p, int data) {
    const experiment_cell *cell = grid_point(&p->e, data, ENTRY_ENDS_AUTO, 0, "acc").cell;
    return cell == NULL ? "auto" : record_text(cell->record, "prepare");
}

static double lowest(const paper *p, int data) {
    static const int entries[] = {ENTRY_FINE, ENTRY_FINE_AUTO, ENTRY_GRID + PAPER_METHODS - 1};
    double least = 100;
    for (size_t k = 0; k < 3; k++) {
        curve c;
        curve_of(p, data, entries[k], "acc", &c);
        for (int i = 0; i < c.n; i++)
            least = fmin(least, c.value[i]);
    }
    return fmax(0, floor(least / 20) * 20);
}

static void draw_gamma_panels(const paper *p, figure *f, const layout *l, int data) {
    enum { HEIGHT = 128, NEXT = 176 };
    double least = lowest(p, data);
    for (int prepared = 0; prepared < 2; prepared++) {
        chart_panel panel = panel_at(f, l, data, 38 + prepared * NEXT, HEIGHT);
        panel.across = (chart_axis){1e-6, 1e6, true};
        panel.up = (chart_axis){least, 100, false};
        draw_ends(p, &panel, data, prepared == 1);
        chart_axes(&panel, true, true);
        draw_metric(p, &panel, data, prepared == 1, "nmi", orange);
        draw_metric(p, &panel, data, prepared == 1, "acc", blue);
        if (prepared == 0)
            figure_text(f, panel.x, panel.y - 26, 11, ink, ANCHOR_START, "%s", p->e.data[data].name)
                ->bold = true;
        figure_text(f, panel.x, panel.y - 13, 8, ink_light, ANCHOR_START, "%s%s",
                    prepared ? "prepared by " : "points as they are",
                    prepared ? preparation_of(p, data) : "");
        if (prepared == 1)
            figure_text(f, panel.x + panel.w / 2, panel.y + panel.h + 25, 8.5, ink, ANCHOR_MIDDLE,
                        "gamma");
        if (data % l->columns == 0)
            figure_text(f, 16, panel.y + panel.h / 2, 8.5, ink, ANCHOR_MIDDLE, "per cent")
                ->upright = true;
    }
}

static figure make_figure1(const paper *p) {
    layout l = lay_out(p->e.n_data, 48, 396);
    figure f = new_figure(&l, "Spectral shrunk clustering against gamma");
    double x = legend_line(&f, 16, 42, blue, 0, "ACC");
    x = legend_line(&f, x, 42, orange, 0, "NMI");
    x = legend_dot(&f, x, 42, "published grid");
    x = legend_line(&f, x, 42, ink_light, 3, "published result");
    figure_text(&f, x, 42, 8.5, ink_light, ANCHOR_START,
                "fit: up to gamma_fit no point moves; collapse: from there on all are one point");
    for (int i = 0; i < p->e.n_data; i++)
        draw_gamma_panels(p, &f, &l, i);
    return f;
}

/* ---- figure 2 ------------------------------------------------------------------------------- */

/* The four runs of a data set: gamma 1 and n/c, each plain and accelerated. */
typedef struct trace {
    int n;
    double *iteration, *objective, *gap;
} trace;

static trace trace_of(const paper *p, int data, int point) {
    grid_result at = grid_point(&p->e, data, ENTRY_TRACE, point, "acc");
    const json_t *kept = at.cell == NULL ? NULL : json_object_get(at.cell->record, "trace");
    const json_t *objective = json_object_get(kept, "objective"),
                 *dual = json_object_get(kept, "dual");
    trace t = {.n = (int)json_array_size(objective)};
    t.iteration = must(calloc((size_t)t.n + 1, sizeof(double)));
    t.objective = must(calloc((size_t)t.n + 1, sizeof(double)));
    t.gap = must(calloc((size_t)t.n + 1, sizeof(double)));
    for (int i = 0; i < t.n; i++) {
        double value = json_number_value(json_array_get(objective, (size_t)i));
        t.iteration[i] = i + 1;
        t.objective[i] = value;
        t.gap[i] = (value - json_number_value(json_array_get(dual, (size_t)i))) / value;
    }
    return t;
}

/* Objectives of the same gamma become how far they are above the least of all, relative to it. */
static void compare_traces(trace *a, trace *b) {
    double least = INFINITY;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k == 0 ? a : b)->n; i++)
            least = fmin(least, (k == 0 ? a : b)->objective[i]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k == 0 ? a : b)->n; i++)
            (k == 0 ? a : b)->objective[i] = (k == 0 ? a : b)->objective[i] / least - 1;
}

/* Of a long run, as many iterations as can be seen. */
static void thin_out(trace *t) {
    int kept = 0;
    double next = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->iteration[i] < next && i + 1 < t->n)
            continue;
        t->iteration[kept] = t->iteration[i];
        t->objective[kept] = t->objective[i];
        t->gap[kept++] = t->gap[i];
        next = 1.015 * t->iteration[i];
    }
    t->n = kept;
}

static void trace_free(trace *t) {
    free(t->iteration);
    free(t->objective);
    free(t->gap);
}

static void draw_trace_panel(figure *f, const layout *l, int data, const trace traces[4],
                             double most, bool gap) {
    enum { HEIGHT = 120, NEXT = 160 };
    static const char *const colours[] = {blue, orange};
    chart_panel panel = panel_at(f, l, data, 20 + gap * NEXT, HEIGHT);
    panel.across = (chart_axis){1, most, true};
    panel.up = gap ? (chart_axis){1e-7, 1, true} : (chart_axis){1e-7, 100, true};
    chart_axes(&panel, true, data % l->columns == 0);
    for (int k = 0; k < 4; k++) {
        shape *line = chart_line(&panel, traces[k].n, traces[k].iteration,
                                 gap ? traces[k].gap : traces[k].objective, colours[k / 2], 1.7);
        line->dash = k % 2 == 0 ? 3 : 0;
        if (traces[k].n > 0)
            figure_dot(f, line->points[line->n_points - 1].x, line->points[line->n_points - 1].y,
                       2.2, colours[k / 2]);
    }
    if (data % l->columns == 0)
        figure_text(f, 16, panel.y + panel.h / 2, 8.5, ink, ANCHOR_MIDDLE, "%s",
                    gap ? "duality gap" : "objective above the least")
            ->upright = true;
    if (gap)
        figure_text(f, panel.x + panel.w / 2, panel.y + panel.h + 25, 8.5, ink, ANCHOR_MIDDLE,
                    "iteration");
}

static void draw_convergence(const paper *p, figure *f, const layout *l, int data, double most) {
    trace traces[4];
    for (int k = 0; k < 4; k++)
        traces[k] = trace_of(p, data, k);
    compare_traces(&traces[0], &traces[1]);
    compare_traces(&traces[2], &traces[3]);
    for (int k = 0; k < 4; k++)
        thin_out(&traces[k]);
    chart_panel place = panel_at(f, l, data, 0, 0);
    figure_text(f, place.x, place.y + 8, 11, ink, ANCHOR_START, "%s", p->e.data[data].name)->bold =
        true;
    draw_trace_panel(f, l, data, traces, most, false);
    draw_trace_panel(f, l, data, traces, most, true);
    for (int k = 0; k < 4; k++)
        trace_free(&traces[k]);
}

static double most_iterations(const paper *p) {
    double most = 100;
    for (int i = 0; i < p->e.n_data; i++)
        for (int k = 0; k < 4; k++) {
            trace t = trace_of(p, i, k);
            most = fmax(most, 1.1 * t.n);
            trace_free(&t);
        }
    return most;
}

static figure make_figure2(const paper *p) {
    layout l = lay_out(p->e.n_data, 60, 344);
    figure f = new_figure(&l, "Convergence of the shrinking");
    double x = legend_line(&f, 16, 42, blue, 0, "gamma = 1, accelerated");
    x = legend_line(&f, x, 42, blue, 3, "as published");
    x = legend_line(&f, x, 42, orange, 0, "gamma = n/c, accelerated");
    (void)legend_line(&f, x, 42, orange, 3, "as published");
    for (int i = 0; i < p->e.n_data; i++)
        draw_convergence(p, &f, &l, i, most_iterations(p));
    return f;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int write_text(const paper *p, const char *name, const char *text, size_t size) {
    char *path = output_path(&p->e, name);
    huddle_status status = huddle_file_write(path, text, size);
    int result = status == HUDDLE_OK ? EXIT_DONE : failed_call(status, path);
    free(path);
    return result;
}

static int write_figure(const paper *p, figure *f, int number, const char *title, char **svg) {
    char name[32];
    size_t size = 0;
    *svg = figure_svg(f, title);
    char *pdf = figure_pdf(f, title, &size);
    snprintf(name, sizeof name, "figure%d.svg", number);
    int result = write_text(p, name, *svg, strlen(*svg));
    snprintf(name, sizeof name, "figure%d.pdf", number);
    if (result == EXIT_DONE)
        result = write_text(p, name, pdf, size);
    free(pdf);
    figure_free(f);
    return result;
}

int paper_figures(const paper *p, char *svg[2]) {
    figure first = make_figure1(p), second = make_figure2(p);
    int result = write_figure(p, &first, 1, "ACC and NMI against gamma", &svg[0]);
    if (result == EXIT_DONE)
        result = write_figure(p, &second, 2, "Convergence of the shrinking", &svg[1]);
    else
        figure_free(&second);
    return result;
}
