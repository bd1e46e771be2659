/* How figures set text, shared by measuring (figure.c) and drawing (figure_render.c). */
#ifndef HUDDLE_EXPERIMENT_FIGURE_FONT_H
#define HUDDLE_EXPERIMENT_FIGURE_FONT_H

#include "experiment/figure.h"

/* Selects the font of figures, unhinted, in this size. */
void figure_set_font(cairo_t *cairo, double size, bool bold);

/* How far left of its anchor a text of this width begins. */
double figure_anchor_offset(text_anchor anchor, double width);

#endif
