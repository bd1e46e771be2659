/* The flag --engine, for the tables of the commands that compute. */
#ifndef HUDDLE_APP_ENGINES_H
#define HUDDLE_APP_ENGINES_H

/* The names of the engines of this build; ends with NULL. */
const char *const *engine_names(void);

#define ENGINE_FLAG                                                                                \
    {                                                                                              \
        .name = "engine", .kind = FLAG_CHOICE, .value = "NAME", .choices = engine_names,           \
        .takes_options = true, .default_text = "cpu",                                              \
        .help = "compute engine, one of those listed by huddle engines; NAME:OPTIONS if it takes " \
                "options"                                                                          \
    }

#endif
