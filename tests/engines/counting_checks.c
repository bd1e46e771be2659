/* Points and comparisons that several tests with this engine share. */
#include "engines/counting.h"

#include "base/context.h"
#include "base/rng.h"
#include "support/support.h"

#include <string.h>

huddle_context *counting_context_with(const hd_engine *engine, const char *options) {
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 3));
    if (engine != NULL)
        assert_ok(hd_context_use_engine(context, engine, options));
    return context;
}

huddle_points counting_groups(int64_t n, int64_t d, int64_t c, double noise) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(1, (uint64_t)i), centre = hd_rng_stream(2, (uint64_t)(i % c));
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(4 * hd_rng_normal(&centre) + noise * hd_rng_normal(&rng));
    }
    return x;
}

huddle_points counting_clouds(int64_t n, int64_t d, uint64_t seed) {
    enum { C = 3 };
    static const double centres[C][4] = {{0, 0, 0, 1}, {7, 0, 2, 1}, {3, 6, 0, 1}};
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t own = i % C, other = (i / C + own) % C;
        double way = i >= C * 28 ? .36 : 0;
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)((1 - way) * centres[own][j % 4] +
                                          way * centres[other][j % 4] + .6 * hd_rng_normal(&rng));
    }
    return x;
}

void counting_check_same_bits(const char *what, huddle_model *a, huddle_model *b) {
    int64_t n;
    const int32_t *labels = huddle_model_labels(a, &n);
    if (memcmp(labels, huddle_model_labels(b, NULL), (size_t)n * sizeof *labels) != 0)
        fail_msg("%s: other labels", what);
    for (const char *const *name = huddle_model_arrays(b); *name != NULL; name++) {
        huddle_array v, w;
        assert_ok(huddle_model_array(a, *name, &v));
        assert_ok(huddle_model_array(b, *name, &w));
        assert_true(v.rows == w.rows && v.cols == w.cols && v.type == w.type);
        if (v.type == HUDDLE_ARRAY_F64 && v.stride == v.cols &&
            memcmp(v.values, w.values, (size_t)(v.rows * v.cols) * sizeof(double)) != 0)
            fail_msg("%s: other bits in '%s'", what, *name);
    }
}
