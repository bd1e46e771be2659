/* Pages for the tool, which has the model's information as JSON already. libhuddle-report exports
 * these functions, but they are not part of its API. */
#ifndef HUDDLE_REPORT_WRITE_H
#define HUDDLE_REPORT_WRITE_H

#include <huddle/report.h>
#include <jansson.h>

/* huddle_report_write() or, unless walk is NULL, huddle_report_write_path(). `info` is all that the
 * page shows of the model, with n_classes and scores if there are classes; options->details is not
 * used then. NULL: it is made from the model. */
HUDDLE_API huddle_status huddle_report_write_info(huddle_context *context,
                                                  const huddle_model *model, const huddle_points *x,
                                                  const huddle_report_walk *walk,
                                                  const huddle_report_options *options,
                                                  json_t *info, const char *path);

/* The info of a path: that of its model up to where shrinking begins, then that of the levels. NULL
 * without memory. */
HUDDLE_API json_t *huddle_report_path_info(const json_t *model_info,
                                           const huddle_report_walk *walk);

#endif
