/* Row rules: from eigenvectors to the points that are clustered. "unit" is that of Ng, Jordan and
 * Weiss (2001), "rw" gives the eigenvectors of the random walk (Shi and Malik, 2000). */
#include "base/check.h"
#include "embed/operator.h"

#include <math.h>
#include <string.h>

/* A row of zeros, of a vertex in a component that none of the vectors covers, has no direction and
 * stays zero under "unit". */
huddle_status huddle_embed_rows(const huddle_dense *vectors, const double *degrees,
                                const char *rule, huddle_dense *f) {
    bool unit = strcmp(rule, "unit") == 0, rw = strcmp(rule, "rw") == 0;
    if (!unit && !rw && strcmp(rule, "sym") != 0)
        return hd_fail(HUDDLE_INVALID, "rows = %s: expected one of unit|sym|rw", rule);
    if (rw && degrees == NULL)
        return hd_fail(HUDDLE_INVALID, "rows = rw needs the degrees of the vertices");
    if (f->rows != vectors->rows || f->cols > vectors->cols)
        return hd_fail(HUDDLE_INVALID, "rows for %lld x %lld do not fit vectors of %lld x %lld",
                       (long long)f->rows, (long long)f->cols, (long long)vectors->rows,
                       (long long)vectors->cols);
    for (int64_t i = 0; i < f->rows; i++) {
        const double *from = vectors->values + i * vectors->stride;
        double *to = f->values + i * f->stride, scale = 1, square = 0;
        for (int64_t k = 0; k < f->cols; k++)
            square += from[k] * from[k];
        if (unit && square > 0)
            scale = 1 / sqrt(square);
        if (rw)
            scale = 1 / hd_embed_degree_root(degrees[i]);
        for (int64_t k = 0; k < f->cols; k++)
            to[k] = scale * from[k];
    }
    return HUDDLE_OK;
}
