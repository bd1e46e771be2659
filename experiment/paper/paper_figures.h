/* The two figures of the paper, and how their panels are arranged. */
#ifndef HUDDLE_EXPERIMENT_PAPER_FIGURES_H
#define HUDDLE_EXPERIMENT_PAPER_FIGURES_H

#include "experiment/chart.h"
#include "experiment/paper/paper.h"

/* Figure 1: ACC and NMI of ssc against gamma. Figure 2: the objective against the iteration, as it
 * is and above its minimum. Each initialises the figure, to be freed by figure_free(). */
void paper_draw_gamma(const paper *p, figure *f);
void paper_draw_convergence(const paper *p, figure *f);

/* ---- shared by both ------------------------------------------------------------------------- */

extern const char paper_blue[], paper_orange[], paper_green[], paper_shade[];

/* One column of panels for each data set, in one or two rows of columns. */
typedef struct panel_layout {
    int columns, rows;
    double top, row_height; /* where the first row begins, and the height of each */
    double panel_width;
} panel_layout;

/* Initialises the figure with its title and its legend and arranges n data sets below them. */
panel_layout paper_start_figure(figure *f, const char *name, const char *title, int n,
                                double row_height, int n_legend, const legend_entry *legend);

/* The panel of a data set, `down` points below the top of its row. */
chart_panel paper_panel(figure *f, const panel_layout *layout, int data, double down,
                        double height);

/* True for the data sets at the left edge of the figure. */
bool paper_is_leftmost(const panel_layout *layout, int data);

/* Titles of a data set's column, and of a panel's axes. */
void paper_draw_set_name(const chart_panel *panel, double above, const char *name);
void paper_draw_x_title(const chart_panel *panel, const char *text);
void paper_draw_y_title(const chart_panel *panel, const char *text);

#endif
