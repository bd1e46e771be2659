/* Experiments: methods x data sets x grids of options x seeds.
 *
 * A plan (JSON, docs/experiments.md) becomes a list of cells. A cell is one fit; its key names
 * everything its numbers depend on. Finished cells stand in OUT/results.jsonl, one line each, and
 * are never computed again. */
#ifndef HUDDLE_APP_EXPERIMENT_H
#define HUDDLE_APP_EXPERIMENT_H

#include "arguments.h"
#include "report/page.h"

#include <huddle/io.h>
#include <huddle/model.h>
#include <jansson.h>

/* A data set of the plan. */
typedef struct experiment_data {
    char *name;    /* for tables */
    char *source;  /* what to read */
    json_t *entry; /* the plan's, with how to read it; borrowed */
    huddle_data data;
    char fingerprint[33]; /* of points and labels */
} experiment_data;

/* One fit. */
typedef struct experiment_cell {
    int data;  /* which data set */
    int entry; /* which of the plan's methods */
    int point; /* which point of that entry's grid */
    uint64_t seed;
    json_t *settings; /* the options that the plan sets, as texts, in the plan's order */
    json_t *keep;     /* what else to keep: names; borrowed from the plan */
    char key[33];
    json_t *record; /* its line of the results, or NULL if that is still to come */
} experiment_cell;

typedef struct experiment {
    const char *file;   /* the plan's, for sentences */
    char *folder;       /* that sources are relative to */
    json_t *plan;       /* owned */
    const char *output; /* folder */
    experiment_data *data;
    int n_data;
    experiment_cell *cells;
    int n_cells;
    int n_computed, n_found, n_failed; /* cells of this run, of earlier ones, without result */
    int64_t hits, misses;              /* of the shared work */
    bool alone;                        /* share nothing */
    double seconds, cpu_seconds;       /* of this run */
} experiment;

/* ---- plans (plan.c, plan_cells.c) ---------------------------------------------------------- */

/* Takes the plan over, checks all that needs no data and reads the data. `file` stands in sentences
 * and says where sources are relative to. */
int plan_open(huddle_context *context, const char *file, json_t *plan, experiment *made);

/* Reads a plan's text. NULL after a sentence. */
json_t *plan_load(const char *file);

/* Names a text by 32 hexadecimal digits. */
void plan_key(const char *text, char key[33]);

/* Lists the cells. */
int plan_cells(experiment *e);
void experiment_free(experiment *e);

/* Reads the data that an entry of the plan describes. */
int plan_read(huddle_context *context, const char *source, const json_t *entry, huddle_data *data);

/* A value of the plan as an option's text: "n/c", "3 n/c" and "c" become numbers. False if it is
 * none. */
bool plan_value(const json_t *value, const huddle_data *data, char *text, size_t size);

/* The members of an entry that says how to read, of one that names a method. */
extern const char *const plan_data_members[], *const plan_method_members[];

/* The name of entry `index` of the plan's methods, and what tables call it. */
const char *plan_method(const experiment *e, int index);
const char *plan_label(const experiment *e, int index);

/* ---- results (experiment_store.c) ---------------------------------------------------------- */

/* OUT/results.jsonl, open for this process alone. */
typedef struct result_store {
    int file;
    char *path;
} result_store;

/* Makes the folder, takes the lock, and gives the cells the records that are there. */
int store_open(experiment *e, result_store *store);
void store_close(result_store *store);

/* Appends a record; it is on the disc when this returns. False, with errno, if it is not. */
bool store_append(const result_store *store, const json_t *record);

/* Writes OUT/results.csv. */
int store_write_csv(const experiment *e);

/* A path below OUT, to be freed. */
char *output_path(const experiment *e, const char *name);

/* ---- running (experiment_run.c, experiment_fit.c) ------------------------------------------ */

/* Computes what is missing, on as many threads as the context has. */
int experiment_run(huddle_context *context, experiment *e, const result_store *store);

/* Fits one cell and makes its record. NULL if it was cancelled. */
json_t *cell_fit(huddle_context *context, huddle_cache *cache, const experiment *e,
                 const experiment_cell *cell);

/* ---- reading results (experiment_result.c) -------------------------------------------------- */

/* A number of a record, or NAN. */
double record_number(const json_t *record, const char *name);
const char *record_text(const json_t *record, const char *name);

/* "gamma 1, prepare none": what the plan's grid set for this cell. */
void cell_grid_text(const experiment *e, const experiment_cell *cell, char *text, size_t size);

/* One point of a grid, over all seeds. */
typedef struct grid_result {
    const experiment_cell *cell; /* that of the first seed; NULL if there is no result */
    double best, mean, std;      /* of the metric, 0 .. 1 */
} grid_result;

/* The mean over the seeds, for a metric such as "acc". */
grid_result grid_point(const experiment *e, int data, int entry, int point, const char *metric);

/* The grid point at which the best-inertia restart has the largest metric: an oracle. */
grid_result grid_oracle(const experiment *e, int data, int entry, const char *metric);

/* Points in the grid of an entry. */
int grid_size(const experiment *e, int entry);

/* ---- telling (experiment_tell.c) ------------------------------------------------------------ */

/* The result for people on stdout, or one JSON object. */
void experiment_print(const experiment *e);
json_t *experiment_json(const experiment *e);

/* --n-threads, --alone. */
extern const app_flag experiment_flags[];

/* The page, OUT/index.html or `file`. */
int experiment_page(const experiment *e, const char *file);

/* Sections of it, for other pages. */
void add_oracle_section(report_page *page, const experiment *e);
void add_cells_section(report_page *page, const experiment *e);

#endif
