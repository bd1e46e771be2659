/* Figures: pictures made of simple shapes, drawn by cairo as SVG, PDF or PNG.
 *
 * A figure is a list of shapes. One routine draws them on every kind of surface, and the same font
 * measures text while a figure is laid out, so that legends and labels can be placed by their real
 * extents. Lengths are points (1/72 inch); y increases downwards.
 *
 * The first failure, such as an allocation, is kept in figure.status. Adding shapes stays safe
 * after it, and figure_render() returns it. */
#ifndef HUDDLE_EXPERIMENT_FIGURE_H
#define HUDDLE_EXPERIMENT_FIGURE_H

#include <cairo.h>
#include <huddle/base.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum shape_kind { SHAPE_BOX, SHAPE_LINE, SHAPE_DOT, SHAPE_TEXT } shape_kind;
typedef enum text_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } text_anchor;

typedef struct figure_point {
    double x, y;
} figure_point;

typedef struct figure_box {
    double x, y, w, h; /* x, y: the corner at the top left */
} figure_box;

/* Colours are "#rrggbb", or NULL for none. */
typedef struct figure_shape {
    shape_kind kind;
    figure_point at;    /* corner of a box, centre of a dot, baseline of a text */
    double w, h;        /* box: width and height; dot: w is the radius; text: w is the font size */
    const char *fill;   /* box, dot, text */
    const char *stroke; /* line, dot */
    double line_width;
    double dash;   /* length of dashes and of gaps; 0 for a solid line */
    bool bold;     /* text */
    bool vertical; /* text, rotated to be read from below */
    text_anchor anchor;
    char *text;
    figure_point *points; /* line */
    int n_points;
} figure_shape;

typedef struct figure {
    const char *name;  /* a word; ids in the SVG begin with it. Borrowed */
    const char *title; /* for readers of the file, not drawn. Borrowed */
    double width, height;
    huddle_status status;
    figure_shape *shapes;
    int count, capacity;
    figure_shape scratch; /* returned instead of a shape that could not be added */
    cairo_t *ruler;       /* measures text */
} figure;

/* Starts an empty figure; width and height may be set at any time before figure_render(). */
void figure_init(figure *f, const char *name, const char *title);
void figure_free(figure *f);

/* Each adds a shape and returns it, so that members that are no argument can be set. The pointer is
 * valid until the next shape is added. */
figure_shape *figure_add_box(figure *f, figure_box box, const char *fill);
figure_shape *figure_add_line(figure *f, int n, const figure_point *points, const char *stroke,
                              double width);
figure_shape *figure_add_segment(figure *f, double x0, double y0, double x1, double y1,
                                 const char *stroke, double width);
figure_shape *figure_add_dot(figure *f, figure_point centre, double radius, const char *fill);
figure_shape *figure_add_text(figure *f, figure_point at, double size, const char *fill,
                              text_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The width of a text of this font size. */
double figure_text_width(figure *f, const char *text, double size, bool bold);

/* Selects the font of figures, unhinted, in this size; and how far left of its anchor a text of
 * this width begins. For measuring and drawing alike. */
void figure_set_font(cairo_t *cairo, double size, bool bold);
double figure_anchor_offset(text_anchor anchor, double width);

typedef enum figure_format { FIGURE_SVG, FIGURE_PDF, FIGURE_PNG } figure_format;

/* Pixels per point of a PNG: 144 dots per inch. */
enum { FIGURE_PNG_SCALE = 2 };

/* Draws the figure on white. *bytes is the content of the file, freed by free(), and ends with a
 * null byte that *size does not count. The same figure gives the same bytes. */
huddle_status figure_render(const figure *f, figure_format format, char **bytes, size_t *size);

#endif
