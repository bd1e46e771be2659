/* Option tables: how modules write them. The public half is in huddle/base.h. */
#ifndef HUDDLE_SRC_OPTIONS_H
#define HUDDLE_SRC_OPTIONS_H

#include "huddle/base.h"

#include <math.h>

/* Rows of a table, one per option. S is the options struct, F its field, whose name is the
 * option's. HD_OPTION is what all types have. */
#define HD_OPTION(S, F, TYPE, DEFAULT, HELP)                                                       \
    .name = #F, .type = HUDDLE_OPTION_##TYPE, .offset = offsetof(S, F), .default_text = DEFAULT,   \
    .help = HELP
#define HD_INT(S, F, DEFAULT, MIN, MAX, HELP)                                                      \
    { HD_OPTION(S, F, INT, DEFAULT, HELP), .min = MIN, .max = MAX }
#define HD_INT_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                                 \
    { HD_OPTION(S, F, INT, DEFAULT, HELP), .min = MIN, .max = MAX, .allows_auto = true }
#define HD_REAL(S, F, DEFAULT, MIN, MAX, HELP)                                                     \
    { HD_OPTION(S, F, REAL, DEFAULT, HELP), .min = MIN, .max = MAX }
#define HD_REAL_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                                \
    { HD_OPTION(S, F, REAL, DEFAULT, HELP), .min = MIN, .max = MAX, .allows_auto = true }
#define HD_SEED(S, F, HELP)                                                                        \
    { HD_OPTION(S, F, SEED, "0", HELP) }
#define HD_BOOL(S, F, DEFAULT, HELP)                                                               \
    { HD_OPTION(S, F, BOOL, DEFAULT, HELP) }
#define HD_CHOICE(S, F, DEFAULT, CHOICES, HELP)                                                    \
    { HD_OPTION(S, F, CHOICE, DEFAULT, HELP), .choices = CHOICES }
#define HD_RULE(S, F, DEFAULT, CHOICES, HELP)                                                      \
    { HD_OPTION(S, F, RULE, DEFAULT, HELP), .min = 1, .max = INT32_MAX, .choices = CHOICES }
#define HD_RANGE_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                               \
    { HD_OPTION(S, F, RANGE, DEFAULT, HELP), .min = MIN, .max = MAX, .allows_auto = true }
#define HD_NUMBERS(S, F, DEFAULT, CHOICES, MIN, MAX, HELP)                                         \
    { HD_OPTION(S, F, NUMBERS, DEFAULT, HELP), .min = MIN, .max = MAX, .choices = CHOICES }

/* The number of options in a table. */
int64_t hd_options_count(const huddle_option *table);

#endif
