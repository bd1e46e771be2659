/* The inside of a model. */
#ifndef HUDDLE_SRC_MODEL_H
#define HUDDLE_SRC_MODEL_H

#include "huddle/model.h"
#include "methods/method.h"

/* The arrays of a merged fit with a row for each row of x; see rows.c. */
typedef struct hd_all_rows hd_all_rows;

struct huddle_model {
    const hd_method *method;
    huddle_option *table;
    void *options;        /* as they are set now */
    void *fitted_options; /* as they were in the fit that is held; NULL before */
    huddle_csr given_graph;
    huddle_dense given_embedding;
    huddle_cache *cache;  /* not owned; NULL = share nothing */
    char **feature_names; /* n_names, or NULL */
    int64_t n_names;
    bool keep_starts;
    bool fitted;
    hd_fit fit;
    hd_all_rows *all_rows;    /* if equal rows were merged; else NULL */
    char *report;             /* of a loaded model: its JSON as it was saved; else NULL */
    const char **array_names; /* what huddle_model_arrays() handed out last */
};

/* HUDDLE_FORMAT unless the sizes agree, every index points into something and the shifts are those
 * of the points. The checksum keeps out accidents; this keeps a crafted file from doing harm. */
huddle_status hd_check_loaded(const hd_fit *fit);

/* A copy of the options as they are set now; freed by huddle_free(). */
huddle_status hd_copy_options(const huddle_model *model, void **copy);

/* Stays NULL if the fit is not merged. */
huddle_status hd_all_rows_new(const hd_fit *fit, hd_all_rows **all);
void hd_all_rows_free(hd_all_rows *all);
const int32_t *hd_all_rows_labels(const hd_all_rows *all);

/* A view of an array that has a row for each row of x. Safe to call from several threads. */
huddle_status hd_all_rows_get(const hd_fit *fit, hd_all_rows *all, const char *name,
                              huddle_array *view);

/* The array of that name as it stands in the fit; type HUDDLE_ARRAY_NONE if there is none. */
huddle_array hd_array_view(const hd_fit *fit, const char *name);

#endif
