/* The random sample of the points that scatter plots show. */
#include "report/run.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea and Flood, 2014). The page must be the same for each run, so the
 * seed is fixed; for a shuffle the quality of the stream is more than sufficient. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 0 .. n - 1 in random order: the inside-out Fisher-Yates shuffle. The bias of the remainder
 * is below 2^-32 for any n that fits int32. */
static void shuffle_rows(int64_t n, int64_t *order) {
    uint64_t state = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = (int64_t)(next_random(&state) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

/* Moves the first few rows of each cluster to the front, so that the smallest cluster is in
 * the sample too. Both parts keep their random order, and so every beginning of the order
 * remains a sample. */
static huddle_status favour_small_clusters(const report_run *run, int64_t *order) {
    enum { MIN_PER_CLUSTER = 8 };
    huddle_status status = HUDDLE_OK;
    int64_t n = run->n, front = 0, back = 0;
    int64_t *seen = NULL, *rest = NULL;
    NEW(seen, run->n_clusters);
    NEW(rest, n);
    for (int64_t i = 0; i < n; i++)
        if (seen[run->labels[order[i]]]++ < MIN_PER_CLUSTER)
            order[front++] = order[i];
        else
            rest[back++] = order[i];
    memcpy(order + front, rest, (size_t)back * sizeof *rest);
done:
    FREE(rest, seen);
    return status;
}

/* All rows are kept in their order, not only the sample: the sheet of images looks for members
 * of each cluster beyond it. */
huddle_status report_draw_sample(report_run *run) {
    huddle_status status = HUDDLE_OK;
    NEW(run->rows, run->n);
    run->count = run->n < MAX_VIEW_POINTS ? run->n : MAX_VIEW_POINTS;
    shuffle_rows(run->n, run->rows);
    TRY(favour_small_clusters(run, run->rows));
done:
    return status;
}

/* The values of the sampled rows, or their indices if values is NULL. */
static json_t *sampled_json(const report_run *run, const int32_t *values) {
    int32_t *taken = malloc((size_t)(run->count + 1) * sizeof *taken);
    if (taken == NULL)
        return NULL;
    for (int64_t i = 0; i < run->count; i++)
        taken[i] = values == NULL ? (int32_t)run->rows[i] : values[run->rows[i]];
    json_t *made = page_integers(taken, (size_t)run->count, sizeof *taken);
    free(taken);
    return made;
}

/* The names of the sampled rows. */
static json_t *names_json(const report_run *run) {
    json_t *names = json_array();
    for (int64_t i = 0; i < run->count; i++)
        page_append(names, page_text(run->options->row_names[run->rows[i]]));
    return names;
}

/* Shared by all blocks that draw points (page.shared.points in report/page/50-points.js), so
 * that hovering over a point in one view finds it in the others. */
json_t *report_points_json(const report_run *run) {
    const huddle_report_options *options = run->options;
    json_t *points = json_pack("{s:I, s:I, s:i, s:o, s:o}", "total", (json_int_t)run->n, "count",
                               (json_int_t)run->count, "clusters", run->n_clusters, "index",
                               sampled_json(run, NULL), "label", sampled_json(run, run->labels));
    if (run->unrefined != NULL)
        page_set(points, "before", sampled_json(run, run->unrefined));
    if (options->classes != NULL) {
        json_t *names = json_array();
        for (int32_t k = 0; k < options->n_classes; k++)
            page_append(names, report_class_name(run, k));
        page_set(points, "class", sampled_json(run, options->classes));
        page_set(points, "classes", names);
    }
    if (options->row_names != NULL)
        page_set(points, "names", names_json(run));
    if (report_has_images(run))
        page_set(points, "thumbs", report_thumbs_json(run));
    return points;
}
