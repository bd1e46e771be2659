#include "experiment/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char chart_ink[] = "#1f2933", chart_ink_light[] = "#5f6b78", chart_grid[] = "#e4e8ed",
           chart_white[] = "#ffffff";
const double chart_text_size = 8.5, chart_tick_size = 7.5;

/* The font size of the labels of marks, and the smallest distance between two of them. */
static const double mark_size = 7, mark_gap = 4;

/* The most ticks that an axis can have. */
enum { MAX_TICKS = 32 };

/* ---- positions ------------------------------------------------------------------------------ */

/* 0 where the axis begins, 1 where it ends; values outside are moved to the nearer end. On a
 * logarithmic axis values that are not positive are at its beginning. */
static double axis_fraction(const chart_axis *axis, double value) {
    double fraction = (value - axis->from) / (axis->to - axis->from);
    if (axis->log)
        fraction = log(fmax(value, 1e-300) / axis->from) / log(axis->to / axis->from);
    return fmin(fmax(fraction, 0), 1);
}

double chart_x(const chart_panel *panel, double value) {
    return panel->x + panel->w * axis_fraction(&panel->x_axis, value);
}

/* y increases downwards in a figure, but upwards in a chart. */
double chart_y(const chart_panel *panel, double value) {
    return panel->y + panel->h * (1 - axis_fraction(&panel->y_axis, value));
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, so that there are about four steps. The limits are roughly
 * the geometric means of neighbouring steps. */
static double linear_step(const chart_axis *axis) {
    double rough = (axis->to - axis->from) / 4, power = pow(10, floor(log10(rough)));
    double leading = rough / power;
    return power * (leading < 1.5 ? 1 : leading < 3.5 ? 2 : leading < 7.5 ? 5 : 10);
}

/* Decades from one number to the next, so that each number has `room` points to itself. */
static int log_step(const chart_axis *axis, double length, double room) {
    double decades = log10(axis->to / axis->from);
    int step = 1;
    while (decades / step * room > length)
        step++;
    return step;
}

/* Multiples of the step within the axis. The tolerance keeps a tick at an end that rounding has
 * moved. */
static int place_ticks(const chart_axis *axis, double length, double room,
                       double values[MAX_TICKS]) {
    int count = 0;
    if (axis->log) {
        int step = log_step(axis, length, room);
        int first = (int)ceil(log10(axis->from) / step - 1e-9) * step;
        for (int k = first; count < MAX_TICKS && k <= log10(axis->to) + 1e-9; k += step)
            values[count++] = pow(10, k);
        return count;
    }
    double step = linear_step(axis);
    for (double v = ceil(axis->from / step - 1e-9) * step;
         count < MAX_TICKS && v <= axis->to + 1e-9 * step; v += step)
        values[count++] = v;
    return count;
}

/* Powers of ten beyond four characters are written with an exponent. */
static void format_tick(const chart_axis *axis, double value, char *text, size_t size) {
    if (axis->log && (value < 0.009 || value > 1001))
        snprintf(text, size, "1e%d", (int)lround(log10(value)));
    else
        snprintf(text, size, "%g", fabs(value) < 1e-12 ? 0 : value);
}

static void draw_x_axis(const chart_panel *panel) {
    double values[MAX_TICKS], bottom = panel->y + panel->h;
    char text[32];
    figure *f = panel->figure;
    /* "1e-6" is about the widest number of a logarithmic axis. */
    double room = figure_text_width(f, "1e-6", chart_tick_size, false) + 8;
    int count = place_ticks(&panel->x_axis, panel->w, room, values);
    for (int i = 0; i < count; i++) {
        double x = chart_x(panel, values[i]);
        format_tick(&panel->x_axis, values[i], text, sizeof text);
        figure_add_segment(f, x, bottom, x, bottom + 3, chart_ink_light, 0.6);
        figure_add_text(f, (figure_point){x, bottom + 12}, chart_tick_size, chart_ink_light,
                        ANCHOR_MIDDLE, "%s", text);
    }
    figure_add_segment(f, panel->x, bottom, panel->x + panel->w, bottom, chart_ink_light, 0.8);
}

/* Grid lines are horizontal only: values are read off the y axis. */
static void draw_y_axis(const chart_panel *panel, bool numbers) {
    double values[MAX_TICKS];
    char text[32];
    figure *f = panel->figure;
    int count = place_ticks(&panel->y_axis, panel->h, 2 * chart_tick_size, values);
    for (int i = 0; i < count; i++) {
        double y = chart_y(panel, values[i]);
        format_tick(&panel->y_axis, values[i], text, sizeof text);
        figure_add_segment(f, panel->x, y, panel->x + panel->w, y, chart_grid, 0.6);
        if (numbers)
            figure_add_text(f, (figure_point){panel->x - 5, y + 2.6}, chart_tick_size,
                            chart_ink_light, ANCHOR_END, "%s", text);
    }
}

/* The horizontal grid lines come first, so that the axis is drawn over them. */
void chart_draw_axes(const chart_panel *panel, bool y_numbers) {
    draw_y_axis(panel, y_numbers);
    draw_x_axis(panel);
}

/* ---- lines and marks ------------------------------------------------------------------------ */

/* A failed allocation leaves a line without points; figure_render() reports the failure. */
figure_shape *chart_draw_line(const chart_panel *panel, int n, const double *x, const double *y,
                              const char *colour, double width) {
    figure_point *points = malloc((size_t)(n + 1) * sizeof *points);
    int count = 0;
    if (points == NULL)
        panel->figure->status = HUDDLE_NO_MEMORY;
    for (int i = 0; i < n && points != NULL; i++)
        if (isfinite(x[i]) && isfinite(y[i]))
            points[count++] = (figure_point){chart_x(panel, x[i]), chart_y(panel, y[i])};
    figure_shape *line = figure_add_line(panel->figure, count, points, colour, width);
    free(points);
    return line;
}

/* Marks are in increasing order, so that one position, the end of the last label, suffices to
 * keep labels apart. Labels are moved left at the right edge first, and right of their
 * predecessor last. */
void chart_draw_marks(const chart_panel *panel, int n, const chart_mark *marks) {
    figure *f = panel->figure;
    double used = panel->x, right = panel->x + panel->w; /* labels stay between these */
    for (int i = 0; i < n; i++) {
        const chart_mark *mark = &marks[i];
        if (!isfinite(mark->value) || mark->value < panel->x_axis.from ||
            mark->value > panel->x_axis.to)
            continue;
        double at = chart_x(panel, mark->value);
        figure_add_segment(f, at, panel->y, at, panel->y + panel->h, mark->colour, 0.9)->dash = 2.5;
        double width = figure_text_width(f, mark->label, mark_size, false);
        double start = fmax(fmin(at - width / 2, right - width), used);
        figure_add_text(f, (figure_point){start, panel->y - 3}, mark_size, mark->colour,
                        ANCHOR_START, "%s", mark->label);
        used = start + width + mark_gap;
    }
}

/* ---- legends -------------------------------------------------------------------------------- */

enum { LEGEND_LINE_LENGTH = 20, LEGEND_DOT_RADIUS = 3, LEGEND_SPACE = 5, LEGEND_GAP = 18 };

static double symbol_width(legend_symbol symbol) {
    return symbol == LEGEND_TEXT  ? 0
           : symbol == LEGEND_DOT ? 2 * LEGEND_DOT_RADIUS + LEGEND_SPACE
                                  : LEGEND_LINE_LENGTH + LEGEND_SPACE;
}

static void draw_entry(figure *f, double x, double y, const legend_entry *entry) {
    double middle = y - chart_text_size / 3; /* half the height of small letters */
    if (entry->symbol == LEGEND_LINE || entry->symbol == LEGEND_LINE_DOT)
        figure_add_segment(f, x, middle, x + LEGEND_LINE_LENGTH, middle, entry->colour, 1.8)->dash =
            entry->dash;
    if (entry->symbol == LEGEND_DOT || entry->symbol == LEGEND_LINE_DOT) {
        double centre = entry->symbol == LEGEND_DOT ? LEGEND_DOT_RADIUS : LEGEND_LINE_LENGTH / 2.0;
        figure_shape *dot =
            figure_add_dot(f, (figure_point){x + centre, middle}, LEGEND_DOT_RADIUS, chart_white);
        dot->stroke = entry->colour;
        dot->line_width = 1.3;
    }
    figure_add_text(f, (figure_point){x + symbol_width(entry->symbol), y}, chart_text_size,
                    entry->symbol == LEGEND_TEXT ? entry->colour : chart_ink, ANCHOR_START, "%s",
                    entry->label);
}

/* Entries fill rows from left to right, like words in a paragraph. The text is measured by the
 * font it will be drawn in. */
figure_box chart_draw_legend(figure *f, figure_point at, double width, int n,
                             const legend_entry *entries) {
    double ascent = 1.1 * chart_text_size, row = 1.7 * chart_text_size;
    double x = at.x, y = at.y + ascent, right = at.x;
    for (int i = 0; i < n; i++) {
        double needed = symbol_width(entries[i].symbol) +
                        figure_text_width(f, entries[i].label, chart_text_size, false);
        if (x > at.x && (entries[i].new_row || x + needed > at.x + width)) {
            x = at.x;
            y += row;
        }
        draw_entry(f, x, y, &entries[i]);
        right = fmax(right, x + needed);
        x += needed + LEGEND_GAP;
    }
    /* The last row ends with the descent of its letters. */
    return (figure_box){at.x, at.y, right - at.x, y + 0.4 * chart_text_size - at.y};
}
