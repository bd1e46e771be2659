/* The options of this stage. R in pca:R and whiten:R is a number that is part of the value. */
#include "huddle/prepare.h"

#include "base/options.h"

static const char *const rules[] = {"auto",  "none",     "standard",    "clip",
                                    "ranks", "unit",     "center-rows", "center-columns",
                                    "pca:R", "whiten:R", NULL};

static const huddle_option table[] = {
    HD_RULE(huddle_prepare_options, prepare, "none", rules,
            "transformation of the points before distances are computed"),
    HD_SEED(huddle_prepare_options, seed, "random start of the PCA of large data"),
    {0}};

const huddle_option *huddle_prepare_options_table(void) {
    return table;
}

huddle_prepare_options huddle_prepare_defaults(void) {
    huddle_prepare_options options;
    huddle_options_default(table, &options);
    return options;
}
