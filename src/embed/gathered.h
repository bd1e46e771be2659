/* A small graph whose rows are distributed over processes. */
#ifndef HUDDLE_SRC_EMBED_GATHERED_H
#define HUDDLE_SRC_EMBED_GATHERED_H

#include "base/slabs.h"
#include "huddle/embed.h"

/* As huddle_embed(), computed by process 0, on which the graph is gathered. out and info are zeroed
 * before. */
huddle_status hd_embed_gathered(huddle_context *context, const huddle_csr *graph,
                                const huddle_embed_options *options, huddle_embedding *out,
                                huddle_embed_info *info);

#endif
