/* Option tables: how modules write them. The public half is in huddle/base.h. */
#ifndef HUDDLE_SRC_OPTIONS_H
#define HUDDLE_SRC_OPTIONS_H

#include "huddle/base.h"

#include <math.h>

/* Rows of a table, one per option. S is the options struct, F its field, whose name is the
 * option's. */
#define HD_INT(S, F, DEFAULT, MIN, MAX, HELP)                                                      \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_INT, .offset = offsetof(S, F), .default_text = DEFAULT,  \
        .min = MIN, .max = MAX, .help = HELP                                                       \
    }
#define HD_INT_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                                 \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_INT, .offset = offsetof(S, F), .default_text = DEFAULT,  \
        .min = MIN, .max = MAX, .allows_auto = true, .help = HELP                                  \
    }
#define HD_REAL(S, F, DEFAULT, MIN, MAX, HELP)                                                     \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_REAL, .offset = offsetof(S, F), .default_text = DEFAULT, \
        .min = MIN, .max = MAX, .help = HELP                                                       \
    }
#define HD_REAL_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                                \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_REAL, .offset = offsetof(S, F), .default_text = DEFAULT, \
        .min = MIN, .max = MAX, .allows_auto = true, .help = HELP                                  \
    }
#define HD_SEED(S, F, HELP)                                                                        \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_SEED, .offset = offsetof(S, F), .default_text = "0",     \
        .help = HELP                                                                               \
    }
#define HD_BOOL(S, F, DEFAULT, HELP)                                                               \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_BOOL, .offset = offsetof(S, F), .default_text = DEFAULT, \
        .help = HELP                                                                               \
    }
#define HD_CHOICE(S, F, DEFAULT, CHOICES, HELP)                                                    \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_CHOICE, .offset = offsetof(S, F),                        \
        .default_text = DEFAULT, .choices = CHOICES, .help = HELP                                  \
    }
#define HD_RULE(S, F, DEFAULT, CHOICES, HELP)                                                      \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_RULE, .offset = offsetof(S, F), .default_text = DEFAULT, \
        .min = 1, .max = INT32_MAX, .choices = CHOICES, .help = HELP                               \
    }
#define HD_RANGE_AUTO(S, F, DEFAULT, MIN, MAX, HELP)                                               \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_RANGE, .offset = offsetof(S, F),                         \
        .default_text = DEFAULT, .min = MIN, .max = MAX, .allows_auto = true, .help = HELP         \
    }

/* The number of options in a table. */
int64_t hd_options_count(const huddle_option *table);

#endif
