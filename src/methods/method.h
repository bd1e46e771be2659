/* Methods: the only place that knows the order of the stages.
 *
 * A method is one file of this folder, NAME.c, that defines `const hd_method hd_method_NAME`; the
 * build collects them, and the tool, the model and the documents find it by its name. The steps
 * that methods are composed of are in src/steps/, the choices that are made without labels in
 * src/decide/. What a fit leaves behind is in fit/fit.h. */
#ifndef HUDDLE_SRC_METHODS_METHOD_H
#define HUDDLE_SRC_METHODS_METHOD_H

#include "decide/memory.h"
#include "huddle/methods.h"
#include "methods/cache.h"
#include "steps/predict.h"

/* ---- options ------------------------------------------------------------------------------- */

/* A stage's option under another name, with another default or help text (NULL: the stage's). */
typedef struct hd_method_rename {
    const char *from, *to; /* from == NULL ends the list */
    const char *value, *help;
} hd_method_rename;

/* A stage's options inside a method's. All of the stage's table is taken, except n_clusters,
 * n_components and seed, which are the method's own; with `renames`, only what it lists. */
typedef struct hd_method_section {
    const huddle_option *(*table)(void); /* NULL ends the list */
    size_t offset;                       /* of the stage's struct in the method's */
    const hd_method_rename *renames;
} hd_method_section;

/* ---- methods ------------------------------------------------------------------------------- */

/* What a method does with several matrices that describe the same points (docs/method.md, "Views").
 */
typedef enum hd_method_views {
    HD_METHOD_ONE_VIEW,   /* it takes one matrix only */
    HD_METHOD_MEAN_GRAPH, /* the fit's graph is the weighted mean of the graphs of the views */
    HD_METHOD_VIEW_GRAPHS /* the method makes the fit's graph of them: they are in fit->views, and
                             hd_spectral_finish_views() frees them */
} hd_method_views;

/* One fit: what it is given, and what it has made so far. Methods pass it from step to step. */
typedef struct hd_method_run {
    huddle_context *context;
    const hd_step_job *job;
    hd_fit *fit;
    hd_cache_key key;        /* names what was made last among results that fits share */
    huddle_range n_clusters; /* of the options; a choice replaces auto */
    uint64_t seed;
    hd_method_views views; /* of the method */
} hd_method_run;

typedef struct hd_method {
    huddle_method_text text;
    size_t options_size;
    const hd_method_section *sections;
    bool takes_graph; /* a graph or an embedding can be given */
    bool distributes; /* rows can be distributed over processes */
    hd_method_views views;
    huddle_status (*fit)(hd_method_run *run, const void *options);
    /* Labels of new points; NULL: those that hd_step_predict() gives them by place and assign. */
    huddle_status (*predict)(huddle_context *context, const hd_fit *fit, const void *options,
                             const huddle_points *x, int32_t *labels);
    hd_step_place *place;   /* NULL: the method has no embedding */
    hd_step_assign *assign; /* NULL: by the nearest centre */
    hd_decide_memory_needs memory;
    /* NULL: none. A method that has presets has an option `preset` whose choices are "none" and
     * their names. */
    const huddle_preset *presets;
} hd_method;

/* The method of that name, or NULL. */
const hd_method *hd_method_find(const char *name);

/* Fits by a method with options of its own. HUDDLE_INVALID if there are more clusters than rows. */
huddle_status hd_method_fit(const hd_method *method, huddle_context *context,
                            const hd_step_job *job, const void *options, hd_fit *fit);

/* Labels of new points. HUDDLE_UNSUPPORTED if the method cannot give them any. */
huddle_status hd_method_predict(const hd_method *method, huddle_context *context, const hd_fit *fit,
                                const void *options, const huddle_points *x, int32_t *labels);

/* The method's whole table, to be freed by huddle_free(). */
huddle_status hd_method_options(const hd_method *method, huddle_option **table);

#endif
