/* Keeping some classes, and some samples of each: the first ones, or random ones. */
#include "base/check.h"
#include "base/context.h"
#include "base/rng.h"
#include "io/formats.h"
#include "io/number.h"

#include <stdlib.h>
#include <string.h>

/* Stream of the samples that are drawn. */
enum { DRAW_STREAM = 0xd4a3 };

/* Marks the class of that text or, if the classes are numbers, those in the range
 * "first-last". The text comes first: a class may be called "1-2". */
static int64_t mark_class(const huddle_data *data, const char *text, bool *kept) {
    int64_t marked = 0;
    for (int32_t k = 0; k < data->n_classes; k++)
        if (strcmp(data->classes[k], text) == 0) {
            kept[k] = true;
            return 1;
        }
    if (!data->classes_numeric)
        return 0;
    char *dash =
        strchr(text + 1, '-'); /* from the second character on: -3--1 is the range of -3 to -1 */
    int64_t first, last;
    if (text[0] == '\0' ||
        !hd_io_number_whole(text, dash != NULL ? dash : text + strlen(text), &first))
        return 0;
    last = first;
    if (dash != NULL && !hd_io_number_whole(dash + 1, dash + strlen(dash), &last))
        return 0;
    for (int32_t k = 0; k < data->n_classes; k++) {
        int64_t value = strtoll(data->classes[k], NULL, 10);
        if (value >= first && value <= last) {
            kept[k] = true;
            marked++;
        }
    }
    return marked;
}

/* "11-36,40": every part must name an existing class, since a typing error would silently
 * leave points out. */
static huddle_status mark_classes(const huddle_data *data, const char *text, bool *kept) {
    huddle_status status = HUDDLE_OK;
    char *copy, *next = NULL;
    TRY(hd_io_copy_text(text, "a line of text", &copy));
    /* An empty part ("1,,2") names no class and is refused. */
    for (char *part = copy; part != NULL; part = next) {
        next = strchr(part, ',');
        if (next != NULL)
            *next++ = '\0';
        while (*part == ' ')
            part++;
        if (mark_class(data, part, kept) == 0)
            FAIL(HUDDLE_INVALID, "classes = '%.100s': no class %.100s; they run from %s to %s",
                 text, part, data->classes[0], data->classes[data->n_classes - 1]);
    }
done:
    huddle_free(copy);
    return status;
}

/* Samples to keep, in their order; counts[k] of class k. The first ones of each class are
 * kept, so that the selection is reproducible without a seed, or, with draw, random ones: a sample
 * is kept with the probability that the rest of its class must be. */
static int64_t choose_rows(const huddle_data *data, const huddle_read_options *options,
                           const bool *kept, int64_t *counts, int64_t *rest, int64_t *index) {
    hd_rng rng = hd_rng_stream(options->seed, DRAW_STREAM);
    int64_t count = 0, per_class = options->per_class;
    for (int64_t i = 0; i < data->points.n; i++)
        rest[data->labels[i]]++;
    for (int64_t i = 0; i < data->points.n; i++) {
        int32_t k = data->labels[i];
        if (!kept[k] || (per_class > 0 && counts[k] == per_class))
            continue;
        if (options->draw && per_class > 0 &&
            hd_rng_uniform(&rng) * (double)rest[k]-- >= (double)(per_class - counts[k]))
            continue;
        counts[k]++;
        index[count++] = i;
    }
    return count;
}

/* Removes the names of classes that were left out and closes the gaps; rank[k] is the new
 * number of class k. */
static void renumber_classes(huddle_data *data, const bool *kept, int32_t *rank) {
    int32_t left = 0;
    for (int32_t k = 0; k < data->n_classes; k++) {
        if (!kept[k]) {
            huddle_free(data->classes[k]);
            continue;
        }
        rank[k] = left;
        data->classes[left++] = data->classes[k];
    }
    data->n_classes = left;
}

/* The names of rows index[0] < index[1] < ...; the others are freed. */
static void select_names(char **names, int64_t n, const int64_t *index, int64_t count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        char *name = names[i];
        names[i] = NULL;
        if (kept < count && index[kept] == i)
            names[kept++] = name;
        else
            huddle_free(name);
    }
}

/* One warning is enough: classes are usually all too small or none. */
static void warn_of_few(huddle_context *context, const huddle_data *data, const bool *kept,
                        const int64_t *counts, int64_t per_class) {
    for (int32_t k = 0; k < data->n_classes; k++)
        if (kept[k] && counts[k] < per_class) {
            hd_warn(context, HUDDLE_WARNING_INPUT,
                    "class %s has %lld samples, fewer than per_class = %lld", data->classes[k],
                    (long long)counts[k], (long long)per_class);
            return;
        }
}

/* Applied after reading, to every kind of source alike. */
huddle_status hd_io_data_select(huddle_context *context, const huddle_read_options *options,
                                huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    bool *kept = NULL;
    int64_t *counts = NULL, *rest = NULL, *index = NULL;
    int32_t *rank = NULL;
    huddle_points points = {0};
    if (options->draw && options->per_class == 0)
        FAIL(HUDDLE_INVALID, "draw needs per_class, the number of samples of each class");
    if (options->classes == NULL && options->per_class == 0)
        goto done;
    if (options->per_class < 0)
        FAIL(HUDDLE_INVALID, "per_class = %lld is negative", (long long)options->per_class);
    if (data->labels == NULL)
        FAIL(HUDDLE_INVALID, "there are no labels to choose classes by");
    ALLOC_ZERO(kept, data->n_classes);
    /* counts is filled by choose_rows() and only used for the warning. */
    ALLOC_ZERO(counts, data->n_classes);
    ALLOC_ZERO(rest, data->n_classes);
    ALLOC_ZERO(rank, data->n_classes);
    ALLOC(index, data->points.n);
    if (options->classes == NULL)
        memset(kept, 1, (size_t)data->n_classes * sizeof *kept);
    else
        TRY(mark_classes(data, options->classes, kept));
    int64_t count = choose_rows(data, options, kept, counts, rest, index);
    warn_of_few(context, data, kept, counts, options->per_class);
    TRY(hd_io_exact_take(data, index, count));
    /* The points are copied before the old ones are freed. */
    TRY(huddle_points_take(&data->points, index, count, &points));
    if (data->row_names != NULL)
        select_names(data->row_names, data->points.n, index, count);
    huddle_points_free(&data->points);
    data->points = points;
    /* It has numbers of rows of the file, which no longer correspond to the points. */
    huddle_free(data->dropped);
    data->dropped = NULL;
    data->n_dropped = 0;
    renumber_classes(data, kept, rank);
    /* In place: index[i] >= i, so that labels still needed are not overwritten. */
    for (int64_t i = 0; i < count; i++)
        data->labels[i] = rank[data->labels[index[i]]];
done:
    FREE(kept, counts, rest, index, rank);
    return status;
}
