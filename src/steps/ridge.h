/* Ridge regression of several numbers per point on the points, with an intercept. */
#ifndef HUDDLE_SRC_STEPS_RIDGE_H
#define HUDDLE_SRC_STEPS_RIDGE_H

#include "prepare/centred.h"

/* The centred points X (n x d), and the factor of X'X + gamma I or, if n < d, of X X' + gamma I. */
typedef struct hd_step_ridge {
    hd_prepare_centred centred;
    double *mean; /* d: of the points as stored */
    bool by_columns;
    int64_t m;
    double *factor; /* m x m, lower triangle */
    double gamma;
} hd_step_ridge;

/* Largest side of the factor: its matrix takes 800 MB. */
enum { HD_STEP_RIDGE_MOST = 10000 };

/* gamma: HUDDLE_AUTO is 1/10000 of the total scatter; one that only rounding would tell from 0 is
 * raised. HUDDLE_UNSUPPORTED if both sides of x are above HD_STEP_RIDGE_MOST. x must outlive it. */
huddle_status hd_step_ridge_new(huddle_context *context, const huddle_points *x, double gamma,
                                hd_step_ridge *ridge);
void hd_step_ridge_free(hd_step_ridge *ridge);

/* out (n x b) = X (X'X + gamma I)^-1 X' v, the fitted values of v less its mean; half is scratch
 * space for hd_step_ridge_half() rows of b numbers. */
huddle_status hd_step_ridge_project(huddle_context *context, const hd_step_ridge *ridge,
                                    const double *v, int64_t b, int64_t ldv, double *half,
                                    double *out, int64_t ldo);
int64_t hd_step_ridge_half(const hd_step_ridge *ridge);

/* The regression of the columns of f: map ((d + 1) x (c + 1)) has the coefficients, in its last row
 * the means of f, and in its last column those of the points, shift included. */
huddle_status hd_step_ridge_fit(huddle_context *context, const hd_step_ridge *ridge,
                                const huddle_dense *f, huddle_dense *map);

/* The first rows->cols fitted values of other points. */
huddle_status hd_step_ridge_apply(huddle_context *context, const huddle_dense *map,
                                  const huddle_points *x, const huddle_dense *rows);

#endif
