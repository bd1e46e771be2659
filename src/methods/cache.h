/* What several models over the same points can share.
 *
 * An entry is named by the text of every option it depends on. The first to ask computes it, those
 * who ask meanwhile wait, later ones copy. The cache knows nothing of points: use one for one data
 * set. Safe to use from several threads. */
#ifndef HUDDLE_SRC_CACHE_H
#define HUDDLE_SRC_CACHE_H

#include "methods/method.h"

void hd_key_add_text(hd_key *key, const char *text);

/* Adds every option of a stage's table, as text. */
void hd_key_add_options(hd_key *key, const huddle_option *table, const void *options);

/* One stage of a fit that can be shared: computing it, and copying what it left in a fit. */
typedef struct hd_shared_stage {
    huddle_status (*compute)(huddle_context *context, void *argument, hd_fit *fit);
    huddle_status (*copy)(const hd_fit *from, hd_fit *to);
} hd_shared_stage;

/* The copies of the stages: the points and all that led to them, with A or without; A without the
 * points; and so on. */
huddle_status hd_copy_distinct(const huddle_distinct *from, huddle_distinct *to);
huddle_status hd_copy_points(const hd_fit *from, hd_fit *to);
huddle_status hd_copy_graph_alone(const hd_fit *from, hd_fit *to);
huddle_status hd_copy_graph(const hd_fit *from, hd_fit *to);
huddle_status hd_copy_embedding(const hd_fit *from, hd_fit *to);
huddle_status hd_copy_shrink_graph(const hd_fit *from, hd_fit *to);

/* Runs the stage for fit, or copies what an earlier run under the same key left. A NULL cache
 * just runs it. */
huddle_status hd_cache_run(huddle_context *context, huddle_cache *cache, const hd_key *key,
                           const hd_shared_stage *stage, void *argument, hd_fit *fit);

/* hd_fit_prepare() with `keep`, shared: fit->points are the prepared points. */
huddle_status hd_fit_prepare_shared(huddle_context *context, const hd_input *input,
                                    const huddle_prepare_options *options, hd_fit *fit);

#endif
