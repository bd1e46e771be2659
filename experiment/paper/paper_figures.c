#include "experiment/paper/paper_figures.h"

#include <math.h>

/* Blue and orange are distinguishable with the common forms of colour blindness. */
const char paper_blue[] = "#1f6fb4", paper_orange[] = "#d9731a", paper_green[] = "#2b8a57",
           paper_shade[] = "#f3f5f8";

/* Margins of the figure, the gap between columns, and the smallest widths of a panel and a
 * figure. */
enum { MARGIN = 16, LEFT = 52, RIGHT = 14, GAP_X = 36, MIN_PANEL = 190, MIN_WIDTH = 460 };

/* The largest number of data sets in one row; more are divided into two rows. */
enum { MAX_COLUMNS = 5 };

/* The height is known only after the legend has been laid out, because its rows depend on the font.
 */
panel_layout paper_start_figure(figure *f, const char *name, const char *title, int n,
                                double row_height, int n_legend, const legend_entry *legend) {
    int columns = n <= MAX_COLUMNS ? n : (n + 1) / 2;
    /* Few panels are widened, so that the title and the legend fit above them. */
    double gaps = LEFT + RIGHT + (columns - 1) * GAP_X,
           panel = fmax(MIN_PANEL, floor((MIN_WIDTH - gaps) / columns));
    panel_layout layout = {.columns = columns,
                           .rows = (n + columns - 1) / columns,
                           .row_height = row_height,
                           .panel_width = panel};
    figure_init(f, name, title);
    f->width = gaps + columns * panel;
    figure_add_text(f, (figure_point){MARGIN, 24}, 13, chart_ink, ANCHOR_START, "%s", title)->bold =
        true;
    figure_box box =
        chart_draw_legend(f, (figure_point){MARGIN, 34}, f->width - 2 * MARGIN, n_legend, legend);
    layout.top = ceil(box.y + box.h + 12);
    f->height = layout.top + layout.rows * row_height + 4;
    return layout;
}

/* Data sets fill the figure row by row. */
chart_panel paper_panel(figure *f, const panel_layout *layout, int data, double down,
                        double height) {
    int column = data % layout->columns, row = data / layout->columns;
    return (chart_panel){.figure = f,
                         .x = LEFT + column * (layout->panel_width + GAP_X),
                         .y = layout->top + row * layout->row_height + down,
                         .w = layout->panel_width,
                         .h = height};
}

/* Only panels at the left have a title of the y axis: it is the same for all. */
bool paper_is_leftmost(const panel_layout *layout, int data) {
    return data % layout->columns == 0;
}

/* Above the first panel of its column. */
void paper_draw_set_name(const chart_panel *panel, double above, const char *name) {
    figure_add_text(panel->figure, (figure_point){panel->x, panel->y - above}, 11, chart_ink,
                    ANCHOR_START, "%s", name)
        ->bold = true;
}

void paper_draw_x_title(const chart_panel *panel, const char *text) {
    figure_add_text(panel->figure,
                    (figure_point){panel->x + panel->w / 2, panel->y + panel->h + 25},
                    chart_text_size, chart_ink, ANCHOR_MIDDLE, "%s", text);
}

/* In the left margin, rotated, beside the first column only. */
void paper_draw_y_title(const chart_panel *panel, const char *text) {
    figure_add_text(panel->figure, (figure_point){MARGIN, panel->y + panel->h / 2}, chart_text_size,
                    chart_ink, ANCHOR_MIDDLE, "%s", text)
        ->vertical = true;
}
