/* Row rules: from eigenvectors to the points that are clustered. "unit" is that of Ng, Jordan and
 * Weiss (2001), "rw" gives the eigenvectors of the random walk (Shi and Malik, 2000), "commute"
 * weighs the eigenvectors as the commute time of the random walk does. */
#include "base/check.h"
#include "embed/operator.h"

#include <math.h>
#include <string.h>

/* With all n vectors, each divided by sqrt(lambda), distances between rows of D^-1/2 V are roots of
 * commute times (Qiu and Hancock, 2007): directions in which the graph is nearly cut count more.
 * The power 1/2 and the floor, a share of the eigenvalue in the middle, were chosen on image data;
 * powers of 1/4 to 1/2 and floors of .1 to 1 give similar clusters. With a floor of .01, the few
 * smallest eigenvalues alone determine the rows. */
static const double commute_power = 0.5, commute_floor = 0.1;

/* Smaller eigenvalues are rounding errors, as in the eigengap rule. With as many components as
 * clusters the eigenvalue in the middle is 0, and this is the floor: the vectors of components are
 * then weighed 1000 times and more as strongly as the others, which leaves one direction for each
 * component, without overflow. */
static const double min_eigenvalue = 1e-7;

static huddle_status check_sizes(const huddle_dense *vectors, const huddle_dense *f) {
    if (f->rows != vectors->rows || f->cols > vectors->cols)
        return hd_fail(HUDDLE_INVALID, "rows for %lld x %lld do not fit vectors of %lld x %lld",
                       (long long)f->rows, (long long)f->cols, (long long)vectors->rows,
                       (long long)vectors->cols);
    return HUDDLE_OK;
}

/* A row of zeros, of a vertex in a component that none of the vectors covers, has no direction and
 * stays zero under "unit". */
huddle_status huddle_embed_rows(const huddle_dense *vectors, const double *degrees,
                                const char *rule, huddle_dense *f) {
    bool unit = strcmp(rule, "unit") == 0, rw = strcmp(rule, "rw") == 0;
    if (strcmp(rule, "commute") == 0)
        return hd_fail(HUDDLE_INVALID,
                       "rows = commute needs eigenvalues: huddle_embed_commute_rows()");
    if (!unit && !rw && strcmp(rule, "sym") != 0)
        return hd_fail(HUDDLE_INVALID, "rows = %s: expected one of unit|sym|rw|commute", rule);
    if (rw && degrees == NULL)
        return hd_fail(HUDDLE_INVALID, "rows = rw needs the degrees of the vertices");
    huddle_status status = check_sizes(vectors, f);
    if (status != HUDDLE_OK)
        return status;
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

/* The rule of docs/method.md, "Embedding F". fmax() ignores a NaN, which only a damaged model file
 * could contain. */
huddle_status huddle_embed_commute_rows(const huddle_dense *vectors, const double *eigenvalues,
                                        huddle_dense *f) {
    huddle_status status = HUDDLE_OK;
    double *factors = NULL;
    TRY(check_sizes(vectors, f));
    ALLOC(factors, f->cols);
    int64_t middle = (f->cols + 1) / 2;
    double floor =
        middle > 0 ? fmax(commute_floor * eigenvalues[middle - 1], min_eigenvalue) : min_eigenvalue;
    for (int64_t k = 0; k < f->cols; k++)
        factors[k] = pow(fmax(eigenvalues[k], floor), -commute_power);
    for (int64_t i = 0; i < f->rows; i++) {
        const double *from = vectors->values + i * vectors->stride;
        double *to = f->values + i * f->stride;
        for (int64_t k = 0; k < f->cols; k++)
            to[k] = factors[k] * from[k];
    }
    TRY(huddle_embed_rows(f, NULL, "unit", f));
done:
    huddle_free(factors);
    return status;
}
