/* Huddle, prepare: what is done to the points before anything looks at distances.
 *
 *   auto            for models: the rule chosen without labels (docs/method.md); refused here
 *   none            nothing
 *   standard        each column to mean 0 and variance 1 (constant columns to 0)
 *   unit            each row to norm 1 (zero rows stay)
 *   center-rows     each row less its own mean, then to norm 1
 *   center-columns  each column less its mean, then each row to norm 1
 *   pca:R           the first R principal components, then each row to norm 1
 *   whiten:R        the same, each component to variance 1 before the rows are scaled
 *
 * A preparation is fitted to training points and can be applied to new ones; to the training
 * points themselves it is applied in the same way. All rules see the true values: the points'
 * shift, if they have one, added.
 *
 * R is clipped to the rank of the points less their mean, with a warning. Components are ordered
 * by variance, and the largest entry of each is positive. If all points are equal there is no
 * component; one column of zeros stands for them.
 *
 * A row whose length is only rounding counts as a zero row: it stays, as zeros.
 *
 * Sparse points stay sparse under none and unit; pca and whiten project them to R dense columns
 * without making them dense first; the others would fill them and refuse.
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
    double *shift;           /* d_in, or NULL: the training points' shift, kept by none alone, so
                                that the stored values of new points compare with theirs */
    huddle_dense projection; /* d_in x d_out, or empty */
    bool center_rows;        /* rows are centred */
    bool unit_rows;          /* rows are scaled to norm 1 */
    double variance_kept;    /* share of the total variance in the R components; 1 without */
} huddle_preparation;

typedef struct huddle_prepare_info {
    double variance_kept; /* the preparation's */
    int64_t zero_rows;    /* rows that could not be scaled to norm 1; of apply only */
    double seconds;
} huddle_prepare_info;

HUDDLE_API const huddle_option *huddle_prepare_options_table(void);
HUDDLE_API huddle_prepare_options huddle_prepare_defaults(void);

/* Fits the rule to x. HUDDLE_INVALID if an option or x does not fit, HUDDLE_NO_MEMORY,
 * HUDDLE_NUMERIC if the eigensolver fails, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_prepare_fit(huddle_context *context, const huddle_points *x,
                                            const huddle_prepare_options *options,
                                            huddle_preparation *preparation,
                                            huddle_prepare_info *info);

/* Applies a fitted rule; y is the caller's to free. x must have d_in columns. None of a dense x
 * is a copy whose shift is the training points'; every other rule's result has none. */
HUDDLE_API huddle_status huddle_prepare_apply(huddle_context *context,
                                              const huddle_preparation *preparation,
                                              const huddle_points *x, huddle_points *y,
                                              huddle_prepare_info *info);
HUDDLE_API void huddle_preparation_free(huddle_preparation *preparation);

#ifdef __cplusplus
}
#endif

#endif
