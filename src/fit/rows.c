/* Which rows of x the rows of the arrays represent. `equal`, which rows of x are equal, matters
 * only while labels are made and is not saved; `nodes`, the result of merging, is part of every
 * result. */
#include "fit/fit.h"

#include "base/check.h"
#include "base/slabs.h"

#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

static void walk_rows(hd_walk *walk, hd_fit_rows *rows) {
    hd_walk_divide(walk, "n", &rows->n);
    if (walk->mode == HD_WALK_LOAD && walk->slab != NULL)
        rows->elsewhere = walk->slab->total - rows->n;
    hd_walk_distinct(walk, NULL, &rows->equal);
    hd_walk_distinct(walk, "nodes", &rows->nodes);
}

/* The first part of every file: n and d are the lengths of arrays in all other parts. */
static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_rows(walk, &fit->rows);
    hd_walk_int(walk, "d", &fit->d);
}

HD_FIT_COPIER(hd_fit_rows, walk_rows);

huddle_status hd_fit_copy_distinct(const huddle_distinct *from, huddle_distinct *to) {
    hd_walk walk = {.mode = HD_WALK_COPY};
    *to = *from;
    hd_walk_distinct(&walk, NULL, to);
    return walk.status;
}

huddle_status hd_fit_rows_begin(huddle_context *context, int64_t n, hd_fit_rows *rows) {
    hd_slab slab;
    huddle_status status = hd_slab_locate(context, n, &slab);
    rows->n = n;
    rows->elsewhere = status == HUDDLE_OK ? slab.total - n : 0;
    return status;
}

/* ---- the way between rows of x and rows of the arrays --------------------------------------- */

int64_t hd_fit_rows_total(const hd_fit_rows *rows) {
    return rows->nodes.n > 0 ? rows->nodes.n : rows->n;
}

int64_t hd_fit_rows_everywhere(const hd_fit_rows *rows) {
    return hd_fit_rows_total(rows) + rows->elsewhere;
}

int64_t hd_fit_rows_copies(const hd_fit_rows *rows, int64_t i) {
    return rows->nodes.n > 0 ? rows->nodes.copies[i] : 1;
}

int64_t hd_fit_rows_node(const hd_fit_rows *rows, int64_t i) {
    return rows->nodes.n > 0 ? rows->nodes.of[i] : i;
}

/* points may be those of the arrays or all rows of x; their number distinguishes the two. */
int64_t hd_fit_rows_point(const hd_fit_rows *rows, const huddle_points *points, int64_t node) {
    return rows->nodes.n > 0 && points->n == rows->nodes.n ? rows->nodes.first[node] : node;
}

/* NULL means that every row counts once, which the stages take as the usual case. */
huddle_status hd_fit_rows_weights(const hd_fit_rows *rows, double **weights) {
    huddle_status status = HUDDLE_OK;
    *weights = NULL;
    if (rows->nodes.n == 0)
        return status;
    ALLOC(*weights, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        (*weights)[i] = (double)rows->nodes.copies[i];
done:
    return status;
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* Every row must have a node, and every node its first row and the number of its rows. Nodes are
 * numbered in the order of their first rows, so that one pass over the rows finds a node without
 * rows: the next new node must be number `seen`. A file with wrong copies would make sums over
 * points, such as cluster sizes, differ from n. */
static bool nodes_fit(const huddle_distinct *nodes, int64_t n) {
    int64_t seen = 0;
    bool fine = true;
    if (nodes->n == 0)
        return nodes->of == NULL && nodes->first == NULL && nodes->copies == NULL;
    if (nodes->count != n || nodes->n <= n || nodes->of == NULL || nodes->first == NULL ||
        nodes->copies == NULL)
        return false;
    for (int64_t v = 0; v < n; v++)
        if (nodes->copies[v] < 1 || nodes->copies[v] > nodes->n)
            return false;
    for (int64_t i = 0; i < nodes->n; i++) {
        if (nodes->of[i] < 0 || nodes->of[i] > seen || nodes->of[i] >= n)
            return false;
        if (nodes->of[i] == seen && nodes->first[seen++] != i)
            return false;
    }
    /* Counted down to 0 and up again: the copies must be those that `of` has. */
    for (int64_t i = 0; i < nodes->n; i++)
        nodes->copies[nodes->of[i]]--;
    for (int64_t v = 0; v < n; v++)
        fine = fine && nodes->copies[v] == 0;
    for (int64_t i = 0; i < nodes->n; i++)
        nodes->copies[nodes->of[i]]++;
    return fine && seen == n;
}

static huddle_status rows_fit(const hd_fit *fit) {
    const hd_fit_rows *rows = &fit->rows;
    HD_FIT_REQUIRE(rows->n + rows->elsewhere >= 1, "n", rows->n);
    HD_FIT_REQUIRE(fit->d >= 0, "d", fit->d);
    HD_FIT_REQUIRE(nodes_fit(&rows->nodes, rows->n), "nodes_n", rows->nodes.n);
    return HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* n_distinct counts the rows of x that differ as given; the preparation may have made more of them
 * equal. A matrix of distances is not prepared: its merged rows are the equal ones. */
static void write_rows(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_rows *rows = &fit->rows;
    int64_t total = hd_fit_rows_total(rows);
    int64_t distinct = rows->equal.n > 0 ? rows->equal.count : rows->n;
    hd_json_set_integer(json, "n", hd_fit_rows_everywhere(rows));
    /* Which rows of other processes are equal is not known. */
    if (distinct < total && rows->elsewhere == 0)
        hd_json_set_integer(json, "n_distinct", distinct);
    hd_json_set_integer(json, "d", fit->d);
    hd_json_set_integer(json, "n_clusters", fit->clusters.n_clusters);
}

const hd_fit_part hd_fit_part_rows = {
    .walk = walk_part, .fits = rows_fit, .write_json = write_rows};
