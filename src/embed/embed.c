/* Entry points of the embedding: options and their checks, one request for either kind of matrix,
 * and the last steps that all embeddings share, whichever solver found the vectors. */
#include "huddle/embed.h"

#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "embed/solver.h"

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
    huddle_free(embedding->degrees);
    huddle_free(embedding->eigenvalues);
    memset(embedding, 0, sizeof *embedding);
}

static huddle_status new_embedding(int64_t n, int64_t c, int64_t n_eigenvalues,
                                   huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(n, c, &out->vectors));
    ALLOC_ZERO(out->eigenvalues, n_eigenvalues);
    out->n_eigenvalues = (int32_t)n_eigenvalues;
done:
    return status;
}

/* The largest magnitude of each column, over all processes. */
static huddle_status find_column_maxima(huddle_context *context, const huddle_dense *vectors,
                                        double *largest) {
    int64_t c = vectors->cols;
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++) {
            double size = fabs(vectors->values[i * c + k]);
            largest[k] = size > largest[k] ? size : largest[k];
        }
    return hd_reduce_max(context, c, largest);
}

/* The sign of a vector is that of its first entry within one part in a million of the largest
 * magnitude, row[k] among all processes. The largest entry alone would not do: where several
 * entries are equal but for rounding, the sign would depend on the rounding. */
static huddle_status find_signs(huddle_context *context, const huddle_dense *vectors, int64_t first,
                                const double *largest, double *row, double *sign) {
    huddle_status status = HUDDLE_OK;
    int64_t c = vectors->cols;
    for (int64_t k = 0; k < c; k++)
        row[k] = INFINITY;
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++)
            if (isinf(row[k]) && fabs(vectors->values[i * c + k]) >= (1 - 1e-6) * largest[k])
                row[k] = (double)(first + i);
    TRY(hd_reduce_min(context, c, row));
    for (int64_t k = 0; k < c; k++) {
        double own = row[k] - (double)first;
        bool here = own >= 0 && own < (double)vectors->rows;
        sign[k] = !here ? 0 : vectors->values[(int64_t)own * c + k] < 0 ? -1 : 1;
    }
    TRY(hd_reduce_sum(context, c, sign));
done:
    return status;
}

/* Eigenvectors have no sign of their own: the entry of largest magnitude becomes positive, so that
 * results are reproducible across solvers and machines. */
static huddle_status set_signs(huddle_context *context, huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    int64_t c = vectors->cols;
    hd_slab slab;
    double *largest = NULL, *row = NULL, *sign = NULL;
    TRY(hd_slab_locate(context, vectors->rows, &slab));
    ALLOC_ZERO(largest, c);
    ALLOC(row, c);
    ALLOC(sign, c);
    TRY(find_column_maxima(context, vectors, largest));
    TRY(find_signs(context, vectors, slab.first, largest, row, sign));
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++)
            vectors->values[i * c + k] *= sign[k] < 0 ? -1 : 1;
done:
    huddle_free(largest);
    huddle_free(row);
    huddle_free(sign);
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

/* The vectors that were found, from the order of the operator (breadth first) to that of the rows,
 * as columns from `first` on. */
static void write_vectors(const hd_embed_problem *problem, const hd_embed_pairs *pairs,
                          int64_t first, huddle_dense *vectors) {
    for (int64_t place = 0; place < problem->op->n; place++) {
        int64_t row = problem->order != NULL ? problem->order[place] : place;
        memcpy(vectors->values + row * vectors->stride + first,
               pairs->vectors.values + place * pairs->vectors.stride,
               (size_t)pairs->vectors.cols * sizeof *vectors->values);
    }
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
            info->components + (long long)pairs->vectors.cols,
            info->components + (long long)pairs->vectors.cols + 1, info->gap);
}

/* From a request to an embedding, for graphs and other matrices alike: builds the operator, finds
 * the pairs (solver.c asks the engine), and writes them as the last columns, after those of the
 * components. Eigenvalues are those of the scaled matrix of the request; the caller converts
 * them. */
static huddle_status solve_request(huddle_context *context, hd_eigen_request *request,
                                   const hd_embed_laplacian *laplacian,
                                   const huddle_embed_options *options, huddle_embedding *out,
                                   huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_embed_operator op = {0};
    hd_embed_pairs pairs = {0};
    int64_t known = request->n_components;
    const int32_t *order = laplacian != NULL ? laplacian->order : NULL;
    hd_embed_problem problem = {request, &op, order, options->embed_solver, options->verify};
    TRY(hd_embed_operator_new(context, request, order, &op));
    if (laplacian != NULL)
        TRY(hd_embed_solve(context, &problem, &pairs));
    else
        TRY(hd_embed_solve_any(context, &problem, &pairs));
    TRY(new_embedding(op.n, options->n_components, known + pairs.count, out));
    if (laplacian != NULL)
        TRY(write_components(context, laplacian, known, &out->vectors));
    write_vectors(&problem, &pairs, known, &out->vectors);
    for (int64_t k = 0; k < pairs.count; k++)
        out->eigenvalues[known + k] = op.shift + op.unit * pairs.theta[k];
    fill_info(context, &problem, &pairs, info);
done:
    hd_embed_operator_free(&op);
    hd_embed_pairs_free(&pairs);
    return status;
}

/* The components alone are the answer: at least as many eigenvalues are 0 as vectors are wanted. If
 * there are more components than that, the gap after the last vector is 0. */
static huddle_status embed_components(huddle_context *context, const hd_embed_laplacian *laplacian,
                                      int32_t c, huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t q = laplacian->n_components;
    TRY(new_embedding(laplacian->n, c, q > c ? c + 1 : c, out));
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
static huddle_status embed_graph(huddle_context *context, const huddle_csr *graph,
                                 const hd_embed_laplacian *laplacian,
                                 const huddle_embed_options *options, huddle_embedding *out,
                                 huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t q = laplacian->n_components;
    hd_eigen_request request = {.matrix = graph,
                                .scale = laplacian->scale,
                                .lower = -1,
                                .upper = 1,
                                .component = laplacian->component,
                                .known = laplacian->known,
                                .n_components = (int32_t)q,
                                .n_wanted = options->n_components - (int32_t)q,
                                .max_iter = options->embed_max_iter,
                                .tol = options->tol,
                                .seed = options->seed};
    TRY(solve_request(context, &request, laplacian, options, out, info));
    for (int64_t k = q; k < out->n_eigenvalues; k++)
        out->eigenvalues[k] = fmax(0, 1 - out->eigenvalues[k]);
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
    TRY(set_signs(context, &out->vectors));
    if (options->without_rows)
        goto done;
    TRY(huddle_dense_new(out->vectors.rows, out->vectors.cols, &out->rows));
    if (strcmp(rule, "commute") == 0)
        TRY(huddle_embed_commute_rows(&out->vectors, out->eigenvalues, &out->rows));
    else
        TRY(huddle_embed_rows(&out->vectors, out->degrees, rule, &out->rows));
done:
    return status;
}

/* ---- entry points -------------------------------------------------------------------------- */

/* A graph: the vectors of its components are known, and iteration is needed only for the rest. */
huddle_status huddle_embed(huddle_context *context, const huddle_csr *graph,
                           const huddle_embed_options *options, huddle_embedding *out,
                           huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_options defaults = huddle_embed_defaults();
    huddle_embed_info ignored = {0};
    hd_embed_laplacian laplacian = {0};
    hd_slab slab;
    double begun = hd_seconds();
    options = options != NULL ? options : &defaults;
    info = info != NULL ? info : &ignored;
    memset(out, 0, sizeof *out);
    memset(info, 0, sizeof *info);
    TRY(hd_slab_locate(context, graph->rows, &slab));
    TRY(check_options(context, options, slab.total));
    TRY(huddle_csr_fetch(graph));
    TRY(hd_embed_laplacian_new(context, graph, &laplacian));
    info->components = (int32_t)laplacian.n_components;
    /* Null vectors first: if they are enough, nothing is iterated and nothing can be missed. */
    if (laplacian.n_components >= options->n_components)
        TRY(embed_components(context, &laplacian, options->n_components, out, info));
    else
        TRY(embed_graph(context, graph, &laplacian, options, out, info));
    out->degrees = laplacian.degrees;
    laplacian.degrees = NULL;
    TRY(set_rows(context, options, out));
    info->seconds = hd_seconds() - begun;
done:
    status = hd_agree(context, status);
    hd_embed_laplacian_free(&laplacian);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}

/* Any symmetric matrix: its largest eigenpairs, without known vectors. */
huddle_status huddle_embed_symmetric(huddle_context *context, const huddle_csr *matrix,
                                     double lower, double upper,
                                     const huddle_embed_options *options, huddle_embedding *out,
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
    hd_eigen_request request = {.matrix = matrix,
                                .lower = lower,
                                .upper = upper,
                                .n_wanted = options->n_components,
                                .max_iter = options->embed_max_iter,
                                .tol = options->tol,
                                .seed = options->seed};
    TRY(hd_slab_locate(context, matrix->rows, &slab));
    TRY(check_options(context, options, slab.total));
    TRY(huddle_csr_fetch(matrix));
    TRY(hd_embed_check_symmetric(matrix, slab));
    if (!(lower < upper))
        FAIL(HUDDLE_INVALID, "lower = %g must be less than upper = %g", lower, upper);
    /* The eigenvalues of any matrix may be negative, and the largest come first. */
    if (strcmp(options->rows, "commute") == 0)
        FAIL(HUDDLE_INVALID, "rows = commute is defined for graphs only");
    TRY(solve_request(context, &request, NULL, options, out, info));
    TRY(set_rows(context, options, out));
    info->seconds = hd_seconds() - begun;
done:
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}
