/* Reading the data, fitting a model and describing the fit as the command line asks: shared by
 * `cluster` and `path`. */
#ifndef HUDDLE_APP_FITTING_H
#define HUDDLE_APP_FITTING_H

#include "input.h"
#include "views.h"

#include <huddle/metrics.h>
#include <huddle/model.h>

/* A fit and what it was made from. */
typedef struct fitting {
    const cli_arguments *arguments;
    huddle_context *context;
    const char *source; /* DATA, or the file of the graph or embedding if there is no DATA */
    huddle_data data;   /* without points if only a graph or an embedding is given */
    view_list views;    /* DATA and those of --view; none without DATA */
    huddle_model *model;
    json_t *warnings; /* issued while reading */
    double read_seconds, score_seconds;
    bool counted_classes; /* n_clusters was set to the number of classes */
    double *confidence;   /* one value for each label, or NULL */
    huddle_scores scores; /* if there are classes */
} fitting;

/* Creates the model and sets its options; needs no data. */
int fitting_configure(fitting *fit, const char *method);

/* Reads DATA, the graph and the embedding; sets n_clusters if the classes determine it. */
int fitting_read(fitting *fit);

int fitting_fit(fitting *fit);

/* Computes fit->scores of these labels if the classes are known. */
int fitting_score(fitting *fit, int64_t n, const int32_t *labels);

/* Computes fit->confidence. HUDDLE_INVALID if there are no points and the labels come from them. */
huddle_status fitting_measure_confidence(fitting *fit);

/* What `cluster --json` prints; NULL after a message. */
json_t *fitting_json(const fitting *fit);

/* Adds the time of a further stage to it. */
void fitting_add_seconds(json_t *info, const char *stage, double seconds);

void fitting_free(fitting *fit);

/* The points, or NULL if there are none. */
const huddle_points *fitting_points(const fitting *fit);

/* Writes the page of --report, if there is one: of a clustering, which follows the path of gamma if
 * the method shrinks and then takes time, or of a path that keeps G of every level, if `walk` is
 * not NULL. `info` is what --json prints. */
struct huddle_report_walk;
int fitting_write_page(const fitting *fit, const struct huddle_report_walk *walk, json_t *info);

/* Writes all intermediate results to this folder, which is created if necessary. */
int fitting_dump(const fitting *fit, const char *folder);

/* The files that it may write; ends with NULL. */
extern const char *const dump_files[];

/* Prints the summary of fitting_json() for people to stdout. */
void print_summary(const json_t *info);

extern const cli_flag method_flags[];  /* -m */
extern const cli_flag compute_flags[]; /* --n-threads, --engine, --graph, --embedding */

#endif
