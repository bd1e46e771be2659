/* The page of a run (--report). */
#ifndef HUDDLE_APP_REPORT_H
#define HUDDLE_APP_REPORT_H

#include "fitting.h"

#include <huddle/report.h>

/* Writes the page of --report, if there is one: of a clustering, which follows the path of gamma if
 * the method shrinks and then takes time, or of a path that keeps G of every level, if `walk` is
 * not NULL. `report` is what --json prints. Returns EXIT_DONE, or EXIT_FAILED after a message. */
int report_write_page(const fitting *fit, const huddle_report_walk *walk, const json_t *report);

#endif
