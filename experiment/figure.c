/* The list of shapes of a figure, and the measuring of text. */
#include "experiment/figure.h"

#include "experiment/figure_font.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text has to be measured while the figure is laid out, before there is a file. */
void figure_init(figure *f, const char *name, const char *title) {
    *f = (figure){.name = name, .title = title};
    /* A recording surface needs no pixels; it only has to provide a font. */
    cairo_surface_t *surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR, NULL);
    f->ruler = cairo_create(surface);
    cairo_surface_destroy(surface);
    /* cairo returns an object in an error state instead of NULL. */
    if (cairo_status(f->ruler) != CAIRO_STATUS_SUCCESS)
        f->status = HUDDLE_NO_MEMORY;
}

void figure_free(figure *f) {
    for (int i = 0; i < f->count; i++) {
        free(f->shapes[i].text);
        free(f->shapes[i].points);
    }
    free(f->shapes);
    cairo_destroy(f->ruler);
    *f = (figure){0};
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* Takes over what the shape points to. Without memory a scratch shape is returned, so that callers
 * need not check each shape; the status is reported when the figure is rendered. */
static figure_shape *add_shape(figure *f, figure_shape shape) {
    if (f->count == f->capacity) {
        int capacity = f->capacity == 0 ? 256 : 2 * f->capacity;
        figure_shape *larger = realloc(f->shapes, (size_t)capacity * sizeof *larger);
        if (larger == NULL) {
            f->status = HUDDLE_NO_MEMORY;
            free(shape.text);
            free(shape.points);
            f->scratch = (figure_shape){0};
            return &f->scratch;
        }
        f->shapes = larger;
        f->capacity = capacity;
    }
    f->shapes[f->count] = shape;
    return &f->shapes[f->count++];
}

/* The members that are not given are zero: no stroke, no dash. */
figure_shape *figure_add_box(figure *f, figure_box box, const char *fill) {
    return add_shape(
        f, (figure_shape){
               .kind = SHAPE_BOX, .at = {box.x, box.y}, .w = box.w, .h = box.h, .fill = fill});
}

figure_shape *figure_add_line(figure *f, int n, const figure_point *points, const char *stroke,
                              double width) {
    figure_shape line = {.kind = SHAPE_LINE, .stroke = stroke, .line_width = width};
    line.points = malloc((size_t)(n + 1) * sizeof *points);
    if (line.points == NULL) {
        f->status = HUDDLE_NO_MEMORY;
        return add_shape(f, line);
    }
    memcpy(line.points, points, (size_t)n * sizeof *points);
    line.n_points = n;
    return add_shape(f, line);
}

figure_shape *figure_add_segment(figure *f, figure_point from, figure_point to, const char *stroke,
                                 double width) {
    return figure_add_line(f, 2, (const figure_point[]){from, to}, stroke, width);
}

figure_shape *figure_add_dot(figure *f, figure_point centre, double radius, const char *fill) {
    return add_shape(f, (figure_shape){.kind = SHAPE_DOT, .at = centre, .w = radius, .fill = fill});
}

/* Texts of figures are short labels; a longer one is cut. */
figure_shape *figure_add_text(figure *f, figure_point at, double size, const char *fill,
                              text_anchor anchor, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    figure_shape shape = {.kind = SHAPE_TEXT, .at = at, .w = size, .fill = fill, .anchor = anchor};
    shape.text = strdup(text);
    if (shape.text == NULL)
        f->status = HUDDLE_NO_MEMORY;
    return add_shape(f, shape);
}

/* ---- text ----------------------------------------------------------------------------------- */

void figure_set_font(cairo_t *cairo, double size, bool bold) {
    cairo_font_options_t *options = cairo_font_options_create();
    /* Hinting fits glyphs to the pixels of one surface. Without it the extents are those of
     * the outlines, and are valid for SVG, PDF and PNG alike. */
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    /* Fontconfig substitutes the nearest installed font, so that the layout is computed from
     * what is really drawn. */
    cairo_select_font_face(cairo, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

/* By the advance of the whole text, as cairo measures it. */
double figure_anchor_offset(text_anchor anchor, double width) {
    return anchor == ANCHOR_START ? 0 : anchor == ANCHOR_MIDDLE ? width / 2 : width;
}

/* The advance, not the ink: texts in a row keep their distance also after a blank. */
double figure_text_width(figure *f, const char *text, double size, bool bold) {
    cairo_text_extents_t extents;
    figure_set_font(f->ruler, size, bold);
    cairo_text_extents(f->ruler, text, &extents);
    return extents.x_advance;
}
