/* Eigenpairs of the full matrix by Jacobi's rotations (Golub and Van Loan, Matrix Computations,
 * 8.5): slow, and accurate to rounding for every pair. */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The work grows with the cube of the rows: more than MAX_ROWS are declined. */
enum { MAX_SWEEPS = 60, MAX_ROWS = 200 };

/* diag(scale) A diag(scale) as a full matrix. */
static huddle_status fill_matrix(const huddle_csr *a, const double *scale, double **full) {
    huddle_status status = HUDDLE_OK;
    int64_t n = a->rows;
    ALLOC_ZERO(*full, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            int64_t j = a->columns[e];
            double factor = scale != NULL ? scale[i] * scale[j] : 1;
            (*full)[i * n + j] += factor * a->values[e];
        }
done:
    return status;
}

/* Moves the eigenvalue of the known vector u below all others: A - (theta - below) u u' has the
 * same eigenvectors, and the eigenvalue `below` for u. */
static void deflate(double *full, int64_t n, const double *u, double below) {
    double theta = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        square += u[i] * u[i];
        for (int64_t j = 0; j < n; j++)
            theta += u[i] * full[i * n + j] * u[j];
    }
    theta /= square;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            full[i * n + j] -= (theta - below) * u[i] * u[j] / square;
}

static huddle_status deflate_known(const hd_eigen_request *request, int64_t n, double *full) {
    huddle_status status = HUDDLE_OK;
    double *u = NULL, below = request->lower - 2 * (request->upper - request->lower) - 1;
    ALLOC(u, n);
    for (int32_t q = 0; q < request->n_components; q++) {
        for (int64_t i = 0; i < n; i++)
            u[i] = request->component[i] == q ? request->known[i] : 0;
        deflate(full, n, u, below);
    }
done:
    huddle_free(u);
    return status;
}

/* Makes a[p][q] zero by a rotation of rows and columns p and q, and applies it to the vectors. */
static void rotate(double *a, double *v, int64_t n, int64_t p, int64_t q) {
    double apq = a[p * n + q];
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int64_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = v[k * n + p];
        y = v[k * n + q];
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
}

/* Diagonalises a; the columns of v become the eigenvectors. Returns the number of sweeps. */
static int32_t diagonalise(double *a, double *v, int64_t n) {
    double all = 0;
    for (int64_t e = 0; e < n * n; e++) {
        all += a[e] * a[e];
        v[e] = e / n == e % n;
    }
    for (int32_t sweep = 1; sweep <= MAX_SWEEPS; sweep++) {
        double off = 0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                off += a[p * n + q] * a[p * n + q];
                if (fabs(a[p * n + q]) > 1e-300)
                    rotate(a, v, n, p, q);
            }
        if (off <= 1e-30 * all)
            return sweep;
    }
    return MAX_SWEEPS;
}

/* Copies the `count` largest pairs, largest first. */
static huddle_status take_largest(const double *a, const double *v, int64_t n,
                                  hd_eigen_result *result) {
    huddle_status status = HUDDLE_OK;
    bool *taken = NULL;
    ALLOC_ZERO(taken, n);
    ALLOC(result->values, result->count);
    TRY(huddle_dense_new(n, result->count, result->vectors));
    for (int32_t k = 0; k < result->count; k++) {
        int64_t best = -1;
        for (int64_t j = 0; j < n; j++)
            if (!taken[j] && (best < 0 || a[j * n + j] > a[best * n + best]))
                best = j;
        taken[best] = true;
        result->values[k] = a[best * n + best];
        for (int64_t i = 0; i < n; i++)
            result->vectors->values[i * result->vectors->stride + k] = v[i * n + best];
    }
done:
    huddle_free(taken);
    return status;
}

huddle_status counting_find_eigenpairs(huddle_context *context, const hd_eigen_request *request,
                                       hd_eigen_result *result) {
    huddle_status status = HUDDLE_OK;
    double *full = NULL, *v = NULL;
    int64_t n = request->matrix->rows;
    huddle_csr matrix;
    TRY(counting_enter(context, COUNTING_EIGENPAIRS));
    if (n > MAX_ROWS)
        FAIL(HUDDLE_UNSUPPORTED, "%lld rows are too many to diagonalise", (long long)n);
    TRY(counting_csr(context, request->matrix, &matrix));
    TRY(fill_matrix(&matrix, request->scale, &full));
    if (request->component != NULL)
        TRY(deflate_known(request, n, full));
    ALLOC(v, n * n);
    result->n_iter = diagonalise(full, v, n);
    result->n_products = 0;
    result->residual = 0; /* to rounding */
    result->stop = HUDDLE_STOP_CONVERGED;
    int64_t left = n - (request->component != NULL ? request->n_components : 0);
    /* One more than wanted shows the gap. */
    result->count = (int32_t)(request->n_wanted < left ? request->n_wanted + 1 : left);
    TRY(take_largest(full, v, n, result));
    TRY(counting_keep_dense(context, result->vectors));
done:
    huddle_free(full);
    huddle_free(v);
    return status;
}
