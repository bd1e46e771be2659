/* A figure as SVG. */
#include "figure.h"

#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_escaped(FILE *out, const char *text) {
    for (; *text != '\0'; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
}

static void put_stroke(FILE *out, const shape *s) {
    if (s->stroke == NULL)
        return;
    fprintf(out, " stroke=\"%s\" stroke-width=\"%g\"", s->stroke, s->width);
    if (s->dash > 0)
        fprintf(out, " stroke-dasharray=\"%g\"", s->dash);
}

static void put_text(FILE *out, const shape *s) {
    static const char *const anchors[] = {"start", "middle", "end"};
    /* As a style, which a page that holds the picture does not override. */
    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" style=\"font-family:Helvetica,Arial,"
            "sans-serif;font-size:%gpx;font-weight:%s;fill:%s\"",
            s->at.x, s->at.y, anchors[s->anchor], s->w, s->bold ? "bold" : "normal", s->fill);
    if (s->upright)
        fprintf(out, " transform=\"rotate(-90 %.1f %.1f)\"", s->at.x, s->at.y);
    fputc('>', out);
    put_escaped(out, s->text);
    fputs("</text>\n", out);
}

static void put_shape(FILE *out, const shape *s) {
    const char *fill = s->fill == NULL ? "none" : s->fill;
    switch (s->kind) {
    case SHAPE_BOX:
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                s->at.x, s->at.y, s->w, s->h, fill);
        break;
    case SHAPE_LINE:
        fputs("<polyline fill=\"none\" stroke-linejoin=\"round\"", out);
        put_stroke(out, s);
        fputs(" points=\"", out);
        for (int i = 0; i < s->n_points; i++)
            fprintf(out, "%s%.2f,%.2f", i == 0 ? "" : " ", s->points[i].x, s->points[i].y);
        fputs("\"/>\n", out);
        break;
    case SHAPE_DOT:
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%g\" fill=\"%s\"", s->at.x, s->at.y, s->w,
                fill);
        put_stroke(out, s);
        fputs("/>\n", out);
        break;
    case SHAPE_TEXT:
        put_text(out, s);
        break;
    }
}

char *figure_svg(const figure *f, const char *title) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = must(open_memstream(&text, &size));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" role=\"img\">\n<title>",
            f->width, f->height, f->width, f->height);
    put_escaped(out, title);
    fputs("</title>\n", out);
    for (int i = 0; i < f->count; i++)
        put_shape(out, &f->shapes[i]);
    fputs("</svg>\n", out);
    fclose(out);
    return text;
}
