/* Experiments: methods x data sets x grids of options x seeds.
 *
 * A plan (JSON, docs/experiments.md) is expanded into a list of cells. A cell is one fit; its key
 * is a digest of everything its numbers depend on. Finished cells are lines of OUT/results.jsonl
 * and are never computed again.
 *
 *     plan.c, plan_data.c   read and check a plan, read its data sets
 *     cells.c               expand a plan into cells
 *     store.c               OUT/results.jsonl: find and append records
 *     run.c, cell_fit.c     compute the cells that have no record, on threads (workers.c) and on
 *                           several processes (distributed.c)
 *     results.c             numbers of records, points of grids, the best point
 *     tables.c, experiment_page.c, grid_page.c   output
 *     figure.h, chart.h     pictures by cairo
 *     paper/                the published experiments: a plan, its protocol and its tables
 *
 * Functions that return a huddle_status leave the message of a failure in huddle_last_error(). */
#ifndef HUDDLE_EXPERIMENT_H
#define HUDDLE_EXPERIMENT_H

#include "report/page.h"
#include "report/text.h"

#include <huddle/io.h>
#include <huddle/model.h>
#include <jansson.h>

#include <stdio.h>

/* A key or fingerprint: 32 hexadecimal digits. */
enum { KEY_SIZE = 33 };

/* A data set of the plan. */
typedef struct experiment_data {
    char *name;    /* in tables */
    char *source;  /* file or generator */
    json_t *entry; /* of the plan: how to read it; borrowed */
    huddle_data data;
    char fingerprint[KEY_SIZE]; /* of points and labels */
} experiment_data;

/* One fit. */
typedef struct experiment_cell {
    int data;  /* index of the data set */
    int entry; /* index in the plan's methods */
    int point; /* index in the grid of that entry */
    uint64_t seed;
    json_t *settings; /* the options that the plan sets, as strings, in the plan's order */
    json_t *keep;     /* names of what else to record; borrowed from the plan */
    char key[KEY_SIZE];
    json_t *record; /* its line of the results; NULL until it is computed */
    char *refusal;  /* the message of a fit that failed, of an optional entry */
} experiment_cell;

/* Start from {.output = ..., .alone = ...}. */
typedef struct experiment {
    const char *file;   /* name of the plan, for messages */
    char *folder;       /* the plan's; sources are relative to it */
    json_t *plan;       /* owned */
    const char *output; /* OUT */
    const char *report; /* file of the page, which must not be a source; NULL: in OUT */
    experiment_data *data;
    int n_data;
    experiment_cell *cells;
    int n_cells;
    int n_computed, n_found, n_failed; /* cells: by this run, by earlier ones, without result */
    int n_refused;                     /* cells without result of optional entries */
    int64_t hits, misses;              /* of the caches that cells share */
    bool alone;                        /* no caches */
    double seconds, cpu_seconds;       /* of this run */
} experiment;

/* ---- commands ------------------------------------------------------------------------------- */

/* Runs the plan in a file: experiment_load_plan() and experiment_run_plan(). */
huddle_status experiment_run_file(huddle_context *context, const char *file, experiment *e);

/* Takes ownership of the plan, checks it, reads the data, and computes the cells that OUT does not
 * have yet, on as many threads as the context has. With an engine that distributes rows over
 * processes (mpi) the cells are distributed instead: all processes call this, each computes some of
 * the cells alone on its CPUs, and only process 0 has the results and writes to OUT. `file` is the
 * plan's name in messages; sources are relative to its folder. The context's progress function
 * receives the stage "cells". */
huddle_status experiment_run_plan(huddle_context *context, const char *file, json_t *plan,
                                  experiment *e);
void experiment_free(experiment *e);

/* What process 0 returned, with its message, on all processes: for what only process 0 does. */
huddle_status experiment_first_status(huddle_context *context, huddle_status status);

/* OUT/results.csv. */
huddle_status experiment_write_csv(const experiment *e);

/* A field of such a file: in quotes, with quotes doubled, if it contains a separator. */
void experiment_write_field(FILE *out, const char *text);

/* The page: `file`, or OUT/index.html if that is NULL. */
huddle_status experiment_write_page(const experiment *e, const char *file);

/* The best point of each grid: as tables for people, and as a JSON object (NULL without memory). */
void experiment_print(const experiment *e, FILE *out);
json_t *experiment_json(const experiment *e);

/* ---- failures (plan.c) ---------------------------------------------------------------------- */

/* Puts "about: " before the message of a failed call, unless the message begins with it or the call
 * was cancelled. Returns the status. */
huddle_status experiment_fail_about(huddle_status status, const char *about);

/* HUDDLE_NO_MEMORY with its message. */
huddle_status experiment_no_memory(void);

/* Goes to `done` with HUDDLE_NO_MEMORY if the pointer is NULL. */
#define TRY_POINTER(pointer)                                                                       \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            status = experiment_no_memory();                                                       \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- plans (plan.c, plan_data.c, cells.c) --------------------------------------------------- */

/* Reads a plan's file. */
huddle_status experiment_load_plan(const char *file, json_t **plan);

/* Takes ownership of the plan, checks everything that can be checked without data, then reads the
 * data. */
huddle_status experiment_open_plan(huddle_context *context, const char *file, json_t *plan,
                                   experiment *e);

/* Expands the plan into e->cells, each with its key. */
huddle_status experiment_list_cells(experiment *e);

/* Entry `index` of the plan's methods, the name of its method, and its name in tables. */
const json_t *experiment_entry(const experiment *e, int index);
const char *experiment_method(const experiment *e, int index);
const char *experiment_label(const experiment *e, int index);
int experiment_entry_count(const experiment *e);

/* Points in the grid of an entry: 1 if it has no grid. */
int experiment_grid_size(const experiment *e, int entry);

/* HUDDLE_INVALID with the place at fault: "plan.json: methods[2].grid.gamma: ...". */
huddle_status plan_fail(const char *file, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks that the value is an object whose members are all among the known ones. */
huddle_status plan_check_members(const char *file, const char *place, const json_t *object,
                                 const char *const *known);

/* Checks entry `index` of the plan's data and fills e->data[index], but for the data itself. */
huddle_status plan_check_data(experiment *e, int index);

/* Reads the data of an entry and sets its fingerprint. */
huddle_status plan_read_data(huddle_context *context, experiment_data *data);

/* A value of the plan as an option's text: "n/c", "3 n/c" and "c" become numbers. False if it is
 * neither a number nor a string nor a truth value. Without data, for a check, n is 100 and c 2. */
bool plan_format_value(const json_t *value, const huddle_data *data, char *text, size_t size);

/* A digest of the bytes, and a key of the text. */
void plan_make_digest(const void *bytes, size_t size, char key[KEY_SIZE]);
void plan_make_key(const char *text, char key[KEY_SIZE]);

/* ---- results (results.c) -------------------------------------------------------------------- */

/* Records are read by number_of() and text_of(). Those of cells that failed, or whose data have no
 * labels, lack most numbers: NAN then propagates to tables, which show "-". */

/* "gamma 1, prepare none": what the plan's grid sets for this cell. */
void cell_grid_text(const experiment *e, const experiment_cell *cell, char *text, size_t size);

/* The scores of one point of a grid, averaged over the seeds. */
typedef struct grid_result {
    const experiment_cell *cell; /* of the first seed; NULL if there is no result */
    double best;                 /* of the restart with the smallest inertia, 0 .. 1 */
    double mean, std;            /* over the single restarts */
    double spread;               /* sample standard deviation of `best` over the seeds */
    int n_seeds;
} grid_result;

/* `metric`: "acc", "nmi", "ari" or "purity". */
grid_result grid_point(const experiment *e, int data, int entry, int point, const char *metric);

/* True if the fits of two grid points of a data set found the same clusters with every seed. */
bool grid_equal(const experiment *e, int data, const int entries[2], const int points[2]);

/* Why an optional fit of this entry failed, or NULL if none did. */
const char *grid_refusal(const experiment *e, int data, int entry);

/* The oracle: the grid point with the largest `best`, which needs the labels. */
grid_result grid_oracle(const experiment *e, int data, int entry, const char *metric);

/* ---- output --------------------------------------------------------------------------------- */

/* Writes a file in OUT. */
huddle_status experiment_write_file(const experiment *e, const char *name, const char *bytes,
                                    size_t size);

/* True for a method that was rebuilt from a paper without its code, which every table states. */
bool experiment_is_reconstruction(const char *method);

/* The name of an entry in tables; "(reconstruction)" is appended for methods that are one. */
const char *experiment_title(const experiment *e, int entry, char *text, size_t size);

/* Sections of the page, which other pages have too. A heat map of methods by data sets, and charts
 * of the score against an option; both are left out if there is nothing to show. */
void add_heat_section(report_page *page, const experiment *e);
void add_grid_section(report_page *page, const experiment *e);

/* The best of each grid, and every cell. */
void add_oracle_section(report_page *page, const experiment *e);
void add_cells_section(report_page *page, const experiment *e);

/* The page's file: `file`, or OUT/index.html if that is NULL. Frees the page. */
huddle_status experiment_finish_page(const experiment *e, report_page *page, const char *file);

#endif
