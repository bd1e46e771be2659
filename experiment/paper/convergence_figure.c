/* Figure 2: the objective of the shrinking against the iteration, by the iteration that the paper
 * derives, by the algorithm that it lists, and by our default. As it is at gamma = 1, as in the
 * paper; and above the optimum, which the default certifies, at gamma = 1 and n/c. */
#include "experiment/paper/paper_figures.h"

#include <math.h>
#include <stdlib.h>

/* Points: the height of a row of panels, of a panel, and the distances of the panels from the top
 * of their row. */
enum { ROW_HEIGHT = 476, PANEL_HEIGHT = 120, RAW_DOWN = 20, LETTER_DOWN = 170, OURS_DOWN = 320 };

/* The runs: two problems, gamma = 1 to the letter and n/c with our graphs, by two or three solvers.
 * Each is a point of an entry's grid. */
enum { PUBLISHED, DEFAULT, PRINTED, OURS_PUBLISHED, OURS_DEFAULT, N_TRACES };
static const int places[N_TRACES][2] = {[PUBLISHED] = {ENTRY_TRACE, 0},
                                        [DEFAULT] = {ENTRY_TRACE, 1},
                                        [PRINTED] = {ENTRY_PRINTED, 0},
                                        [OURS_PUBLISHED] = {ENTRY_TRACE_OURS, 0},
                                        [OURS_DEFAULT] = {ENTRY_TRACE_OURS, 1}};

/* One run; of the paper's solvers every step as it is, of the default the best so far. */
typedef struct trace {
    int n;
    double bound;                           /* the largest lower bound of the optimum; 0: none */
    double *iteration, *objective, *excess; /* in one block */
} trace;

static double find_largest(const json_t *list) {
    double largest = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        largest = fmax(largest, json_number_value(json_array_get(list, i)));
    return largest;
}

static trace read_trace(const paper *p, figure *f, int data, int run) {
    grid_result at = grid_point(&p->e, data, places[run][0], places[run][1], "acc");
    const json_t *kept = at.cell == NULL ? NULL : json_object_get(at.cell->record, "trace");
    const json_t *objective = json_object_get(kept, "objective");
    size_t n = json_array_size(objective);
    trace t = {.n = (int)n, .bound = find_largest(json_object_get(kept, "dual"))};
    t.iteration = calloc(3 * n + 1, sizeof(double));
    /* An empty trace is drawn as nothing; figure_render() reports the failure. */
    if (t.iteration == NULL) {
        f->status = HUDDLE_NO_MEMORY;
        return (trace){0};
    }
    t.objective = t.iteration + n;
    t.excess = t.objective + n;
    /* A number that is missing is a gap in the curve. */
    for (int i = 0; i < t.n; i++) {
        const json_t *value = json_array_get(objective, (size_t)i);
        t.iteration[i] = i + 1;
        t.objective[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return t;
}

/* Relative to the bound that the default proves, so that no curve can be below zero and the true
 * distance from the optimum is at most what is drawn. */
static void measure_excess(trace *runs, int n, double bound) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < runs[k].n; i++)
            runs[k].excess[i] = bound > 0 ? runs[k].objective[i] / bound - 1 : NAN;
}

/* Keeps iterations 1.5 % apart: on a logarithmic axis the others could not be seen, but would
 * make the files large. The last one is always kept. */
static void thin_trace(trace *t) {
    int kept = 0;
    double next = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->iteration[i] < next && i + 1 < t->n)
            continue;
        t->iteration[kept] = t->iteration[i];
        t->objective[kept] = t->objective[i];
        t->excess[kept++] = t->excess[i];
        next = 1.015 * t->iteration[i];
    }
    t->n = kept;
}

/* Colour is the solver; the paper's two are dashed. */
static void draw_trace(const chart_panel *panel, const trace *t, int run, const double *value) {
    bool is_default = run == DEFAULT || run == OURS_DEFAULT;
    const char *colour = is_default ? paper_blue : run == PRINTED ? paper_green : paper_orange;
    chart_draw_line(panel, t->n, t->iteration, value, colour, 1.7)->dash = is_default ? 0 : 3;
    if (t->n > 0 && isfinite(value[t->n - 1])) /* where the run ended */
        figure_add_dot(
            panel->figure,
            (figure_point){chart_x(panel, t->iteration[t->n - 1]), chart_y(panel, value[t->n - 1])},
            2.2, colour);
}

/* The objectives at gamma = 1, with a margin of a twentieth of their range. The printed algorithm
 * counts with its end only: its first steps may be a hundred times as high. */
static chart_axis raw_axis(const trace *runs) {
    double low = INFINITY, high = 0;
    for (int k = PUBLISHED; k <= PRINTED; k++)
        for (int i = k == PRINTED && runs[k].n > 0 ? runs[k].n - 1 : 0; i < runs[k].n; i++) {
            low = fmin(low, runs[k].objective[i]);
            high = fmax(high, runs[k].objective[i]);
        }
    if (!(low < high)) /* no run, or nothing to see */
        return (chart_axis){0, fmax(high, 1), false};
    return (chart_axis){low - (high - low) / 20, high + (high - low) / 20, false};
}

/* What lies above the panel is left out, not drawn along its edge as if it were a level. */
static void cut_above(trace *t, double top) {
    for (int i = 0; i < t->n; i++)
        if (t->objective[i] > top)
            t->objective[i] = NAN;
}

/* Why a curve is missing. */
static void explain_missing(const paper *p, const chart_panel *panel, int data, const trace *t) {
    if (t->n > 0 || p->e.data[data].data.points.n <= PAPER_PRINTED_ROWS)
        return;
    figure_add_text(panel->figure,
                    (figure_point){panel->x + panel->w - 3, panel->y + chart_tick_size},
                    chart_tick_size, chart_ink_light, ANCHOR_END,
                    "as listed: not run on more than %d,%03d rows", PAPER_PRINTED_ROWS / 1000,
                    PAPER_PRINTED_ROWS % 1000);
}

/* A panel of runs `from` to `to`, as they are or above the optimum. */
static void draw_runs(const chart_panel *panel, const trace *runs, int from, int to, bool raw) {
    for (int k = from; k <= to; k++)
        draw_trace(panel, &runs[k], k, raw ? runs[k].objective : runs[k].excess);
}

static void draw_set(const paper *p, figure *f, const panel_layout *layout, int data, trace *runs,
                     double max_iter) {
    chart_panel raw = paper_panel(f, layout, data, RAW_DOWN, PANEL_HEIGHT);
    chart_panel letter = paper_panel(f, layout, data, LETTER_DOWN, PANEL_HEIGHT);
    chart_panel ours = paper_panel(f, layout, data, OURS_DOWN, PANEL_HEIGHT);
    measure_excess(&runs[PUBLISHED], PRINTED - PUBLISHED + 1, runs[DEFAULT].bound);
    measure_excess(&runs[OURS_PUBLISHED], OURS_DEFAULT - OURS_PUBLISHED + 1,
                   runs[OURS_DEFAULT].bound);
    for (int k = 0; k < N_TRACES; k++)
        thin_trace(&runs[k]);
    raw.x_axis = letter.x_axis = ours.x_axis = (chart_axis){1, max_iter, true};
    raw.y_axis = raw_axis(runs);
    letter.y_axis = ours.y_axis = (chart_axis){1e-8, 100, true};
    cut_above(&runs[PRINTED], raw.y_axis.to);
    chart_draw_axes(&raw, true); /* every data set has an objective of its own */
    chart_draw_axes(&letter, paper_is_leftmost(layout, data));
    chart_draw_axes(&ours, paper_is_leftmost(layout, data));
    draw_runs(&raw, runs, PUBLISHED, PRINTED, true);
    draw_runs(&letter, runs, PUBLISHED, PRINTED, false);
    draw_runs(&ours, runs, OURS_PUBLISHED, OURS_DEFAULT, false);
    explain_missing(p, &raw, data, &runs[PRINTED]);
    paper_draw_set_name(&raw, 12, p->e.data[data].name);
    paper_draw_x_title(&ours, "iteration");
    if (paper_is_leftmost(layout, data)) {
        paper_draw_y_title(&raw, "objective, gamma = 1");
        paper_draw_y_title(&letter, "above optimum, gamma = 1");
        paper_draw_y_title(&ours, "above optimum, gamma = n/c");
    }
}

/* All panels have one x axis, so every trace is read before the first is drawn. */
void paper_draw_convergence(const paper *p, figure *f) {
    static const legend_entry legend[] = {
        {"published: the iteration as derived", LEGEND_LINE, paper_orange, 3, false},
        {"printed: the algorithm as listed", LEGEND_LINE, paper_green, 3, false},
        {"our default", LEGEND_LINE, paper_blue, 0, false},
        {"gamma = 1: graphs and rows to the letter; n/c: with our choices", LEGEND_TEXT,
         chart_ink_light, 0, true}};
    enum { N_LEGEND = sizeof legend / sizeof *legend };
    trace traces[PAPER_SETS][N_TRACES];
    double max_iter = 100;
    panel_layout layout = paper_start_figure(f, "figure2", "Figure 2. Convergence of the shrinking",
                                             p->e.n_data, ROW_HEIGHT, N_LEGEND, legend);
    for (int i = 0; i < p->e.n_data; i++)
        for (int k = 0; k < N_TRACES; k++) {
            traces[i][k] = read_trace(p, f, i, k);
            max_iter = fmax(max_iter, 1.1 * traces[i][k].n); /* all panels have one axis */
        }
    for (int i = 0; i < p->e.n_data; i++) {
        draw_set(p, f, &layout, i, traces[i], max_iter);
        for (int k = 0; k < N_TRACES; k++)
            free(traces[i][k].iteration);
    }
}
