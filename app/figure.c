#include "figure.h"

#include "talk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static shape *add(figure *f, shape made) {
    if (f->count == f->room) {
        f->room = f->room == 0 ? 256 : 2 * f->room;
        f->shapes = must(realloc(f->shapes, (size_t)f->room * sizeof *f->shapes));
    }
    f->shapes[f->count] = made;
    return &f->shapes[f->count++];
}

shape *figure_box(figure *f, double x, double y, double w, double h, const char *fill) {
    return add(f, (shape){.kind = SHAPE_BOX, .at = {x, y}, .w = w, .h = h, .fill = fill});
}

shape *figure_line(figure *f, int n, const shape_point *points, const char *stroke, double width) {
    shape made = {.kind = SHAPE_LINE, .stroke = stroke, .width = width, .n_points = n};
    made.points = must(malloc((size_t)(n + 1) * sizeof *points));
    memcpy(made.points, points, (size_t)n * sizeof *points);
    return add(f, made);
}

shape *figure_segment(figure *f, shape_point from, shape_point to, const char *stroke,
                      double width) {
    return figure_line(f, 2, (const shape_point[]){from, to}, stroke, width);
}

shape *figure_dot(figure *f, double x, double y, double radius, const char *fill) {
    return add(f, (shape){.kind = SHAPE_DOT, .at = {x, y}, .w = radius, .fill = fill});
}

shape *figure_text(figure *f, double x, double y, double size, const char *fill, text_anchor anchor,
                   const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return add(f, (shape){.kind = SHAPE_TEXT,
                          .at = {x, y},
                          .w = size,
                          .fill = fill,
                          .anchor = anchor,
                          .text = must(strdup(text))});
}

void figure_free(figure *f) {
    for (int i = 0; i < f->count; i++) {
        free(f->shapes[i].text);
        free(f->shapes[i].points);
    }
    free(f->shapes);
    *f = (figure){0};
}
