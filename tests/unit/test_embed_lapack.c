/* embed: LAPACK's answers are checked. This program has a dsyevr and a dsyevd of its own, which
 * pass on what LAPACK says, or spoil it. */
#define _GNU_SOURCE
#include "embed/solver.h"
#include "support/support.h"

#include <dlfcn.h>
#include <lapacke.h>
#include <math.h>

typedef enum spoil { HONEST, SHORT, DISORDERED, NOT_A_NUMBER, FAILED } spoil;

static spoil partial, whole; /* what becomes of dsyevr's answer, and of dsyevd's */
static int partial_calls, whole_calls;

static lapack_int spoil_answer(spoil how, lapack_int answer, lapack_int count, double *values) {
    double first = values[0];
    if (how == DISORDERED) {
        values[0] = values[count - 1];
        values[count - 1] = first;
    }
    if (how == NOT_A_NUMBER)
        values[count - 2] = NAN;
    return how == FAILED ? 1 : answer;
}

lapack_int LAPACKE_dsyevr(int layout, char jobz, char range, char uplo, lapack_int n, double *a,
                          lapack_int lda, double vl, double vu, lapack_int il, lapack_int iu,
                          double abstol, lapack_int *m, double *w, double *z, lapack_int ldz,
                          lapack_int *support) {
    static lapack_int (*real)(int, char, char, char, lapack_int, double *, lapack_int, double,
                              double, lapack_int, lapack_int, double, lapack_int *, double *,
                              double *, lapack_int, lapack_int *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "LAPACKE_dsyevr");
    partial_calls++;
    lapack_int answer =
        real(layout, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, support);
    if (partial == SHORT)
        --*m;
    return spoil_answer(partial, answer, iu - il + 1, w);
}

lapack_int LAPACKE_dsyevd(int layout, char jobz, char uplo, lapack_int n, double *a, lapack_int lda,
                          double *w) {
    static lapack_int (*real)(int, char, char, lapack_int, double *, lapack_int, double *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "LAPACKE_dsyevd");
    whole_calls++;
    lapack_int answer = real(layout, jobz, uplo, n, a, lda, w);
    return spoil_answer(whole, answer, n, w);
}

static int be_honest(void **state) {
    (void)state;
    partial = whole = HONEST;
    partial_calls = whole_calls = 0;
    return 0;
}

enum { N = 80, C = 5 };

static huddle_csr ring(void) {
    huddle_csr graph;
    assert_ok(huddle_csr_new(N, N, 2 * N, &graph));
    for (int64_t i = 0; i < N; i++) {
        int64_t a = (i + 1) % N, b = (i + N - 1) % N;
        graph.columns[2 * i] = (int32_t)(a < b ? a : b);
        graph.columns[2 * i + 1] = (int32_t)(a < b ? b : a);
        graph.values[2 * i] = graph.values[2 * i + 1] = 1;
        graph.offsets[i + 1] = 2 * i + 2;
    }
    return graph;
}

static huddle_status embed_ring(huddle_embedding *e) {
    huddle_csr graph = ring();
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.n_components = C;
    options.embed_solver = "dense";
    huddle_status status = huddle_embed(NULL, &graph, &options, e, &info);
    if (status == HUDDLE_OK)
        assert_true(info.residual < 1e-12);
    huddle_csr_free(&graph);
    return status;
}

static void too_few_eigenvalues_from_dsyevr_are_noticed(void **state) {
    (void)state;
    for (partial = HONEST; partial <= FAILED; partial++) {
        huddle_embedding e;
        partial_calls = whole_calls = 0;
        assert_ok(embed_ring(&e));
        assert_int_equal(partial_calls, 1);
        assert_int_equal(whole_calls, partial != HONEST);
        for (int k = 0; k < C; k++)
            assert_close(e.eigenvalues[k], 1 - cos(6.283185307179586 * ((k + 1) / 2) / N), 1e-12);
        huddle_embedding_free(&e);
    }
}

static void wrong_eigenvalues_from_dsyevd_are_an_error(void **state) {
    (void)state;
    static const char *const sentences[] = {NULL, NULL, "not in order", "not in order",
                                            "could not solve"};
    partial = SHORT;
    for (whole = DISORDERED; whole <= FAILED; whole++) {
        huddle_embedding e;
        assert_refused(embed_ring(&e), HUDDLE_NUMERIC, sentences[whole]);
        assert_null(e.vectors.values);
    }
}

/* Nearly all eigenvalues equal, where dsyevr has been seen to return too few. */
static void many_equal_eigenvalues_are_all_found(void **state) {
    (void)state;
    enum { M = 300 };
    huddle_csr graph;
    assert_ok(huddle_csr_new(M, M, M * (M - 1), &graph));
    for (int64_t i = 0, at = 0; i < M; i++) {
        for (int32_t j = 0; j < M; j++)
            if (j != i) {
                graph.columns[at] = j;
                graph.values[at++] = 1;
            }
        graph.offsets[i + 1] = at;
    }
    for (int32_t c = 2; c <= M; c += 149) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = c;
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        for (int32_t k = 1; k < c; k++)
            assert_close(e.eigenvalues[k], (double)M / (M - 1), 1e-12);
        for (int32_t k = 0; k < c; k++)
            for (int32_t l = 0; l <= k; l++) {
                double product = 0;
                for (int64_t i = 0; i < M; i++)
                    product += e.vectors.values[i * c + k] * e.vectors.values[i * c + l];
                assert_close(product, k == l, 1e-10);
            }
        assert_true(info.residual < 1e-10);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(too_few_eigenvalues_from_dsyevr_are_noticed, be_honest),
        cmocka_unit_test_setup(wrong_eigenvalues_from_dsyevd_are_an_error, be_honest),
        cmocka_unit_test_setup(many_equal_eigenvalues_are_all_found, be_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
