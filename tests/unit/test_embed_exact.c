/* embed: graphs that are large enough for converged vectors to leave the filter, vectors that need
 * not be accurate, and the memory that was predicted. */
#include "embed/memory.h"
#include "embed_graphs.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than 50,000 vertices: a torus whose edges have weight 1 along one axis and SIDE along the
 * other. Its eigenvectors are waves. */
enum { A = 260, B = 200, C = 60 };
static const double SIDE = .37;

static huddle_csr weighted_torus(void) {
    huddle_csr graph;
    assert_ok(huddle_csr_new(A * B, A * B, 4 * A * B, &graph));
    for (int32_t v = 0; v < A * B; v++) {
        int32_t i = v / B, j = v % B, count = 0;
        int32_t others[] = {(i + A - 1) % A * B + j, (i + 1) % A * B + j, i * B + (j + B - 1) % B,
                            i * B + (j + 1) % B};
        for (int rank = 0; rank < 4; rank++) /* ascending columns */
            for (int e = 0; e < 4; e++) {
                int smaller = 0;
                for (int other = 0; other < 4; other++)
                    smaller += others[other] < others[e];
                if (smaller != rank)
                    continue;
                graph.columns[4 * v + count] = others[e];
                graph.values[4 * v + count++] = e < 2 ? 1 : SIDE;
            }
        graph.offsets[v + 1] = 4 * (v + 1);
    }
    return graph;
}

static int descending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* Eigenvalues of the Laplacian, ascending. */
static double *torus_eigenvalues(void) {
    double *values = malloc(A * B * sizeof *values);
    const double turn = 6.283185307179586;
    assert_non_null(values);
    for (int i = 0; i < A; i++)
        for (int j = 0; j < B; j++)
            values[i * B + j] = (cos(turn * i / A) + SIDE * cos(turn * j / B)) / (1 + SIDE);
    qsort(values, A * B, sizeof *values, descending);
    for (int k = 0; k < A * B; k++)
        values[k] = 1 - values[k];
    return values;
}

/* The largest entry of |V'V - I| over the first columns. */
static double orthogonality(const huddle_dense *v, int64_t columns) {
    double worst = 0;
    for (int64_t a = 0; a < columns; a++)
        for (int64_t b = 0; b <= a; b++) {
            double sum = a == b ? -1 : 0;
            for (int64_t i = 0; i < v->rows; i++)
                sum += v->values[i * v->stride + a] * v->values[i * v->stride + b];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void locked_vectors_stay_right(void **state) {
    (void)state;
    huddle_csr graph = weighted_torus();
    double *expected = torus_eigenvalues();
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.n_components = C;
    options.tol = 1e-5;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    assert_true(info.residual <= options.tol);
    assert_string_equal(info.verified, "probe");
    for (int k = 0; k < C; k++)
        assert_close(e.eigenvalues[k], expected[k], 1e-6);
    assert_true(orthogonality(&e.vectors, C) < 1e-9);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
    free(expected);
}

/* The iteration itself, without the exact step at the end: columns are locked, and they keep their
 * Ritz values through filters of odd and of even degree. */
static void converged_vectors_are_locked(void **state) {
    (void)state;
    huddle_csr graph = weighted_torus();
    double *expected = torus_eigenvalues();
    hd_embed_laplacian laplacian;
    hd_embed_operator op;
    hd_embed_run run;
    assert_ok(hd_embed_laplacian_new(NULL, &graph, &laplacian));
    hd_eigen_request request = request_of(&graph, &laplacian);
    assert_ok(hd_embed_operator_new(NULL, &request, laplacian.order, NULL, &op));
    assert_ok(hd_embed_run_new(&op, C - 1, 0, &run));
    assert_ok(hd_embed_run_start(NULL, 0, &run));
    assert_ok(hd_embed_run_iterate(NULL, NULL, 1e-5, 100, &run));
    assert_int_equal(run.stop, HUDDLE_STOP_CONVERGED);
    assert_true(run.n_spared > 0);
    for (int64_t degree = 5; degree < 7; degree++) {
        run.block.first = 32;
        assert_ok(hd_embed_run_filter(NULL, hd_embed_run_edge(&run), degree, &run));
        for (int64_t k = 0; k < C - 1; k++) {
            assert_true(run.ritz.residual[k] <= 1e-5);
            assert_close(1 - run.ritz.theta[k], expected[k + 1], 1e-5);
        }
    }
    hd_embed_run_free(&run);
    free(expected);
    hd_embed_operator_free(&op);
    hd_embed_laplacian_free(&laplacian);
    huddle_csr_free(&graph);
}

static void vectors_beyond_the_exact_ones_are_approximate(void **state) {
    (void)state;
    enum { EXACT = 21, ROWS = 7 };
    huddle_csr graph = weighted_torus();
    double *expected = torus_eigenvalues();
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info all, info;
    huddle_embedding e;
    options.n_components = C;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &all));
    assert_int_equal(e.rows.cols, C);
    huddle_embedding_free(&e);
    options.n_exact = EXACT;
    options.n_rows = ROWS;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    assert_true(info.residual <= options.tol);
    assert_string_equal(info.verified, "probe");
    assert_true((double)info.n_products < .8 * (double)all.n_products);
    assert_int_equal(e.vectors.cols, C);
    assert_int_equal(e.rows.cols, ROWS);
    assert_true(e.n_eigenvalues >= C);
    for (int k = 0; k < C; k++)
        assert_close(e.eigenvalues[k], expected[k], k < EXACT ? 1e-6 : .1 * expected[k]);
    assert_true(orthogonality(&e.vectors, C) < 1e-9);
    for (int64_t i = 0; i < A * B; i += 997) {
        double square = 0;
        for (int64_t k = 0; k < ROWS; k++)
            square += e.rows.values[i * ROWS + k] * e.rows.values[i * ROWS + k];
        assert_close(square, 1, 1e-12);
    }
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
    free(expected);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    static const int32_t counts[] = {2, 3, 8};
    huddle_csr graph = weighted_torus();
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding alone, e;
    options.n_components = 40;
    options.n_exact = 20;
    assert_ok(huddle_embed(NULL, &graph, &options, &alone, NULL));
    for (int t = 0; t < 3; t++) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, counts[t]));
        assert_ok(huddle_embed(context, &graph, &options, &e, NULL));
        assert_memory_equal(e.vectors.values, alone.vectors.values, A * B * 40 * sizeof(double));
        assert_memory_equal(e.rows.values, alone.rows.values, A * B * 40 * sizeof(double));
        huddle_embedding_free(&e);
        huddle_context_free(context);
    }
    huddle_embedding_free(&alone);
    huddle_csr_free(&graph);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* What OpenBLAS keeps for itself. */
static const double blas_buffers = 8e6;

static int64_t peak_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

/* In a process of its own, whose largest resident size is that of the embedding. Pages are touched
 * by the graph before, so that the difference is what was added. */
static void memory_is_as_predicted(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they keep what was freed */
#endif
    static const int32_t settings[][3] = {{C, 0, 0}, {C, 30, 30}, {120, 0, 20}};
    for (int s = 0; s < 3; s++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            huddle_csr graph = weighted_torus();
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embedding e;
            options.n_components = settings[s][0];
            options.n_exact = settings[s][1];
            options.n_rows = settings[s][2];
            int64_t before = peak_bytes();
            bool ok = huddle_embed(NULL, &graph, &options, &e, NULL) == HUDDLE_OK;
            double used = (double)(peak_bytes() - before);
            double predicted = (double)hd_embed_predict_memory(A * B, 4 * A * B, &options);
            bool right = used < 1.1 * predicted + blas_buffers && used > .7 * predicted;
            if (!right)
                fprintf(stderr, "%.1f MB used, %.1f predicted\n", used / 1e6, predicted / 1e6);
            _exit(ok && right ? 0 : 1);
        }
        int answer;
        assert_int_equal(waitpid(child, &answer, 0), child);
        assert_int_equal(answer, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_as_predicted), /* first: a fork inherits the resident pages */
        cmocka_unit_test(converged_vectors_are_locked),
        cmocka_unit_test(locked_vectors_stay_right),
        cmocka_unit_test(vectors_beyond_the_exact_ones_are_approximate),
        cmocka_unit_test(threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
