/* The page of a run (--report). */
#ifndef HUDDLE_APP_REPORT_H
#define HUDDLE_APP_REPORT_H

#include "fitting.h"

#include <huddle/report.h>

/* Writes the page of a fit. Follows the path of gamma for it if the method shrinks, which takes
 * time. Returns EXIT_DONE, or EXIT_FAILED after a message. */
int report_cluster(const fitting *fit, const char *file);

/* Writes the page of a path, which keeps G of every level. `report` is what --json prints. */
int report_path(const fitting *fit, const huddle_report_walk *walk, const json_t *report,
                const char *file);

#endif
