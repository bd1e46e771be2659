/* Neighbours of sparse points through an inverted index, exact, without dense rows.
 *
 * The score of a training row y for a query x is
 *
 *     s(y) = <x, y> - |y|^2 / 2,        |x - y|^2 = |x|^2 - 2 s(y).
 *
 * A search adds up the products in rare columns through the index, one class of columns after the
 * other. With A the score of a row so far, and x', y' the parts of both rows in the remaining
 * classes,
 *
 *     s(y) <= A + |x'| |y'|
 *
 * whatever the signs of the values (prefix filtering: Bayardo, Ma, Srikant, WWW 2007; the bound by
 * norms: Anastasiu, Karypis, ICDE 2014). Rows whose bound is below the score of the k-th neighbour
 * found so far are excluded. As soon as it is cheaper to complete the scores of the others row by
 * row than to add up another class, that is done: class by class again, until a row is excluded or
 * complete. The distances of the complete ones are computed by differences, so that neither the
 * bounds nor their rounding decides about the order of neighbours. Where the bounds exclude
 * nothing, the search ends up adding all classes, as it would without bounds. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/search.h"
#include "graph/sparse_index.h"

#include <math.h>
#include <string.h>

enum {
    CLASSES = HD_GRAPH_SPARSE_CLASSES,
    GROUP = HD_GRAPH_SPARSE_GROUP,
    QUERIES_PER_CHUNK = 16,
    FIRST_CHECK = 6, /* classes that are always added: in text a twentieth of the products */
    SAMPLE = 16,     /* one group in so many estimates how many rows are not excluded */
    ROW_COST = 4,    /* what a row that is not excluded costs beside its products, in products */
    AHEAD = 8,       /* rows and lists are fetched into the cache so many before they are read */
    MARK_SHARE = 4,  /* fewer products than this part of the rows: only groups with one are read */
};

/* Under cosine the values of the index are floats of norm 1: each is rounded by at most 2^-24 of
 * itself, which changes a squared distance by at most 2^-23 + 2^-46 if both norms are 1. */
static const double cosine_rounding = 0x1p-22;

/* A query on a worker. */
typedef struct query_state {
    int64_t i;
    double *scores;       /* n: `origin` of the index between two queries */
    unsigned char *marks; /* groups in which a score was changed; 0 between two queries */
    double *dense;        /* values in common columns; 0 between two queries */
    int32_t *columns;     /* all columns, class by class, */
    double *values;       /* and their values, scaled */
    int64_t begin[CLASSES + 1];
    double rest[CLASSES + 1]; /* norm over the classes c and above */
    double least;             /* rows whose score is below cannot be neighbours */
    double least_top;         /* the smallest of the k largest scores so far */
    double *top;              /* k: rows of the largest scores so far, negated */
    int32_t *top_rows;
    int32_t *possible; /* rows of a block that are not excluded */
    int64_t n_possible, n_products, n_distances;
} query_state;

typedef struct task {
    hd_graph_search *search;
    hd_graph_sparse_rows train, own;
    const hd_graph_sparse_rows *rows; /* of the queries: &train or &own */
    hd_graph_sparse_index index;
    bool cosine;
    hd_graph_sparse_function find_possible;
    query_state *workers;
    int64_t n_workers;
} task;

/* ---- the query ----------------------------------------------------------------------------- */

/* Sorts the values of query i by class. */
static void open_query(const task *t, query_state *q, int64_t i) {
    const huddle_points *x = t->rows->x;
    int64_t first = x->offsets[i], last = x->offsets[i + 1], place[CLASSES];
    double squares[CLASSES] = {0};
    q->i = i;
    memset(q->begin, 0, sizeof q->begin);
    for (int64_t e = first; e < last; e++)
        q->begin[t->index.class_of[x->columns[e]] + 1]++;
    for (int c = 0; c < CLASSES; c++)
        q->begin[c + 1] += q->begin[c];
    memcpy(place, q->begin, sizeof place);
    for (int64_t e = first; e < last; e++) {
        int c = t->index.class_of[x->columns[e]];
        double value = t->rows->scale[i] * (double)x->values[e];
        q->columns[place[c]] = x->columns[e];
        q->values[place[c]++] = value;
        squares[c] += value * value;
        if (c > 0)
            q->dense[t->index.common[x->columns[e]]] = value;
    }
    q->rest[CLASSES] = 0;
    double sum = 0;
    for (int c = CLASSES - 1; c >= 0; c--) {
        sum += squares[c];
        q->rest[c] = sqrt(sum);
    }
}

static void close_query(const task *t, query_state *q) {
    for (int64_t e = q->begin[1]; e < q->begin[CLASSES]; e++)
        q->dense[t->index.common[q->columns[e]]] = 0;
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* A bound on the difference between |x|^2 - 2 s(y) and the distance by differences. With u = 2^-53
 * and rows of p and q values and of norms X and Y, the error of the norms is at most p u X^2 and q
 * u Y^2, of the product and its sum with -|y|^2 / 2 at most 2 (min(p, q) + 1) u (X^2 + Y^2), of the
 * other sums 2 u (X^2 + Y^2), of the scales of the cosine a few u more, and of the distance by
 * differences (p + q + 3) u times itself, which is at most 2 (X^2 + Y^2): in total less than (p + q
 * + 16) 4 u (X^2 + Y^2). */
static double rounding_error(double terms, double norm2, double other2) {
    return (terms + 16) * 0x1p-51 * (norm2 + other2);
}

/* The smallest score, as computed here, of a row whose distance by differences is at most that of
 * the k-th neighbour so far. By the triangle inequality, the norm of such a row is at most that of
 * the query plus the distance. */
static void update_least(const task *t, query_state *q) {
    double within2 = hd_graph_search_last(t->search, q->i), norm2 = t->rows->norm2[q->i];
    double other = sqrt(norm2) + sqrt(within2);
    double terms = (double)hd_graph_sparse_length(t->rows, q->i) + t->index.longest;
    double margin = rounding_error(terms, norm2, other * other);
    q->least = within2 < INFINITY
                   ? (norm2 - within2 - margin - (t->cosine ? cosine_rounding : 0)) / 2
                   : -INFINITY;
}

/* Compares row j by differences, unless it is in the list already. */
static void compare_row(const task *t, query_state *q, int32_t j) {
    const hd_graph_search *s = t->search;
    const int32_t *list = s->index + q->i * s->k;
    for (int32_t c = 0; c < s->k; c++)
        if (list[c] == j)
            return;
    q->n_distances++;
    if (hd_graph_search_insert(s, q->i, j, hd_graph_sparse_distance2(t->rows, q->i, &t->train, j)))
        update_least(t, q);
}

/* Whether a row may be a neighbour, given a bound of its score (as hd_graph_sparse_possible()). */
static bool is_possible(const query_state *q, double bound) {
    return !(bound < q->least);
}

/* Adds the products of the classes c and above to the score of row j, until it is excluded. */
static bool complete_score(const task *t, query_state *q, int c, int64_t j) {
    const hd_graph_sparse_index *x = &t->index;
    double score = q->scores[j];
    for (; c < CLASSES; c++) {
        if (!is_possible(q, score + q->rest[c] * (double)x->rest[c * t->index.padded + j]))
            return false;
        if (q->begin[c] == q->begin[c + 1])
            continue;
        int64_t begin = x->starts[j * CLASSES + c], end = x->starts[j * CLASSES + c + 1];
        for (int64_t e = begin; e < end; e++)
            score += q->dense[x->entries[e].index] * (double)x->entries[e].value;
        q->n_products += end - begin;
    }
    return is_possible(q, score);
}

/* ---- one block of rows --------------------------------------------------------------------- */

static int64_t count_products(const query_state *q, const hd_graph_sparse_block *b, int c,
                              int end) {
    int64_t count = 0;
    for (int64_t e = q->begin[c]; e < q->begin[end]; e++)
        count += b->offsets[q->columns[e] + 1] - b->offsets[q->columns[e]];
    return count;
}

/* Adds the products of class c to the scores of the block. */
static void add_class(query_state *q, const hd_graph_sparse_block *b, int c) {
    double *scores = q->scores;
    const hd_graph_sparse_entry *lists = b->lists;
    for (int64_t e = q->begin[c]; e < q->begin[c + 1]; e++) {
        double value = q->values[e];
        int64_t end = b->offsets[q->columns[e] + 1];
        if (e + AHEAD < q->begin[c + 1])
            __builtin_prefetch(&lists[b->offsets[q->columns[e + AHEAD]]]);
        for (int64_t p = b->offsets[q->columns[e]]; p < end; p++)
            scores[lists[p].index] += value * (double)lists[p].value;
    }
    q->n_products += count_products(q, b, c, c + 1);
}

/* Adds the products of all classes, and marks the groups in which there are some. */
static void add_all_marked(query_state *q, const hd_graph_sparse_block *b) {
    for (int64_t e = 0; e < q->begin[CLASSES]; e++) {
        int64_t end = b->offsets[q->columns[e] + 1];
        for (int64_t p = b->offsets[q->columns[e]]; p < end; p++) {
            q->scores[b->lists[p].index] += q->values[e] * (double)b->lists[p].value;
            q->marks[b->lists[p].index / GROUP] = 1;
        }
    }
    q->n_products += count_products(q, b, 0, CLASSES);
}

static int64_t row_of(uint64_t found, int64_t at) {
    return at + __builtin_ctzll(found);
}

/* Calls `visit` for the rows of the block whose score plus the bound of the classes c and above is
 * not below *least, and that are not skipped. If `marked`, groups that are not marked are read only
 * if a row without any product may be among them. */
static void visit_rows(const task *t, query_state *q, const hd_graph_sparse_block *b, bool marked,
                       int c, const double *least,
                       void (*visit)(const task *t, query_state *q, int c, int32_t j)) {
    double norm = q->rest[c];
    const float *rest = t->index.rest + (c < CLASSES ? c : CLASSES - 1) * t->index.padded;
    for (int64_t at = b->begin; at < b->end; at += GROUP) {
        if (marked && !q->marks[at / GROUP] && t->index.highest[at / GROUP] < *least)
            continue;
        uint64_t found = t->find_possible(q->scores + at, rest + at, norm, *least);
        for (; found != 0; found &= found - 1) {
            int64_t j = row_of(found, at);
            if (j < b->end && !hd_graph_search_skips(t->search, q->i, j))
                visit(t, q, c, (int32_t)j);
        }
    }
}

static void keep_top(const task *t, query_state *q, int c, int32_t j) {
    (void)c;
    hd_graph_list_insert(q->top, q->top_rows, t->search->k, -q->scores[j], j);
    q->least_top = -q->top[t->search->k - 1];
}

/* Compares the k rows of the largest scores of the classes below c: their distances exclude most of
 * the others. */
static void compare_top(const task *t, query_state *q, const hd_graph_sparse_block *b, bool marked,
                        int class) {
    int32_t k = t->search->k;
    q->least_top = -INFINITY;
    for (int32_t c = 0; c < k; c++) {
        q->top[c] = INFINITY;
        q->top_rows[c] = INT32_MAX;
    }
    visit_rows(t, q, b, marked, CLASSES, &q->least_top, keep_top);
    for (int32_t c = 0; c < k && q->top_rows[c] != INT32_MAX; c++)
        if (complete_score(t, q, class, q->top_rows[c]))
            compare_row(t, q, q->top_rows[c]);
}

/* Whether completing the rows that are not excluded by class c costs less than adding the class.
 * Both are counted, so that the choice does not depend on anything else. */
static bool is_completing_cheaper(const task *t, const query_state *q,
                                  const hd_graph_sparse_block *b, int c, int64_t products) {
    const float *rest = t->index.rest + c * t->index.padded;
    int64_t possible = 0;
    for (int64_t at = b->begin; at < b->end; at += SAMPLE * GROUP) {
        uint64_t found = t->find_possible(q->scores + at, rest + at, q->rest[c], q->least);
        for (; found != 0; found &= found - 1)
            possible += !hd_graph_search_skips(t->search, q->i, row_of(found, at));
    }
    return SAMPLE * (double)possible * (ROW_COST + t->index.mean_length[c]) < (double)products;
}

static void keep_possible(const task *t, query_state *q, int c, int32_t j) {
    (void)t;
    (void)c;
    q->possible[q->n_possible++] = j;
}

/* Compares the rows that are not excluded, given the scores of the classes below c. They are listed
 * first, because their values are all over the memory: so they can be fetched ahead. */
static void compare_possible(const task *t, query_state *q, const hd_graph_sparse_block *b,
                             bool marked, int c) {
    const hd_graph_sparse_index *x = &t->index;
    q->n_possible = 0;
    visit_rows(t, q, b, marked, c, &q->least, keep_possible);
    for (int64_t e = 0; e < q->n_possible; e++) {
        if (c < CLASSES && e + 2 * AHEAD < q->n_possible)
            __builtin_prefetch(&x->starts[(int64_t)q->possible[e + 2 * AHEAD] * CLASSES + c]);
        if (c < CLASSES && e + AHEAD < q->n_possible)
            __builtin_prefetch(
                &x->entries[x->starts[(int64_t)q->possible[e + AHEAD] * CLASSES + c]]);
        if (complete_score(t, q, c, q->possible[e]))
            compare_row(t, q, q->possible[e]);
    }
}

/* Makes the scores those of no product again. */
static void reset_scores(const task *t, query_state *q, const hd_graph_sparse_block *b,
                         bool marked) {
    for (int64_t at = b->begin; at < b->end; at += GROUP)
        if (!marked || q->marks[at / GROUP]) {
            memcpy(q->scores + at, t->index.origin + at, GROUP * sizeof *q->scores);
            q->marks[at / GROUP] = 0;
        }
}

/* With few products all classes are added, and only the groups with products are read: then the
 * work is not proportional to the number of rows. Otherwise classes are added until completing the
 * remaining rows is cheaper. Without neighbours from an earlier block, the rows of the largest
 * scores provide the first ones, once enough classes are added to find good ones. */
static void search_block(const task *t, query_state *q, const hd_graph_sparse_block *b) {
    bool marked = count_products(q, b, 0, CLASSES) * MARK_SHARE < b->end - b->begin;
    bool excludes = q->least > -INFINITY;
    int c = 0, first = excludes ? 1 : FIRST_CHECK;
    if (marked) {
        add_all_marked(q, b);
        c = CLASSES;
    }
    for (; c < CLASSES; c++) {
        int64_t products = count_products(q, b, c, c + 1);
        if (c == first && !excludes)
            compare_top(t, q, b, marked, c);
        if (c >= first && products > 0 && is_completing_cheaper(t, q, b, c, products))
            break;
        add_class(q, b, c);
    }
    compare_top(t, q, b, marked, c);
    compare_possible(t, q, b, marked, c);
    reset_scores(t, q, b, marked);
}

/* ---- all queries --------------------------------------------------------------------------- */

/* A row of zeros under cosine has no product that would give its distances (sparse_rows.c). */
static void compare_all(const task *t, query_state *q) {
    hd_graph_search *s = t->search;
    for (int64_t j = 0; j < t->train.x->n; j++)
        if (!hd_graph_search_skips(s, q->i, j))
            hd_graph_search_insert(s, q->i, j,
                                   hd_graph_sparse_distance2(t->rows, q->i, &t->train, j));
    q->n_distances += t->train.x->n;
}

/* The block of the query itself comes first in a search of points among themselves: files are often
 * sorted, and near neighbours found early exclude more. */
static void search_query(const task *t, query_state *q, int64_t i) {
    const hd_graph_sparse_index *x = &t->index;
    int64_t first = t->search->self ? i / x->block_rows : 0;
    hd_graph_search_clear(t->search, i, i + 1);
    open_query(t, q, i);
    update_least(t, q);
    if (t->rows->scale[i] == 0)
        compare_all(t, q);
    for (int64_t b = 0; b < x->n_blocks && t->rows->scale[i] != 0; b++)
        search_block(t, q, &x->blocks[(first + b) % x->n_blocks]);
    close_query(t, q);
}

static huddle_status search_queries(void *argument, hd_chunk chunk) {
    const task *t = argument;
    query_state *q = &t->workers[chunk.worker];
    q->n_products = q->n_distances = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        search_query(t, q, i);
    atomic_fetch_add(&t->search->n_products, q->n_products);
    atomic_fetch_add(&t->search->n_distances, q->n_distances);
    return HUDDLE_OK;
}

/* Every worker has one score per training row. */
static huddle_status prepare_workers(huddle_context *context, task *t) {
    huddle_status status = HUDDLE_OK;
    int64_t count = hd_workers(context), longest = 0;
    for (int64_t i = 0; i < t->rows->x->n; i++) {
        int64_t length = hd_graph_sparse_length(t->rows, i);
        longest = length > longest ? length : longest;
    }
    ALLOC_ZERO(t->workers, count);
    t->n_workers = count;
    for (int64_t w = 0; w < count; w++) {
        query_state *q = &t->workers[w];
        ALLOC(q->scores, t->index.padded);
        ALLOC_ZERO(q->marks, t->index.padded / GROUP);
        ALLOC_ZERO(q->dense, t->index.n_common);
        ALLOC(q->columns, longest);
        ALLOC(q->values, longest);
        ALLOC(q->possible, t->index.block_rows);
        ALLOC(q->top, t->search->k);
        ALLOC(q->top_rows, t->search->k);
        memcpy(q->scores, t->index.origin, (size_t)t->index.padded * sizeof *q->scores);
    }
done:
    return status;
}

static void free_workers(task *t) {
    for (int64_t w = 0; w < t->n_workers; w++) {
        query_state *q = &t->workers[w];
        FREE(q->scores, q->marks, q->dense, q->columns, q->values, q->possible, q->top,
             q->top_rows);
    }
    huddle_free(t->workers);
}

huddle_status hd_graph_search_sparse(huddle_context *context, const huddle_points *train,
                                     const huddle_points *query, bool cosine,
                                     hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    static const hd_graph_sparse_function kernels[] = HD_SIMD_TABLE(hd_graph_sparse_possible);
    task t = {.search = search, .cosine = cosine, .find_possible = kernels[hd_cpu_isa()]};
    TRY(hd_graph_sparse_rows_new(train, cosine, &t.train));
    t.rows = &t.train;
    if (query != train) {
        TRY(hd_graph_sparse_rows_new(query, cosine, &t.own));
        t.rows = &t.own;
    }
    TRY(hd_graph_sparse_index_new(context, &t.train, &t.index));
    TRY(prepare_workers(context, &t));
    TRY(hd_parallel(context, "graph", query->n, QUERIES_PER_CHUNK, search_queries, &t));
done:
    free_workers(&t);
    hd_graph_sparse_index_free(&t.index);
    hd_graph_sparse_rows_free(&t.train);
    hd_graph_sparse_rows_free(&t.own);
    return status;
}
