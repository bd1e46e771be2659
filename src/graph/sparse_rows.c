/* Distances between sparse rows, by merging their columns. Differences do not cancel, unlike inner
 * products. */
#include "graph/sparse_rows.h"

#include "base/check.h"

#include <math.h>

/* The square of a float is exact in double and cannot overflow there, so that rows need no scaling
 * first. Under cosine rows of zeros have norm 1 too: that of their own direction. */
huddle_status hd_graph_sparse_rows_new(const huddle_points *x, bool cosine,
                                       hd_graph_sparse_rows *s) {
    huddle_status status = HUDDLE_OK;
    *s = (hd_graph_sparse_rows){.x = x};
    ALLOC(s->scale, x->n);
    ALLOC(s->norm2, x->n);
    for (int64_t i = 0; i < x->n; i++) {
        double sum = 0;
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            sum += (double)x->values[e] * (double)x->values[e];
        s->norm2[i] = cosine ? 1 : sum;
        s->scale[i] = !cosine ? 1 : sum > 0 ? 1 / sqrt(sum) : 0;
    }
done:
    return status;
}

void hd_graph_sparse_rows_free(hd_graph_sparse_rows *s) {
    FREE(s->scale, s->norm2);
    *s = (hd_graph_sparse_rows){0};
}

/* The difference in the next column that either row has an entry in; p and q advance. A row that
 * has ended continues with a column that no row has. */
static double next_difference(const hd_graph_sparse_rows *a, int64_t i, int64_t *p,
                              const hd_graph_sparse_rows *b, int64_t j, int64_t *q) {
    int64_t p_end = a->x->offsets[i + 1], q_end = b->x->offsets[j + 1];
    int32_t cp = *p < p_end ? a->x->columns[*p] : INT32_MAX;
    int32_t cq = *q < q_end ? b->x->columns[*q] : INT32_MAX;
    double difference = 0;
    if (cp <= cq)
        difference += a->scale[i] * (double)a->x->values[(*p)++];
    if (cq <= cp)
        difference -= b->scale[j] * (double)b->x->values[(*q)++];
    return difference;
}

/* Under cosine a row of zeros has a direction of its own (dense_rows.h): squared distance 2 to
 * every other row, 0 to other rows of zeros. Products are rounded by themselves (GCC contracts
 * none in its ISO C mode), so that exchanging the rows only changes the signs of the differences:
 * neighbours of each other have the same distance in both lists, to the bit. */
double hd_graph_sparse_distance2(const hd_graph_sparse_rows *a, int64_t i,
                                 const hd_graph_sparse_rows *b, int64_t j) {
    if (a->scale[i] == 0 || b->scale[j] == 0)
        return a->scale[i] == b->scale[j] ? 0 : 2;
    double sum = 0;
    int64_t p = a->x->offsets[i], q = b->x->offsets[j];
    while (p < a->x->offsets[i + 1] || q < b->x->offsets[j + 1]) {
        double difference = next_difference(a, i, &p, b, j, &q);
        sum += difference * difference;
    }
    return sum;
}
