/* Regions: a tree of half-spaces, found by the first process from a sample, and rows on their way
 * to them and back. Any division gives correct lists; a good one cuts few neighbours apart. */
#include "graph/regions.h"

#include "base/check.h"
#include "base/rng.h"
#include "graph/layout.h"
#include "graph/ring.h"
#include "graph/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 4096,    /* rows by which the space is divided, */
    SAMPLE_EACH = 64, /* and so many more for each process */
    DIRECTIONS = 12,  /* tried at each division, apart from the widest column */
    POWER_STEPS = 3,  /* of the iteration for a direction of large variance */
};

/* A division may leave so much more than its share on one side if there is a gap. */
static const double slack = 0.02;

/* Rows stay where they are if a process would get so many times its share. */
static const double max_share = 1.5;

/* ---- regions ------------------------------------------------------------------------------- */

/* What the first process needs to divide the sample. */
typedef struct divider {
    hd_graph_regions *regions;
    const double *sample; /* count x width */
    double *sorted;
    double *mean, *direction, *next;
} divider;

static double project(const double *row, const double *direction, int64_t width) {
    double sum = 0;
    for (int64_t f = 0; f < width; f++)
        sum += row[f] * direction[f];
    return sum;
}

/* The column of largest variance (t = 0), or a direction of large variance from a random start. A
 * few steps of the power iteration suffice: there need not be one largest variance, and different
 * starts should find different directions. A step is v <- sum over i of (x_i - m) <x_i - m, v>, a
 * multiple of C v with the covariance matrix C: about 3 count width multiplications, without the
 * width^2 entries of C. If all rows are equal, the direction may become 0, along which find_gap()
 * finds nothing. */
static void choose_direction(const divider *v, const int32_t *rows, int64_t count, int t,
                             hd_rng *rng) {
    int64_t width = v->regions->width, widest = 0;
    memset(v->mean, 0, (size_t)width * sizeof *v->mean);
    for (int64_t i = 0; i < count; i++)
        for (int64_t f = 0; f < width; f++)
            v->mean[f] += v->sample[rows[i] * width + f] / (double)count;
    for (int64_t f = 0; f < width; f++)
        v->direction[f] = t > 0 ? hd_rng_normal(rng) : 0;
    for (int step = 0; step < (t > 0 ? POWER_STEPS : 1); step++) {
        memset(v->next, 0, (size_t)width * sizeof *v->next);
        for (int64_t i = 0; i < count; i++) {
            const double *row = v->sample + rows[i] * width;
            double share =
                project(row, v->direction, width) - project(v->mean, v->direction, width);
            for (int64_t f = 0; f < width; f++) {
                double x = row[f] - v->mean[f];
                v->next[f] += t > 0 ? share * x : x * x;
            }
        }
        if (t == 0)
            break;
        double norm = sqrt(project(v->next, v->next, width));
        for (int64_t f = 0; f < width; f++)
            v->direction[f] = norm > 0 ? v->next[f] / norm : 0;
    }
    for (int64_t f = 1; f < width && t == 0; f++)
        widest = v->next[f] > v->next[widest] ? f : widest;
    if (t == 0)
        v->direction[widest] = 1;
}

/* Where to divide the sorted keys near `share` of them: in the widest stretch of few rows there.
 * Returns how wide it is relative to all, and the threshold. A stretch is of about a hundredth of
 * the keys, because the distance of two single keys is mostly chance. Widths are divided by the
 * standard deviation of the keys: directions in which the rows are spread differently then compare.
 * A place has keys on both sides. If the sample is too small for one, the mean divides; then, and
 * if all keys are equal, the result is -1. */
static double find_gap(const double *sorted, int64_t count, double share, double *threshold) {
    int64_t reach = count / 200 + 1, from = (int64_t)((share - slack) * (double)count),
            to = (int64_t)((share + slack) * (double)count), best = -1;
    double widest = -1, mean = 0, variance = 0;
    for (int64_t at = from; at <= to; at++) {
        if (at < 1 || at >= count)
            continue;
        int64_t low = at - reach > 0 ? at - reach : 0;
        int64_t high = at + reach - 1 < count ? at + reach - 1 : count - 1;
        if (sorted[high] - sorted[low] > widest) {
            widest = sorted[high] - sorted[low];
            best = at;
        }
    }
    for (int64_t i = 0; i < count; i++)
        mean += sorted[i] / (double)count;
    for (int64_t i = 0; i < count; i++)
        variance += (sorted[i] - mean) * (sorted[i] - mean) / (double)count;
    *threshold = best > 0 ? sorted[best - 1] + (sorted[best] - sorted[best - 1]) / 2 : mean;
    return best > 0 && variance > 0 ? widest / sqrt(variance) : -1;
}

/* Divides processes a .. b - 1 and the rows of the sample that are theirs. Of several directions
 * the one with the widest gap is taken: neighbours are rarely on both sides of it. The share of the
 * left side is that of its processes, so that three are divided 1 : 2, and the rows with them.
 * Random directions come from a stream of the division's own, whatever other divisions draw. The
 * sample is divided by the test of find_region(), with which all rows follow. */
static void divide(const divider *v, int32_t *rows, int64_t count, int32_t a, int32_t b) {
    int64_t width = v->regions->width, low = 0;
    if (b - a < 2)
        return;
    int32_t middle = a + (b - a) / 2;
    double share = (double)(middle - a) / (double)(b - a), best = -2;
    double *split = v->regions->splits + middle * (width + 1);
    hd_rng rng = hd_rng_stream(0, (uint64_t)middle);
    for (int t = 0; t <= DIRECTIONS; t++) {
        double threshold;
        choose_direction(v, rows, count, t, &rng);
        for (int64_t i = 0; i < count; i++)
            v->sorted[i] = project(v->sample + rows[i] * width, v->direction, width);
        qsort(v->sorted, (size_t)count, sizeof *v->sorted, hd_graph_by_value);
        double gap = find_gap(v->sorted, count, share, &threshold);
        if (gap > best) {
            best = gap;
            memcpy(split, v->direction, (size_t)width * sizeof *split);
            split[width] = threshold;
        }
    }
    for (int64_t i = 0; i < count; i++)
        if (project(v->sample + rows[i] * width, split, width) < split[width]) {
            int32_t row = rows[i];
            rows[i] = rows[low];
            rows[low++] = row;
        }
    divide(v, rows, low, a, middle);
    divide(v, rows + low, count - low, middle, b);
}

static huddle_status divide_sample(hd_graph_regions *regions, const double *sample, int64_t count) {
    huddle_status status = HUDDLE_OK;
    divider v = {.regions = regions, .sample = sample};
    int32_t *rows = NULL;
    ALLOC(rows, count);
    ALLOC(v.sorted, count);
    ALLOC(v.mean, regions->width);
    ALLOC(v.direction, regions->width);
    ALLOC(v.next, regions->width);
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)i;
    divide(&v, rows, count, 0, regions->count);
done:
    FREE(rows, v.sorted, v.mean, v.direction, v.next);
    return status;
}

/* From evenly spaced rows of all processes, on the first, which sends all the same planes. The rows
 * are 0, `every`, 2 `every` and so on of all rows, on whichever process they are. Planes that every
 * process found for itself could differ in their last bits between machines, and
 * hd_graph_regions_distance() would be wrong for rows that another process assigned. */
huddle_status hd_graph_regions_new(huddle_context *context, const hd_graph_rows *rows,
                                   hd_graph_regions *regions) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    double *sample = NULL;
    void *all = NULL;
    int64_t count = 0, total = 0, width = hd_graph_rows_width(rows);
    *regions =
        (hd_graph_regions){context, hd_slabs_count(context), hd_slabs_rank(context), width, NULL};
    TRY(hd_slab_locate(context, rows->n, &slab));
    int64_t every = slab.total / (SAMPLE + SAMPLE_EACH * regions->count) + 1;
    ALLOC_ZERO(regions->splits, regions->count * (width + 1));
    ALLOC(sample, (rows->n / every + 1) * width);
    for (int64_t i = (every - slab.first % every) % every; i < rows->n; i += every)
        hd_graph_rows_read(rows, i, sample + count++ * width);
    TRY(hd_slabs_gather(context, 0, count * width * (int64_t)sizeof *sample, sample, NULL, &total,
                        &all));
    if (all != NULL)
        TRY(divide_sample(regions, all, total / width / (int64_t)sizeof *sample));
    TRY(hd_slabs_broadcast(context, 0, regions->count * (width + 1) * (int64_t)sizeof *sample,
                           regions->splits));
done:
    FREE(sample, all);
    return status;
}

void hd_graph_regions_free(hd_graph_regions *regions) {
    huddle_free(regions->splits);
    *regions = (hd_graph_regions){0};
}

/* The process of a row. About log2(count) products, by the numbering of regions.h: a .. b - 1 are
 * the processes that the planes so far leave. */
static int32_t find_region(const hd_graph_regions *regions, const double *row) {
    int32_t a = 0, b = regions->count;
    while (b - a > 1) {
        int32_t middle = a + (b - a) / 2;
        const double *split = regions->splits + middle * (regions->width + 1);
        if (project(row, split, regions->width) < split[regions->width])
            b = middle;
        else
            a = middle;
    }
    return a;
}

/* Rows of a region are on its side of every plane that separates it from others. A row on the wrong
 * side of the plane <v, x> = t is |<v, x> - t| / |v| away from it, and not nearer to anything
 * behind it. The region is the intersection of half-spaces, hence the largest of these distances is
 * a lower bound. Their squares could only be added if the planes were orthogonal. */
double hd_graph_regions_distance(const hd_graph_regions *regions, const double *row) {
    int64_t width = regions->width;
    int32_t region = regions->rank;
    double farthest = 0;
    for (int32_t a = 0, b = regions->count; b - a > 1;) {
        int32_t middle = a + (b - a) / 2;
        const double *split = regions->splits + middle * (width + 1);
        double side = project(row, split, width) - split[width];
        double norm = sqrt(project(split, split, width));
        if ((region < middle) != (side < 0) && norm > 0)
            farthest = fmax(farthest, fabs(side) / norm);
        *(region < middle ? &b : &a) = middle;
    }
    return farthest;
}

/* ---- moving -------------------------------------------------------------------------------- */

/* Sorts the own rows by destination, keeping their order. All processes know how many rows each
 * would receive, and decide alike whether that is balanced. The process with most rows determines
 * the time of the search and the memory that it needs. */
static huddle_status sort_by_region(const hd_graph_regions *regions, const hd_graph_rows *rows,
                                    hd_graph_moved *moved) {
    huddle_status status = HUDDLE_OK;
    int32_t *owner = NULL;
    int64_t *next = NULL;
    double *row = NULL, *arriving = NULL, total = 0, most = 0;
    ALLOC(owner, rows->n);
    ALLOC(row, regions->width);
    ALLOC(next, regions->count);
    ALLOC(arriving, regions->count);
    ALLOC_ZERO(moved->sent, regions->count);
    ALLOC_ZERO(moved->received, regions->count);
    ALLOC(moved->order, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        hd_graph_rows_read(rows, i, row);
        owner[i] = find_region(regions, row);
        moved->sent[owner[i]]++;
    }
    for (int32_t r = 0; r < regions->count; r++) {
        next[r] = r > 0 ? next[r - 1] + moved->sent[r - 1] : 0;
        arriving[r] = (double)moved->sent[r];
    }
    for (int64_t i = 0; i < rows->n; i++)
        moved->order[next[owner[i]]++] = (int32_t)i;
    TRY(hd_reduce_sum(moved->context, regions->count, arriving));
    for (int32_t r = 0; r < regions->count; r++) {
        total += arriving[r];
        most = fmax(most, arriving[r]);
    }
    moved->balanced = most <= max_share * total / regions->count + 1;
done:
    FREE(owner, next, row, arriving);
    return status;
}

/* Rows arrive in the order of the processes, each of which sends its own in their order: by
 * ascending number. Of two rows at equal distance the one in front then has the smaller number. */
huddle_status hd_graph_move_rows(const hd_graph_regions *regions, const hd_graph_rows *rows,
                                 hd_graph_moved *moved) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = regions->context;
    int32_t *numbers = NULL;
    void *received_numbers = NULL;
    char *bytes = NULL;
    hd_slab slab;
    *moved = (hd_graph_moved){.context = context, .n = rows->n};
    TRY(hd_slab_locate(context, rows->n, &slab));
    TRY(sort_by_region(regions, rows, moved));
    if (!moved->balanced)
        goto done;
    ALLOC(numbers, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        numbers[i] = (int32_t)(slab.first + moved->order[i]);
    TRY(hd_graph_exchange_records(context, moved->sent, numbers, sizeof *numbers, moved->received,
                                  &received_numbers));
    moved->number = received_numbers;
    ALLOC(bytes, hd_graph_rows_measure(rows, rows->n));
    hd_graph_rows_pack(rows, moved->order, 0, rows->n, bytes);
    TRY(hd_graph_exchange_records(context, moved->sent, bytes, hd_graph_rows_measure(rows, 1), NULL,
                                  &moved->bytes));
    for (int32_t r = 0; r < regions->count; r++)
        moved->n_received += moved->received[r];
    TRY(hd_graph_rows_unpack(context, rows, moved->n_received, moved->bytes, &moved->rows));
done:
    FREE(numbers, bytes);
    return status;
}

void hd_graph_moved_free(hd_graph_moved *moved) {
    FREE(moved->sent, moved->received, moved->order, moved->bytes, moved->number);
    hd_graph_rows_free(&moved->rows);
    *moved = (hd_graph_moved){0};
}

/* The exchange in reverse: each process sends as many lists as it received rows, in their order, so
 * that lists arrive in the order in which the rows were sent. */
huddle_status hd_graph_move_back(const hd_graph_moved *moved, int32_t k, const int32_t *index,
                                 const double *distance2, int32_t *own_index,
                                 double *own_distance2) {
    huddle_status status = HUDDLE_OK;
    void *received_index = NULL, *received_distance = NULL;
    size_t length = (size_t)k;
    TRY(hd_graph_exchange_records(moved->context, moved->received, index,
                                  k * (int64_t)sizeof *index, NULL, &received_index));
    TRY(hd_graph_exchange_records(moved->context, moved->received, distance2,
                                  k * (int64_t)sizeof *distance2, NULL, &received_distance));
    for (int64_t i = 0; i < moved->n; i++) {
        int64_t to = (int64_t)moved->order[i] * k;
        memcpy(own_index + to, (const int32_t *)received_index + i * k, length * sizeof *own_index);
        memcpy(own_distance2 + to, (const double *)received_distance + i * k,
               length * sizeof *own_distance2);
    }
done:
    FREE(received_index, received_distance);
    return status;
}
