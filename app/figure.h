/* Pictures made of plain shapes, written as SVG and as PDF. Lengths are points, y runs down. */
#ifndef HUDDLE_APP_FIGURE_H
#define HUDDLE_APP_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum shape_kind { SHAPE_BOX, SHAPE_LINE, SHAPE_DOT, SHAPE_TEXT } shape_kind;
typedef enum text_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } text_anchor;

typedef struct shape_point {
    double x, y;
} shape_point;

/* Colours are "#rrggbb", or NULL for none. */
typedef struct shape {
    shape_kind kind;
    shape_point at;     /* corner, centre or baseline */
    double w, h;        /* of a box; w is a dot's radius or a text's size */
    const char *fill;   /* box, dot, text */
    const char *stroke; /* line, dot */
    double width;       /* of the stroke */
    double dash;        /* length of dashes and gaps; 0: none */
    bool bold, upright; /* text; upright: turned to read from below */
    text_anchor anchor;
    char *text;
    shape_point *points; /* of a line */
    int n_points;
} shape;

typedef struct figure {
    double width, height;
    shape *shapes;
    int count, room;
} figure;

/* Each adds a shape; what is not an argument can be set in the shape returned, until the next is
 * added. */
shape *figure_box(figure *f, double x, double y, double w, double h, const char *fill);
shape *figure_line(figure *f, int n, const shape_point *points, const char *stroke, double width);
shape *figure_segment(figure *f, shape_point from, shape_point to, const char *stroke,
                      double width);
shape *figure_dot(figure *f, double x, double y, double radius, const char *fill);
shape *figure_text(figure *f, double x, double y, double size, const char *fill, text_anchor anchor,
                   const char *format, ...) __attribute__((format(printf, 7, 8)));
void figure_free(figure *f);

/* The width of a text in Helvetica of this size. */
double figure_text_width(const char *text, double size, bool bold);

/* The whole file's text; its size, if size is not NULL. To be freed. */
char *figure_svg(const figure *f, const char *title);
char *figure_pdf(const figure *f, const char *title, size_t *size);

#endif
