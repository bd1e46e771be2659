/* Huddle, prepare: what is done to the points before anything looks at distances.
 *
 *   none            nothing
 *   standard        each column to mean 0 and variance 1 (constant columns to 0)
 *   unit            each row to norm 1 (zero rows stay)
 *   center-rows     each row less its own mean, then to norm 1
 *   center-columns  each column less its mean, then each row to norm 1
 *   pca:R           the first R principal components, then each row to norm 1
 *   whiten:R        the same, each component to variance 1 before the rows are scaled
 *
 * A preparation is fitted to training points and can be applied to new ones. Sparse points stay
 * sparse under none and unit; pca and whiten make them dense at R columns; the others refuse.
 */
#ifndef HUDDLE_PREPARE_H
#define HUDDLE_PREPARE_H

#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct huddle_prepare_options {
    huddle_rule prepare; /* one of the above */
    uint64_t seed;       /* of the randomised PCA */
} huddle_prepare_options;

/* A fitted preparation: y = rows((x - centre) * scale  or  (x - centre) projection). */
typedef struct huddle_preparation {
    huddle_rule rule; /* R clipped to the rank */
    int64_t d_in, d_out;
    double *centre;          /* d_in, or NULL */
    double *scale;           /* d_in, or NULL: what columns are multiplied by */
    huddle_dense projection; /* d_in x d_out, or empty */
    bool center_rows;        /* rows are centred */
    bool unit_rows;          /* rows are scaled to norm 1 */
} huddle_preparation;

typedef struct huddle_prepare_info {
    double variance_kept; /* share of the total variance in the R components; 1 without */
    int64_t zero_rows;    /* rows that could not be scaled to norm 1 */
    double seconds;
} huddle_prepare_info;

HUDDLE_API const huddle_option *huddle_prepare_options_table(void);
HUDDLE_API huddle_prepare_options huddle_prepare_defaults(void);

/* Fits the rule to x. */
HUDDLE_API huddle_status huddle_prepare_fit(huddle_context *context, const huddle_points *x,
                                            const huddle_prepare_options *options,
                                            huddle_preparation *preparation,
                                            huddle_prepare_info *info);

/* Applies a fitted rule; y is the caller's to free. x must have d_in columns. */
HUDDLE_API huddle_status huddle_prepare_apply(huddle_context *context,
                                              const huddle_preparation *preparation,
                                              const huddle_points *x, huddle_points *y,
                                              huddle_prepare_info *info);
HUDDLE_API void huddle_preparation_free(huddle_preparation *preparation);

#ifdef __cplusplus
}
#endif

#endif
