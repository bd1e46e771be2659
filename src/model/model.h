/* The inside of a model. */
#ifndef HUDDLE_SRC_MODEL_H
#define HUDDLE_SRC_MODEL_H

#include "huddle/model.h"
#include "methods/method.h"

struct huddle_model {
    const hd_method *method;
    huddle_option *table;
    void *options;        /* as they are set now */
    void *fitted_options; /* as they were in the fit that is held; NULL before */
    huddle_csr given_graph;
    huddle_dense given_embedding;
    huddle_cache *cache; /* not owned; NULL = share nothing */
    char **feature_names; /* n_names, or NULL */
    int64_t n_names;
    bool keep_starts;
    bool fitted;
    hd_fit fit;
    char *report;             /* of a loaded model: its JSON as it was saved; else NULL */
    const char **array_names; /* what huddle_model_arrays() handed out last */
};

/* A copy of the options as they are set now; freed by huddle_free(). */
huddle_status hd_copy_options(const huddle_model *model, void **copy);

#endif
