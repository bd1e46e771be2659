/* The iteration in float is enough for the usual tolerance: rounding errors of the filter only
 * change the subspace, which the next round corrects, while Ritz values, residuals and the final
 * vectors are computed in double. A residual below float_floor needs a block in double. */
#include "embed/chebyshev.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* Natural logarithms of 2^53 and 2^24: a factor beyond that loses the smallest column to rounding.
 */
static const double digits_of_double = 38, digits_of_float = 18;

/* A slower growth than this per application is not distinguished from none. */
static const double min_rate = .1;

/* A residual of a tenth of the gap separates the wanted eigenvalues from the next one. */
static const double share_of_gap = .1;

/* Rounding errors reintroduce the deflated vectors, and the filter magnifies them most of all: they
 * are removed after at most so many degrees. */
enum { DEFLATE_EVERY = 24 };

/* The smallest residual, for a matrix of norm 1, that a block of floats reaches: about 16 times the
 * unit roundoff 2^-24. */
static const double float_floor = 1e-6;

/* The residual falls more slowly than the growth factors predict, since eigenvalues lie close below
 * the block's last Ritz value. Aiming lower by this factor is cheaper than another round. */
static const double safety = 8;

/* The first filter, before any Ritz value is known: a low degree that damps the lower three
 * quarters of the spectrum. */
static const double first_edge = .75;
enum { FIRST_DEGREE = 10 };

/* Guard vectors beyond the wanted ones: a tenth, and at least 4. The gap to the first eigenvalue
 * outside the block, not the gap after the wanted ones, then determines the convergence. */
enum { GUARD_SHARE = 10, MIN_GUARD = 4 };

/* The largest ratio between the magnifications of the first and the last wanted vector in one
 * filter: the digits of float and of double, less those that the last vector needs for itself. */
static const double float_range = 1e5, double_range = 1e12;

/* Degrees of the first rounds, while a is still being found, and of later ones: 20, 40, 80, 160. */
enum { START_DEGREE_LIMIT = 20, DEGREE_LIMIT = 160, MIN_DEGREE = 4 };

/* The limit of the first round after a start from a coarser graph, whose edge is nearly right:
 * fewer rounds, and a quarter fewer products (`./dev bench embed`). */
enum { SMOOTH_DEGREE_LIMIT = 80 };

/* Graphs of more vertices use that limit and lock converged vectors. On smaller ones both save
 * little, and the results of earlier releases are kept to the last bit. */
enum { LARGE_ROWS = 50000 };

/* A vector is locked once its residual is below this part of the goal, which leaves room for the
 * changes of later Rayleigh-Ritz steps. */
static const double lock_share = .5;

/* Pairs that need not be accurate have converged when their residual is this part of their distance
 * from the end of the spectrum: the labels refined from them are the same as from accurate ones
 * (19 fits of eight data sets). */
static const double extra_share = .3;

/* Rounds for them alone at most: the last of them have no guard vectors and converge slowly. */
enum { EXTRA_ROUNDS = 2 };

/* Rounds without progress (a factor of .7 in the residual) after which a block of floats is
 * continued in double, and after which the iteration stops. */
enum { FLOAT_PATIENCE = 3, PATIENCE = 20 };

huddle_status hd_embed_run_new(const hd_embed_operator *op, int64_t n_wanted, int64_t n_extra,
                               hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t width = hd_embed_chebyshev_width(n_wanted, n_extra);
    memset(run, 0, sizeof *run);
    run->op = op;
    run->n_wanted = n_wanted;
    run->n_extra = n_extra;
    TRY(hd_embed_block_new(op, width, false, &run->block));
    TRY(hd_embed_ritz_new(width, &run->ritz));
done:
    if (status != HUDDLE_OK)
        hd_embed_run_free(run);
    return status;
}

void hd_embed_run_free(hd_embed_run *run) {
    hd_embed_block_free(&run->block);
    hd_embed_ritz_free(&run->ritz);
}

/* Guard vectors, and as many more as fill the vector registers: those cost little, and all columns
 * take part in the iteration. Vectors that need not be accurate serve as guards of the others. */
int64_t hd_embed_chebyshev_width(int64_t n_wanted, int64_t n_extra) {
    int64_t guard = n_wanted / GUARD_SHARE < MIN_GUARD ? MIN_GUARD : n_wanted / GUARD_SHARE;
    return hd_embed_block_width(n_wanted + (guard > n_extra ? guard : n_extra));
}

/* Maps [lower, a] to [-1, 1]; outside, T_k(t) = cosh(k acosh(t)) grows by a factor of about
 * exp(acosh(t)) per degree. */
double hd_embed_growth(const hd_embed_operator *op, double a, double theta) {
    double middle = .5 * (a + op->lower), radius = .5 * (a - op->lower);
    double t = (theta - middle) / radius;
    return t > 1 ? acosh(t) : 0;
}

/* Removes the known vectors, and those that a probe shall not find again. */
static huddle_status deflate_block(huddle_context *context, bool both, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_embed_block_deflate(context, run->op, both, &run->block));
    if (run->found != NULL)
        TRY(hd_embed_block_orthogonalise(context, run->found, run->found_stride, run->n_found, both,
                                         &run->block));
done:
    return status;
}

/* The upper end of the spectrum: the bound, or the largest Ritz value if that is larger. The bound
 * of a matrix that is not a Laplacian may come from an estimate, and beyond the scale point the
 * filter exceeds 1 and may overflow. */
static double top_of_spectrum(const hd_embed_run *run) {
    double upper = run->op->upper;
    bool beyond = run->ritz.rank > 0 && run->ritz.theta[0] > upper + 1e-6;
    return beyond ? run->ritz.theta[0] : upper;
}

/* ---- one round ----------------------------------------------------------------------------- */

/* Where the polynomial is scaled to be 1: at the end of the spectrum, so that nothing overflows. If
 * the largest Ritz value lies far below, its vector would underflow; then the point is beyond that
 * value, where the polynomial is exp(range_kept) times as large: within the range of float. */
static double choose_scale_point(const hd_embed_run *run, double a, int64_t degree) {
    static const double range_kept = 50;
    const hd_embed_operator *op = run->op;
    double top = top_of_spectrum(run);
    if (run->ritz.rank == 0)
        return top;
    double nearest = hd_embed_growth(op, a, run->ritz.theta[0]) + range_kept / (double)degree;
    if (hd_embed_growth(op, a, top) <= nearest)
        return top;
    return .5 * (a + op->lower) + .5 * (a - op->lower) * cosh(nearest);
}

/* Degrees between deflations. What rounding errors contain of a deflated vector may become as large
 * as the wanted ones, but not so much larger that removing it leaves only its own rounding errors:
 * exp(18) is about 2^24 and exp(38) about 2^53, the digits of float and double. A random start
 * needs no accuracy. */
static int64_t deflation_interval(const hd_embed_run *run, double a) {
    bool random_start = run->ritz.rank == 0 && run->found == NULL;
    if (random_start)
        return DEFLATE_EVERY;
    double last = run->ritz.rank == 0 ? a : run->ritz.theta[run->n_wanted - 1];
    double faster =
        hd_embed_growth(run->op, a, top_of_spectrum(run)) - hd_embed_growth(run->op, a, last);
    double every =
        (run->block.in_double ? digits_of_double : digits_of_float) / fmax(faster, min_rate);
    return every < 1 ? 1 : every < DEFLATE_EVERY ? (int64_t)every : DEFLATE_EVERY;
}

/* x becomes p(op) x with p(t) = T_k((t - middle) / radius) / T_k((scale point - middle) / radius),
 * by the scaled three-term recurrence (Zhou et al., chebyshev.h).
 *
 * T_k is never formed: sigma_k = T_{k-1}(s) / T_k(s) at the scale point s satisfies sigma_{k+1} = 1
 * / (2 / sigma_1 - sigma_k), and the recurrence x_{k+1} = 2 sigma_{k+1} (op - middle) x_k / radius
 * - sigma_k sigma_{k+1} x_{k-1} keeps every term bounded by its value at s. One fused product per
 * degree computes it in place of x_{k-1}. On entry y = op x, which saves the first product. */
static huddle_status filter_block(huddle_context *context, double a, int64_t degree,
                                  hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    const hd_embed_operator *op = run->op;
    double middle = .5 * (a + op->lower), radius = .5 * (a - op->lower);
    double first = radius / (choose_scale_point(run, a, degree) - middle), sigma = first;
    int64_t interval = deflation_interval(run, a);
    /* Locked columns stay where they are, so that the arrays must be exchanged an even number of
     * times (vectors.h). */
    if (run->block.first > 0)
        degree += degree % 2;
    TRY(hd_embed_block_combine(context, first / radius, -first * middle / radius, &run->block));
    for (int64_t k = 2; k <= degree; k++) {
        double next = 1 / (2 / first - sigma);
        TRY(hd_embed_block_product(context, op, 2 * next / radius, -2 * next * middle / radius,
                                   -sigma * next, true, &run->block));
        sigma = next;
        /* A filter of a million rows takes seconds, and a callback may cancel. */
        if (run->total > 0)
            TRY(hd_progress(context, "embed", run->done, run->total));
        if (k % interval == 0)
            TRY(deflate_block(context, true, run));
    }
    run->n_products += degree - 1;
    run->n_spared += (degree - 1) * run->block.first;
done:
    return status;
}

/* Ritz pairs of x. Columns that turn out to be dependent are replaced by random ones: for the next
 * round, or at once if fewer are left than wanted. A filter of high degree makes columns dependent
 * where the block has more columns than there are eigenvalues above a. The product y = op x is
 * computed anyway, for the next filter, so that residuals cost nothing extra. */
static huddle_status find_pairs(huddle_context *context, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    hd_embed_block *block = &run->block;
    for (int attempt = 0; attempt < 3; attempt++) {
        TRY(deflate_block(context, false, run));
        TRY(hd_embed_block_product(context, run->op, 1, 0, 0, false, block));
        run->n_products++;
        run->n_spared += block->first;
        /* The random columns of the last attempt serve the next round only; enough Ritz pairs are
         * known. */
        if (attempt > 0 && run->ritz.rank >= run->n_wanted + run->n_extra)
            break;
        TRY(hd_embed_rayleigh_ritz(context, block, &run->ritz));
        if (run->ritz.rank == block->width)
            break;
        TRY(hd_embed_block_randomise(context, run->op, run->ritz.rank,
                                     1 / sqrt((double)run->op->slab.total),
                                     (uint64_t)run->n_products, block));
    }
done:
    return status;
}

huddle_status hd_embed_run_begin(huddle_context *context, double a, int64_t degree,
                                 hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    run->block.first = 0;
    TRY(deflate_block(context, false, run));
    if (degree > 0) {
        TRY(hd_embed_block_product(context, run->op, 1, 0, 0, false, &run->block));
        run->n_products++;
        TRY(filter_block(context, a, degree, run));
    }
    TRY(find_pairs(context, run));
done:
    return status;
}

huddle_status hd_embed_run_filter(huddle_context *context, double a, int64_t degree,
                                  hd_embed_run *run) {
    huddle_status status = filter_block(context, a, degree, run);
    return status == HUDDLE_OK ? find_pairs(context, run) : status;
}

huddle_status hd_embed_run_begin_random(huddle_context *context, uint64_t seed, hd_embed_run *run) {
    const hd_embed_operator *op = run->op;
    double edge = op->lower + first_edge * (op->upper - op->lower);
    huddle_status status = hd_embed_block_randomise(context, op, 0, 1, seed, &run->block);
    return status == HUDDLE_OK ? hd_embed_run_begin(context, edge, FIRST_DEGREE, run) : status;
}

/* ---- the iteration ------------------------------------------------------------------------- */

static double worst_residual(const hd_embed_run *run) {
    double worst = 0;
    for (int64_t k = 0; k < run->n_wanted; k++)
        worst = fmax(worst, run->ritz.residual[k]);
    return worst;
}

/* What the residuals must reach: small enough compared with the gap to separate the wanted vectors
 * from the next one (Davis and Kahan: the sine of the angle is at most residual / gap). If the gap
 * is below tol, c cuts through a cluster of eigenvalues, and a smaller residual would be wasted. */
static double residual_goal(const hd_embed_run *run, double tol) {
    if (run->ritz.rank <= run->n_wanted)
        return tol;
    double gap = run->ritz.theta[run->n_wanted - 1] - run->ritz.theta[run->n_wanted];
    return gap > tol ? fmin(tol, share_of_gap * gap) : tol;
}

/* The worst residual as a multiple of its goal; converged at 1. The first pair beyond the wanted
 * ones need only be good enough to measure the gap. */
static double goal_ratio(const hd_embed_run *run, double goal) {
    double ratio = worst_residual(run) / goal;
    if (run->ritz.rank <= run->n_wanted)
        return ratio;
    double gap = run->ritz.theta[run->n_wanted - 1] - run->ritz.theta[run->n_wanted];
    return fmax(ratio, run->ritz.residual[run->n_wanted] / fmax(10 * goal, .2 * gap));
}

/* The same for the pairs that need not be accurate: their goal is a share of the distance from the
 * end of the spectrum, which is lambda for a Laplacian, but never less than that of the others. */
static double extra_ratio(const hd_embed_run *run, double tol) {
    double ratio = 0, upper = run->op->upper;
    int64_t end = run->n_wanted + run->n_extra;
    for (int64_t k = run->n_wanted; k < end; k++)
        ratio = fmax(ratio,
                     run->ritz.residual[k] / fmax(tol, extra_share * (upper - run->ritz.theta[k])));
    return ratio;
}

/* The smallest Ritz value of the block approximates from below the eigenvalue with the number of
 * the last column, hence the whole block lies above the interval. The limits keep the interval from
 * degenerating: at least 5 % of the spectrum is damped, and a stays below the top. */
double hd_embed_run_edge(const hd_embed_run *run) {
    const hd_embed_operator *op = run->op;
    double top = top_of_spectrum(run), length = top - op->lower;
    double a = run->ritz.rank > 0 ? run->ritz.theta[run->ritz.rank - 1] : op->lower;
    return fmin(fmax(a, op->lower + .05 * length), top - 1e-7 * length);
}

/* A degree that makes up for the shortfall, within the range that the arithmetic allows between the
 * first and the last wanted vector, and within a limit that rises from round to round while the
 * interval is still being found. A degree m multiplies the last wanted vector by exp(m growth)
 * relative to what is damped, and the first one by more: if the two differ by more than the digits
 * of the arithmetic, the last would be lost in the rounding errors of the first. */
static int64_t choose_degree(const hd_embed_run *run, double a, double missing) {
    int64_t round = run->n_iter, limit = round < 3 ? START_DEGREE_LIMIT << round : DEGREE_LIMIT;
    if (run->smooth_start && run->op->slab.total > LARGE_ROWS && limit < SMOOTH_DEGREE_LIMIT)
        limit = SMOOTH_DEGREE_LIMIT;
    double last = hd_embed_growth(run->op, a, run->ritz.theta[run->n_wanted - 1]);
    double first = hd_embed_growth(run->op, a, run->ritz.theta[0]);
    double range = log(run->block.in_double ? double_range : float_range);
    double degree = log(safety * missing) / fmax(last, 1e-6);
    if (first > last)
        degree = fmin(degree, range / (first - last));
    if (degree < MIN_DEGREE)
        return MIN_DEGREE;
    return degree > (double)limit ? limit : (int64_t)ceil(degree);
}

/* The number of columns that need not be filtered again: the leading vectors, as far as each has
 * converged, in whole cache lines. They stay in the projection, so that later Rayleigh-Ritz steps
 * still correct them, and a vector that turns up among them ends the lock (soft locking, Knyazev et
 * al., SIAM J. Scientific Computing 29, 2007). What rounding adds of them to the other columns is
 * magnified by no more than choose_degree() allows between the first and the last vector. */
static int64_t count_locked(const hd_embed_run *run, double goal) {
    int64_t count = 0;
    if (run->op->slab.total <= LARGE_ROWS || run->block.in_double)
        return 0;
    while (count < run->n_wanted && run->ritz.residual[count] < lock_share * goal)
        count++;
    return count / 16 * 16;
}

/* Filters and Rayleigh-Ritz steps until the shortfall is at most 1. A goal that floats cannot reach
 * is pursued in float as far as possible and then in double: most of the work is done at half the
 * cost. The widening round counts as an iteration but filters nothing. */
huddle_status hd_embed_run_iterate(huddle_context *context, const char *stage, double tol,
                                   int32_t max_iter, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    double farthest = 0, best = INFINITY; /* shortfalls: the largest as a logarithm, the smallest */
    double float_limit = float_floor * fmax(fabs(run->op->lower), fabs(run->op->upper));
    for (int idle = 0, extra_rounds = 0;; run->n_iter++) {
        double goal = residual_goal(run, tol), missing = goal_ratio(run, goal);
        run->stop = HUDDLE_STOP_CONVERGED;
        if (missing <= 1 && (extra_ratio(run, tol) <= 1 || extra_rounds++ == EXTRA_ROUNDS ||
                             run->n_iter >= max_iter))
            break;
        missing = fmax(missing, extra_ratio(run, tol));
        run->stop = HUDDLE_STOP_MAX_ITER;
        if (run->n_iter >= max_iter)
            break;
        idle = missing < .7 * best ? 0 : idle + 1;
        best = fmin(best, missing);
        /* Widening waits until float has done what it can: the goal is below its floor, and the
         * residual has reached twice the floor or stopped falling. Only then is the memory for
         * doubles allocated. */
        if (!run->block.in_double && goal < float_limit &&
            (worst_residual(run) < 2 * float_limit || idle > FLOAT_PATIENCE)) {
            /* The same vectors; nothing is locked in the new block. */
            TRY(hd_embed_block_widen(run->op, &run->block));
            TRY(find_pairs(context, run));
            best = INFINITY;
            continue;
        }
        run->stop = HUDDLE_STOP_STALLED;
        if (idle > PATIENCE)
            break;
        /* Residuals fall geometrically, so that their logarithm measures the progress. */
        farthest = fmax(farthest, fmin(log(missing), 100));
        if (stage != NULL) {
            run->done = farthest - fmin(log(missing), 100);
            run->total = farthest;
            TRY(hd_progress(context, stage, run->done, run->total));
        }
        double a = hd_embed_run_edge(run);
        run->block.first = count_locked(run, goal);
        TRY(hd_embed_run_filter(context, a, choose_degree(run, a, missing), run));
    }
done:
    return status;
}
