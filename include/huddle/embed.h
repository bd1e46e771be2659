/* Huddle, embed: the spectral embedding of a graph.
 *
 *     N = D^-1/2 A D^-1/2,   L_n = I - N,   L_n v_k = lambda_k v_k,   0 = lambda_1 <= lambda_2 ...
 *
 * A is a symmetric graph with weights >= 0 and D its degrees. The embedding of n vertices in c
 * dimensions is the n x c matrix of the eigenvectors of the c smallest lambda, the trivial ones
 * included; a row rule then turns row i into the point of vertex i.
 *
 * Components. A graph of q connected components has lambda = 0 exactly q times, with the vectors
 * D^1/2 1_C of the components C. They are computed directly, without iteration, and come first, the
 * component with the most vertices before the others, ties broken by the smaller first vertex. If
 * q >= c the first c of them are the whole answer (vertices elsewhere get zero rows), which is
 * rarely useful: connect the components before. An edge of weight 0 connects nothing. A vertex
 * without edges is a component of its own: its row of L_n is zero and its vector is the unit
 * vector.
 *
 * Order and signs. Columns are in ascending order of lambda and orthonormal. The entry of largest
 * magnitude of a column is positive (the first of them, if several are equal to one part in a
 * million). The first c columns of an embedding are the embedding in c dimensions, up to the
 * tolerance and to the choice of vectors within equal eigenvalues: one embedding serves a range of
 * c.
 *
 * Solvers. "chebyshev", the usual one, is a Chebyshev-filtered subspace iteration on a block wider
 * than c, filtered in float, with Rayleigh-Ritz steps in double and a start from coarser graphs;
 * below a tolerance of 1e-6 it continues in double. "dense" is LAPACK on the full matrix. "arpack"
 * is implicitly restarted Lanczos, for comparison: starting from a single vector it can miss
 * eigenvalues of a clustered spectrum in spite of small residuals. "auto" is the context's engine
 * if it has a solver, otherwise dense for small graphs and chebyshev for others. Where nearly all
 * eigenvectors are wanted, dense replaces the others. The result is the same, bit for bit, for any
 * number of threads. Where rows are distributed over processes, chebyshev is the only solver, and
 * verification is by a probe.
 *
 * Completeness. Small residuals show that pairs are eigenpairs, not that they are the
 * first c. So the count is verified: "inertia" proves it for all c, by the signs of the pivots of a
 * sparse factorisation (with a bound on its rounding errors); "probe" filters new random
 * vectors, orthogonal to the eigenvectors found, and finds no further one: reliable in practice,
 * not a proof. Proven means that no eigenvalue lies farther above the reported ones than
 * the residuals allow. If c cuts a cluster of eigenvalues, those before the cluster are counted; in
 * a cluster no wider than the residuals any choice of vectors is as good as another, so all c are
 * proven, but in a wider one the rest is left to a probe. proven_pairs is the number of proven
 * pairs. Where no search takes place, none can be missed, and the option `verify` has no
 * effect: the dense solver finds the eigenvalues of the full matrix in order, and components are
 * counted. Then all c are proven, and "inertia" is reported.
 */
#ifndef HUDDLE_EMBED_H
#define HUDDLE_EMBED_H

#include "huddle/matrix.h"

/* Start from huddle_embed_defaults(), then change what you need. */
typedef struct huddle_embed_options {
    int32_t n_components;     /* c: eigenvectors to find, 1 .. n */
    const char *embed_solver; /* "auto", or one of huddle_embed_solvers() */
    int32_t embed_max_iter;   /* maximum number of outer iterations */
    double tol;         /* stop when every ||N v - theta v|| is below, and below a tenth of the gap
                           at c if that can be met; relative to half the width of the spectrum,
                           which counts as 1 for a graph */
    const char *rows;   /* "unit": rows of norm 1; "sym": as they are; "rw": D^-1/2 times them;
                           "commute": as huddle_embed_commute_rows() */
    const char *verify; /* "auto": inertia where it is cheap, else probe; "inertia", "probe",
                           "none" */
    uint64_t seed;      /* starting block */
    int32_t n_exact;    /* the first vectors, to which tol and verify apply; 0: all of them. Those
                           after them are approximate, usually with a residual of .3 lambda or less.
                           Not in the table of options */
    int32_t n_rows; /* the row rule is applied to the first n_rows vectors; 0: to all. Not in the
                       table of options */
} huddle_embed_options;

/* Freed by huddle_embedding_free(). */
typedef struct huddle_embedding {
    huddle_dense vectors;  /* n x c, orthonormal eigenvectors */
    huddle_dense rows;     /* n x c, or n x n_rows, the vectors after the row rule: F */
    double *degrees;       /* n; of huddle_embed_symmetric(): NULL */
    double *eigenvalues;   /* lambda, ascending: c, and then those that are accurate enough, among
                              them lambda_{c+1} (to a few percent of the gap) unless there is none
                              or no iteration was needed */
    int32_t n_eigenvalues; /* length of eigenvalues, at least c */
} huddle_embedding;

/* The outcome of the solve. Reaching max_iter is an outcome, not an error. */
typedef struct huddle_embed_info {
    huddle_stop stop; /* exact: all c vectors came from components */
    int32_t n_iter;
    int64_t n_products;   /* of the matrix with one vector, without those on coarser graphs */
    double residual;      /* largest ||N v - theta v|| over the returned pairs, or over the first
                             n_exact, in double, relative to unit */
    double unit;          /* 1; of huddle_embed_symmetric(): half the estimated width of the
                             spectrum */
    double gap;           /* lambda_{c+1} - lambda_c; NAN if lambda_{c+1} is not known */
    bool cuts_cluster;    /* the gap is too small to separate the first c vectors from the next: c
                             cuts a cluster of eigenvalues, and the last columns are not
                             unique */
    int32_t components;   /* q */
    const char *verified; /* "inertia", "probe" or "none" */
    int32_t proven_pairs; /* this many are proven to be the first; c if "inertia" */
    const char *solver;   /* the one that ran, or the engine; "components" if none was needed */
    double seconds;
} huddle_embed_info;

/* The option table, for programs that compose options or write documentation. */
HUDDLE_API const huddle_option *huddle_embed_options_table(void);
HUDDLE_API huddle_embed_options huddle_embed_defaults(void);

/* Names for options.embed_solver apart from "auto"; ends with NULL. */
HUDDLE_API const char *const *huddle_embed_solvers(void);

/* Embeds the vertices of a graph. HUDDLE_INVALID, naming the place, if the graph is not square and
 * symmetric (to one part in 1e9) with finite weights >= 0, or c > n; HUDDLE_NO_MEMORY,
 * HUDDLE_CANCELLED. A self-loop counts once in its vertex's degree. */
HUDDLE_API huddle_status huddle_embed(huddle_context *context, const huddle_csr *graph,
                                      const huddle_embed_options *options, huddle_embedding *out,
                                      huddle_embed_info *info);

/* The c largest eigenpairs of any symmetric matrix, largest first: out->eigenvalues are those of
 * the matrix, descending. The ends of the spectrum are estimated, and the matrix is shifted and
 * scaled by them before it is solved: multiplying it by a positive number or adding a multiple of
 * the identity changes neither the vectors nor the residual, both to rounding, and tol is relative
 * to half the width of the spectrum (info->unit). lower and upper are bounds of the spectrum, or
 * -INFINITY and INFINITY if none are known; close bounds save a little work. Where tol does not
 * separate the wanted eigenvalues from the next, "auto" tries a hundredth of it, and then solves
 * matrices of up to 3,000 rows by "dense". Fails as huddle_embed() does, and with HUDDLE_INVALID if
 * the spectrum is found to extend beyond the bounds. Row rule "rw" equals "sym" here, and "commute"
 * is invalid. */
HUDDLE_API huddle_status huddle_embed_symmetric(huddle_context *context, const huddle_csr *matrix,
                                                double lower, double upper,
                                                const huddle_embed_options *options,
                                                huddle_embedding *out, huddle_embed_info *info);

HUDDLE_API void huddle_embedding_free(huddle_embedding *embedding);

/* Applies a row rule to the first f->cols columns of vectors and writes them to f, of as many rows
 * (f may be vectors itself). A zero row stays zero. degrees is needed for "rw" only; a degree of 0
 * counts as 1. */
HUDDLE_API huddle_status huddle_embed_rows(const huddle_dense *vectors, const double *degrees,
                                           const char *rule, huddle_dense *f);

/* Commute rows: the k = f->cols first columns of vectors, column j divided by
 *
 *     sqrt(max(lambda_j, .1 lambda_m, 1e-7)),   m = ceil(k / 2),
 *
 * and the rows then scaled to norm 1. For c clusters k = 2c vectors are recommended, or all if the
 * graph has fewer vertices. Vectors of small eigenvalues, in whose directions the graph is nearly
 * cut, have the largest weight. eigenvalues are those of the Laplacian, ascending, at least k. f
 * has as many rows as vectors and at most as many columns, and may be vectors itself. A zero row
 * stays zero. */
HUDDLE_API huddle_status huddle_embed_commute_rows(const huddle_dense *vectors,
                                                   const double *eigenvalues, huddle_dense *f);

/* The number of points that each vector is spread over, (sum v_i^2)^2 / sum (v_i^4 / m_i), where
 * copies[i] is the number m_i of points that vertex i represents (NULL: 1): p for a vector that is
 * constant on p vertices and 0 elsewhere. extents is the caller's, one per column. */
HUDDLE_API huddle_status huddle_embed_extents(huddle_context *context, const huddle_dense *vectors,
                                              const int64_t *copies, double *extents);

/* Input of the eigengap rule. */
typedef struct huddle_spectrum {
    int64_t n;                 /* points */
    int32_t components;        /* of the graph */
    int32_t n_eigenvalues;     /* length of eigenvalues */
    const double *eigenvalues; /* of L_n, ascending */
    int32_t n_extents;         /* length of extents, may be less */
    const double *extents;     /* of their vectors; or NULL: no component counts as small */
} huddle_spectrum;

/* Numbers of clusters that the eigenvalues suggest, best first. */
typedef struct huddle_embed_choice {
    int32_t count;               /* of candidates, 1 .. 5 */
    int32_t candidates[5];       /* the best is candidates[0] */
    double scores[5];            /* their relative eigengaps, 0 .. 1 */
    int32_t small_components[5]; /* how many of the clusters are small components */
    int32_t n_clear;             /* the first n_clear candidates have a clear gap */
} huddle_embed_choice;

/* The relative eigengap after k, (mu' - mu) / mu'. mu is the largest eigenvalue up to lambda_k and
 * mu' the smallest after it, small components left out: a vector belongs to one if it is spread
 * over fewer than .3 n / k points and over fewer than max(12, n / 100). A small component is no
 * evidence for a number of clusters, however far it lies from the rest. Without any, the gap is
 *
 *     (lambda_{k+1} - lambda_k) / lambda_{k+1}.
 *
 * Eigenvalues below 1e-7 count as 1e-7, since smaller ones are rounding errors. NaN if lambda_{k+1}
 * is not known, if fewer than two of the first k vectors are left (the gap after one cluster means
 * nothing), or if vector k itself belongs to a small component; but with k components, these count
 * in any order. */
HUDDLE_API double huddle_embed_gap(const huddle_spectrum *spectrum, int32_t k);

/* The largest number of clusters that the eigengap rule considers for n points: min(30, n / 5). */
HUDDLE_API int32_t huddle_embed_max_clusters(int64_t n);

/* The eigengap rule. Of k = first .. last it chooses the largest whose gap is clear, at least .8;
 * if there is none, the one with the largest gap, ties broken by the smaller. Only numbers whose
 * gap is not NaN are candidates; the others follow in the same order. first = 0 means k = max(2,
 * components) .. huddle_embed_max_clusters(n). Without a candidate, first is the only one, at most
 * n, with score 0.
 *
 * In a connected graph the largest gap often belongs to a few coarse parts, and components make it
 * 1 by construction, which is why a clear gap further on takes precedence. The shape of a single
 * cluster gives no clear gap: the eigenvalues of a chain or a ring grow like 1, 4, 9, ... */
HUDDLE_API huddle_status huddle_embed_choose(const huddle_spectrum *spectrum, int32_t first,
                                             int32_t last, huddle_embed_choice *choice);

#endif
