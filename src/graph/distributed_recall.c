/* Every process gets the rows of the sample, a few hundred, finds the nearest among its own rows by
 * tiles, and returns the distances to the processes that asked. */
#include "base/check.h"
#include "base/slabs.h"
#include "graph/approximate.h"
#include "graph/ring.h"
#include "graph/split.h"
#include "graph/sweep.h"

#include <stdlib.h>

/* The rows of the sample that this process has. They are drawn by their ids, which do not depend on
 * the number of processes. Ids and numbers ascend, so that one pass finds them. */
static huddle_status draw_rows(const hd_graph_search *s, int64_t total, hd_graph_sample *sample) {
    huddle_status status = HUDDLE_OK;
    int64_t *number = NULL, size = hd_graph_sample_size(total), i = 0;
    ALLOC(number, size);
    ALLOC(sample->row, size);
    ALLOC(sample->kth2, size);
    hd_graph_sample_draw(s->seed, total, number);
    for (int64_t q = 0; q < size; q++) {
        while (i < s->train->n && s->ids[i] < number[q])
            i++;
        if (i < s->train->n && s->ids[i] == number[q])
            sample->row[sample->count++] = (int32_t)i;
    }
done:
    huddle_free(number);
    return status;
}

/* Sends the own rows of the sample to all processes; those of all come, in their order. They are
 * 500 at most (recall.c): a copy for each process is small. */
static huddle_status share_rows(huddle_context *context, const hd_graph_search *s,
                                const hd_graph_sample *sample, int64_t *received_sizes,
                                void **rows) {
    huddle_status status = HUDDLE_OK;
    int32_t processes = hd_slabs_count(context);
    int64_t size = hd_graph_rows_measure(s->train, sample->count), *sizes = NULL;
    char *bytes = NULL;
    ALLOC(bytes, size * processes);
    ALLOC(sizes, processes);
    for (int32_t r = 0; r < processes; r++) {
        hd_graph_rows_pack(s->train, sample->row, 0, sample->count, bytes + r * size);
        sizes[r] = size;
    }
    TRY(hd_slabs_exchange(context, sizes, bytes, received_sizes, rows));
done:
    FREE(bytes, sizes);
    return status;
}

/* The k + 1 smallest distances of each query from the own rows: one of all these is its own. All
 * columns are compared, and what the tiles do not exclude is computed in double: the distances have
 * the bits of those in the lists, so that an entry at the k-th distance is counted as found. */
static huddle_status answer_queries(huddle_context *context, const hd_graph_search *s,
                                    int64_t count, const void *rows, double *distance2) {
    huddle_status status = HUDDLE_OK;
    hd_graph_rows query = {0};
    hd_graph_sweep sweep = {0};
    hd_graph_search exact = {
        .train = s->train, .query = &query, .k = s->k + 1, .distance2 = distance2};
    ALLOC(exact.index, count * exact.k);
    hd_graph_search_clear(&exact, 0, count);
    TRY(hd_graph_rows_unpack(context, s->train, count, rows, &query));
    TRY(hd_graph_sweep_new(context, s->train, false, s->seed, s->reach, &sweep));
    TRY(hd_graph_sweep_continue(context, &sweep, &exact));
done:
    huddle_free(exact.index);
    hd_graph_rows_free(&query);
    hd_graph_sweep_free(&sweep);
    return status;
}

/* The (k + 1)-th of the distances that came from all processes, the row's own included; one without
 * rows has sent none. Each has sent k + 1, if necessary infinite ones. Where equal rows are at
 * distance 0 too, any of the zeros may stand for the row itself. */
static huddle_status merge_answers(const hd_graph_search *s, int32_t processes,
                                   const int64_t *sizes, const double *received,
                                   hd_graph_sample *sample) {
    huddle_status status = HUDDLE_OK;
    int32_t k = s->k + 1; /* and the row itself */
    double *list = NULL;
    ALLOC(list, (int64_t)processes * k);
    for (int64_t q = 0; q < sample->count; q++) {
        const double *from = received;
        size_t size = 0;
        for (int32_t r = 0; r < processes; r++) {
            for (int32_t c = 0; c < k && sizes[r] > 0; c++)
                list[size++] = from[q * k + c];
            from += sizes[r] / (int64_t)sizeof *from; /* none, if it has no rows */
        }
        qsort(list, size, sizeof *list, hd_graph_by_value);
        sample->kth2[q] = list[k - 1];
    }
done:
    huddle_free(list);
    return status;
}

/* Two exchanges for any number of processes: rows to all, distances back, in the order in which the
 * rows were sent. Attempts are then measured without further searches. */
huddle_status hd_graph_sample_distributed(huddle_context *context, const hd_graph_search *search,
                                          hd_graph_sample *sample) {
    huddle_status status = HUDDLE_OK;
    int32_t processes = hd_slabs_count(context);
    int64_t *sizes = NULL, *answered = NULL, count = 0,
            row = hd_graph_rows_measure(search->train, 1);
    double *distance2 = NULL;
    void *rows = NULL, *answers = NULL;
    hd_slab slab;
    *sample = (hd_graph_sample){0};
    TRY(hd_slab_locate(context, search->train->n, &slab));
    TRY(draw_rows(search, slab.total, sample));
    ALLOC(sizes, processes);
    ALLOC(answered, processes);
    TRY(share_rows(context, search, sample, sizes, &rows));
    for (int32_t r = 0; r < processes; r++) {
        /* From bytes of rows to numbers of queries, to bytes of their answers. */
        int64_t n_queries = search->train->n > 0 ? sizes[r] / row : 0;
        count += n_queries;
        sizes[r] = n_queries * (search->k + 1) * (int64_t)sizeof *distance2;
    }
    ALLOC(distance2, count * (search->k + 1));
    if (count > 0)
        TRY_ALONE(context, answer_queries(context, search, count, rows, distance2));
    TRY(hd_slabs_exchange(context, sizes, distance2, answered, &answers));
    TRY(merge_answers(search, processes, answered, answers, sample));
done:
    FREE(sizes, answered, distance2, rows, answers);
    return status;
}
