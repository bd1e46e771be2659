/* Places to compute. An engine is one table of functions, one for each stage it can run; NULL
 * means the CPU's. A stage's entry point checks its arguments, then asks
 *
 *     const hd_engine *engine = hd_context_engine(context);
 *     if (engine->kmeans != NULL)
 *         return engine->kmeans(context, ...);
 *
 * and goes on by itself otherwise. The signatures are those of the stages' public functions. Each
 * folder engines/NAME/ defines `const hd_engine hd_engine_NAME`; the build collects them. */
#ifndef HUDDLE_SRC_ENGINE_H
#define HUDDLE_SRC_ENGINE_H

#include "huddle/base.h"

struct huddle_points;
struct huddle_dense;
struct huddle_csr;
struct huddle_knn_options;
struct huddle_knn_info;
struct huddle_neighbors;
struct huddle_embed_options;
struct huddle_embed_info;
struct huddle_embedding;
struct huddle_shrink_options;
struct huddle_shrink_info;
struct huddle_shrunk;
struct huddle_kmeans_options;
struct huddle_kmeans_info;
struct huddle_kmeans_result;

typedef struct hd_engine {
    const char *name;
    huddle_status (*knn)(huddle_context *context, const struct huddle_points *x,
                         const struct huddle_knn_options *options, struct huddle_neighbors *out,
                         struct huddle_knn_info *info);
    huddle_status (*embed)(huddle_context *context, const struct huddle_csr *graph,
                           const struct huddle_embed_options *options, struct huddle_embedding *out,
                           struct huddle_embed_info *info);
    huddle_status (*shrink)(huddle_context *context, const struct huddle_dense *f,
                            const struct huddle_csr *w, const struct huddle_shrink_options *options,
                            struct huddle_shrunk *out, struct huddle_shrink_info *info);
    huddle_status (*kmeans)(huddle_context *context, const struct huddle_points *x,
                            const double *row_weights, const struct huddle_kmeans_options *options,
                            struct huddle_kmeans_result *out, struct huddle_kmeans_info *info);
} hd_engine;

/* The engine of that name, or NULL. */
const hd_engine *hd_engine_find(const char *name);

#endif
