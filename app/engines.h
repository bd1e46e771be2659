/* The flags --engine and --n-threads, for the tables of the commands that compute. */
#ifndef HUDDLE_APP_ENGINES_H
#define HUDDLE_APP_ENGINES_H

#include <stdint.h>

/* The names of the engines of this build; ends with NULL. */
const char *const *engine_names(void);

#define ENGINE_FLAG                                                                                \
    {                                                                                              \
        "engine", 0, FLAG_CHOICE, "NAME",                                                          \
            "compute engine, one of those listed by huddle engines; NAME:OPTIONS if it takes "     \
            "options",                                                                             \
            .choices = engine_names, .takes_options = true, .default_text = "cpu"                  \
    }

/* --n-threads; text: what N counts. */
#define THREADS_FLAG(text)                                                                         \
    { "n-threads", 'j', FLAG_COUNT, "N", text, .min = 1, .max = INT32_MAX }

#endif
