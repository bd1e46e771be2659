/* Fitting a model as the command line says: shared by the commands that do. */
#ifndef HUDDLE_APP_FITTING_H
#define HUDDLE_APP_FITTING_H

#include "input.h"

#include <huddle/metrics.h>
#include <huddle/model.h>

/* A fit and what it was made from. */
typedef struct fitting {
    const app_arguments *arguments;
    huddle_context *context;
    const char *source; /* DATA, or the file of the graph or embedding instead */
    huddle_data data;   /* without points if a graph or an embedding stands for them */
    huddle_model *model;
    json_t *warnings; /* of the reading */
    double read_seconds;
    bool counted_classes; /* n_clusters is the number of classes */
    bool has_scores;
    huddle_scores scores;
} fitting;

/* Makes the model and sets its options, which needs no data. */
int fitting_configure(fitting *fit, const char *method);

/* Reads DATA, the graph and the embedding, and settles n_clusters. */
int fitting_read(fitting *fit);

/* Fits, and scores the labels if the classes are known. */
int fitting_run(fitting *fit);

/* The report of `cluster --json`; NULL after a sentence. */
json_t *fitting_report(const fitting *fit);

void fitting_free(fitting *fit);

/* Points to fit, or NULL if there are none. */
const huddle_points *fitting_points(const fitting *fit);

/* Every intermediate as a file in this folder, which is made if need be. */
int fitting_dump(const fitting *fit, const char *folder);

/* The report for people, on stdout. */
void print_summary(const json_t *report);

extern const app_flag method_flags[];  /* -m */
extern const app_flag compute_flags[]; /* --n-threads, --engine, --graph, --embedding */

#endif
