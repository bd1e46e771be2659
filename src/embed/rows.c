/* Row rules, and the number of clusters that the eigenvalues suggest. */
#include "base/check.h"
#include "embed/operator.h"

#include <math.h>
#include <string.h>

huddle_status huddle_embed_rows(const huddle_dense *vectors, const double *degrees,
                                const char *rule, huddle_dense *f) {
    bool unit = strcmp(rule, "unit") == 0, rw = strcmp(rule, "rw") == 0;
    if (!unit && !rw && strcmp(rule, "sym") != 0)
        return hd_fail(HUDDLE_INVALID, "rows = %s is not one of unit|sym|rw", rule);
    if (rw && degrees == NULL)
        return hd_fail(HUDDLE_INVALID, "rows = rw needs the degrees of the vertices");
    if (f->rows != vectors->rows || f->cols > vectors->cols)
        return hd_fail(HUDDLE_INVALID, "rows for %lld x %lld do not fit vectors of %lld x %lld",
                       (long long)f->rows, (long long)f->cols, (long long)vectors->rows,
                       (long long)vectors->cols);
    for (int64_t i = 0; i < f->rows; i++) {
        const double *from = vectors->values + i * vectors->stride;
        double *to = f->values + i * f->stride, scale = 1, square = 0;
        for (int64_t k = 0; k < f->cols; k++)
            square += from[k] * from[k];
        if (unit && square > 0)
            scale = 1 / sqrt(square);
        if (rw)
            scale = 1 / hd_degree_root(degrees[i]);
        for (int64_t k = 0; k < f->cols; k++)
            to[k] = scale * from[k];
    }
    return HUDDLE_OK;
}

/* Keeps the candidates sorted by falling score; equal scores stay in the order they came. */
static void offer(int32_t k, double score, huddle_embed_choice *choice) {
    int32_t place = choice->count;
    while (place > 0 && choice->scores[place - 1] < score)
        place--;
    if (place == 5)
        return;
    if (choice->count < 5)
        choice->count++;
    for (int32_t at = choice->count - 1; at > place; at--) {
        choice->candidates[at] = choice->candidates[at - 1];
        choice->scores[at] = choice->scores[at - 1];
    }
    choice->candidates[place] = k;
    choice->scores[place] = score;
}

huddle_status huddle_embed_choose(int64_t n, const double *eigenvalues, int32_t n_eigenvalues,
                                  int32_t components, huddle_embed_choice *choice) {
    if (n < 1 || n_eigenvalues < 0 || components < 0)
        return hd_fail(HUDDLE_INVALID,
                       "n = %lld vertices, %d eigenvalues and %d components make no graph",
                       (long long)n, n_eigenvalues, components);
    memset(choice, 0, sizeof *choice);
    int64_t least = components > 2 ? components : 2, most = n / 5 < 30 ? n / 5 : 30;
    for (int64_t k = least; k <= most && k < n_eigenvalues; k++) {
        double here = fmax(eigenvalues[k - 1], 1e-7), next = fmax(eigenvalues[k], 1e-7);
        offer((int32_t)k, (next - here) / next, choice);
    }
    if (choice->count == 0)
        offer((int32_t)(least < n ? least : n), 0, choice);
    return HUDDLE_OK;
}
