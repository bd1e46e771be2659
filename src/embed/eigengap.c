/* The number of clusters that the eigenvalues suggest (docs/method.md, "How many clusters?"): the
 * relative eigengap (4), corrected for small components by the extent (5) of the eigenvectors. */
#include "huddle/embed.h"

#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "matrix/small.h"

#include <math.h>
#include <string.h>

/* The bounds of the eigengap rule, which huddle_embed_max_clusters() combines: no more clusters
 * than this, and no fewer points per cluster on average. Beyond 30 clusters the eigenvalues of real
 * data lie so close together that their gaps are noise (bench/clusters.py of 0.2.0). */
enum { MAX_CLUSTERS = 30, POINTS_PER_CLUSTER = 5 };

enum { MAX_CANDIDATES = sizeof((huddle_embed_choice *)0)->scores / sizeof(double) };

/* Smaller eigenvalues are errors, of the rounding in float or of the tolerance (an eigenvalue is
 * accurate to about tol squared); a ratio of two of them would be meaningless. */
static const double rounding = 1e-7;

/* A gap is clear if lambda_{k+1} >= 5 lambda_k. The shape of a single cluster does not reach that:
 * the eigenvalues of a chain or a ring grow like 1, 4, 9, ..., so its largest ratio is about 4. */
static const double clear_gap = 0.8;

/* A vector belongs to a small component, or to one that is nearly separate, if it extends over
 * less than HD_SMALL_SHARE of the mean cluster (the same share as in huddle_graph_connect) and over
 * few points: fewer than 12, twice the smallest component that 5 neighbours allow, or in a large
 * graph fewer than that share of the mean of MAX_CLUSTERS clusters. Chosen by bench/clusters.py
 * of 0.2.0. */
static const double small_size = 12;

int32_t huddle_embed_max_clusters(int64_t n) {
    int64_t limit = n / POINTS_PER_CLUSTER;
    return limit < MAX_CLUSTERS ? (int32_t)limit : MAX_CLUSTERS;
}

/* Equation (5), the inverse participation ratio: for a vector that is constant on s points and 0
 * elsewhere it is s. A vertex of m_i equal points has the entries v_i / sqrt(m_i) for each of them,
 * hence the division. */
huddle_status huddle_embed_extents(huddle_context *context, const huddle_dense *vectors,
                                   const int64_t *copies, double *extents) {
    huddle_status status = HUDDLE_OK;
    double *squares = NULL;
    if (vectors == NULL || extents == NULL)
        FAIL(HUDDLE_INVALID, "the vectors or the array for their extents is missing");
    TRY(huddle_dense_fetch(vectors));
    ALLOC_ZERO(squares, vectors->cols);
    for (int64_t k = 0; k < vectors->cols; k++)
        extents[k] = 0;
    for (int64_t i = 0; i < vectors->rows; i++) {
        const double *row = vectors->values + i * vectors->stride;
        double m = copies != NULL ? (double)copies[i] : 1;
        for (int64_t k = 0; k < vectors->cols; k++) {
            double square = row[k] * row[k];
            squares[k] += square;
            extents[k] += square * square / m;
        }
    }
    TRY(hd_reduce_sum(context, vectors->cols, squares));
    TRY(hd_reduce_sum(context, vectors->cols, extents));
    for (int64_t k = 0; k < vectors->cols; k++)
        extents[k] = extents[k] > 0 ? squares[k] * squares[k] / extents[k] : 0;
done:
    huddle_free(squares);
    return hd_agree(context, status);
}

/* Whether vector j (from 0) belongs to a small component when k clusters are considered.
 * HD_SMALL_SHARE n / MAX_CLUSTERS is the n/100 of the documentation. */
static bool is_small(const huddle_spectrum *s, int32_t j, int32_t k) {
    if (s->extents == NULL || j >= s->n_extents)
        return false;
    double n = (double)s->n, size = fmax(small_size, HD_SMALL_SHARE * n / MAX_CLUSTERS);
    return s->extents[j] < fmin(size, HD_SMALL_SHARE * n / k);
}

static int32_t count_small(const huddle_spectrum *s, int32_t k) {
    int32_t count = 0;
    for (int32_t j = 0; j < k && j < s->n_eigenvalues; j++)
        count += is_small(s, j, k);
    return count;
}

/* Equation (4) between the last vector before and the first vector after the gap that do not belong
 * to small components. NAN if k cannot be a number of clusters: without the small components fewer
 * than two would remain, or vector k itself belongs to a small component and is no evidence of a
 * k-th cluster. */
double huddle_embed_gap(const huddle_spectrum *s, int32_t k) {
    if (k < 1 || k >= s->n_eigenvalues || k - count_small(s, k) < 2)
        return NAN;
    /* With k = number of components, all k eigenvalues are 0 and their vectors have no order, so
     * that the last one may be small by chance. */
    if (is_small(s, k - 1, k) && k != s->components)
        return NAN;
    int32_t last = k - 1, after = k;
    while (is_small(s, last, k))
        last--;
    while (after + 1 < s->n_eigenvalues && is_small(s, after, k))
        after++;
    double here = fmax(s->eigenvalues[last], rounding),
           next = fmax(s->eigenvalues[after], rounding);
    return (next - here) / next;
}

/* Whether candidate a, of gap g, is better than candidate b, of gap h. Clear gaps come first, the
 * larger number before the smaller: components, or a few well-separated groups, have a clear gap
 * even if each consists of several clusters. Other candidates are compared by their gaps. */
static bool is_better(int32_t a, double g, int32_t b, double h) {
    bool clear = g >= clear_gap;
    if (clear != (h >= clear_gap))
        return clear;
    return clear ? a > b : g > h;
}

/* Inserts k into the candidates, best first; equal ones stay in the order they came. */
static void insert_candidate(const huddle_spectrum *s, int32_t k, double gap,
                             huddle_embed_choice *choice) {
    int32_t place = choice->count;
    while (place > 0 && is_better(k, gap, choice->candidates[place - 1], choice->scores[place - 1]))
        place--;
    if (place == MAX_CANDIDATES)
        return;
    if (choice->count < MAX_CANDIDATES)
        choice->count++;
    for (int32_t at = choice->count - 1; at > place; at--) {
        choice->candidates[at] = choice->candidates[at - 1];
        choice->scores[at] = choice->scores[at - 1];
        choice->small_components[at] = choice->small_components[at - 1];
    }
    choice->candidates[place] = k;
    choice->scores[place] = gap;
    choice->small_components[place] = count_small(s, k);
}

/* With first = 0 the default range is used. If no k of the range has a gap, for instance because
 * too few eigenvalues are known, the smallest k is the answer, with gap 0. */
huddle_status huddle_embed_choose(const huddle_spectrum *s, int32_t first, int32_t last,
                                  huddle_embed_choice *choice) {
    if (s->n < 1 || s->n_eigenvalues < 0 || s->components < 0)
        return hd_fail(HUDDLE_INVALID,
                       "n = %lld vertices with %d eigenvalues and %d components cannot be a graph",
                       (long long)s->n, s->n_eigenvalues, s->components);
    memset(choice, 0, sizeof *choice);
    if (first == 0) {
        first = s->components > 2 ? s->components : 2;
        last = huddle_embed_max_clusters(s->n);
    }
    for (int32_t k = first; k <= last && k < s->n_eigenvalues; k++) {
        double gap = huddle_embed_gap(s, k);
        if (!isnan(gap))
            insert_candidate(s, k, gap, choice);
    }
    while (choice->n_clear < choice->count && choice->scores[choice->n_clear] >= clear_gap)
        choice->n_clear++;
    if (choice->count == 0)
        insert_candidate(s, first < s->n ? first : (int32_t)s->n, 0, choice);
    return HUDDLE_OK;
}
