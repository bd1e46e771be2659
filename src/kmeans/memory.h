/* How much memory K-means takes, for predictions before a fit begins. */
#ifndef HUDDLE_SRC_KMEANS_MEMORY_H
#define HUDDLE_SRC_KMEANS_MEMORY_H

#include "huddle/kmeans.h"

/* The largest number of bytes that huddle_kmeans() has allocated at a time for n dense rows of d
 * columns on this number of threads (hd_workers()), with its labels but without the points. */
int64_t hd_kmeans_predict_memory(int64_t n, int64_t d, const huddle_kmeans_options *options,
                                 int32_t workers);

#endif
