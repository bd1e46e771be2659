/* The arrays of an embedding, added up for the moments at which most of them exist. */
#include "embed/memory.h"

#include "embed/chebyshev.h"

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Three moments: the filter has two blocks of floats; at the end one of them is left beside the
 * vectors and the block of the probe (chebyshev_solve.c, verify.c); and the rows are made after
 * everything but the vectors and the vertices' own arrays has been freed (embed.c). The dense
 * solver has the full matrix and as many vectors again. */
int64_t hd_embed_predict_memory(int64_t n, int64_t entries, const huddle_embed_options *options) {
    huddle_embed_options defaults = huddle_embed_defaults();
    const huddle_embed_options *o = options != NULL ? options : &defaults;
    const int64_t real = sizeof(double), single = sizeof(float), index = sizeof(int32_t);
    int64_t c = o->n_components < n ? o->n_components : n;
    int64_t n_exact = o->n_exact > 0 && o->n_exact < c ? o->n_exact : c;
    int64_t n_rows = o->n_rows > 0 && o->n_rows < c ? o->n_rows : c;
    int64_t width = hd_embed_chebyshev_width(n_exact, c - n_exact);
    /* hd_embed_laplacian: degrees, scale, known; component and order. hd_embed_operator: offsets,
     * known and component; columns and values twice, with one more entry for a vertex without
     * any. */
    int64_t vertices = n * (3 * real + 2 * index);
    int64_t matrix = n * (real + real + index) + (entries + n) * (index + real + single);
    int64_t grams = hd_embed_ritz_memory(n, width);
    int64_t filter = 2 * n * width * single + grams;
    int64_t finish = n * width * single + n * c * real + grams +
                     2 * n * hd_embed_chebyshev_width(1, 0) * single +
                     (o->tol < 1e-6 ? n * (width + c) * single : 0);
    int64_t result = n * (c + n_rows) * real;
    /* A tolerance that floats do not reach needs the two blocks in double. */
    if (o->tol < 1e-6)
        filter *= 2;
    int64_t dense = 2 * width > n ? n * (n + 2 * c) * real : 0;
    return vertices + larger(matrix + larger(larger(filter, finish), dense), result);
}
