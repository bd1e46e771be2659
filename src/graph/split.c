/* What the trees of this stage are built with. */
#include "graph/split.h"

#include <stdbool.h>

/* Strict, since ids differ: which points go to which side does not depend on the order in which
 * they were given. */
static bool is_before(double key, int32_t id, double other_key, int32_t other_id) {
    return key < other_key || (key == other_key && id < other_id);
}

/* Quickselect (Hoare) with the median of three as pivot. Expected time proportional to end - begin,
 * also if the keys are sorted already. If the centre is not between the ends it is the largest or
 * the smallest of the three, and the median is one of the ends. Neither inner loop needs a bound:
 * the pivot, and later what has been swapped, stops it. Afterwards low .. q are not behind the
 * pivot and p .. high not before it; a place between q and p holds the pivot itself. */
void hd_graph_split_at(double *keys, int32_t *order, int64_t begin, int64_t end, int64_t middle) {
    int64_t low = begin, high = end - 1;
    while (low < high) {
        int64_t centre = low + (high - low) / 2, pick = centre;
        bool first = is_before(keys[low], order[low], keys[centre], order[centre]);
        bool second = is_before(keys[centre], order[centre], keys[high], order[high]);
        bool outer = is_before(keys[low], order[low], keys[high], order[high]);
        if (first != second)
            pick = first == outer ? high : low;
        double key = keys[pick];
        int32_t id = order[pick];
        int64_t p = low, q = high;
        while (p <= q) {
            while (is_before(keys[p], order[p], key, id))
                p++;
            while (is_before(key, id, keys[q], order[q]))
                q--;
            if (p > q)
                break;
            double swapped_key = keys[p];
            int32_t swapped = order[p];
            keys[p] = keys[q];
            order[p++] = order[q];
            keys[q] = swapped_key;
            order[q--] = swapped;
        }
        if (middle <= q)
            high = q;
        else if (middle >= p)
            low = p;
        else
            break;
    }
}

double hd_graph_dot(const double *a, const double *b, int64_t d) {
    double sums[4] = {0};
    int64_t f = 0;
    for (; f + 4 <= d; f += 4)
        for (int l = 0; l < 4; l++)
            sums[l] += a[f + l] * b[f + l];
    for (; f < d; f++)
        sums[0] += a[f] * b[f];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Two comparisons, because as an int the difference of two doubles may become 0, and that of two
 * int32_t may overflow. */
int hd_graph_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int hd_graph_by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}
