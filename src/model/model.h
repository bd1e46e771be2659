/* The inside of a model. */
#ifndef HUDDLE_SRC_MODEL_H
#define HUDDLE_SRC_MODEL_H

#include "huddle/model.h"
#include "methods/method.h"

struct huddle_model {
    const hd_method *method;
    huddle_option *table;
    void *options;
    huddle_csr given_graph;
    huddle_dense given_embedding;
    huddle_cache *cache; /* not owned; NULL = share nothing */
    bool keep_starts;
    bool fitted;
    hd_fit fit;
    char *report;             /* of a loaded model: its JSON as it was saved; else NULL */
    const char **array_names; /* what huddle_model_arrays() handed out last */
};

#endif
