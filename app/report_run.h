/* The pages of the commands. */
#ifndef HUDDLE_APP_REPORT_RUN_H
#define HUDDLE_APP_REPORT_RUN_H

#include "report/page.h"
#include "report_sample.h"

#include <huddle/path.h>

/* The page of `cluster`, of a fit that went well. Follows the path of gamma for it if the method
 * shrinks, which takes time. */
int report_cluster(const fitting *fit, const char *file);

/* A path as `path` followed it, G of every level kept. */
typedef struct report_walk {
    const huddle_path *path;
    const int32_t *labels;
    int32_t n_clusters;
    huddle_path_choice choice;
    const json_t *report; /* as --json prints it */
} report_walk;

/* The page of `path`. */
int report_path(const fitting *fit, const report_walk *walk, const char *file);

/* Parts that both have. */

/* The path as points that move, and the number of groups. `used` is a gamma to mark, or NAN, and
 * `used_label` says what it is. NULL if it cannot be made. */
json_t *path_json(report_run *run, const huddle_path *path, double used, const char *used_label);

/* The tree of the larger groups: {branches: [...], least}. */
json_t *tree_json(const report_run *run, const huddle_path *path);

/* Time, options, command line. */
void add_repeat(report_page *page, const fitting *fit, const json_t *report);

/* Writes the page, unless Ctrl-C was pressed meanwhile. */
int write_unless_cancelled(const report_page *page, const char *file);

#endif
