/* Point sets with a known answer. Point i is made from stream i of the seed, so that the thread
 * count does not matter, and belongs to class i mod c, so that every prefix is balanced. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "io/formats.h"
#include "io/rows.h"

#include <math.h>
#include <string.h>

/* M_PI is not part of C11. */
static const double pi = 3.14159265358979323846;

/* noise is the default; options->noise replaces it. */
typedef struct shape {
    const char *name;
    int32_t d, n_classes;
    double noise; /* standard deviation, chosen so that 5 neighbours stay within a class */
    void (*place)(hd_rng *rng, int32_t class, double *x);
} shape;

/* Two half circles that reach into each other. */
static void place_moon(hd_rng *rng, int32_t class, double *x) {
    double angle = pi * hd_rng_uniform(rng);
    x[0] = class == 0 ? cos(angle) : 1 - cos(angle);
    x[1] = class == 0 ? sin(angle) : 0.5 - sin(angle);
}

/* Three circles around one centre, of radius 1, 2 and 3. */
static void place_ring(hd_rng *rng, int32_t class, double *x) {
    double angle = 2 * pi * hd_rng_uniform(rng);
    x[0] = (class + 1) * cos(angle);
    x[1] = (class + 1) * sin(angle);
}

/* Three arms of an Archimedean spiral, one turn each. The square root makes the points even
 * along the arm, whose length grows with the square of the radius. */
static void place_spiral(hd_rng *rng, int32_t class, double *x) {
    double radius = sqrt(0.25 + 8.75 * hd_rng_uniform(rng)); /* 0.5 .. 3 */
    double angle = 2 * pi * ((radius - 0.5) / 2.5 + class / 3.0);
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
}

/* Five centres on a circle of radius 10. */
static void place_blob(hd_rng *rng, int32_t class, double *x) {
    (void)rng;
    x[0] = 10 * cos(2 * pi * class / 5);
    x[1] = 10 * sin(2 * pi * class / 5);
}

/* A disc of radius 5 and two of radius 0.5 beside it, with as many points each. K-means cuts the
 * large one into halves, which lowers its objective by more than telling the small ones apart. */
static void place_unequal(hd_rng *rng, int32_t class, double *x) {
    static const double centres[3][2] = {{0, 0}, {7.4, 1.3}, {7.4, -1.3}};
    double radius = (class == 0 ? 5 : 0.5) * sqrt(hd_rng_uniform(rng));
    double angle = 2 * pi * hd_rng_uniform(rng);
    x[0] = centres[class][0] + radius * cos(angle);
    x[1] = centres[class][1] + radius * sin(angle);
}

/* A sheet of width 21 rolled along the spiral of radius t, t from 3 pi / 2 to 9 pi / 2,
 * uniform along its length, which is nearly (t^2 - t0^2) / 2. It is cut into four strips with
 * gaps of a third of their length: neighbouring turns of the roll are hardly farther apart
 * than the strips, so that methods which use straight distances fail. */
static void place_on_roll(hd_rng *rng, int32_t class, double *x) {
    double along = (class + 0.75 * hd_rng_uniform(rng)) / 3.75;
    double t = pi * sqrt(2.25 + 18 * along);
    x[0] = t * cos(t);
    x[1] = 21 * hd_rng_uniform(rng);
    x[2] = t * sin(t);
}

static const shape kinds[] = {
    {"moons", 2, 2, 0.05, place_moon},      {"rings", 2, 3, 0.07, place_ring},
    {"spirals", 2, 3, 0.03, place_spiral},  {"blobs", 2, 5, 1.0, place_blob},
    {"unequal", 2, 3, 0.05, place_unequal}, {"swissroll", 3, 4, 0.05, place_on_roll},
};

/* Digits are read from a table in digits.c, not made by a shape. */
const char *const *huddle_data_kinds(void) {
    static const char *const names[] = {"digits", "moons",   "rings",     "spirals",
                                        "blobs",  "unequal", "swissroll", NULL};
    return names;
}

bool hd_io_is_generator(const char *name) {
    for (const char *const *known = huddle_data_kinds(); *known != NULL; known++)
        if (strcmp(name, *known) == 0)
            return true;
    return false;
}

typedef struct making {
    const shape *kind;
    huddle_data *data;
    uint64_t seed;
    double noise;
    int64_t first; /* number of the first point */
} making;

/* The stream of a point depends on its number only, not on the chunk. */
static huddle_status make_points(void *argument, hd_chunk chunk) {
    const making *m = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        hd_rng rng = hd_rng_stream(m->seed, (uint64_t)(m->first + i));
        int32_t class = (int32_t)((m->first + i) % m->kind->n_classes);
        double x[3];
        m->kind->place(&rng, class, x);
        for (int32_t j = 0; j < m->kind->d; j++)
            m->data->points.values[i * m->kind->d + j] =
                (float)(x[j] + m->noise * hd_rng_normal(&rng));
        m->data->labels[i] = class;
    }
    return HUDDLE_OK;
}

/* n = 0 means the default of 1000 points. Every class has at least one point. Of several processes
 * each makes its own points. */
huddle_status hd_io_generate(huddle_context *context, const char *name,
                             const huddle_read_options *options, hd_io_rows *rows,
                             huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const shape *kind = kinds; /* hd_io_is_generator() knows the name */
    while (strcmp(kind->name, name) != 0)
        kind++;
    int64_t n = options->n == 0 ? 1000 : options->n;
    double noise = options->noise == HUDDLE_AUTO ? kind->noise : options->noise;
    if (n < kind->n_classes || n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld is outside [%d, 2147483647]", (long long)n, kind->n_classes);
    if (!(noise >= 0 && noise <= 1e6))
        FAIL(HUDDLE_INVALID, "noise = %g is outside [0, 1e+06]", noise);
    making m = {kind, data, options->seed, noise, 0};
    if (rows != NULL) {
        rows->total = n;
        hd_slab_share_of(n, rows->rank, rows->count, &rows->first, &rows->n);
        m.first = rows->first;
        n = rows->n;
    }
    data->format = kind->name;
    if (n > 0)
        TRY(hd_io_points_reserve(n, kind->d, &data->points));
    else
        TRY(huddle_points_new(0, kind->d, &data->points));
    ALLOC(data->labels, n);
    TRY(hd_io_data_number_classes(kind->n_classes, data));
    TRY(hd_parallel(context, "generate", n, 4096, make_points, &m));
done:
    return status;
}
