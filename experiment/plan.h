/* Parts of a plan, shared by the files that read and expand it. */
#ifndef HUDDLE_EXPERIMENT_PLAN_H
#define HUDDLE_EXPERIMENT_PLAN_H

#include "experiment/experiment.h"

/* HUDDLE_INVALID with the place at fault: "plan.json: methods[2].grid.gamma: ...". */
huddle_status plan_fail(const char *file, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the list, which ends with NULL, contains the name. */
bool plan_is_among(const char *const *names, const char *name);

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

/* A key of the text. */
void plan_make_key(const char *text, char key[KEY_SIZE]);

#endif
