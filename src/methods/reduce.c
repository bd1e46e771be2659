/* Principal components as a step of a method. Components are neither whitened nor scaled, so that
 * distances are those of the points in the subspace. */
#include "methods/reduce.h"

#include "base/check.h"
#include "base/options.h"
#include "base/slabs.h"
#include "methods/prepare.h"
#include "prepare/pca.h"

#include <math.h>
#include <string.h>

/* Experiments try dimensions up to this number (10 .. 150 in the published comparison), so that one
 * decomposition is sufficient for all; auto does not exceed it either. */
enum { MAX_DIM = 150 };

const huddle_option *hd_method_reduce_table(void) {
    static const huddle_option table[] = {
        HD_INT_AUTO(
            hd_method_reduce_options, dim, "auto", 1, INT32_MAX,
            "number of principal components; auto: as many as explain 90 % of the variance"),
        {0}};
    return table;
}

/* ---- one map ------------------------------------------------------------------------------- */

/* Copies the first components. One column of zeros remains if all points are equal: a map to zero
 * dimensions would be an exception for all later stages. */
static huddle_status set_projection(const double *components, int64_t r, int64_t rank,
                                    huddle_preparation *map) {
    huddle_status status = HUDDLE_OK;
    map->d_out = rank < 1 ? 1 : rank;
    map->rule = (huddle_rule){"pca:R", (int32_t)map->d_out};
    TRY(huddle_dense_new(map->d_in, map->d_out, &map->projection));
    for (int64_t j = 0; j < map->d_in; j++)
        for (int64_t k = 0; k < rank; k++)
            map->projection.values[j * map->d_out + k] = components[j * r + k];
done:
    return status;
}

/* The mean is computed on the values as stored; the shift is added to the centre of the map, which
 * is applied to complete values. The total variance includes components that were not computed. */
huddle_status hd_method_principal_map(huddle_context *context, const huddle_points *points,
                                      int64_t r, uint64_t seed, huddle_preparation *map,
                                      double *variances, double *total) {
    huddle_status status = HUDDLE_OK;
    int64_t d = points->d, rank;
    double *spread = NULL, *mean = NULL, *components = NULL, kept = 0;
    hd_prepare_centred centred = {.x = points};
    map->d_in = d;
    ALLOC(mean, d);
    ALLOC(spread, d);
    ALLOC(components, d * r);
    TRY(hd_prepare_column_moments(context, points, mean, spread));
    centred.offset = mean;
    TRY(hd_prepare_pca(context, &centred, r, false, seed, components, variances, &rank));
    TRY(set_projection(components, r, rank, map));
    *total = 0;
    for (int64_t j = 0; j < d; j++) {
        *total += spread[j];
        mean[j] += points->shift != NULL ? points->shift[j] : 0;
    }
    for (int64_t k = 0; k < rank; k++)
        kept += variances[k];
    map->variance_kept = *total > 0 ? fmin(kept / *total, 1) : 1;
    map->centre = mean;
    mean = NULL;
done:
    hd_prepare_centred_free(&centred);
    FREE(mean, spread, components);
    return status;
}

/* points may be a view of prepared->points, so that these are freed after the product only. */
huddle_status hd_method_reduce(huddle_context *context, const huddle_points *points,
                               hd_fit_prepared *prepared) {
    huddle_status status = HUDDLE_OK;
    huddle_points reduced = {0};
    TRY(huddle_prepare_apply(context, &prepared->reduction, points, &reduced, NULL));
    huddle_points_free(&prepared->points);
    prepared->points = reduced;
done:
    return status;
}

/* ---- PCA, shared by fits of different dim -------------------------------------------------- */

/* Components can be larger than any value of the points, and are rounded to float. If they might
 * overflow or become subnormal, the map is scaled by a power of two, which changes all distances by
 * the same exact factor and no comparison between them. Squares of values up to 2^60 are below the
 * largest float, 2^128. */
static void bring_near_one(double variance, huddle_preparation *map) {
    enum { MIN_EXPONENT = -60, MAX_EXPONENT = 60 };
    int exponent = 0;
    if (variance > 0)
        frexp(sqrt(variance), &exponent);
    if (exponent >= MIN_EXPONENT && exponent <= MAX_EXPONENT)
        return;
    for (int64_t e = 0; e < map->d_in * map->d_out; e++)
        map->projection.values[e] = ldexp(map->projection.values[e], -exponent);
}

/* Computes the first r components, or as many as there are. The prepared points are not kept. */
static huddle_status make_components(const hd_method_run *run,
                                     const huddle_prepare_options *prepare, int64_t r) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit_prepared *prepared = &run->fit->prepared;
    huddle_points points;
    double *variances = NULL, total;
    ALLOC(variances, r);
    TRY(hd_method_prepare(run, prepare, NULL, false, &points));
    double begin = hd_seconds();
    int64_t side = points.n < points.d ? points.n : points.d;
    TRY(hd_method_principal_map(context, &points, r < side ? r : side, run->seed,
                                &prepared->reduction, variances, &total));
    bring_near_one(total, &prepared->reduction);
    TRY(hd_method_reduce(context, &points, prepared));
    prepared->info.seconds += hd_seconds() - begin;
done:
    huddle_free(variances);
    return status;
}

/* Sum of squares of each column: the components are centred. */
static huddle_status column_squares(huddle_context *context, const huddle_points *points,
                                    double **squares) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_points_fetch(points));
    ALLOC_ZERO(*squares, points->d);
    for (int64_t i = 0; i < points->n; i++)
        for (int64_t k = 0; k < points->d; k++) {
            double value = (double)points->values[i * points->stride + k];
            (*squares)[k] += value * value;
        }
    TRY(hd_reduce_sum(context, points->d, *squares));
done:
    return status;
}

/* The smallest dimension that keeps enough of the variance. squares covers the computed components
 * only, which contain the share kept_by_all of the whole variance. */
static int64_t automatic_dim(int64_t all, const double *squares, double kept_by_all) {
    static const double enough = 0.9; /* of the variance, as the option's help promises */
    double total = 0, sum = 0;
    int64_t dim = 0;
    for (int64_t k = 0; k < all; k++)
        total += squares[k];
    while (dim < all && dim < MAX_DIM && (dim == 0 || sum * kept_by_all < enough * total))
        sum += squares[dim++];
    return dim;
}

/* Keeps the first dim columns of the projection and of the points. Principal components are nested,
 * so this is the result that a decomposition for dim would give. */
static huddle_status keep_columns(int64_t dim, const double *squares, hd_fit_prepared *prepared) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation *map = &prepared->reduction;
    huddle_points points = {0};
    huddle_dense projection = {0};
    double kept = 0, total = 0;
    TRY(huddle_points_new(prepared->points.n, dim, &points));
    TRY(huddle_dense_new(map->d_in, dim, &projection));
    for (int64_t i = 0; i < points.n; i++)
        memcpy(points.values + i * dim, prepared->points.values + i * prepared->points.stride,
               (size_t)dim * sizeof *points.values);
    for (int64_t j = 0; j < map->d_in; j++)
        memcpy(projection.values + j * dim, map->projection.values + j * map->projection.stride,
               (size_t)dim * sizeof *projection.values);
    for (int64_t k = 0; k < map->d_out; k++) {
        kept += k < dim ? squares[k] : 0;
        total += squares[k];
    }
    /* The old value is the share of the computed components in the whole variance. */
    map->variance_kept *= total > 0 ? kept / total : 1;
    map->d_out = dim;
    map->rule.r = (int32_t)dim;
    huddle_dense_free(&map->projection);
    huddle_points_free(&prepared->points);
    map->projection = projection;
    prepared->points = points;
    memset(&projection, 0, sizeof projection);
    memset(&points, 0, sizeof points);
done:
    huddle_dense_free(&projection);
    huddle_points_free(&points);
    return status;
}

/* Names the points in the cache. n_clusters is part of the name because prepare = auto depends on
 * it. */
static void name_points(hd_method_run *run, const huddle_prepare_options *prepare, int64_t r) {
    bool automatic = strcmp(prepare->prepare.name, "auto") == 0;
    hd_cache_key_add(&run->key, "pca;%llu;%lld;%d;%d", (unsigned long long)run->seed, (long long)r,
                     automatic ? run->n_clusters.first : 0, automatic ? run->n_clusters.last : 0);
    hd_cache_key_add_options(&run->key, huddle_prepare_options_table(), prepare);
}

/* Computes (or finds in the cache) at least MAX_DIM components, then keeps as many as the option
 * asks for. */
static huddle_status find_components(hd_method_run *run, const huddle_prepare_options *prepare,
                                     int32_t dim) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit_prepared *prepared = &run->fit->prepared;
    const hd_cache_part parts[] = {{&run->fit->rows, &hd_fit_rows_copier},
                                   {prepared, &hd_fit_prepared_copier}};
    /* Independent of dim up to MAX_DIM, so that all of them have the same key in the cache. */
    int64_t r = dim > MAX_DIM ? dim : MAX_DIM;
    double *squares = NULL;
    name_points(run, prepare, r);
    HD_CACHE_TRY(&run->key, parts, 2, make_components(run, prepare, r));
    TRY(column_squares(context, &prepared->points, &squares));
    int64_t all = prepared->reduction.d_out, n_kept = dim;
    if (dim == HUDDLE_AUTO)
        n_kept = automatic_dim(all, squares, prepared->reduction.variance_kept);
    else if (dim > all)
        hd_warn(context, HUDDLE_WARNING_OPTION_CLIPPED,
                "dim = %d is clipped to %lld, the rank of the points", dim, (long long)all);
    if (n_kept < all)
        TRY(keep_columns(n_kept, squares, prepared));
    hd_cache_key_add(&run->key, "dim;%lld", (long long)prepared->reduction.d_out);
done:
    huddle_free(squares);
    return status;
}

huddle_status hd_method_pca(hd_method_run *run, const huddle_prepare_options *prepare,
                            int32_t dim) {
    hd_stage before = hd_stage_enter(run->context, HD_STAGE_PREPARE);
    huddle_status status = find_components(run, prepare, dim);
    hd_stage_leave(run->context, before);
    return status;
}
