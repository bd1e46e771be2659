#include "embed/chebyshev.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* Rounding brings deflated vectors back, and the filter magnifies them: removed after at most so
 * many degrees. */
enum { DEFLATE_EVERY = 24 };

/* Below this residual, for a matrix of norm 1, a block of floats gets no further in earnest. */
static const double float_floor = 1e-6;

/* The residual falls more slowly than the filter promises, since eigenvalues lie close below the
 * block's last Ritz value. Aiming lower is cheaper than another round. */
static const double safety = 8;

huddle_status hd_embed_run_new(const hd_embed_operator *op, int64_t wanted, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t width = hd_embed_chebyshev_width(wanted);
    memset(run, 0, sizeof *run);
    run->op = op;
    run->wanted = wanted;
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

int64_t hd_embed_chebyshev_width(int64_t wanted) {
    int64_t guard = wanted / 10 < 4 ? 4 : wanted / 10;
    return hd_embed_block_width(wanted + guard);
}

double hd_embed_growth(const hd_embed_operator *op, double a, double theta) {
    double middle = .5 * (a + op->lower), radius = .5 * (a - op->lower);
    double t = (theta - middle) / radius;
    return t > 1 ? acosh(t) : 0;
}

/* Removes known vectors and found ones. */
static huddle_status deflate(huddle_context *context, bool both, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_embed_block_deflate(context, run->op, both, &run->block));
    if (run->found != NULL)
        TRY(hd_embed_block_orthogonalise(context, run->found, run->n_found, both, &run->block));
done:
    return status;
}

/* The end of the spectrum: what is known of it or, should it reach farther, the largest Ritz value.
 */
static double top_of_spectrum(const hd_embed_run *run) {
    double upper = run->op->upper;
    bool beyond = run->ritz.rank > 0 && run->ritz.theta[0] > upper + 1e-6;
    return beyond ? run->ritz.theta[0] : upper;
}

/* ---- one round ----------------------------------------------------------------------------- */

/* Where the polynomial is scaled to be 1: at the end of the spectrum, so that nothing overflows. If
 * the largest Ritz value lies far below, its vector would underflow: then at a point beyond that
 * value where the polynomial is exp(range_kept) times as large. */
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

/* Degrees between deflations. What rounding brings back of a deflated vector may become as large as
 * the wanted ones, but not so much larger that removing it leaves only its own rounding. A random
 * start needs no accuracy. */
static int64_t deflation_interval(const hd_embed_run *run, double a) {
    bool random_start = run->ritz.rank == 0 && run->found == NULL;
    if (random_start)
        return DEFLATE_EVERY;
    double last = run->ritz.rank == 0 ? a : run->ritz.theta[run->wanted - 1];
    double faster =
        hd_embed_growth(run->op, a, top_of_spectrum(run)) - hd_embed_growth(run->op, a, last);
    double every = (run->block.in_double ? 38 : 18) / fmax(faster, .1);
    return every < 1 ? 1 : every < DEFLATE_EVERY ? (int64_t)every : DEFLATE_EVERY;
}

/* x becomes the polynomial of x. On entry y = op x, which saves the first product. */
static huddle_status filter(huddle_context *context, double a, int64_t degree, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    const hd_embed_operator *op = run->op;
    double middle = .5 * (a + op->lower), radius = .5 * (a - op->lower);
    double first = radius / (choose_scale_point(run, a, degree) - middle), sigma = first;
    int64_t interval = deflation_interval(run, a);
    TRY(hd_embed_block_combine(context, first / radius, -first * middle / radius, &run->block));
    for (int64_t k = 2; k <= degree; k++) {
        double next = 1 / (2 / first - sigma);
        TRY(hd_embed_block_product(context, op, 2 * next / radius, -2 * next * middle / radius,
                                   -sigma * next, true, &run->block));
        sigma = next;
        if (k % interval == 0)
            TRY(deflate(context, true, run));
    }
    run->n_products += degree - 1;
done:
    return status;
}

/* Ritz pairs of x. Columns that turn out dependent are drawn anew: for the next round, or at once
 * if fewer are left than wanted. */
static huddle_status find_pairs(huddle_context *context, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    hd_embed_block *block = &run->block;
    for (int attempt = 0; attempt < 3; attempt++) {
        TRY(deflate(context, false, run));
        TRY(hd_embed_block_product(context, run->op, 1, 0, 0, false, block));
        run->n_products++;
        if (attempt > 0 && run->ritz.rank >= run->wanted)
            break;
        TRY(hd_embed_rayleigh_ritz(context, block, &run->ritz));
        if (run->ritz.rank == block->width)
            break;
        hd_embed_block_randomise(run->op, run->ritz.rank, 1 / sqrt((double)run->op->slab.total),
                                 (uint64_t)run->n_products, block);
    }
done:
    return status;
}

huddle_status hd_embed_run_begin(huddle_context *context, double a, int64_t degree,
                                 hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    TRY(deflate(context, false, run));
    if (degree > 0) {
        TRY(hd_embed_block_product(context, run->op, 1, 0, 0, false, &run->block));
        run->n_products++;
        TRY(filter(context, a, degree, run));
    }
    TRY(find_pairs(context, run));
done:
    return status;
}

huddle_status hd_embed_run_filter(huddle_context *context, double a, int64_t degree,
                                  hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    TRY(filter(context, a, degree, run));
    TRY(find_pairs(context, run));
done:
    return status;
}

huddle_status hd_embed_run_begin_random(huddle_context *context, uint64_t seed, hd_embed_run *run) {
    const hd_embed_operator *op = run->op;
    hd_embed_block_randomise(op, 0, 1, seed, &run->block);
    return hd_embed_run_begin(context, op->lower + .75 * (op->upper - op->lower), 10, run);
}

/* ---- the iteration ------------------------------------------------------------------------- */

static double worst_residual(const hd_embed_run *run) {
    double worst = 0;
    for (int64_t k = 0; k < run->wanted; k++)
        worst = fmax(worst, run->ritz.residual[k]);
    return worst;
}

/* What the residuals must reach: enough to keep the wanted vectors apart from the next one. */
static double target(const hd_embed_run *run, double tol) {
    if (run->ritz.rank <= run->wanted)
        return tol;
    double gap = run->ritz.theta[run->wanted - 1] - run->ritz.theta[run->wanted];
    return gap > tol ? fmin(tol, .1 * gap) : tol;
}

/* How many times too large the worst residual is, beside its own goal; converged at 1. The first
 * pair beyond the wanted ones need only be good enough to tell the gap. */
static double shortfall(const hd_embed_run *run, double goal) {
    double ratio = worst_residual(run) / goal;
    if (run->ritz.rank <= run->wanted)
        return ratio;
    double gap = run->ritz.theta[run->wanted - 1] - run->ritz.theta[run->wanted];
    return fmax(ratio, run->ritz.residual[run->wanted] / fmax(10 * goal, .2 * gap));
}

double hd_embed_run_edge(const hd_embed_run *run) {
    const hd_embed_operator *op = run->op;
    double top = top_of_spectrum(run), spread = top - op->lower;
    double a = run->ritz.rank > 0 ? run->ritz.theta[run->ritz.rank - 1] : op->lower;
    return fmin(fmax(a, op->lower + .05 * spread), top - 1e-7 * spread);
}

/* Enough to make up for the shortfall, within what the arithmetic's range allows between the first
 * and the last wanted vector, and no more than a limit that rises from round to round while the
 * interval is still being found. */
static int64_t choose_degree(const hd_embed_run *run, double a, double missing) {
    int64_t round = run->n_iter, limit = round < 3 ? 20 << round : 160;
    double last = hd_embed_growth(run->op, a, run->ritz.theta[run->wanted - 1]);
    double first = hd_embed_growth(run->op, a, run->ritz.theta[0]);
    double range = log(run->block.in_double ? 1e12 : 1e5);
    double degree = log(safety * missing) / fmax(last, 1e-6);
    if (first > last)
        degree = fmin(degree, range / (first - last));
    return degree < 4 ? 4 : degree > (double)limit ? limit : (int64_t)ceil(degree);
}

/* From here on in double, from the same vectors. */
static huddle_status widen(huddle_context *context, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_embed_block_widen(run->op, &run->block));
    TRY(find_pairs(context, run));
done:
    return status;
}

huddle_status hd_embed_run_iterate(huddle_context *context, const char *stage, double tol,
                                   int32_t max_iter, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    double most = 0, best = INFINITY;
    double least = float_floor * fmax(fabs(run->op->lower), fabs(run->op->upper));
    for (int idle = 0;; run->n_iter++) {
        double goal = target(run, tol), missing = shortfall(run, goal);
        run->stop = HUDDLE_STOP_CONVERGED;
        if (missing <= 1)
            break;
        run->stop = HUDDLE_STOP_MAX_ITER;
        if (run->n_iter >= max_iter)
            break;
        idle = missing < .7 * best ? 0 : idle + 1;
        best = fmin(best, missing);
        if (!run->block.in_double && goal < least &&
            (worst_residual(run) < 2 * least || idle > 3)) {
            TRY(widen(context, run));
            best = INFINITY;
            continue;
        }
        run->stop = HUDDLE_STOP_STALLED;
        if (idle > 20)
            break;
        most = fmax(most, fmin(log(missing), 100));
        if (stage != NULL)
            TRY(hd_progress(context, stage, most - fmin(log(missing), 100), most));
        double a = hd_embed_run_edge(run);
        TRY(hd_embed_run_filter(context, a, choose_degree(run, a, missing), run));
    }
done:
    return status;
}
