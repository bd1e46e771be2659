/* A figure as PDF: one page, two of the fonts that every reader has, nothing compressed. */
#include "figure.h"

#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Widths of Helvetica's characters from space to tilde, in thousandths of the size. */
static const short widths[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

double figure_text_width(const char *text, double size, bool bold) {
    double sum = 0;
    for (; *text != '\0'; text++)
        if (*text >= ' ' && *text <= '~')
            sum += widths[*text - ' '];
    return sum * size / 1000 * (bold ? 1.06 : 1);
}

static void put_colour(FILE *out, const char *colour, const char *operation) {
    unsigned rgb = (unsigned)strtoul(colour + 1, NULL, 16);
    fprintf(out, "%.3f %.3f %.3f %s\n", (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0,
            (rgb & 255) / 255.0, operation);
}

static void put_pen(FILE *out, const shape *s) {
    put_colour(out, s->stroke, "RG");
    fprintf(out, "%g w %s\n", s->width, s->dash > 0 ? "" : "[] 0 d");
    if (s->dash > 0)
        fprintf(out, "[%g] 0 d\n", s->dash);
}

/* Four Bezier curves; 0.5523 makes them a circle to a thousandth. */
static void put_circle(FILE *out, double x, double y, double r) {
    double k = 0.5523 * r;
    fprintf(out, "%.2f %.2f m\n", x + r, y);
    fprintf(out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", x + r, y + k, x + k, y + r, x, y + r);
    fprintf(out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", x - k, y + r, x - r, y + k, x - r, y);
    fprintf(out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", x - r, y - k, x - k, y - r, x, y - r);
    fprintf(out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", x + k, y - r, x + r, y - k, x + r, y);
}

static void put_text(FILE *out, const shape *s, double y) {
    double shift = s->anchor == ANCHOR_START ? 0 : figure_text_width(s->text, s->w, s->bold);
    shift *= s->anchor == ANCHOR_MIDDLE ? 0.5 : 1;
    double x = s->at.x;
    put_colour(out, s->fill, "rg");
    fprintf(out, "BT /%s %g Tf ", s->bold ? "B" : "R", s->w);
    if (s->upright)
        fprintf(out, "0 1 -1 0 %.2f %.2f Tm (", x, y - shift);
    else
        fprintf(out, "1 0 0 1 %.2f %.2f Tm (", x - shift, y);
    for (const char *c = s->text; *c != '\0'; c++) {
        if (*c == '(' || *c == ')' || *c == '\\')
            fputc('\\', out);
        fputc(*c, out);
    }
    fputs(") Tj ET\n", out);
}

static void put_shape(FILE *out, const shape *s, double height) {
    double y = height - s->at.y;
    switch (s->kind) {
    case SHAPE_BOX:
        put_colour(out, s->fill, "rg");
        fprintf(out, "%.2f %.2f %.2f %.2f re f\n", s->at.x, y - s->h, s->w, s->h);
        break;
    case SHAPE_LINE:
        put_pen(out, s);
        for (int i = 0; i < s->n_points; i++)
            fprintf(out, "%.2f %.2f %s\n", s->points[i].x, height - s->points[i].y,
                    i == 0 ? "m" : "l");
        fputs("S\n", out);
        break;
    case SHAPE_DOT:
        if (s->stroke != NULL)
            put_pen(out, s);
        if (s->fill != NULL)
            put_colour(out, s->fill, "rg");
        put_circle(out, s->at.x, y, s->w);
        fprintf(out, "%s\n", s->stroke == NULL ? "f" : s->fill == NULL ? "s" : "b");
        break;
    case SHAPE_TEXT:
        put_text(out, s, y);
        break;
    }
}

char *figure_pdf(const figure *f, const char *title, size_t *size) {
    enum { OBJECTS = 7 };
    char *text = NULL, *page = NULL;
    size_t length = 0, offsets[OBJECTS + 1];
    FILE *content = must(open_memstream(&page, &length));
    fputs("1 j\n", content);
    for (int i = 0; i < f->count; i++)
        put_shape(content, &f->shapes[i], f->height);
    fclose(content);
    FILE *out = must(open_memstream(&text, size));
    fputs("%PDF-1.4\n", out);
    for (int k = 1; k <= OBJECTS; k++) {
        fflush(out);
        offsets[k] = *size;
        fprintf(out, "%d 0 obj\n", k);
        if (k == 1)
            fputs("<< /Type /Catalog /Pages 2 0 R >>", out);
        else if (k == 2)
            fputs("<< /Type /Pages /Kids [3 0 R] /Count 1 >>", out);
        else if (k == 3)
            fprintf(out,
                    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents 4 0 R /Resources "
                    "<< /Font << /R 5 0 R /B 6 0 R >> >> >>",
                    f->width, f->height);
        else if (k == 4)
            fprintf(out, "<< /Length %zu >>\nstream\n%sendstream", length, page);
        else if (k == 7)
            fprintf(out, "<< /Title (%s) /Producer (huddle) >>", title);
        else
            fprintf(out,
                    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica%s /Encoding "
                    "/WinAnsiEncoding >>",
                    k == 6 ? "-Bold" : "");
        fputs("\nendobj\n", out);
    }
    fflush(out);
    size_t table = *size;
    fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS + 1);
    for (int k = 1; k <= OBJECTS; k++)
        fprintf(out, "%010zu 00000 n \n", offsets[k]);
    fprintf(out, "trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%zu\n%%%%EOF\n",
            OBJECTS + 1, table);
    fclose(out);
    free(page);
    return text;
}
