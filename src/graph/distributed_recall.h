/* The recall of approximate lists among rows that are distributed over processes: what recall.c
 * does for the rows of one process. */
#ifndef HUDDLE_SRC_GRAPH_DISTRIBUTED_RECALL_H
#define HUDDLE_SRC_GRAPH_DISTRIBUTED_RECALL_H

#include "graph/search.h"

/* Random rows, the same for any number of processes, and the distance of the k-th true neighbour
 * of each. */
typedef struct hd_graph_recall_sample {
    int64_t count; /* those of this process */
    int32_t *row;  /* their numbers here */
    double *kth2;  /* squared */
} hd_graph_recall_sample;

/* Draws the rows and answers them exactly, by all processes. search: the rows of this process among
 * themselves, their ids, k, seed and reach. */
huddle_status hd_graph_recall_sample_new(huddle_context *context, const hd_graph_search *search,
                                         hd_graph_recall_sample *sample);
void hd_graph_recall_sample_free(hd_graph_recall_sample *sample);

/* Estimates the recall of the lists of all processes. */
huddle_status hd_graph_recall_sample_measure(huddle_context *context,
                                             const hd_graph_recall_sample *sample,
                                             const hd_graph_search *search,
                                             hd_graph_recall *recall);

#endif
