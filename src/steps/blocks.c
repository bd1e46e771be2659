/* Eigenvectors of a block diagonal matrix, block by block.
 *
 * Solving the whole matrix at once would not give one vector per component: its largest eigenvalues
 * may all belong to a few blocks. The blocks are therefore solved separately and their eigenpairs
 * merged, with the first pair of every block before all others. */
#include "steps/blocks.h"

#include "base/check.h"
#include "steps/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues nearer than this share of the spectrum's half width count as equal. */
static const double equal_eigenvalues = 1e-10;

/* A component and the eigenpairs found for it. */
typedef struct block {
    int32_t name;
    int64_t size;
    int64_t begin; /* of its rows in the list */
    huddle_embedding embedding;
    huddle_embed_info info;
} block;

/* An eigenpair of a block. */
typedef struct pair {
    int32_t block, column;
    double value;
    bool first; /* its block's largest */
} pair;

typedef struct blocks {
    const huddle_csr *matrix;
    const int32_t *component;
    int32_t count;
    block *items;   /* the largest first */
    int64_t *rows;  /* n: the rows of every block, ascending */
    int32_t *place; /* n: of each row within its block */
    pair *pairs;
    int64_t n_pairs;
} blocks;

/* Blocks in order of decreasing size. Names are distinct, so that the order is total and does not
 * depend on the implementation of qsort(). */
static int larger_block_first(const void *left, const void *right) {
    const block *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* First pairs in the order of their blocks, whatever their values; then all other pairs by
 * decreasing eigenvalue. Any prefix of this order is the embedding in fewer dimensions. */
static int in_column_order(const void *left, const void *right) {
    const pair *a = left, *b = right;
    if (a->first != b->first)
        return a->first ? -1 : 1;
    if (!a->first && a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

/* All pairs by decreasing eigenvalue, the order in which embeddings are usually reported. */
static int larger_value_first(const void *left, const void *right) {
    const pair *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return in_column_order(left, right);
}

/* Lists the rows of every block by a counting sort. The rows of a block remain in ascending order,
 * so that the columns of its part of the matrix do as well. */
static huddle_status list_rows(blocks *b) {
    huddle_status status = HUDDLE_OK;
    int64_t n = b->matrix->rows, begin = 0, *at = NULL;
    ALLOC_ZERO(b->items, b->count);
    ALLOC(b->rows, n);
    ALLOC(b->place, n);
    ALLOC_ZERO(at, b->count);
    for (int32_t k = 0; k < b->count; k++)
        b->items[k].name = k;
    for (int64_t i = 0; i < n; i++)
        b->items[b->component[i]].size++;
    qsort(b->items, (size_t)b->count, sizeof *b->items, larger_block_first);
    for (int32_t k = 0; k < b->count; k++) {
        b->items[k].begin = at[b->items[k].name] = begin;
        begin += b->items[k].size;
    }
    for (int64_t i = 0; i < n; i++)
        b->rows[at[b->component[i]]++] = i;
    for (int32_t k = 0; k < b->count; k++)
        for (int64_t r = 0; r < b->items[k].size; r++)
            b->place[b->rows[b->items[k].begin + r]] = (int32_t)r;
done:
    huddle_free(at);
    return status;
}

/* Copies the rows and columns of one block. No entry lies outside, by the definition of
 * components. */
static huddle_status take_block(const blocks *b, const block *item, huddle_csr *part) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *m = b->matrix;
    const int64_t *rows = b->rows + item->begin;
    int64_t count = 0;
    for (int64_t r = 0; r < item->size; r++)
        count += m->offsets[rows[r] + 1] - m->offsets[rows[r]];
    TRY(huddle_csr_new(item->size, item->size, count, part));
    count = 0;
    for (int64_t r = 0; r < item->size; r++) {
        for (int64_t e = m->offsets[rows[r]]; e < m->offsets[rows[r] + 1]; e++) {
            part->columns[count] = b->place[m->columns[e]];
            part->values[count++] = m->values[e];
        }
        part->offsets[r + 1] = count;
    }
done:
    return status;
}

/* Solves every block that can have a vector among the first c: with at least c blocks, only the c
 * largest blocks, one vector each. Otherwise `used` columns are taken by the first pairs, so a
 * block contributes at most c - used further ones. */
static huddle_status solve_blocks(huddle_context *context, double lower, double upper,
                                  const huddle_embed_options *options, blocks *b) {
    huddle_status status = HUDDLE_OK;
    huddle_csr part = {0};
    int64_t c = options->n_components, capacity = 0;
    int32_t used = b->count < c ? b->count : (int32_t)c;
    for (int32_t k = 0; k < used; k++) {
        block *item = &b->items[k];
        huddle_embed_options own = *options;
        /* The first pair, and all columns that remain if no other block contributes more than
         * one. */
        int64_t n_requested = c - used + 1;
        own.n_components = (int32_t)(n_requested < item->size ? n_requested : item->size);
        TRY(take_block(b, item, &part));
        TRY(huddle_embed_symmetric(context, &part, lower, upper, &own, &item->embedding,
                                   &item->info));
        TRY(huddle_dense_fetch(&item->embedding.vectors));
        huddle_csr_free(&part);
        capacity += item->embedding.n_eigenvalues;
    }
    ALLOC(b->pairs, capacity);
    for (int32_t k = 0; k < used; k++)
        for (int32_t j = 0; j < b->items[k].embedding.n_eigenvalues; j++)
            b->pairs[b->n_pairs++] = (pair){k, j, b->items[k].embedding.eigenvalues[j], j == 0};
    qsort(b->pairs, (size_t)b->n_pairs, sizeof *b->pairs, in_column_order);
done:
    huddle_csr_free(&part);
    return status;
}

/* Order of the values of huddle_embed_info.verified; unknown ones count as the weakest. */
static int verification_rank(const char *verified) {
    static const char *const ways[] = {"none", "probe", "inertia"};
    int way = 2;
    while (way > 0 && strcmp(verified, ways[way]) != 0)
        way--;
    return way;
}

/* Computes the eigengap after the last column. The columns are an arbitrary choice if there are
 * more blocks than columns, or if a block contributed all pairs that it was asked for and its own
 * solver reports that they cut through a cluster of eigenvalues. NAN if nothing is known about the
 * next eigenvalue. */
static void find_gap(const blocks *b, int32_t c, huddle_embed_info *info) {
    info->gap = b->count > c ? 0 : NAN;
    if (c > b->count && b->n_pairs > c)
        info->gap = b->pairs[c - 1].value - b->pairs[c].value;
    /* Relative to `unit`, the scale of the spectrum, such a gap is a rounding error. */
    info->cuts_cluster = b->count > c || info->gap <= equal_eigenvalues * info->unit;
    for (int32_t k = 0; k < b->count && k < c; k++) {
        const block *item = &b->items[k];
        int64_t given = 0;
        for (int32_t j = 0; j < c; j++)
            given += b->pairs[j].block == k;
        /* With one column per block, only the block's own solver knows its next eigenvalue. */
        if (c == b->count)
            info->gap = fmin(info->gap, item->info.gap);
        if (given == item->embedding.vectors.cols)
            info->cuts_cluster |= item->info.cuts_cluster;
    }
}

/* Combines the info of the blocks: the weakest verification, the worst residual, the total work.
 * The pairs of all blocks are proven only if those of every block are. */
static void summarise_info(const blocks *b, int32_t c, huddle_embed_info *info) {
    *info = b->items[0].info;
    for (int32_t k = 1; k < b->count && k < c; k++) {
        const huddle_embed_info *other = &b->items[k].info;
        bool stopped = other->stop == HUDDLE_STOP_MAX_ITER || other->stop == HUDDLE_STOP_STALLED;
        info->stop = stopped ? other->stop : info->stop;
        info->verified = verification_rank(other->verified) < verification_rank(info->verified)
                             ? other->verified
                             : info->verified;
        info->n_iter = other->n_iter > info->n_iter ? other->n_iter : info->n_iter;
        info->n_products += other->n_products;
        info->residual = fmax(info->residual, other->residual);
        info->unit = fmax(info->unit, other->unit);
        info->seconds += other->seconds;
    }
    info->proven_pairs = verification_rank(info->verified) >= 2 ? c : 0;
    find_gap(b, c, info);
}

/* Writes the first c pairs as columns, zero outside their blocks. */
static huddle_status write_columns(const blocks *b, int32_t c, const char *rule,
                                   huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(b->matrix->rows, c, &out->vectors));
    TRY(huddle_dense_new(b->matrix->rows, c, &out->rows));
    /* The eigenvalue after the last column is reported if it is known and continues the descending
     * order. Further ones are not: some blocks were solved for more pairs than others. */
    bool known = b->n_pairs > c && b->count <= c;
    bool next = known && b->pairs[c].value <= b->pairs[c - 1].value;
    out->n_eigenvalues = next ? c + 1 : c;
    ALLOC(out->eigenvalues, out->n_eigenvalues);
    for (int32_t k = 0; k < out->n_eigenvalues; k++)
        out->eigenvalues[k] = b->pairs[k].value;
    for (int32_t k = 0; k < c; k++) {
        const block *item = &b->items[b->pairs[k].block];
        const huddle_dense *v = &item->embedding.vectors;
        for (int64_t r = 0; r < item->size; r++)
            out->vectors.values[b->rows[item->begin + r] * c + k] =
                v->values[r * v->stride + b->pairs[k].column];
    }
    TRY(hd_spectral_apply_rule(rule, &out->vectors, NULL, out->eigenvalues, &out->rows));
done:
    return status;
}

/* The first c pairs are determined in the order of columns; sorting them by value afterwards
 * changes their order, not the selection. */
huddle_status hd_spectral_embed_blocks(huddle_context *context, const huddle_csr *matrix,
                                       const int32_t *component, int32_t count, double lower,
                                       double upper, const huddle_embed_options *options,
                                       bool prefixes, huddle_embedding *out,
                                       huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    blocks b = {.matrix = matrix, .component = component, .count = count};
    int32_t c = options->n_components;
    if (count <= 1)
        return huddle_embed_symmetric(context, matrix, lower, upper, options, out, info);
    memset(out, 0, sizeof *out);
    /* list_rows() sorts blocks by size; pairs name blocks by their place in that order. */
    TRY(list_rows(&b));
    TRY(solve_blocks(context, lower, upper, options, &b));
    summarise_info(&b, c, info);
    if (!prefixes)
        qsort(b.pairs, (size_t)c, sizeof *b.pairs, larger_value_first);
    TRY(write_columns(&b, c, options->rows, out));
done:
    for (int32_t k = 0; k < count && b.items != NULL; k++)
        huddle_embedding_free(&b.items[k].embedding);
    FREE(b.items, b.rows, b.place, b.pairs);
    if (status != HUDDLE_OK)
        huddle_embedding_free(out);
    return status;
}
