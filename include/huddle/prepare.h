/* Huddle, prepare: transformations of the points before distances are computed.
 *
 *   auto            for models: a rule chosen without labels (docs/method.md); invalid here
 *   none            no change
 *   standard        scale each column to mean 0 and variance 1 (constant columns to 0)
 *   clip            as standard, then limit every value to [-2, 2]: for tables with outliers
 *   ranks           replace each value by its average rank in the column, divided by n (constant
 *                   columns by 0)
 *   unit            scale each row to unit norm (zero rows are unchanged)
 *   center-rows     subtract the row mean, then scale to unit norm
 *   center-columns  subtract the column means, then scale each row to unit norm
 *   pca:R           project onto the first R principal components, then scale to unit norm
 *   whiten:R        the same, with each component scaled to variance 1 before the rows are scaled
 *
 * A preparation is fitted to training points and can be applied to new ones; to the training
 * points themselves it is applied in the same way. All rules use the true values, with the shift of
 * the points added if they have one.
 *
 * Values of a column that differ by rounding errors only, 16 DBL_EPSILON relative to its shift or
 * mean, count as equal: standard does not scale such a column to variance 1, ranks share a rank.
 *
 * Ranks are 1 .. n; equal values share the mean of theirs. Between two training values a new value
 * is interpolated linearly, outside of all it gets the first or the last rank. A column of at most
 * 2,048 distinct values keeps all of them. A longer one keeps the smallest, the largest, and as few
 * of the others as are needed so that two consecutive kept values differ by at most 1/1023 or have
 * no other training value between them: at most 2,048, and the result for a training value is then
 * within 1/1023 of its rank. Under an engine that distributes rows over processes, ranks are
 * refused.
 *
 * R is limited to the rank of the centred points, with a warning. Components are ordered
 * by variance, and the largest entry of each is positive. If all points are equal there is no
 * component, and the result is one column of zeros.
 *
 * A row whose norm is only rounding error is treated as a row of zeros and becomes one.
 *
 * Sparse points stay sparse under none and unit; pca and whiten project them to R dense columns
 * without making them dense first; the other rules would make them dense and are refused.
 *
 * Under an engine that distributes rows over processes, every process passes its own rows and gets
 * the preparation of all rows.
 */
#ifndef HUDDLE_PREPARE_H
#define HUDDLE_PREPARE_H

#include "huddle/matrix.h"

typedef struct huddle_prepare_options {
    huddle_rule prepare; /* one of the above */
    uint64_t seed;       /* of the randomised PCA */
} huddle_prepare_options;

/* A fitted preparation: y = rows((x - centre) * scale  or  (x - centre) projection), or the ranks
 * of x - centre. */
typedef struct huddle_preparation {
    huddle_rule rule; /* R limited to the rank */
    int64_t d_in, d_out;
    double *centre; /* d_in, or NULL */
    double *scale;  /* d_in, or NULL: factors of the columns */
    double *shift;  /* d_in, or NULL: the training points' shift, kept only by rule none, so
                       that the stored values of new points can be compared with theirs */
    huddle_dense projection; /* d_in x d_out, or empty */
    int64_t *knot_offsets;   /* d_in + 1, or NULL: the first knot of each column */
    huddle_dense knots;      /* of all columns x 2, or empty: values ascending, their rank / n */
    double limit;            /* scaled values are limited to [-limit, limit]; 0: they are not */
    bool center_rows;        /* rows are centred */
    bool unit_rows;          /* rows are scaled to norm 1 */
    double variance_kept;    /* share of the total variance in the R components; 1 without */
} huddle_preparation;

typedef struct huddle_prepare_info {
    double variance_kept; /* the preparation's */
    int64_t zero_rows;    /* rows that could not be scaled to norm 1; set by apply only */
    double seconds;
} huddle_prepare_info;

HUDDLE_API const huddle_option *huddle_prepare_options_table(void);
HUDDLE_API huddle_prepare_options huddle_prepare_defaults(void);

/* Fits the rule to x. HUDDLE_INVALID if an option or x is invalid or has the wrong size,
 * HUDDLE_NO_MEMORY, HUDDLE_NUMERIC if the eigensolver fails, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_prepare_fit(huddle_context *context, const huddle_points *x,
                                            const huddle_prepare_options *options,
                                            huddle_preparation *preparation,
                                            huddle_prepare_info *info);

/* Applies a fitted rule; the caller frees y. x must have d_in columns. Rule none copies x; a
 * dense copy gets the shift of the training points. The results of all other rules have no shift.
 */
HUDDLE_API huddle_status huddle_prepare_apply(huddle_context *context,
                                              const huddle_preparation *preparation,
                                              const huddle_points *x, huddle_points *y,
                                              huddle_prepare_info *info);
HUDDLE_API void huddle_preparation_free(huddle_preparation *preparation);

#endif
