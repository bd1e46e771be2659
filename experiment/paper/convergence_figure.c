/* Figure 2: objective and duality gap against the iteration, at gamma = 1 and n/c, each by the
 * plain and by the accelerated iteration. */
#include "experiment/paper/paper_figures.h"

#include <math.h>
#include <stdlib.h>

/* Points: the height of a row of panels, of a panel, and the distances of both panels from the
 * top of their row. */
enum { N_TRACES = 4, ROW_HEIGHT = 344, PANEL_HEIGHT = 120, PANEL_DOWN = 20, NEXT_DOWN = 180 };

/* One run: point `index` of ENTRY_TRACE's grid. With gamma in {1, n/c} and solver in {plain,
 * auto} the order is 1 plain, 1 auto, n/c plain, n/c auto. */
typedef struct trace {
    int n;
    double *iteration, *objective, *gap; /* in one block */
} trace;

/* The relative gap, objective minus dual over objective, is computed here, because the record
 * keeps the two histories only. */
static trace read_trace(const paper *p, figure *f, int data, int index) {
    grid_result at = grid_point(&p->e, data, ENTRY_TRACE, index, "acc");
    const json_t *kept = at.cell == NULL ? NULL : json_object_get(at.cell->record, "trace");
    const json_t *objective = json_object_get(kept, "objective"),
                 *dual = json_object_get(kept, "dual");
    size_t n = json_array_size(objective);
    trace t = {.n = (int)n};
    t.iteration = calloc(3 * n + 1, sizeof(double));
    /* An empty trace is drawn as nothing; figure_render() reports the failure. */
    if (t.iteration == NULL) {
        f->status = HUDDLE_NO_MEMORY;
        return (trace){0};
    }
    t.objective = t.iteration + n;
    t.gap = t.objective + n;
    for (int i = 0; i < t.n; i++) {
        double value = json_number_value(json_array_get(objective, (size_t)i));
        t.iteration[i] = i + 1;
        t.objective[i] = value;
        t.gap[i] = (value - json_number_value(json_array_get(dual, (size_t)i))) / value;
    }
    return t;
}

/* Replaces the objectives of two runs with the same gamma by their relative distance from the
 * smallest of both, which is the best known value of the optimum: the solver may end with a value
 * above its best one. */
static void compare_traces(trace pair[2]) {
    double smallest = INFINITY;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pair[k].n; i++)
            smallest = fmin(smallest, pair[k].objective[i]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pair[k].n; i++)
            pair[k].objective[i] = pair[k].objective[i] / smallest - 1;
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
        t->gap[kept++] = t->gap[i];
        next = 1.015 * t->iteration[i];
    }
    t->n = kept;
}

/* Colour is gamma, the dash is the iteration as published; even points of the grid are the plain
 * ones. */
static void draw_panel(const chart_panel *panel, const trace traces[N_TRACES], bool gap) {
    for (int k = 0; k < N_TRACES; k++) {
        const char *colour = k < 2 ? paper_blue : paper_orange;
        const trace *t = &traces[k];
        const double *value = gap ? t->gap : t->objective;
        chart_draw_line(panel, t->n, t->iteration, value, colour, 1.7)->dash = k % 2 == 0 ? 3 : 0;
        if (t->n > 0 && isfinite(value[t->n - 1])) /* where the run ended */
            figure_add_dot(panel->figure,
                           (figure_point){chart_x(panel, t->iteration[t->n - 1]),
                                          chart_y(panel, value[t->n - 1])},
                           2.2, colour);
    }
}

/* The traces are compared in pairs of one gamma: see the order of struct trace. */
static void draw_set(const paper *p, figure *f, const panel_layout *layout, int data,
                     trace traces[N_TRACES], double max_iter) {
    compare_traces(&traces[0]);
    compare_traces(&traces[2]);
    for (int k = 0; k < N_TRACES; k++)
        thin_trace(&traces[k]);
    for (int gap = 0; gap < 2; gap++) {
        double down = gap ? NEXT_DOWN : PANEL_DOWN;
        chart_panel panel = paper_panel(f, layout, data, down, PANEL_HEIGHT);
        panel.x_axis = (chart_axis){1, max_iter, true};
        /* Down to a tenth of the gap that the runs stop at. */
        panel.y_axis = (chart_axis){1e-7, gap ? 1 : 100, true};
        chart_draw_axes(&panel, paper_is_leftmost(layout, data));
        draw_panel(&panel, traces, gap == 1);
        if (gap == 0)
            paper_draw_set_name(&panel, 12, p->e.data[data].name);
        else
            paper_draw_x_title(&panel, "iteration");
        if (paper_is_leftmost(layout, data))
            paper_draw_y_title(&panel, gap ? "duality gap" : "objective above minimum");
    }
}

/* All panels have one x axis, so every trace is read before the first is drawn. */
void paper_draw_convergence(const paper *p, figure *f) {
    static const legend_entry legend[] = {
        {"gamma = 1, accelerated", LEGEND_LINE, paper_blue, 0, false},
        {"gamma = 1, as published", LEGEND_LINE, paper_blue, 3, false},
        {"gamma = n/c, accelerated", LEGEND_LINE, paper_orange, 0, false},
        {"gamma = n/c, as published", LEGEND_LINE, paper_orange, 3, false}};
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
