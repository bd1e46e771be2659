#include "huddle/embed.h"

#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "embed/solver.h"

#include <math.h>
#include <string.h>

/* Up to here LAPACK on the full matrix is quick enough, and leaves no doubt; and up to there it is
 * worth the wait if the iteration comes to nothing. */
enum { DENSE_MOST = 500, DENSE_FALLBACK_MOST = 3000 };

/* ---- options ------------------------------------------------------------------------------- */

static const char *const solvers[] = {"dense", "chebyshev", "arpack", NULL};
static const char *const solver_choices[] = {"auto", "dense", "chebyshev", "arpack", NULL};
static const char *const row_choices[] = {"unit", "sym", "rw", NULL};
static const char *const verify_choices[] = {"auto", "inertia", "probe", "none", NULL};

static const huddle_option table[] = {
    HD_INT(huddle_embed_options, n_components, "8", 1, INT32_MAX, "eigenvectors to find"),
    {.name = "embed_solver",
     .type = HUDDLE_OPTION_CHOICE,
     .offset = offsetof(huddle_embed_options, solver),
     .default_text = "auto",
     .choices = solver_choices,
     .help = "how to find the eigenvectors"},
    {.name = "embed_max_iter",
     .type = HUDDLE_OPTION_INT,
     .offset = offsetof(huddle_embed_options, max_iter),
     .default_text = "100",
     .min = 0,
     .max = INT32_MAX,
     .help = "most outer iterations of the eigensolver"},
    HD_REAL(huddle_embed_options, tol, "1e-4", 1e-14, 1, "residual of the eigenvectors to stop at"),
    HD_CHOICE(huddle_embed_options, rows, "unit", row_choices,
              "rows of the embedding: of norm 1, as they are, or over the root of the degree"),
    HD_CHOICE(huddle_embed_options, verify, "auto", verify_choices,
              "how to check that no eigenvector was missed"),
    HD_SEED(huddle_embed_options, seed, "seed of the starting vectors"),
    {0}};

const huddle_option *huddle_embed_options_table(void) {
    return table;
}

huddle_embed_options huddle_embed_defaults(void) {
    huddle_embed_options options;
    huddle_options_default(table, &options);
    return options;
}

const char *const *huddle_embed_solvers(void) {
    return solvers;
}

static huddle_status check_options(const huddle_embed_options *options, int64_t n) {
    huddle_status status = huddle_options_check(table, options);
    if (status == HUDDLE_OK && options->n_components > n)
        status = hd_fail(HUDDLE_INVALID, "n_components = %d is more than the %lld vertices",
                         options->n_components, (long long)n);
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

/* The entry of largest magnitude becomes positive. Entries equal but for rounding must not decide
 * by it, hence the first that comes within one part in a million. */
static huddle_status set_signs(huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    int64_t c = vectors->cols;
    double *largest = NULL, *sign = NULL;
    ALLOC_ZERO(largest, c);
    ALLOC_ZERO(sign, c);
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++) {
            double size = fabs(vectors->values[i * c + k]);
            largest[k] = size > largest[k] ? size : largest[k];
        }
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++) {
            double *entry = &vectors->values[i * c + k];
            if (sign[k] == 0 && fabs(*entry) >= (1 - 1e-6) * largest[k])
                sign[k] = *entry < 0 ? -1 : 1;
        }
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < c; k++)
            vectors->values[i * c + k] *= sign[k];
done:
    huddle_free(largest);
    huddle_free(sign);
    return status;
}

static huddle_status new_embedding(int64_t n, int64_t c, int64_t n_eigenvalues,
                                   huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(n, c, &out->vectors));
    TRY(huddle_dense_new(n, c, &out->rows));
    ALLOC_ZERO(out->eigenvalues, n_eigenvalues);
    out->n_eigenvalues = (int32_t)n_eigenvalues;
done:
    return status;
}

/* The first `count` vectors D^1/2 1_C, of norm 1, into the first columns. */
static huddle_status write_components(const hd_laplacian *laplacian, int64_t count,
                                      huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    double *squares = NULL;
    ALLOC_ZERO(squares, laplacian->n_components);
    for (int64_t i = 0; i < laplacian->n; i++) {
        double root = hd_degree_root(laplacian->degrees[i]);
        squares[laplacian->component[i]] += root * root;
    }
    for (int64_t i = 0; i < laplacian->n; i++) {
        int32_t which = laplacian->component[i];
        if (which < count)
            vectors->values[i * vectors->stride + which] =
                hd_degree_root(laplacian->degrees[i]) / sqrt(squares[which]);
    }
done:
    huddle_free(squares);
    return status;
}

/* ---- solving ------------------------------------------------------------------------------- */

static huddle_status solve(huddle_context *context, const hd_problem *problem, const char *solver,
                           hd_pairs *pairs) {
    const hd_operator *op = problem->op;
    /* The iterations need room beside the wanted vectors. */
    bool crowded = 2 * hd_chebyshev_width(problem->wanted) > op->n - op->n_null;
    if (strcmp(solver, "dense") == 0 || crowded ||
        (strcmp(solver, "auto") == 0 && op->n <= DENSE_MOST))
        return hd_solve_dense(context, problem, pairs);
    if (strcmp(solver, "arpack") == 0)
        return hd_solve_arpack(context, problem, pairs);
    return hd_solve_chebyshev(context, problem, pairs);
}

static bool is_settled(const hd_pairs *pairs) {
    return pairs->stop == HUDDLE_STOP_CONVERGED && !pairs->cuts_cluster;
}

/* A Laplacian's wanted eigenvalues are spread over a fair share of its spectrum. Those of any
 * matrix may be so close beside its width that the tolerance does not tell them apart: then a
 * smaller one may, or else LAPACK. */
static huddle_status solve_any(huddle_context *context, const hd_problem *problem,
                               const char *solver, hd_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_problem closer = *problem;
    closer.tol = fmin(problem->tol, fmax(1e-2 * problem->tol, 1e-10));
    TRY(solve(context, problem, solver, pairs));
    if (strcmp(solver, "auto") != 0 || strcmp(pairs->solver, "dense") == 0)
        goto done;
    if (pairs->stop == HUDDLE_STOP_CONVERGED && pairs->cuts_cluster) {
        hd_pairs_free(pairs);
        TRY(solve(context, &closer, solver, pairs));
    }
    if (!is_settled(pairs) && problem->op->n <= DENSE_FALLBACK_MOST) {
        hd_pairs_free(pairs);
        TRY(hd_solve_dense(context, problem, pairs));
    }
done:
    return status;
}

static hd_problem make_problem(const hd_operator *op, const huddle_embed_options *options,
                               int64_t wanted) {
    return (hd_problem){op,           wanted, options->tol, options->max_iter, options->verify,
                        options->seed};
}

static void report(huddle_context *context, const hd_pairs *pairs, huddle_embed_info *info) {
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
        hd_log(context,
               "eigenvalue %lld and the next differ by only %.2g: the last vectors are one choice "
               "of many",
               info->components + (long long)pairs->vectors.cols, info->gap);
}

/* Components are the whole answer. */
static huddle_status embed_components(const hd_laplacian *laplacian, int32_t c,
                                      huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t q = laplacian->n_components;
    TRY(new_embedding(laplacian->n, c, q > c ? c + 1 : c, out));
    TRY(write_components(laplacian, c, &out->vectors));
    info->stop = HUDDLE_STOP_EXACT;
    info->gap = q > c ? 0 : NAN;
    info->cuts_cluster = q > c;
    info->verified = "inertia";
    info->proven_pairs = c;
    info->unit = 1;
    info->solver = "components";
done:
    return status;
}

static huddle_status embed_by_solver(huddle_context *context, const huddle_csr *graph,
                                     const hd_laplacian *laplacian,
                                     const huddle_embed_options *options, huddle_embedding *out,
                                     huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_operator op = {0};
    hd_pairs pairs = {0};
    int64_t q = laplacian->n_components, wanted = options->n_components - q;
    TRY(hd_operator_from_graph(graph, laplacian, &op));
    hd_problem problem = make_problem(&op, options, wanted);
    TRY(solve(context, &problem, options->solver, &pairs));
    TRY(new_embedding(graph->rows, options->n_components, q + pairs.count, out));
    TRY(write_components(laplacian, q, &out->vectors));
    for (int64_t place = 0; place < graph->rows; place++)
        memcpy(out->vectors.values + laplacian->order[place] * out->vectors.stride + q,
               pairs.vectors.values + place * pairs.vectors.stride,
               (size_t)wanted * sizeof *pairs.vectors.values);
    for (int64_t k = 0; k < pairs.count; k++)
        out->eigenvalues[q + k] = fmax(0, 1 - pairs.theta[k]);
    info->gap = pairs.count > wanted ? pairs.theta[wanted - 1] - pairs.theta[wanted] : NAN;
    info->unit = op.unit;
    report(context, &pairs, info);
done:
    hd_operator_free(&op);
    hd_pairs_free(&pairs);
    return status;
}

/* Signs and rows: what every embedding ends with. */
static huddle_status finish(const huddle_embed_options *options, huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    const char *rule = options->rows;
    if (out->degrees == NULL && strcmp(rule, "rw") == 0)
        rule = "sym";
    TRY(set_signs(&out->vectors));
    TRY(huddle_embed_rows(&out->vectors, out->degrees, rule, &out->rows));
done:
    return status;
}

huddle_status huddle_embed(huddle_context *context, const huddle_csr *graph,
                           const huddle_embed_options *options, huddle_embedding *out,
                           huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_options defaults = huddle_embed_defaults();
    huddle_embed_info ignored = {0};
    hd_laplacian laplacian = {0};
    double begun = hd_seconds();
    options = options != NULL ? options : &defaults;
    info = info != NULL ? info : &ignored;
    memset(out, 0, sizeof *out);
    memset(info, 0, sizeof *info);
    TRY(check_options(options, graph->rows));
    TRY(hd_laplacian_new(graph, &laplacian));
    info->components = (int32_t)laplacian.n_components;
    if (laplacian.n_components >= options->n_components)
        TRY(embed_components(&laplacian, options->n_components, out, info));
    else
        TRY(embed_by_solver(context, graph, &laplacian, options, out, info));
    out->degrees = laplacian.degrees;
    laplacian.degrees = NULL;
    TRY(finish(options, out));
    info->seconds = hd_seconds() - begun;
done:
    hd_laplacian_free(&laplacian);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}

huddle_status huddle_embed_symmetric(huddle_context *context, const huddle_csr *matrix,
                                     double lower, double upper,
                                     const huddle_embed_options *options, huddle_embedding *out,
                                     huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_options defaults = huddle_embed_defaults();
    huddle_embed_info ignored = {0};
    hd_operator op = {0};
    hd_pairs pairs = {0};
    double begun = hd_seconds();
    options = options != NULL ? options : &defaults;
    info = info != NULL ? info : &ignored;
    memset(out, 0, sizeof *out);
    memset(info, 0, sizeof *info);
    int64_t c = options->n_components;
    TRY(check_options(options, matrix->rows));
    TRY(hd_check_symmetric(matrix));
    if (!(lower < upper))
        FAIL(HUDDLE_INVALID, "a spectrum within [%g, %g] is impossible", lower, upper);
    TRY(hd_operator_from_csr(matrix, lower, upper, &op));
    hd_problem problem = make_problem(&op, options, c);
    TRY(solve_any(context, &problem, options->solver, &pairs));
    TRY(new_embedding(matrix->rows, c, pairs.count, out));
    memcpy(out->vectors.values, pairs.vectors.values,
           (size_t)(matrix->rows * c) * sizeof *out->vectors.values);
    for (int64_t k = 0; k < pairs.count; k++)
        out->eigenvalues[k] = op.shift + op.unit * pairs.theta[k];
    info->gap = pairs.count > c ? op.unit * (pairs.theta[c - 1] - pairs.theta[c]) : NAN;
    info->unit = op.unit;
    report(context, &pairs, info);
    TRY(finish(options, out));
    info->seconds = hd_seconds() - begun;
done:
    hd_operator_free(&op);
    hd_pairs_free(&pairs);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}
