/* The list of shapes of a figure, and drawing it by cairo on a surface for each file format. */
#include "experiment/figure.h"

#include "report/text.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

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
    if (line.points == NULL)
        f->status = HUDDLE_NO_MEMORY;
    else if (n > 0)
        memcpy(line.points, points, (size_t)n * sizeof *points);
    line.n_points = line.points == NULL ? 0 : n;
    return add_shape(f, line);
}

figure_shape *figure_add_segment(figure *f, double x0, double y0, double x1, double y1,
                                 const char *stroke, double width) {
    return figure_add_line(f, 2, (const figure_point[]){{x0, y0}, {x1, y1}}, stroke, width);
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

/* ---- drawing -------------------------------------------------------------------------------- */

/* "#rrggbb" */
static void set_colour(cairo_t *cairo, const char *colour) {
    unsigned rgb = (unsigned)strtoul(colour + 1, NULL, 16);
    cairo_set_source_rgb(cairo, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

/* Fills and strokes the current path as the shape asks, and clears it: the path would
 * otherwise be continued by the next shape. */
static void paint_path(cairo_t *cairo, const figure_shape *s) {
    if (s->fill != NULL) {
        set_colour(cairo, s->fill);
        cairo_fill_preserve(cairo);
    }
    if (s->stroke != NULL) {
        set_colour(cairo, s->stroke);
        cairo_set_line_width(cairo, s->line_width);
        cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(cairo, &s->dash, s->dash > 0, 0);
        cairo_stroke_preserve(cairo);
    }
    cairo_new_path(cairo);
}

/* The same font and anchor rule as in measuring, so that the text is where the layout expects
 * it. */
static void draw_text(cairo_t *cairo, const figure_shape *s) {
    cairo_text_extents_t extents;
    cairo_save(cairo);
    figure_set_font(cairo, s->w, s->bold);
    cairo_text_extents(cairo, s->text, &extents);
    cairo_translate(cairo, s->at.x, s->at.y);
    if (s->vertical)
        cairo_rotate(cairo, -pi / 2);
    cairo_move_to(cairo, -figure_anchor_offset(s->anchor, extents.x_advance), 0);
    set_colour(cairo, s->fill);
    cairo_show_text(cairo, s->text);
    cairo_restore(cairo);
    cairo_new_path(cairo);
}

/* cairo_line_to() without a current point begins the path. */
static void draw_shape(cairo_t *cairo, const figure_shape *s) {
    switch (s->kind) {
    case SHAPE_BOX:
        cairo_rectangle(cairo, s->at.x, s->at.y, s->w, s->h);
        paint_path(cairo, s);
        break;
    case SHAPE_LINE:
        for (int i = 0; i < s->n_points; i++)
            cairo_line_to(cairo, s->points[i].x, s->points[i].y);
        paint_path(cairo, s);
        break;
    case SHAPE_DOT:
        cairo_arc(cairo, s->at.x, s->at.y, s->w, 0, 2 * pi);
        paint_path(cairo, s);
        break;
    case SHAPE_TEXT:
        draw_text(cairo, s);
        break;
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Collects what cairo writes: a callback for every surface, which appends to a memory stream. */
static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned length) {
    return fwrite(bytes, 1, length, closure) == length ? CAIRO_STATUS_SUCCESS
                                                       : CAIRO_STATUS_WRITE_ERROR;
}

/* A PNG has no stream until it is drawn: it is an image surface, written afterwards. */
static cairo_surface_t *new_surface(const figure *f, figure_format format, FILE *out) {
    cairo_surface_t *surface;
    if (format == FIGURE_SVG)
        return cairo_svg_surface_create_for_stream(write_bytes, out, f->width, f->height);
    if (format == FIGURE_PDF) {
        surface = cairo_pdf_surface_create_for_stream(write_bytes, out, f->width, f->height);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, f->title);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "huddle");
        /* cairo enters the current time, which would make every run's file different. */
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
        return surface;
    }
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(FIGURE_PNG_SCALE * f->width),
                                      (int)ceil(FIGURE_PNG_SCALE * f->height));
}

/* Draws on a surface for the format. The file is complete only when the surface is finished,
 * and failures of the last writes show in the surface's status after that. */
static cairo_status_t draw_file(const figure *f, figure_format format, FILE *out) {
    cairo_surface_t *surface = new_surface(f, format, out);
    cairo_t *cairo = cairo_create(surface);
    if (format == FIGURE_PNG)
        cairo_scale(cairo, FIGURE_PNG_SCALE, FIGURE_PNG_SCALE);
    /* White, because PNG and SVG would be transparent otherwise and unreadable on a dark page. */
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    for (int i = 0; i < f->count; i++)
        draw_shape(cairo, &f->shapes[i]);
    cairo_status_t result = cairo_status(cairo);
    cairo_destroy(cairo);
    if (result == CAIRO_STATUS_SUCCESS && format == FIGURE_PNG)
        result = cairo_surface_write_to_png_stream(surface, write_bytes, out);
    cairo_surface_finish(surface);
    if (result == CAIRO_STATUS_SUCCESS)
        result = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return result;
}

/* ---- SVG ------------------------------------------------------------------------------------ */

/* cairo numbers the glyphs of every file from 0, and groups by a counter of the process.
 * Several figures are shown in one page, where ids must be unique: the figure's name is put
 * before each id and each reference to one. The ids of groups, which nothing refers to, are
 * left out, because they would make the file depend on what was drawn before. The XML
 * declaration is dropped too, since the page embeds the element. */
static void write_svg(FILE *out, const figure *f, const char *svg) {
    static const char *const marks[] = {" id=\"", "=\"#", "url(#"};
    const char *at = strstr(svg, "<svg");
    const char *end = at == NULL ? NULL : strchr(at, '>');
    /* Cannot happen with cairo's own output. */
    if (end == NULL)
        return;
    fprintf(out, "%.*s role=\"img\">\n<title>", (int)(end - at), at);
    write_escaped(out, f->title); /* the only text that is not drawn by cairo */
    fputs("</title>", out);
    for (at = end + 1; *at != '\0';) {
        if (strncmp(at, " id=\"surface", 12) == 0) {
            at += 12 + strcspn(at + 12, "\"");
            at += *at == '"';
            continue;
        }
        size_t length = 0;
        for (size_t k = 0; k < sizeof marks / sizeof *marks && length == 0; k++)
            if (strncmp(at, marks[k], strlen(marks[k])) == 0)
                length = strlen(marks[k]);
        if (length > 0)
            fprintf(out, "%.*s%s-", (int)length, at, f->name);
        else
            fputc(*at, out);
        at += length > 0 ? length : 1;
    }
}

/* open_memstream() ends the text with a zero byte, which write_svg() relies on. */
static huddle_status rewrite_svg(const figure *f, char **bytes, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (out == NULL)
        return HUDDLE_NO_MEMORY;
    write_svg(out, f, *bytes);
    if (fclose(out) != 0) {
        free(text);
        return HUDDLE_NO_MEMORY;
    }
    free(*bytes);
    *bytes = text;
    return HUDDLE_OK;
}

huddle_status figure_render(const figure *f, figure_format format, char **bytes, size_t *size) {
    *bytes = NULL;
    *size = 0;
    if (f->status != HUDDLE_OK)
        return f->status;
    FILE *out = open_memstream(bytes, size);
    if (out == NULL)
        return HUDDLE_NO_MEMORY;
    cairo_status_t drawn = draw_file(f, format, out);
    huddle_status status = HUDDLE_OK;
    if (fclose(out) != 0 || drawn == CAIRO_STATUS_NO_MEMORY || drawn == CAIRO_STATUS_WRITE_ERROR)
        status = HUDDLE_NO_MEMORY; /* the only thing that stops writing to memory */
    else if (drawn != CAIRO_STATUS_SUCCESS)
        status = HUDDLE_INTERNAL;
    else if (format == FIGURE_SVG)
        status = rewrite_svg(f, bytes, size);
    if (status != HUDDLE_OK) {
        free(*bytes);
        *bytes = NULL;
        *size = 0;
    }
    return status;
}
