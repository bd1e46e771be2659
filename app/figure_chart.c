#include "figure_chart.h"

#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char ink[] = "#1f2933", ink_light[] = "#6b7785", ink_grid[] = "#e4e8ed",
           paper_white[] = "#ffffff";

/* 0 at the axis' beginning, 1 at its end. */
static double share(const chart_axis *axis, double value) {
    if (axis->log)
        return log(fmax(value, 1e-300) / axis->from) / log(axis->to / axis->from);
    return (value - axis->from) / (axis->to - axis->from);
}

static double within(double value) {
    return fmin(fmax(value, 0), 1);
}

double chart_x(const chart_panel *panel, double value) {
    return panel->x + panel->w * within(share(&panel->across, value));
}

double chart_y(const chart_panel *panel, double value) {
    return panel->y + panel->h * (1 - within(share(&panel->up, value)));
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, so that there are about four steps. */
static double plain_step(const chart_axis *axis) {
    double rough = (axis->to - axis->from) / 4, power = pow(10, floor(log10(rough)));
    double part = rough / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* Powers of ten between two numbers: every so many. */
static int log_step(const chart_axis *axis, double length) {
    double decades = log10(axis->to / axis->from);
    int step = 1;
    while (decades / step * 26 > length)
        step++;
    return step;
}

static int ticks(const chart_axis *axis, double length, double values[32]) {
    int count = 0;
    if (axis->log) {
        int step = log_step(axis, length);
        int first = (int)ceil(log10(axis->from) / step - 1e-9) * step;
        for (int k = first; count < 32 && k <= log10(axis->to) + 1e-9; k += step)
            values[count++] = pow(10, k);
        return count;
    }
    double step = plain_step(axis);
    for (double v = ceil(axis->from / step - 1e-9) * step;
         count < 32 && v <= axis->to + 1e-9 * step; v += step)
        values[count++] = v;
    return count;
}

static void tick_text(const chart_axis *axis, double value, char *text, size_t size) {
    if (axis->log && (value < 0.009 || value > 1001))
        snprintf(text, size, "1e%d", (int)lround(log10(value)));
    else
        snprintf(text, size, "%g", fabs(value) < 1e-12 ? 0 : value);
}

void chart_axes(const chart_panel *panel, bool numbers_below, bool numbers_left) {
    double values[32];
    char text[32];
    figure *f = panel->figure;
    double bottom = panel->y + panel->h;
    int count = ticks(&panel->across, panel->w, values);
    for (int i = 0; i < count; i++) {
        double x = chart_x(panel, values[i]);
        tick_text(&panel->across, values[i], text, sizeof text);
        figure_segment(f, (shape_point){x, bottom}, (shape_point){x, bottom + 3}, ink_light, 0.6);
        if (numbers_below)
            figure_text(f, x, bottom + 12, 7.5, ink_light, ANCHOR_MIDDLE, "%s", text);
    }
    count = ticks(&panel->up, panel->h, values);
    for (int i = 0; i < count; i++) {
        double y = chart_y(panel, values[i]);
        tick_text(&panel->up, values[i], text, sizeof text);
        figure_segment(f, (shape_point){panel->x, y}, (shape_point){panel->x + panel->w, y},
                       ink_grid, 0.6);
        if (numbers_left)
            figure_text(f, panel->x - 5, y + 2.6, 7.5, ink_light, ANCHOR_END, "%s", text);
    }
    figure_segment(f, (shape_point){panel->x, bottom}, (shape_point){panel->x + panel->w, bottom},
                   ink_light, 0.8);
}

/* ---- what is shown -------------------------------------------------------------------------- */

shape *chart_line(const chart_panel *panel, int n, const double *x, const double *y,
                  const char *colour, double width) {
    shape_point *points = must(malloc((size_t)(n + 1) * sizeof *points));
    int count = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]) && isfinite(y[i]))
            points[count++] = (shape_point){chart_x(panel, x[i]), chart_y(panel, y[i])};
    shape *made = figure_line(panel->figure, count, points, colour, width);
    free(points);
    return made;
}

void chart_mark(const chart_panel *panel, double x, const char *colour, const char *name) {
    if (!isfinite(x) || x < panel->across.from || x > panel->across.to)
        return;
    double at = chart_x(panel, x);
    shape_point top = {at, panel->y}, bottom = {at, panel->y + panel->h};
    shape *line = figure_segment(panel->figure, top, bottom, colour, 0.9);
    line->dash = 2.5;
    bool edge = at + figure_text_width(name, 7, false) / 2 > panel->x + panel->w;
    figure_text(panel->figure, edge ? panel->x + panel->w : at, panel->y - 3, 7, colour,
                edge ? ANCHOR_END : ANCHOR_MIDDLE, "%s", name);
}
