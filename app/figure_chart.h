/* Panels with axes, to draw lines and dots in. */
#ifndef HUDDLE_APP_FIGURE_CHART_H
#define HUDDLE_APP_FIGURE_CHART_H

#include "figure.h"

typedef struct chart_axis {
    double from, to;
    bool log;
} chart_axis;

/* A rectangle of the figure with what it shows. */
typedef struct chart_panel {
    figure *figure;
    double x, y, w, h;
    chart_axis across, up;
} chart_panel;

/* Colours and sizes that all charts share. */
extern const char ink[], ink_light[], ink_grid[], paper_white[];

double chart_x(const chart_panel *panel, double value);
double chart_y(const chart_panel *panel, double value);

/* Grid lines and numbers at sensible places; numbers only where wanted. */
void chart_axes(const chart_panel *panel, bool numbers_below, bool numbers_left);

/* A line through those points that are finite, kept inside the panel. */
shape *chart_line(const chart_panel *panel, int n, const double *x, const double *y,
                  const char *colour, double width);

/* A vertical mark with its name above the panel; nothing if it lies outside. */
void chart_mark(const chart_panel *panel, double x, const char *colour, const char *name);

#endif
