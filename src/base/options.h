/* Option tables: the parts other modules share. The public half is in huddle/base.h. */
#ifndef HUDDLE_SRC_OPTIONS_H
#define HUDDLE_SRC_OPTIONS_H

#include "huddle/base.h"

#include <math.h>

/* Rows of a table, so that each option is one line. S is the options struct, F its field. */
#define HD_INT(S, F, FALLBACK, MIN, MAX, HELP)                                                     \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_INT, .offset = offsetof(S, F), .fallback = FALLBACK,     \
        .min = MIN, .max = MAX, .help = HELP                                                       \
    }
#define HD_INT_AUTO(S, F, FALLBACK, MIN, MAX, HELP)                                                \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_INT, .offset = offsetof(S, F), .fallback = FALLBACK,     \
        .min = MIN, .max = MAX, .allows_auto = true, .help = HELP                                  \
    }
#define HD_REAL(S, F, FALLBACK, MIN, MAX, HELP)                                                    \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_REAL, .offset = offsetof(S, F), .fallback = FALLBACK,    \
        .min = MIN, .max = MAX, .help = HELP                                                       \
    }
#define HD_REAL_AUTO(S, F, FALLBACK, MIN, MAX, HELP)                                               \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_REAL, .offset = offsetof(S, F), .fallback = FALLBACK,    \
        .min = MIN, .max = MAX, .allows_auto = true, .help = HELP                                  \
    }
#define HD_SEED(S, F, HELP)                                                                        \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_SEED, .offset = offsetof(S, F), .fallback = "0",         \
        .help = HELP                                                                               \
    }
#define HD_BOOL(S, F, FALLBACK, HELP)                                                              \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_BOOL, .offset = offsetof(S, F), .fallback = FALLBACK,    \
        .help = HELP                                                                               \
    }
#define HD_CHOICE(S, F, FALLBACK, CHOICES, HELP)                                                   \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_CHOICE, .offset = offsetof(S, F), .fallback = FALLBACK,  \
        .choices = CHOICES, .help = HELP                                                           \
    }
#define HD_RULE(S, F, FALLBACK, CHOICES, HELP)                                                     \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_RULE, .offset = offsetof(S, F), .fallback = FALLBACK,    \
        .min = 1, .max = INT32_MAX, .choices = CHOICES, .help = HELP                               \
    }
#define HD_RANGE_AUTO(S, F, FALLBACK, MIN, MAX, HELP)                                              \
    {                                                                                              \
        .name = #F, .type = HUDDLE_OPTION_RANGE, .offset = offsetof(S, F), .fallback = FALLBACK,   \
        .min = MIN, .max = MAX, .allows_auto = true, .help = HELP                                  \
    }

int64_t hd_options_count(const huddle_option *table);

#endif
