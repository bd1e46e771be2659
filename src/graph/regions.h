/* Rows moved to the process of their region, for a search: the space is divided into one region per
 * process, each with about the same number of rows, so that most neighbours of a row are on its
 * process. */
#ifndef HUDDLE_SRC_GRAPH_REGIONS_H
#define HUDDLE_SRC_GRAPH_REGIONS_H

#include "base/slabs.h"
#include "graph/dense_rows.h"

/* Processes a .. b - 1 are divided into a .. m - 1 and m .. b - 1, m = (a + b) / 2, by the sign of
 * direction m; this is where the row of splits with that number is used. */
typedef struct hd_graph_regions {
    huddle_context *context;
    int32_t count, rank; /* processes, and which this one is */
    int64_t width;
    double *splits; /* count x (width + 1): direction and threshold */
} hd_graph_regions;

/* Divides the space by a sample of all rows. */
huddle_status hd_graph_regions_new(huddle_context *context, const hd_graph_rows *rows,
                                   hd_graph_regions *regions);
void hd_graph_regions_free(hd_graph_regions *regions);

/* A lower bound on the distance of a row from all rows of this process's region, up to rounding. */
double hd_graph_regions_distance(const hd_graph_regions *regions, const double *row);

/* Rows of this process that were moved, and those that were received. */
typedef struct hd_graph_moved {
    huddle_context *context;
    int64_t n, n_received;    /* own rows, and rows received */
    int64_t *sent, *received; /* rows to and from each process */
    int32_t *order;           /* own rows by destination, in their order */
    void *bytes;              /* of rows */
    hd_graph_rows rows;       /* those received, by ascending number */
    int32_t *number;          /* of each of them among the rows of all processes */
    bool balanced; /* false: some process would get far too many rows, and none was moved */
} hd_graph_moved;

/* Moves the rows to the processes of their regions. The view that results has shift and scale as
 * rows has. */
huddle_status hd_graph_move_rows(const hd_graph_regions *regions, const hd_graph_rows *rows,
                                 hd_graph_moved *moved);
void hd_graph_moved_free(hd_graph_moved *moved);

/* Moves the lists of the rows received, of k, back to the own rows. */
huddle_status hd_graph_move_back(const hd_graph_moved *moved, int32_t k, const int32_t *index,
                                 const double *distance2, int32_t *own_index,
                                 double *own_distance2);

#endif
