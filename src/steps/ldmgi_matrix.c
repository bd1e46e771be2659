/* Local discriminant models (methods/ldmgi.c): the model of one clique, and the sum of all. */
#include "steps/ldmgi_matrix.h"

#include "base/check.h"
#include "steps/row_sums.h"

#include <math.h>

/* A lambda below this share of tr K would be lost in the rounding of K. */
static const double min_share = 1e-10;

/* K = -1/2 H D H of the squared distances D, H = I - 11'/m: no point need be centred, and the
 * result is accurate where the points are far from the origin. Returns the trace. */
static double centre_squares(int32_t m, double *squares, double *means) {
    double mean = 0, trace = 0;
    for (int32_t r = 0; r < m; r++) {
        means[r] = 0;
        for (int32_t c = 0; c < m; c++)
            means[r] += squares[r * m + c] / m;
        mean += means[r] / m;
    }
    for (int32_t r = 0; r < m; r++)
        for (int32_t c = 0; c < m; c++)
            squares[r * m + c] = (means[r] + means[c] - mean - squares[r * m + c]) / 2;
    for (int32_t r = 0; r < m; r++)
        trace += squares[r * m + r];
    return trace;
}

/* The inverse of a positive definite matrix by Gauss-Jordan elimination, which needs no pivoting
 * then. m is about 6: calling LAPACK would cost more than the elimination. Entries (r, c) and (c,
 * r) are computed alike, so that the inverse is as symmetric as the matrix. */
static void invert(int32_t m, double *a) {
    for (int32_t p = 0; p < m; p++) {
        double pivot = a[p * m + p];
        for (int32_t r = 0; r < m; r++)
            for (int32_t c = 0; c < m && r != p; c++)
                if (c != p) {
                    double product = a[r * m + p] * a[p * m + c];
                    a[r * m + c] -= product / pivot;
                }
        /* So far the inverse with the opposite sign, which is symmetric in every step. */
        for (int32_t r = 0; r < m; r++) {
            a[r * m + p] /= r == p ? 1 : pivot;
            a[p * m + r] = a[r * m + p];
        }
        a[p * m + p] = -1 / pivot;
    }
    for (int32_t e = 0; e < m * m; e++)
        a[e] = -a[e];
}

double hd_step_ldmgi_invert(int32_t m, double lambda, double *squares, double *means) {
    double trace = centre_squares(m, squares, means);
    lambda = fmax(lambda, min_share * trace);
    for (int32_t r = 0; r < m; r++) {
        for (int32_t c = 0; c < m; c++)
            squares[r * m + c] += trace / m;
        squares[r * m + r] += lambda;
    }
    invert(m, squares);
    return trace;
}

/* The eigenvalue of 1 in the inverse is 1 / (lambda + r): taking it away is multiplying by H from
 * both sides. The largest eigenvalue becomes at most `unit` / lambda. */
void hd_step_ldmgi_block(int32_t m, double lambda, double unit, double *squares, double *means) {
    double trace = hd_step_ldmgi_invert(m, lambda, squares, means);
    double ones = 1 / (m * (fmax(lambda, min_share * trace) + trace));
    for (int32_t e = 0; e < m * m; e++)
        squares[e] = unit * (squares[e] - ones);
}

void hd_step_cliques_free(hd_step_cliques *cliques) {
    huddle_csr_free(&cliques->members);
    FREE(cliques->begin, cliques->blocks);
}

/* The argument of sum_row(). */
typedef struct sum {
    const hd_step_cliques *cliques;
    const huddle_csr *of; /* the transpose of members: the cliques of each point */
} sum;

/* Row i of I - L: the rows of point i in all its cliques. These come in ascending order, so that
 * entries (i, j) and (j, i) are added up alike. */
static void sum_row(const void *argument, int64_t row, hd_step_row_sum *total) {
    const sum *s = argument;
    const huddle_csr *members = &s->cliques->members;
    const double one = 1;
    const int32_t own = (int32_t)row;
    hd_step_row_add(total, 1, 1, &own, &one);
    for (int64_t e = s->of->offsets[row]; e < s->of->offsets[row + 1]; e++) {
        int32_t clique = s->of->columns[e];
        int64_t begin = members->offsets[clique], m = members->offsets[clique + 1] - begin;
        int64_t place = 0;
        while (members->columns[begin + place] != own)
            place++;
        hd_step_row_add(total, -1, m, members->columns + begin,
                        s->cliques->blocks + s->cliques->begin[clique] + place * m);
    }
}

huddle_status hd_step_ldmgi_matrix(huddle_context *context, const hd_step_cliques *cliques,
                                   huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    huddle_csr of = {0};
    const sum s = {cliques, &of};
    TRY(huddle_csr_transpose(&cliques->members, &of));
    TRY(hd_step_sum_rows(context, cliques->members.rows, cliques->members.rows, sum_row, &s,
                         matrix));
done:
    huddle_csr_free(&of);
    return status;
}
