/* Figure 2: the objective of the shrinking against the iteration, by the published iteration and by
 * our default; as it is at gamma = 1, as in the paper, and relative to its minimum at gamma = 1 and
 * n/c. */
#include "experiment/paper/paper_figures.h"

#include <math.h>
#include <stdlib.h>

/* Points: the height of a row of panels, of a panel, and the distances of both panels from the
 * top of their row. */
enum { N_TRACES = 4, ROW_HEIGHT = 344, PANEL_HEIGHT = 120, PANEL_DOWN = 20, NEXT_DOWN = 180 };

/* One run: point `index` of ENTRY_TRACE's grid. With gamma in {1, n/c} and solver in {published,
 * auto} the order is 1 published, 1 auto, n/c published, n/c auto. The objective of `published` is
 * that of every step, that of `auto` the best so far. */
typedef struct trace {
    int n;
    double *iteration, *objective, *excess; /* in one block */
} trace;

static trace read_trace(const paper *p, figure *f, int data, int index) {
    grid_result at = grid_point(&p->e, data, ENTRY_TRACE, index, "acc");
    const json_t *kept = at.cell == NULL ? NULL : json_object_get(at.cell->record, "trace");
    const json_t *objective = json_object_get(kept, "objective");
    size_t n = json_array_size(objective);
    trace t = {.n = (int)n};
    t.iteration = calloc(3 * n + 1, sizeof(double));
    /* An empty trace is drawn as nothing; figure_render() reports the failure. */
    if (t.iteration == NULL) {
        f->status = HUDDLE_NO_MEMORY;
        return (trace){0};
    }
    t.objective = t.iteration + n;
    t.excess = t.objective + n;
    for (int i = 0; i < t.n; i++) {
        t.iteration[i] = i + 1;
        t.objective[i] = json_number_value(json_array_get(objective, (size_t)i));
    }
    return t;
}

/* The relative distance of the objectives of two runs with the same gamma from the smallest of
 * both, which is the best known value of the optimum. */
static void compare_traces(trace pair[2]) {
    double smallest = INFINITY;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pair[k].n; i++)
            smallest = fmin(smallest, pair[k].objective[i]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pair[k].n; i++)
            pair[k].excess[i] = pair[k].objective[i] / smallest - 1;
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

/* Colour is gamma; dashed is the published iteration, which even points of the grid are. */
static void draw_trace(const chart_panel *panel, const trace *t, int index, const double *value) {
    const char *colour = index < 2 ? paper_blue : paper_orange;
    chart_draw_line(panel, t->n, t->iteration, value, colour, 1.7)->dash = index % 2 == 0 ? 3 : 0;
    if (t->n > 0 && isfinite(value[t->n - 1])) /* where the run ended */
        figure_add_dot(
            panel->figure,
            (figure_point){chart_x(panel, t->iteration[t->n - 1]), chart_y(panel, value[t->n - 1])},
            2.2, colour);
}

/* The objectives of both runs at gamma = 1, with a margin of a twentieth of their range. */
static chart_axis raw_axis(const trace pair[2]) {
    double low = INFINITY, high = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pair[k].n; i++) {
            low = fmin(low, pair[k].objective[i]);
            high = fmax(high, pair[k].objective[i]);
        }
    if (!(low < high)) /* no run, or nothing to see */
        return (chart_axis){0, fmax(high, 1), false};
    return (chart_axis){low - (high - low) / 20, high + (high - low) / 20, false};
}

/* The traces are compared in pairs of one gamma: see the order of struct trace. */
static void draw_set(const paper *p, figure *f, const panel_layout *layout, int data,
                     trace traces[N_TRACES], double max_iter) {
    chart_panel raw = paper_panel(f, layout, data, PANEL_DOWN, PANEL_HEIGHT);
    chart_panel excess = paper_panel(f, layout, data, NEXT_DOWN, PANEL_HEIGHT);
    for (int k = 0; k < N_TRACES; k += 2)
        compare_traces(&traces[k]);
    for (int k = 0; k < N_TRACES; k++)
        thin_trace(&traces[k]);
    raw.x_axis = excess.x_axis = (chart_axis){1, max_iter, true};
    raw.y_axis = raw_axis(traces);
    excess.y_axis = (chart_axis){1e-7, 100, true};
    chart_draw_axes(&raw, true); /* every data set has an objective of its own */
    chart_draw_axes(&excess, paper_is_leftmost(layout, data));
    for (int k = 0; k < 2; k++)
        draw_trace(&raw, &traces[k], k, traces[k].objective);
    for (int k = 0; k < N_TRACES; k++)
        draw_trace(&excess, &traces[k], k, traces[k].excess);
    paper_draw_set_name(&raw, 12, p->e.data[data].name);
    paper_draw_x_title(&excess, "iteration");
    if (paper_is_leftmost(layout, data)) {
        paper_draw_y_title(&raw, "objective, gamma = 1");
        paper_draw_y_title(&excess, "objective above minimum");
    }
}

/* All panels have one x axis, so every trace is read before the first is drawn. */
void paper_draw_convergence(const paper *p, figure *f) {
    static const legend_entry legend[] = {
        {"gamma = 1, default", LEGEND_LINE, paper_blue, 0, false},
        {"gamma = 1, published", LEGEND_LINE, paper_blue, 3, false},
        {"gamma = n/c, default", LEGEND_LINE, paper_orange, 0, false},
        {"gamma = n/c, published", LEGEND_LINE, paper_orange, 3, false}};
    enum { N_LEGEND = sizeof legend / sizeof *legend };
    trace traces[PAPER_SETS][N_TRACES];
    double max_iter = 100;
    panel_layout layout = paper_start_figure(f, "figure2", "Convergence of the shrinking",
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
