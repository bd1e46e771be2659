/* Entry points of the embedding: options and their checks, one request for either kind of matrix,
 * and the last steps that all embeddings share, whichever solver found the vectors. */
#include "huddle/embed.h"

#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "base/parallel.h"
#include "embed/moved.h"

#include <math.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

static const char *const row_choices[] = {"unit", "sym", "rw", "commute", NULL};
static const char *const verify_choices[] = {"auto", "inertia", "probe", "none", NULL};

static const huddle_option table[] = {
    HD_INT(huddle_embed_options, n_components, "8", 1, INT32_MAX, "number of eigenvectors"),
    HD_CHOICE(huddle_embed_options, embed_solver, "auto", hd_embed_solver_choices,
              "eigensolver of the embedding"),
    HD_INT(huddle_embed_options, embed_max_iter, "100", 0, INT32_MAX,
           "maximum number of outer iterations of the eigensolver"),
    HD_REAL(huddle_embed_options, tol, "1e-4", 1e-14, 1,
            "residual of the eigenvectors below which the solver stops"),
    HD_CHOICE(huddle_embed_options, rows, "unit", row_choices,
              "row normalisation of the embedding: norm 1, none, division by the root of the "
              "degree, or eigenvectors divided by the root of their eigenvalue, then norm 1"),
    HD_CHOICE(huddle_embed_options, verify, "auto", verify_choices,
              "how to check that no leading eigenvector was missed"),
    HD_SEED(huddle_embed_options, seed, "seed of the starting vectors"),
    {0}};

const huddle_option *huddle_embed_options_table(void) {
    return table;
}

huddle_embed_options huddle_embed_defaults(void) {
    huddle_embed_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

const char *const *huddle_embed_solvers(void) {
    return hd_embed_solver_names;
}

/* Checks the options against the number of rows in all and the engine: a factorisation, and so the
 * inertia, needs the whole matrix in one process. */
static huddle_status check_options(huddle_context *context, const huddle_embed_options *options,
                                   int64_t total) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(table, options));
    if (options->n_components > total)
        FAIL(HUDDLE_INVALID, "n_components = %d is more than the %lld vertices",
             options->n_components, (long long)total);
    if (hd_context_engine(context)->slabs != NULL && strcmp(options->verify, "inertia") == 0)
        FAIL(HUDDLE_UNSUPPORTED, "verify = inertia needs all rows in one process");
done:
    return status;
}

/* ---- the result ---------------------------------------------------------------------------- */

void huddle_embedding_free(huddle_embedding *embedding) {
    huddle_dense_free(&embedding->vectors);
    huddle_dense_free(&embedding->rows);
    FREE(embedding->degrees, embedding->eigenvalues);
    memset(embedding, 0, sizeof *embedding);
}

/* What the loops over the rows of the vectors share. */
typedef struct signs {
    huddle_dense *vectors;
    double *largest; /* chunks x columns: the largest magnitude */
    double *sign;
} signs;

static huddle_status find_chunk_maxima(void *argument, hd_chunk chunk) {
    const signs *s = argument;
    int64_t c = s->vectors->cols;
    double *largest = s->largest + chunk.index * c;
    for (int64_t k = 0; k < c; k++)
        largest[k] = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t k = 0; k < c; k++) {
            double size = fabs(s->vectors->values[i * s->vectors->stride + k]);
            largest[k] = size > largest[k] ? size : largest[k];
        }
    return HUDDLE_OK;
}

/* The first own row whose entry in column k has at least that magnitude, or -1. Only one chunk is
 * searched: the first that has such an entry. */
static int64_t find_first_row(const signs *s, int64_t k, double least) {
    int64_t n = s->vectors->rows, chunk = 0;
    while (chunk < hd_chunks(n, HD_EMBED_LOOP_ROWS) &&
           s->largest[chunk * s->vectors->cols + k] < least)
        chunk++;
    for (int64_t i = chunk * HD_EMBED_LOOP_ROWS; i < n; i++)
        if (fabs(s->vectors->values[i * s->vectors->stride + k]) >= least)
            return i;
    return -1;
}

static huddle_status apply_signs(void *argument, hd_chunk chunk) {
    const signs *s = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t k = 0; k < s->vectors->cols; k++)
            s->vectors->values[i * s->vectors->stride + k] *= s->sign[k] < 0 ? -1 : 1;
    return HUDDLE_OK;
}

/* The sign of a vector is that of its first entry within one part in a million of the largest
 * magnitude, in row first[k] among all processes, one of which has it. The largest entry alone
 * would not do: where several entries are equal but for rounding, the sign would depend on the
 * rounding.
 */
static huddle_status find_signs(huddle_context *context, const signs *s, double *largest,
                                double *first) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *v = s->vectors;
    hd_slab slab;
    TRY(hd_slab_locate(context, v->rows, &slab));
    TRY(hd_parallel(context, NULL, v->rows, HD_EMBED_LOOP_ROWS, find_chunk_maxima, (void *)s));
    for (int64_t e = 0; e < hd_chunks(v->rows, HD_EMBED_LOOP_ROWS) * v->cols; e++)
        largest[e % v->cols] = fmax(largest[e % v->cols], s->largest[e]);
    TRY(hd_reduce_max(context, v->cols, largest));
    for (int64_t k = 0; k < v->cols; k++) {
        int64_t own = find_first_row(s, k, (1 - 1e-6) * largest[k]);
        first[k] = own >= 0 ? (double)(slab.first + own) : INFINITY;
    }
    TRY(hd_reduce_min(context, v->cols, first));
    for (int64_t k = 0; k < v->cols; k++) {
        double own = first[k] - (double)slab.first;
        bool here = own >= 0 && own < (double)v->rows;
        s->sign[k] = !here ? 0 : v->values[(int64_t)own * v->stride + k] < 0 ? -1 : 1;
    }
    TRY(hd_reduce_sum(context, v->cols, s->sign));
done:
    return status;
}

/* Eigenvectors have no sign of their own: the entry of largest magnitude becomes positive, so that
 * results are reproducible across solvers and machines. */
static huddle_status set_signs(huddle_context *context, huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    int64_t c = vectors->cols;
    double *largest = NULL, *first = NULL;
    signs s = {.vectors = vectors};
    ALLOC_ZERO(largest, c);
    ALLOC(first, c);
    ALLOC(s.sign, c);
    ALLOC(s.largest, (hd_chunks(vectors->rows, HD_EMBED_LOOP_ROWS) + 1) * c);
    TRY(find_signs(context, &s, largest, first));
    TRY(hd_parallel(context, NULL, vectors->rows, HD_EMBED_LOOP_ROWS, apply_signs, &s));
done:
    FREE(largest, first, s.sign, s.largest);
    return status;
}

/* The first `count` vectors D^1/2 1_C, of norm 1, into the first columns. These are the exact
 * eigenvectors of eigenvalue 0 of the Laplacian (3); components are ordered by size. */
static huddle_status write_components(huddle_context *context, const hd_embed_laplacian *laplacian,
                                      int64_t count, huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    double *squares = NULL;
    ALLOC_ZERO(squares, laplacian->n_components);
    for (int64_t i = 0; i < laplacian->n; i++) {
        double root = hd_embed_degree_root(laplacian->degrees[i]);
        squares[laplacian->component[i]] += root * root;
    }
    TRY(hd_reduce_sum(context, laplacian->n_components, squares));
    for (int64_t i = 0; i < laplacian->n; i++) {
        int32_t which = laplacian->component[i];
        if (which < count)
            vectors->values[i * vectors->stride + which] =
                hd_embed_degree_root(laplacian->degrees[i]) / sqrt(squares[which]);
    }
done:
    huddle_free(squares);
    return status;
}

/* Row `place` of the vectors becomes row order[place], in place: along each cycle of the
 * permutation one row is set aside. Whole rows are moved, the columns of known vectors among
 * them. */
static huddle_status order_rows(const int32_t *order, huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    int64_t n = vectors->rows, stride = vectors->stride;
    size_t size = (size_t)stride * sizeof *vectors->values;
    int32_t *place_of = NULL; /* -1: the row is where it belongs */
    double *aside = NULL;
    ALLOC(place_of, n);
    ALLOC(aside, stride);
    for (int64_t place = 0; place < n; place++)
        place_of[order[place]] = (int32_t)place;
    for (int64_t first = 0; first < n; first++) {
        int64_t row = first;
        if (place_of[first] < 0)
            continue;
        memcpy(aside, vectors->values + first * stride, size);
        while (place_of[row] != first) {
            int64_t from = place_of[row];
            memcpy(vectors->values + row * stride, vectors->values + from * stride, size);
            place_of[row] = -1;
            row = from;
        }
        memcpy(vectors->values + row * stride, aside, size);
        place_of[row] = -1;
    }
done:
    FREE(place_of, aside);
    return status;
}

/* ---- solving ------------------------------------------------------------------------------- */

/* The gap is in units of the matrix, the residual in those of the operator, to which tol refers.
 * Pairs of components count as proven: they follow from counting. */
static void fill_info(huddle_context *context, const hd_embed_problem *problem,
                      const hd_embed_pairs *pairs, huddle_embed_info *info) {
    int64_t n_wanted = problem->request->n_wanted;
    const double *theta = pairs->theta;
    info->gap =
        pairs->count > n_wanted ? problem->op->unit * (theta[n_wanted - 1] - theta[n_wanted]) : NAN;
    info->unit = problem->op->unit;
    info->stop = pairs->stop;
    info->residual = pairs->residual;
    info->n_iter = pairs->n_iter;
    info->n_products = pairs->n_products;
    info->cuts_cluster = pairs->cuts_cluster;
    info->verified = pairs->verified;
    info->proven_pairs = (int32_t)pairs->proven + info->components;
    info->solver = pairs->solver;
    if (pairs->stop == HUDDLE_STOP_MAX_ITER || pairs->stop == HUDDLE_STOP_STALLED)
        hd_log(context, "the eigenvectors have residual %.2g after %d iterations (%s)",
               info->residual, info->n_iter, huddle_stop_name(pairs->stop));
    if (pairs->cuts_cluster)
        hd_log(
            context,
            "eigenvalues %lld and %lld differ by only %.2g; the last eigenvectors are not unique",
            (long long)info->components + n_wanted, (long long)info->components + n_wanted + 1,
            info->gap);
}

/* From a request to an embedding, for graphs and other matrices alike: moves the rows, builds the
 * operator, finds the pairs (solver.c asks the engine), and writes them as the last columns, after
 * those of the components. Eigenvalues are those of the scaled matrix of the request; the caller
 * converts them. */
static huddle_status solve_request(huddle_context *context, hd_eigen_request *request,
                                   const hd_embed_laplacian *laplacian,
                                   const huddle_embed_options *options, bool trial,
                                   huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_embed_operator op = {0};
    hd_embed_pairs pairs = {0};
    hd_embed_moved moved = {0};
    int64_t known = request->n_components;
    int32_t n_extra = options->n_components - (int32_t)known - request->n_wanted;
    const int32_t *order = laplacian != NULL ? laplacian->order : NULL;
    hd_embed_problem problem = {request,         &op,     order, options->embed_solver,
                                options->verify, n_extra, trial};
    hd_embed_solve_function *solve = laplacian != NULL ? hd_embed_solve : hd_embed_solve_any;
    TRY(hd_embed_move(context, &problem, request, &moved));
    if (moved.gathered) {
        TRY(hd_embed_solve_gathered(context, request, n_extra, &op, &pairs));
    } else {
        TRY(hd_embed_operator_new(context, request, order, moved.rows.number, &op));
        /* The operator has copied the moved matrix; only an engine may still want it. */
        if (hd_context_engine(context)->find_eigenpairs == NULL)
            huddle_csr_free(&moved.rows.graph);
        TRY(solve(context, &problem, &pairs));
    }
    fill_info(context, &problem, &pairs, info);
    out->n_eigenvalues = (int32_t)(known + pairs.count);
    ALLOC_ZERO(out->eigenvalues, out->n_eigenvalues);
    for (int64_t k = 0; k < pairs.count; k++)
        out->eigenvalues[known + k] = op.shift + op.unit * pairs.theta[k];
    hd_embed_operator_free(&op); /* before the vectors are there twice */
    TRY(hd_embed_move_back(&moved, &pairs.storage));
    out->vectors = pairs.storage;
    pairs.storage = pairs.vectors = (huddle_dense){0};
    if (order != NULL)
        TRY(order_rows(order, &out->vectors));
    if (laplacian != NULL)
        TRY(write_components(context, laplacian, known, &out->vectors));
done:
    hd_embed_operator_free(&op);
    hd_embed_moved_free(&moved);
    hd_embed_pairs_free(&pairs);
    return status;
}

/* The components alone are the answer: at least as many eigenvalues are 0 as vectors are wanted. If
 * there are more components than that, the gap after the last vector is 0. */
static huddle_status embed_components(huddle_context *context, const hd_embed_laplacian *laplacian,
                                      int32_t c, huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t q = laplacian->n_components;
    out->n_eigenvalues = q > c ? c + 1 : c;
    ALLOC_ZERO(out->eigenvalues, out->n_eigenvalues);
    TRY(huddle_dense_new(laplacian->n, c, &out->vectors));
    TRY(write_components(context, laplacian, c, &out->vectors));
    info->stop = HUDDLE_STOP_EXACT;
    /* Another eigenvalue 0 follows if there are more components; otherwise the next eigenvalue is
     * not known. */
    info->gap = q > c ? 0 : NAN;
    info->cuts_cluster = q > c;
    info->verified = "inertia";
    info->proven_pairs = c;
    info->unit = 1;
    info->solver = "components";
done:
    return status;
}

/* The largest eigenpairs of N = D^-1/2 A D^-1/2 beyond those of the components, which are deflated;
 * L = I - N in (3), hence lambda = 1 - theta. Rounding may make a lambda slightly negative. */
static huddle_status embed_rest(huddle_context *context, const huddle_csr *graph,
                                const hd_embed_laplacian *laplacian,
                                const huddle_embed_options *options, bool trial,
                                huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t q = laplacian->n_components;
    int32_t n_exact = options->n_exact > 0 && options->n_exact < options->n_components
                          ? options->n_exact
                          : options->n_components;
    hd_eigen_request request = {.matrix = graph,
                                .scale = laplacian->scale,
                                .lower = -1,
                                .upper = 1,
                                .component = laplacian->component,
                                .known = laplacian->known,
                                .n_components = (int32_t)q,
                                .n_wanted = n_exact > q ? n_exact - (int32_t)q : 1,
                                .max_iter = options->embed_max_iter,
                                .tol = options->tol,
                                .seed = options->seed};
    TRY(solve_request(context, &request, laplacian, options, trial, out, info));
    for (int64_t k = q; k < out->n_eigenvalues; k++)
        out->eigenvalues[k] = fmax(0, 1 - out->eigenvalues[k]);
done:
    return status;
}

/* A graph: the vectors of its components are known, and iteration is needed only for the rest. */
static huddle_status embed_graph(huddle_context *context, const huddle_csr *graph,
                                 const huddle_embed_options *options, bool trial,
                                 huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_embed_laplacian laplacian = {0};
    TRY(hd_embed_laplacian_new(context, graph, &laplacian));
    info->components = (int32_t)laplacian.n_components;
    /* Null vectors first: if they are enough, nothing is iterated and nothing can be missed. */
    if (laplacian.n_components >= options->n_components)
        TRY(embed_components(context, &laplacian, options->n_components, out, info));
    else
        TRY(embed_rest(context, graph, &laplacian, options, trial, out, info));
    out->degrees = laplacian.degrees;
    laplacian.degrees = NULL;
done:
    hd_embed_laplacian_free(&laplacian);
    return status;
}

/* Any symmetric matrix: its largest eigenpairs, without known vectors. */
static huddle_status embed_symmetric(huddle_context *context, const huddle_csr *matrix,
                                     hd_slab slab, const double bounds[2],
                                     const huddle_embed_options *options, huddle_embedding *out,
                                     huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_eigen_request request = {.matrix = matrix,
                                .lower = bounds[0],
                                .upper = bounds[1],
                                .n_wanted = options->n_components,
                                .max_iter = options->embed_max_iter,
                                .tol = options->tol,
                                .seed = options->seed};
    TRY(hd_embed_check_symmetric(context, matrix, slab));
    if (!(bounds[0] < bounds[1]))
        FAIL(HUDDLE_INVALID, "lower = %g must be less than upper = %g", bounds[0], bounds[1]);
    /* The eigenvalues of any matrix may be negative, and the largest come first. */
    if (strcmp(options->rows, "commute") == 0)
        FAIL(HUDDLE_INVALID, "rows = commute is defined for graphs only");
    TRY(solve_request(context, &request, NULL, options, false, out, info));
done:
    return status;
}

/* Signs and rows, the last step of every embedding. A matrix without degrees has no random walk:
 * "rw" is then the same as "sym". */
static huddle_status set_rows(huddle_context *context, const huddle_embed_options *options,
                              huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    const char *rule = options->rows;
    if (out->degrees == NULL && strcmp(rule, "rw") == 0)
        rule = "sym";
    int64_t columns = options->n_rows > 0 && options->n_rows < options->n_components
                          ? options->n_rows
                          : options->n_components;
    TRY(set_signs(context, &out->vectors));
    TRY(huddle_dense_new(out->vectors.rows, columns, &out->rows));
    if (strcmp(rule, "commute") == 0)
        TRY(huddle_embed_commute_rows(&out->vectors, out->eigenvalues, &out->rows));
    else
        TRY(huddle_embed_rows(&out->vectors, out->degrees, rule, &out->rows));
done:
    return status;
}

/* ---- entry points -------------------------------------------------------------------------- */

/* With bounds of the spectrum: any symmetric matrix; without: a graph. */
static huddle_status embed(huddle_context *context, const huddle_csr *matrix, const double *bounds,
                           const huddle_embed_options *options, bool trial, huddle_embedding *out,
                           huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_options defaults = huddle_embed_defaults();
    huddle_embed_info ignored = {0};
    hd_slab slab;
    double begun = hd_seconds();
    options = options != NULL ? options : &defaults;
    info = info != NULL ? info : &ignored;
    memset(out, 0, sizeof *out);
    memset(info, 0, sizeof *info);
    TRY(hd_slab_locate(context, matrix->rows, &slab));
    if (bounds == NULL && hd_slabs_few_rows(context) > 0 &&
        slab.total <= hd_slabs_few_rows(context)) {
        TRY(hd_embed_gathered(context, matrix, options, trial, out, info));
        goto done;
    }
    TRY(check_options(context, options, slab.total));
    TRY(huddle_csr_fetch(matrix));
    if (bounds == NULL)
        TRY(embed_graph(context, matrix, options, trial, out, info));
    else
        TRY(embed_symmetric(context, matrix, slab, bounds, options, out, info));
    TRY(set_rows(context, options, out));
    info->seconds = hd_seconds() - begun;
done:
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}

huddle_status huddle_embed(huddle_context *context, const huddle_csr *graph,
                           const huddle_embed_options *options, huddle_embedding *out,
                           huddle_embed_info *info) {
    return embed(context, graph, NULL, options, false, out, info);
}

huddle_status hd_embed_trial(huddle_context *context, const huddle_csr *graph,
                             const huddle_embed_options *options, huddle_embedding *out,
                             huddle_embed_info *info) {
    return embed(context, graph, NULL, options, true, out, info);
}

huddle_status huddle_embed_symmetric(huddle_context *context, const huddle_csr *matrix,
                                     double lower, double upper,
                                     const huddle_embed_options *options, huddle_embedding *out,
                                     huddle_embed_info *info) {
    const double bounds[2] = {lower, upper};
    return embed(context, matrix, bounds, options, false, out, info);
}
