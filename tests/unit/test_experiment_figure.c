/* Figures by cairo: sizes of files, extents of text, legends, and the two figures of the paper. */
#include "support/support.h"

#include "experiment/chart.h"
#include "experiment/paper/paper_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- boxes ---------------------------------------------------------------------------------- */

/* The rectangle that a text covers: from its ascent to its descent, as wide as its advance. In some
 * fonts the accents of capitals are above the ascent, so the box covers the ink too. */
static figure_box figure_text_box(figure *f, const figure_shape *text) {
    const char *words = text->text == NULL ? "" : text->text;
    cairo_font_extents_t font;
    cairo_text_extents_t ink;
    figure_set_font(f->ruler, text->w, text->bold);
    cairo_font_extents(f->ruler, &font);
    cairo_text_extents(f->ruler, words, &ink);
    double width = ink.x_advance, offset = figure_anchor_offset(text->anchor, width);
    double above = fmax(font.ascent, -ink.y_bearing);
    double height = above + fmax(font.descent, ink.y_bearing + ink.height);
    if (text->vertical) /* turned left: the advance is upwards, the ascent to the left */
        return (figure_box){text->at.x - above, text->at.y - width + offset, height, width};
    return (figure_box){text->at.x - offset, text->at.y - above, width, height};
}

static bool contains(figure_box outer, figure_box inner, double tolerance) {
    return inner.x >= outer.x - tolerance && inner.y >= outer.y - tolerance &&
           inner.x + inner.w <= outer.x + outer.w + tolerance &&
           inner.y + inner.h <= outer.y + outer.h + tolerance;
}

/* What a text needs to be readable: the height of letters without accents, for which ascent and
 * descent leave room, and a point of white at both ends. */
static figure_box needed(figure_box box, bool vertical) {
    if (vertical)
        return (figure_box){box.x + 0.2 * box.w, box.y - 1, 0.6 * box.w, box.h + 2};
    return (figure_box){box.x - 1, box.y + 0.2 * box.h, box.w + 2, 0.6 * box.h};
}

static bool overlap(figure_box a, figure_box b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* Fails if a text leaves the page or covers another one. */
static void check_texts(figure *f) {
    figure_box page = {0, 0, f->width, f->height};
    for (int i = 0; i < f->count; i++) {
        const figure_shape *a = &f->shapes[i];
        if (a->kind != SHAPE_TEXT)
            continue;
        figure_box own = figure_text_box(f, a);
        if (!contains(page, own, 0))
            fail_msg("'%s' leaves the page", a->text);
        for (int j = 0; j < i; j++) {
            const figure_shape *b = &f->shapes[j];
            if (b->kind == SHAPE_TEXT &&
                overlap(needed(own, a->vertical), needed(figure_text_box(f, b), b->vertical)))
                fail_msg("'%s' covers '%s'", a->text, b->text);
        }
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static void make_example(figure *f) {
    figure_init(f, "example", "Less < & more");
    f->width = 240;
    f->height = 120.5;
    figure_add_box(f, (figure_box){10, 10, 50, 20}, "#3366cc");
    figure_add_dot(f, (figure_point){100, 50}, 4, "#cc3366");
    figure_add_segment(f, 10, 60, 200, 70, "#000000", 1)->dash = 2;
    figure_add_text(f, (figure_point){20, 100}, 10, "#000000", ANCHOR_START, "%d points", 42);
}

static void files_have_the_figures_size(void **state) {
    (void)state;
    figure f;
    char *bytes;
    size_t size;
    make_example(&f);
    assert_ok(figure_render(&f, FIGURE_SVG, &bytes, &size));
    assert_int_equal(size, strlen(bytes));
    assert_non_null(strstr(bytes, "width=\"240pt\" height=\"120.5pt\" viewBox=\"0 0 240 120.5\""));
    assert_non_null(strstr(bytes, "<title>Less &lt; &amp; more</title>"));
    free(bytes);
    assert_ok(figure_render(&f, FIGURE_PDF, &bytes, &size));
    assert_memory_equal(bytes, "%PDF-", 5);
    bool media_box = false;
    for (size_t i = 0; i + 24 < size; i++)
        media_box |= memcmp(bytes + i, "/MediaBox [ 0 0 240 120.5", 24) == 0;
    assert_true(media_box);
    free(bytes);
    assert_ok(figure_render(&f, FIGURE_PNG, &bytes, &size));
    const unsigned char *header = (const unsigned char *)bytes;
    assert_memory_equal(header, "\x89PNG\r\n", 6);
    assert_int_equal(header[18] << 8 | header[19], 480);
    assert_int_equal(header[22] << 8 | header[23], 241);
    free(bytes);
    figure_free(&f);
}

/* Also in another order, since cairo numbers surfaces by a counter of the process. */
static void files_are_the_same_every_time(void **state) {
    (void)state;
    for (int format = FIGURE_SVG; format <= FIGURE_PNG; format++) {
        figure a, b;
        char *first, *second;
        size_t first_size, second_size;
        make_example(&a);
        make_example(&b);
        assert_ok(figure_render(&a, (figure_format)format, &first, &first_size));
        assert_ok(figure_render(&b, (figure_format)format, &second, &second_size));
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        for (size_t i = 0; i + 12 < first_size; i++)
            assert_int_not_equal(memcmp(first + i, "CreationDate", 12), 0);
        free(first);
        free(second);
        figure_free(&a);
        figure_free(&b);
    }
}

/* A page holds several figures: ids must differ between them, and references follow them. */
static void ids_begin_with_the_figures_name(void **state) {
    (void)state;
    figure f;
    char *svg;
    size_t size;
    int ids = 0, references = 0;
    make_example(&f);
    assert_ok(figure_render(&f, FIGURE_SVG, &svg, &size));
    for (const char *at = svg; (at = strstr(at, " id=\"")) != NULL; at++, ids++)
        assert_memory_equal(at, " id=\"example-", 13);
    for (const char *at = svg; (at = strstr(at, "href=\"#")) != NULL; at++, references++)
        assert_memory_equal(at, "href=\"#example-", 15);
    assert_true(ids > 5);
    assert_true(references >= 8); /* one for each letter of "42 points" */
    free(svg);
    figure_free(&f);
}

static void a_failure_while_adding_is_returned(void **state) {
    (void)state;
    figure f;
    char *bytes = (char *)1;
    size_t size = 1;
    make_example(&f);
    f.status = HUDDLE_NO_MEMORY;
    assert_int_equal(figure_render(&f, FIGURE_PNG, &bytes, &size), HUDDLE_NO_MEMORY);
    assert_null(bytes);
    assert_int_equal(size, 0);
    figure_free(&f);
}

/* ---- text ----------------------------------------------------------------------------------- */

typedef struct reader {
    const char *bytes;
    size_t size, at;
} reader;

static cairo_status_t read_bytes(void *closure, unsigned char *data, unsigned length) {
    reader *in = closure;
    if (in->at + length > in->size)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(data, in->bytes + in->at, length);
    in->at += length;
    return CAIRO_STATUS_SUCCESS;
}

/* The rectangle of all pixels that are not white, in points. */
static figure_box ink_box(const figure *f) {
    reader in = {0};
    char *bytes;
    int x0 = 1 << 20, y0 = 1 << 20, x1 = -1, y1 = -1;
    assert_ok(figure_render(f, FIGURE_PNG, &bytes, &in.size));
    in.bytes = bytes;
    cairo_surface_t *image = cairo_image_surface_create_from_png_stream(read_bytes, &in);
    assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    const unsigned char *data = cairo_image_surface_get_data(image);
    int width = cairo_image_surface_get_width(image),
        height = cairo_image_surface_get_height(image);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (data[y * cairo_image_surface_get_stride(image) + 4 * x] < 250) {
                x0 = x < x0 ? x : x0;
                x1 = x > x1 ? x : x1;
                y0 = y < y0 ? y : y0;
                y1 = y > y1 ? y : y1;
            }
    cairo_surface_destroy(image);
    free(bytes);
    double scale = FIGURE_PNG_SCALE;
    return (figure_box){x0 / scale, y0 / scale, (x1 + 1 - x0) / scale, (y1 + 1 - y0) / scale};
}

/* What is measured is what is drawn, for every anchor, weight and direction. */
static void ink_lies_in_the_measured_box(void **state) {
    (void)state;
    for (int k = 0; k < 12; k++) {
        figure f;
        figure_init(&f, "text", "text");
        f.width = f.height = 300;
        figure_shape *text = figure_add_text(&f, (figure_point){150, 150}, 14, "#000000",
                                             (text_anchor)(k % 3), "Ägypten, H%d", 8);
        text->bold = k / 3 % 2 == 1;
        text->vertical = k / 6 == 1;
        figure_box box = figure_text_box(&f, text), ink = ink_box(&f);
        assert_true(contains(box, ink, 1));
        double start = text->vertical ? box.y + box.h : box.x, length = fmax(box.w, box.h);
        double shares[] = {0, 0.5, 1};
        assert_close(fabs(150 - start), shares[k % 3] * length, 1e-9);
        /* Along the line the ink fills the box but for the side bearings. */
        assert_true((text->vertical ? ink.h / box.h : ink.w / box.w) > 0.93);
        assert_true((text->vertical ? ink.w / box.w : ink.h / box.h) > 0.6);
        figure_free(&f);
    }
}

static void width_grows_with_size_weight_and_length(void **state) {
    (void)state;
    figure f;
    figure_init(&f, "text", "text");
    double width = figure_text_width(&f, "gamma", 10, false);
    assert_close(figure_text_width(&f, "gamma", 20, false), 2 * width, 1e-6);
    assert_true(figure_text_width(&f, "gamma", 10, true) > width);
    assert_true(figure_text_width(&f, "gamma, prepared", 10, false) > 2 * width);
    assert_true(figure_text_width(&f, "iiiii", 10, false) < width);
    figure_free(&f);
}

/* ---- charts --------------------------------------------------------------------------------- */

static void legend_holds_its_labels(void **state) {
    (void)state;
    static const legend_entry entries[] = {
        {"ACC", LEGEND_LINE, "#1f6fb4", 0, false},
        {"published grid", LEGEND_DOT, "#000000", 0, false},
        {"gamma = n/c, as published", LEGEND_LINE, "#d9731a", 3, false},
        {"fit: no point moves below it", LEGEND_TEXT, "#000000", 0, true},
        {"collapse: points of a component coincide above it", LEGEND_TEXT, "#000000", 0, false}};
    static const double widths[] = {260, 320, 460, 1000};
    double last_height = INFINITY;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        figure f;
        figure_init(&f, "legend", "legend");
        figure_box box = chart_draw_legend(&f, (figure_point){16, 34}, widths[k], 5, entries);
        int labels = 0;
        f.width = box.x + box.w;
        f.height = box.y + box.h;
        assert_true(box.w <= widths[k]);
        assert_true(box.h <= last_height);
        check_texts(&f); /* the page ends where the legend does */
        for (int i = 0; i < f.count; i++) {
            const figure_shape *s = &f.shapes[i];
            if (s->kind == SHAPE_TEXT) {
                assert_true(contains(box, figure_text_box(&f, s), 0.5));
                labels++;
            }
            for (int p = 0; p < s->n_points; p++)
                assert_true(contains(box, (figure_box){s->points[p].x, s->points[p].y, 0, 0}, 0));
        }
        assert_int_equal(labels, 5);
        last_height = box.h;
        figure_free(&f);
    }
}

static void labels_of_marks_are_moved_apart(void **state) {
    (void)state;
    figure f;
    figure_init(&f, "marks", "marks");
    f.width = 240;
    f.height = 100;
    chart_panel panel = {&f, 20, 20, 200, 60, {1e-6, 1e6, true}, {0, 1, false}};
    const chart_mark marks[] = {{1, "#000000", "fit"},
                                {2, "#000000", "n/c"},
                                {9e5, "#000000", "collapse"},
                                {2e7, "#000000", "outside"},
                                {NAN, "#000000", "unknown"}};
    chart_draw_marks(&panel, 5, marks);
    check_texts(&f);
    assert_int_equal(f.count, 6); /* three lines and three labels */
    for (int i = 0; i < f.count; i++)
        if (f.shapes[i].kind == SHAPE_TEXT)
            assert_true(
                contains((figure_box){20, 0, 200, 100}, figure_text_box(&f, &f.shapes[i]), 0));
    figure_free(&f);
}

static void values_have_their_places(void **state) {
    (void)state;
    chart_panel panel = {NULL, 10, 20, 100, 50, {1, 1e4, true}, {-1, 1, false}};
    assert_close(chart_x(&panel, 1), 10, 1e-12);
    assert_close(chart_x(&panel, 100), 60, 1e-12);
    assert_close(chart_x(&panel, 1e9), 110, 1e-12);
    assert_close(chart_x(&panel, 0), 10, 1e-12);
    assert_close(chart_y(&panel, 0.5), 32.5, 1e-12);
    assert_close(chart_y(&panel, -3), 70, 1e-12);
}

/* ---- the paper ------------------------------------------------------------------------------ */

/* Two noisy groups of points in the plane, with labels, as DIR/NAME.csv. */
static void write_points(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    unsigned random = 12345;
    for (int i = 0; i < 40; i++) {
        double at[2];
        for (int k = 0; k < 2; k++) {
            random = random * 1103515245 + 12345;
            at[k] = (random >> 16) % 1000 / 1000.0 + (i % 2) * 0.7;
        }
        fprintf(out, "%g,%g,%s\n", at[0], at[1], i % 2 ? "a" : "b");
    }
    fclose(out);
}

static void check_paper(const char *const *names) {
    char folder[256], output[256];
    figure f;
    snprintf(folder, sizeof folder, "%s/data-%s", test_directory(), names[0]);
    snprintf(output, sizeof output, "%s/out-%s", test_directory(), names[0]);
    assert_int_equal(mkdir(folder, 0777), 0);
    for (int i = 0; names[i] != NULL; i++)
        write_points(folder, names[i]);
    paper p = {.e = {.output = output}};
    assert_ok(paper_find(NULL, folder, &p.found));
    assert_ok(paper_run(NULL, &(paper_protocol){.n_init = 1, .n_seeds = 1}, &p));
    for (int k = 0; k < 2; k++) {
        (k == 0 ? paper_draw_gamma : paper_draw_convergence)(&p, &f);
        assert_int_equal(f.status, HUDDLE_OK);
        assert_true(f.width >= 460);
        assert_in_range(f.count, 41, 1000);
        check_texts(&f);
        figure_free(&f);
    }
    assert_ok(paper_write(&p, NULL));
    paper_free(&p);
}

static void figures_of_the_paper_are_readable(void **state) {
    (void)state;
    check_paper((const char *const[]){"ORL", NULL});
    check_paper((const char *const[]){"AR", "BinAlpha", "JAFFE", "MSRA50", "UMIST", "YaleB", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_figures_size),
        cmocka_unit_test(files_are_the_same_every_time),
        cmocka_unit_test(ids_begin_with_the_figures_name),
        cmocka_unit_test(a_failure_while_adding_is_returned),
        cmocka_unit_test(ink_lies_in_the_measured_box),
        cmocka_unit_test(width_grows_with_size_weight_and_length),
        cmocka_unit_test(legend_holds_its_labels),
        cmocka_unit_test(labels_of_marks_are_moved_apart),
        cmocka_unit_test(values_have_their_places),
        cmocka_unit_test(figures_of_the_paper_are_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
