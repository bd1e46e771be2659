/* A small graph whose rows are spread over processes. */
#ifndef HUDDLE_SRC_EMBED_WHOLE_H
#define HUDDLE_SRC_EMBED_WHOLE_H

#include "base/slabs.h"
#include "huddle/embed.h"

/* As huddle_embed(), computed by process 0, to which the graph is moved. out and info are zeroed
 * before. */
huddle_status hd_embed_whole(huddle_context *context, const huddle_csr *graph,
                             const huddle_embed_options *options, huddle_embedding *out,
                             huddle_embed_info *info);

#endif
