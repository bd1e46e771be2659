/* Huddle, report: writes a fitted model as one self-contained HTML page (libhuddle-report).
 *
 *     huddle_report_options options = huddle_report_defaults();
 *     options.source = "digits";
 *     huddle_report_write(NULL, model, &points, &options, "digits.html");
 *
 * The page shows the clusters, the points, the embedding and the shrunk embedding in scatter plots,
 * the regularisation path, the spectrum, the convergence of the solver and every option. It
 * contains all its data, style and scripts and loads nothing from the network. docs/page.md
 * describes it.
 *
 * The model is only read: nothing is fitted again. The functions need the library
 * libhuddle-report (pkg-config huddle-report, CMake target huddle::report) besides libhuddle.
 */
#ifndef HUDDLE_REPORT_H
#define HUDDLE_REPORT_H

#include "huddle/model.h"
#include "huddle/path.h"

/* Text from which the run can be repeated, such as a command line, and its heading. */
typedef struct huddle_report_command {
    const char *label, *text;
} huddle_report_command;

/* Start from huddle_report_defaults(), then change what is known. Nothing is kept after the call.
 * All strings are UTF-8 and are shown as text, never as HTML. */
typedef struct huddle_report_options {
    const char *title;  /* heading of the page; NULL: the source, or the method's title */
    const char *source; /* name of the data, such as a file name; NULL: unknown */

    const int32_t *classes;         /* n known classes, 0 .. n_classes - 1, to score the labels
                                       against; or NULL */
    int32_t n_classes;              /* 0 without classes */
    const char *const *class_names; /* n_classes strings; NULL: their numbers */

    int32_t image_height, image_width; /* in pixels, if each dense point is an image; else 0. Three
                                          times as many features are colours */
    bool image_column_major;           /* pixels are stored column by column, not row by row */
    bool image_planes;                 /* colours: all red values first, then green, then blue */

    bool follow_path; /* solve the shrink problem for a range of gamma and animate it, if the method
                         shrinks; takes up to as long as the fit. Default: true */

    const huddle_report_command *commands; /* n_commands of them; or NULL */
    int32_t n_commands;

    const char *details; /* a JSON object, or NULL. Its members are added to those of
                            huddle_model_info_json() and replace those of the same name: for
                            example "warnings" or "seconds" of a program that also read the data */

    const char *const *feature_names; /* one string per column of x; NULL: their numbers */
    const char *const *row_names;     /* one string per point, to search for; or NULL */
} huddle_report_options;

HUDDLE_API huddle_report_options huddle_report_defaults(void);

/* Writes the page of a fitted model to the file `path`, completely or not at all. x is what the
 * model was fitted to, or NULL, which omits what needs the points themselves: images, and the
 * scatter plot of the points where the model does not keep them. options may be NULL.
 *
 * HUDDLE_INVALID if the model is not fitted, or x, the classes, the image size or the
 * details do not match it; HUDDLE_NO_MEMORY, HUDDLE_NUMERIC, HUDDLE_CANCELLED; HUDDLE_IO if the
 * file cannot be written. */
HUDDLE_API huddle_status huddle_report_write(huddle_context *context, const huddle_model *model,
                                             const huddle_points *x,
                                             const huddle_report_options *options,
                                             const char *path);

/* A regularisation path and the labels taken from it. */
typedef struct huddle_report_walk {
    const huddle_path *path; /* of the model's embedding and shrink graph, with keep_shrunk */
    const int32_t *labels;   /* path->n labels, 0 .. n_clusters - 1 (huddle_path_labels) */
    int32_t n_clusters;
    huddle_path_choice choice;
    double seconds; /* time that the path took; 0 if unknown */
} huddle_report_walk;

/* The same for a path that was followed from the model's embedding: the moving points, the tree of
 * fusions and a table of the levels. options->follow_path is not used. Fails likewise, and with
 * HUDDLE_INVALID if the path is not of as many points as the model. */
HUDDLE_API huddle_status huddle_report_write_path(huddle_context *context,
                                                  const huddle_model *model, const huddle_points *x,
                                                  const huddle_report_walk *walk,
                                                  const huddle_report_options *options,
                                                  const char *path);

/* What the page of a path describes, as a JSON object: n, d, graph, embed and warnings of the
 * model, then seconds, n_clusters, gamma_fit, gamma_up, levels, fusions and choice of the path.
 * Freed by huddle_free(). HUDDLE_INVALID as huddle_report_write_path(); HUDDLE_NO_MEMORY. */
HUDDLE_API huddle_status huddle_report_path_json(const huddle_model *model,
                                                 const huddle_report_walk *walk, char **json);

#endif
