/* Primal-dual hybrid gradient: no linear systems, little memory, many cheap iterations.
 *
 * The problem is the saddle point min_h max_Z sum_i m_i ||h_i|| + <Z, B(F + h)> with Z in the balls
 * of (7). One iteration T of w = (h, Z) with steps tau_i of the vertices and sigma_e of the edges
 * is
 *
 *     h'_i = prox of tau_i m_i ||.||  at  h_i - tau_i (B'Z)_i       ("l2": of tau_i m_i ||.||^2)
 *     z'_e = z_e + sigma_e (B(F + 2 h' - h))_e, projected onto ||z_e|| <= lambda_e
 *
 * T is restarted, reflected and anchored (Halpern; Lu and Yang 2024): with w_0 the start of a
 * round, w <- (k + 1)/(k + 2) (2 T(w) - w) + 1/(k + 2) w_0 in its iteration k. A new round begins
 * when the fixed-point residual has fallen enough.
 *
 * The steps are diagonal (Pock and Chambolle 2011). With s_e = sqrt(lambda_e) and a balance b,
 *
 *     sigma_e = b s_e / 2,    1 / tau_i = b sum of the s_e of the edges of i
 *
 * satisfy the condition of convergence: sum_e sigma_e ||h_i - h_j||^2 <= sum_i ||h_i||^2 / tau_i,
 * because ||h_i - h_j||^2 <= 2 ||h_i||^2 + 2 ||h_j||^2. The balance is set again in each round. */
#include "base/check.h"
#include "shrink/solver.h"

#include <math.h>
#include <string.h>

/* A new round begins when the residual has fallen to the first share of its value at the start of
 * the round, or to the second and rises again, or when the round is longer than the third share of
 * all iterations: the conditions of PDLP (Applegate et al. 2021), with its constants. */
static const double sufficient_fall = .2, necessary_fall = .8, longest_round = .36;

/* Iterations of a round before it may end. */
enum { SHORTEST_ROUND = 3 };

/* Weight of the new balance against the old one, in logarithms (PDLP). */
static const double balance_weight = .5;

/* State of PDHG per block. */
typedef struct pdhg_block {
    bool has_begun;
    int64_t round, iterations; /* iterations of this round, and of all */
    double balance;            /* dual steps over primal steps */
    double first_residual, last_residual;
} pdhg_block;

typedef struct pdhg {
    const hd_shrink_problem *problem;
    double *h, *z;               /* the iterate: rows x c, live x c */
    double *anchor_h, *anchor_z; /* the start of the round */
    double *ahead;               /* rows x c: 2 h' - h */
    double *vertex_step;         /* free: 1 / tau_i before balancing */
    double *edge_step;           /* live: 2 sigma_e before balancing */
    pdhg_block *blocks;
} pdhg;

typedef struct pass {
    const pdhg *s;
    const hd_shrink_block *b;
    double balance;
    double keep;  /* (k + 1) / (k + 2) */
    bool publish; /* leave h' and z' where objective and bound are computed */
} pass;

/* ---- an iteration -------------------------------------------------------------------------- */

/* The first line of T, then reflection and anchoring of h, in one pass over the rows. The prox of a
 * norm shortens a row by `reach`, to 0 if it is shorter; that of a squared norm scales it. `ahead`
 * first collects (B'Z)_i and ends as 2 h' - h, which is both the extrapolation that Z needs and the
 * reflected point. sums: ||h' - h||^2 and ||h' - h_0||^2 in the metric of the steps, without the
 * balance. */
static void move_primal(const void *argument, int64_t begin, int64_t end, double *sums) {
    const pass *q = argument;
    const pdhg *s = q->s;
    const hd_shrink_problem *p = s->problem;
    int64_t c = p->c;
    double moved = 0, travelled = 0;
    for (int64_t i = q->b->range.v0 + begin; i < q->b->range.v0 + end; i++) {
        double *restrict h = s->h + i * c, *restrict ahead = s->ahead + i * c;
        const double *start = s->anchor_h + i * c;
        double tau = 1 / (q->balance * s->vertex_step[i]), square = 0, keep, change = 0, way = 0;
        double reach = tau * p->mass[i];
        memset(ahead, 0, (size_t)c * sizeof *ahead);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            const double *z = s->z + (int64_t)(p->incident[at] >> 1) * c;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < c; k++)
                ahead[k] += sign * z[k];
        }
        for (int64_t k = 0; k < c; k++) {
            ahead[k] = h[k] - tau * ahead[k];
            square += ahead[k] * ahead[k];
        }
        if (p->squared)
            keep = 1 / (1 + 2 * reach);
        else
            keep = square > reach * reach ? 1 - reach / sqrt(square) : 0;
        for (int64_t k = 0; k < c; k++) {
            double next = keep * ahead[k], difference = next - h[k];
            if (q->publish)
                q->b->arrays->h[i * c + k] = next;
            ahead[k] = 2 * next - h[k];
            change += difference * difference;
            h[k] = q->keep * ahead[k] + (1 - q->keep) * start[k];
            way += (next - start[k]) * (next - start[k]);
        }
        moved += change * s->vertex_step[i];
        travelled += way * s->vertex_step[i];
    }
    sums[0] = moved;
    sums[1] = travelled;
}

/* The second line of T, and the same for Z. The projected z' is left in the block's z: it is in its
 * balls, so that the bound can be computed from it. */
static void move_dual(const void *argument, int64_t begin, int64_t end, double *sums) {
    const pass *q = argument;
    const pdhg *s = q->s;
    const hd_shrink_problem *p = s->problem;
    const double *ahead = s->ahead;
    int64_t c = p->c, e0 = q->b->range.e0;
    double moved = 0, travelled = 0;
    for (int64_t e = e0 + begin; e < e0 + end; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        double *restrict z = s->z + e * c, *restrict out = q->b->point.z + (e - e0) * c;
        const double *start = s->anchor_z + e * c;
        double sigma = .5 * q->balance * s->edge_step[e], square = 0, clip, change = 0, way = 0;
        for (int64_t k = 0; k < c; k++) {
            out[k] = z[k] + sigma * ((p->f[i + k] - p->f[j + k]) + (ahead[i + k] - ahead[j + k]));
            square += out[k] * out[k];
        }
        clip = square > p->lambda[e] * p->lambda[e] ? p->lambda[e] / sqrt(square) : 1;
        for (int64_t k = 0; k < c; k++) {
            double next = clip * out[k], difference = next - z[k];
            out[k] = next;
            change += difference * difference;
            z[k] = q->keep * (2 * next - z[k]) + (1 - q->keep) * start[k];
            way += (next - start[k]) * (next - start[k]);
        }
        moved += 2 * change / s->edge_step[e];
        travelled += 2 * way / s->edge_step[e];
    }
    sums[0] = moved;
    sums[1] = travelled;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* The anchor becomes the present point: a restart of Halpern's iteration, whose rate 1 / k turns
 * into linear convergence by restarts (Lu and Yang 2024). */
static void begin_round(pdhg *s, const hd_shrink_block *b) {
    int64_t c = s->problem->c, v = hd_shrink_first(b), e = b->range.e0 * c;
    memcpy(s->anchor_h + v, s->h + v, (size_t)hd_shrink_size(b) * sizeof(double));
    memcpy(s->anchor_z + e, s->z + e, (size_t)(b->m * c) * sizeof(double));
    s->blocks[b->index].round = 0;
}

/* Starts from the h of the block, with Z = 0, a balance of 1 and the diagonal steps of the
 * header. */
static void begin_block(pdhg *s, const hd_shrink_block *b) {
    const hd_shrink_problem *p = s->problem;
    pdhg_block *own = &s->blocks[b->index];
    int64_t first = hd_shrink_first(b);
    memcpy(s->h + first, b->arrays->h + first, (size_t)hd_shrink_size(b) * sizeof(double));
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        s->edge_step[e] = sqrt(p->lambda[e]);
    for (int64_t i = b->range.v0; i < b->range.v1; i++) {
        s->vertex_step[i] = 0;
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++)
            s->vertex_step[i] += s->edge_step[p->incident[at] >> 1];
        if (s->vertex_step[i] == 0) /* a vertex without edges takes any step */
            s->vertex_step[i] = 1;
    }
    own->balance = 1;
    begin_round(s, b);
    own->has_begun = true;
}

/* Decides whether a new round begins. way_h and way_z are the squared distances of h and Z from the
 * start of the round; the ratio of the distances estimates the best balance, as the primal weight
 * of PDLP does. It is averaged with the old one in logarithms, since it is a ratio. */
static void consider_restart(pdhg *s, const hd_shrink_block *b, double residual, double way_h,
                             double way_z) {
    pdhg_block *own = &s->blocks[b->index];
    own->iterations++;
    if (own->round == 0)
        own->first_residual = residual;
    bool fell = residual <= sufficient_fall * own->first_residual;
    bool turned = residual <= necessary_fall * own->first_residual && residual > own->last_residual;
    bool is_long = own->round >= SHORTEST_ROUND &&
                   (double)own->round >= longest_round * (double)own->iterations;
    own->last_residual = residual;
    own->round++;
    if (own->round < SHORTEST_ROUND || !(fell || turned || is_long))
        return;
    if (way_h > 0 && way_z > 0)
        own->balance = exp(balance_weight * log(sqrt(way_z / way_h)) +
                           (1 - balance_weight) * log(own->balance));
    begin_round(s, b);
}

/* One iteration. The residual is the length of T(w) - w in the metric of the steps, without its
 * mixed term. */
static huddle_status iterate_block(pdhg *s, hd_shrink_block *b, bool publish) {
    huddle_status status = HUDDLE_OK;
    pdhg_block *own = &s->blocks[b->index];
    pass q = {.s = s,
              .b = b,
              .balance = own->balance,
              .keep = (double)(own->round + 1) / (double)(own->round + 2),
              .publish = publish};
    double sums[4] = {0}; /* moved and way of h, moved and way of Z */
    TRY(hd_shrink_over_vertices(b, move_primal, &q, 2, sums));
    TRY(hd_shrink_fetch(s->problem, s->ahead));
    TRY(hd_shrink_over_edges(b, move_dual, &q, 2, sums + 2));
    TRY(hd_reduce_sum(b->context, 4, sums));
    consider_restart(s, b, sqrt(own->balance * sums[0] + sums[2] / own->balance), sums[1], sums[3]);
done:
    return status;
}

/* Objective and bound are computed for T(w) of the last iteration of a batch, not for w: only T(w)
 * lies in the balls. In every iteration they would cost about as much as the iteration itself. */
static huddle_status pdhg_step(void *state, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    pdhg *s = state;
    int32_t batch = b->progress.batch;
    if (!s->blocks[b->index].has_begun)
        begin_block(s, b);
    for (int32_t k = 1; k <= batch; k++)
        TRY(iterate_block(s, b, k == batch));
    TRY(hd_shrink_block_evaluate(b));
    TRY(hd_shrink_block_bound(b));
done:
    return status;
}

/* ---- state --------------------------------------------------------------------------------- */

static huddle_status pdhg_open(const hd_shrink_problem *p, const hd_shrink_arrays *arrays,
                               void **state) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = p->rows * p->c, edges = p->n_live * p->c;
    pdhg *s = NULL;
    (void)arrays;
    ALLOC_ZERO(s, 1);
    *state = s;
    s->problem = p;
    ALLOC_ZERO(s->h, rows);
    ALLOC_ZERO(s->anchor_h, rows);
    ALLOC_ZERO(s->ahead, rows);
    ALLOC_ZERO(s->z, edges);
    ALLOC_ZERO(s->anchor_z, edges);
    ALLOC(s->vertex_step, p->n_free);
    ALLOC(s->edge_step, p->n_live);
    ALLOC_ZERO(s->blocks, p->n_blocks);
done:
    return status;
}

static void pdhg_close(void *state) {
    pdhg *s = state;
    FREE(s->h, s->z, s->anchor_h, s->anchor_z, s->ahead, s->vertex_step, s->edge_step, s->blocks,
         s);
}

const hd_shrink_solver hd_shrink_pdhg = {.name = "pdhg",
                                         .batch = 20,
                                         .max_idle = 1500,
                                         .max_iter = 200000,
                                         .open = pdhg_open,
                                         .step = pdhg_step,
                                         .close = pdhg_close};
