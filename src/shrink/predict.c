#include "shrink/predict.h"

#include "shrink/published.h"
#include "shrink/split.h"

#include <math.h>
#include <string.h>

/* Bytes per vertex, per edge, per number of a row (n c) and per number of an edge (m c). They
 * follow the allocations, which are named beside them; test_shrink_predict.c compares the sum with
 * the peak of real solves. */
typedef struct bytes {
    double vertex, edge, row, edge_row;
} bytes;

/* edges.c: i, j, weight, at. */
static const bytes edge_list = {8, 24, 0, 0};

/* problem.c: vertex, mass, radius, incident_at and the builder's; edge, flipped, head, tail, lambda
 * twice, incident; f. */
static const bytes problem = {41, 37, 8, 0};

/* block.c: norm, scratch, excess; edge_weight; h, best_h, right, delta; z, best_z. irls.c: hh,
 * vertex_weight; xx; step and eleven histories in float; x. */
static const bytes reweighting = {48, 16, 8 * 5 + 4 * 11, 8 * 3};

/* published.c: distance, s, incident_at, cost and components; length, w, incident; g, right, step;
 * z is that of the answer. */
static const bytes published = {44, 24, 8 * 3, 0};

/* newton.c: unit_h and the four vectors of conjugate gradients; unit_x. */
static const bytes newton_tail = {0, 0, 8 * 5, 8};

/* block.c without systems. pdhg.c: vertex_step; edge_step; h, anchor_h, ahead; z, anchor_z. */
static const bytes primal_dual = {32, 8, 8 * 5, 8 * 4};

/* approximate.c: numbers and queue; halves, and a factor of about two entries per edge in arrays
 * that grow by doubling; five vectors. */
static const bytes approximate = {84, 32 + 2 * 2 * 12, 8 * 5, 0};

/* cholmod.c: the matrix; edge_at; rows in the order of elimination and three copies for a
 * supernodal factor. The factor is counted apart. */
static const bytes direct = {40, 20, 8 * 4, 0};

/* answer.c and certificate.c: groups, norms and radii; G, a copy to snap and means, y in long
 * double; Z. */
static const bytes answer = {110, 0, 8 * 3 + 16, 8};

/* split.c: rows by component; G. part.c: the rows and the graph of a component. */
static const bytes components = {24, 0, 8, 0}, part = {8, 24, 8, 0};

static double count(const bytes *b, double n, double m, double c) {
    return b->vertex * n + b->edge * m + b->row * n * c + b->edge_row * m * c;
}

/* A solve of one problem. The factor of CHOLMOD is known only after its analysis; a factor has at
 * least the entries of the matrix. */
static double count_solve(double n, double m, double c, const huddle_shrink_options *o) {
    double sum = count(&edge_list, n, m, c) + count(&answer, n, m, c);
    bool is_published = hd_shrink_is_published(o->solver);
    if (strcmp(o->solver, "printed") == 0)
        return sum + count(&published, n, m, c) + 8 * pow(fmin(n, HD_SHRINK_PRINTED_ROWS), 2);
    sum += count(is_published ? &published : &problem, n, m, c);
    if (strcmp(o->solver, "pdhg") == 0)
        return sum + count(&primal_dual, n, m, c);
    if (!is_published)
        sum += count(&reweighting, n, m, c);
    if (strcmp(o->solver, "auto") == 0 || strcmp(o->solver, "newton") == 0)
        sum += count(&newton_tail, n, m, c);
    double iterative = count(&approximate, n, m, c), factorised = count(&direct, n, m, c);
    if (strcmp(o->linear_solver, "approximate") == 0)
        return sum + iterative;
    factorised += 16 * (n + m);
    return sum + (strcmp(o->linear_solver, "auto") == 0 ? fmax(iterative, factorised) : factorised);
}

double hd_shrink_predict_memory(const hd_shrink_extent *size,
                                const huddle_shrink_options *options) {
    double n = (double)size->n, m = (double)size->edges, c = (double)size->c;
    double largest_n = (double)size->largest_n, largest_m = (double)size->largest_edges;
    if (options->keep_dual || hd_shrink_is_published(options->solver) ||
        !hd_shrink_is_large(size->n, size->edges, size->c))
        return count_solve(n, m, c, options);
    /* A component that fills the machine is alone; smaller ones share it. */
    double together = hd_shrink_is_large_part(size->largest_edges) ? 1 : fmax(1, size->threads);
    together = fmin(together, fmax(1, n / fmax(1, largest_n)));
    return count(&edge_list, n, m, c) + count(&components, n, m, c) +
           together * (count(&part, largest_n, largest_m, c) +
                       count_solve(largest_n, largest_m, c, options));
}
