/* Charts: panels with axes to draw lines and dots in, and legends. */
#ifndef HUDDLE_EXPERIMENT_CHART_H
#define HUDDLE_EXPERIMENT_CHART_H

#include "experiment/figure.h"

typedef struct chart_axis {
    double from, to;
    bool log;
} chart_axis;

/* A rectangle of the figure, and the numbers that its sides stand for. */
typedef struct chart_panel {
    figure *figure;
    double x, y, w, h;
    chart_axis x_axis, y_axis;
} chart_panel;

/* Colours that all charts share: text, secondary text, grid lines, background. */
extern const char chart_ink[], chart_ink_light[], chart_grid[], chart_white[];

/* The font sizes of legends and axis titles, and of the numbers at ticks. */
extern const double chart_text_size, chart_tick_size;

/* Where a value lies on the page; values outside the axis are moved to its nearer end. */
double chart_x(const chart_panel *panel, double value);
double chart_y(const chart_panel *panel, double value);

/* Grid lines and ticks at round numbers. The numbers of y are written only if asked for: panels may
 * share that axis. */
void chart_draw_axes(const chart_panel *panel, bool y_numbers);

/* A line through the points that are finite. */
figure_shape *chart_draw_line(const chart_panel *panel, int n, const double *x, const double *y,
                              const char *colour, double width);

/* A value of the x axis, marked by a vertical line with a label above the panel. */
typedef struct chart_mark {
    double value; /* drawn only if it lies inside the axis */
    const char *colour, *label;
} chart_mark;

/* Draws the marks, which must be in increasing order. Labels that would overlap are moved apart. */
void chart_draw_marks(const chart_panel *panel, int n, const chart_mark *marks);

/* The symbol in front of a legend's label. */
typedef enum legend_symbol {
    LEGEND_LINE,
    LEGEND_DOT,
    LEGEND_LINE_DOT, /* a line with a dot on it */
    LEGEND_TEXT
} legend_symbol;

typedef struct legend_entry {
    const char *label;
    legend_symbol symbol; /* LEGEND_TEXT: none */
    const char *colour;
    double dash;  /* of the line */
    bool new_row; /* begin a row in any case */
} legend_entry;

/* Draws the entries from left to right, from (x, y) on, and begins a new row where the next entry
 * would go beyond `width` or asks for it. Returns the rectangle that holds all of them: the caller
 * places what follows below it. */
figure_box chart_draw_legend(figure *f, figure_point at, double width, int n,
                             const legend_entry *entries);

#endif
