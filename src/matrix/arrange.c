/* Moving rows between processes. All messages are exchanges of whole rows in the order of the
 * destinations; what is sent is known from the owners, what comes from the sizes that arrive. */
#include "matrix/arrange.h"

#include "base/check.h"

#include <string.h>

/* ---- who gets which row -------------------------------------------------------------------- */

huddle_status hd_arrange_partition(huddle_context *context, const huddle_csr *graph,
                                   int32_t *owner) {
    const hd_engine_slabs *slabs = hd_context_engine(context)->slabs;
    if (slabs != NULL && slabs->partition != NULL && hd_slabs_count(context) > 1)
        return slabs->partition(hd_context_engine_state(context), graph->rows, graph->offsets,
                                graph->columns, owner);
    for (int64_t i = 0; i < graph->rows; i++)
        owner[i] = hd_slabs_rank(context);
    return HUDDLE_OK;
}

/* A stable sort of the rows by owner. */
static huddle_status order_rows(hd_arrangement *a, const int32_t *owner) {
    huddle_status status = HUDDLE_OK;
    int64_t *at = NULL;
    ALLOC_ZERO(a->sent, a->n_processes);
    ALLOC_ZERO(a->came, a->n_processes);
    ALLOC_ZERO(at, a->n_processes + 1);
    ALLOC(a->order, a->n);
    for (int64_t i = 0; i < a->n; i++) {
        if (owner[i] < 0 || owner[i] >= a->n_processes)
            FAIL(HUDDLE_INTERNAL, "row %lld goes to process %d of %d", (long long)i, owner[i],
                 a->n_processes);
        a->sent[owner[i]]++;
    }
    for (int32_t r = 0; r < a->n_processes; r++)
        at[r + 1] = at[r] + a->sent[r];
    for (int64_t i = 0; i < a->n; i++)
        a->order[at[owner[i]]++] = (int32_t)i;
done:
    huddle_free(at);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Rows of more bytes are sent in pieces of so many, so that the copies on the way stay small
 * compared with the rows themselves. */
enum { PIECE = 64 };

/* The rows of a process as it had them, or as it has them now: how many go to or come from each
 * process, and where the k-th of them is. */
typedef struct side {
    int64_t n;
    const int64_t *counts;
    const int32_t *row;
} side;

static side rows_before(const hd_arrangement *a) {
    return (side){a->n, a->sent, a->order};
}

static side rows_now(const hd_arrangement *a) {
    return (side){a->moved, a->came, a->place};
}

/* Sends bytes [begin, begin + size) of each row: as they come, by process and number, before they
 * are put in their places. */
static huddle_status send_rows(const hd_arrangement *a, side from, const void *rows,
                               size_t row_size, size_t begin, size_t size, int64_t *received_sizes,
                               void **received) {
    huddle_status status = HUDDLE_OK;
    char *packed = NULL;
    int64_t *sizes = NULL;
    ALLOC(sizes, a->n_processes);
    ALLOC(packed, from.n * (int64_t)size);
    for (int64_t k = 0; k < from.n; k++)
        memcpy(packed + (size_t)k * size,
               (const char *)rows + (size_t)from.row[k] * row_size + begin, size);
    for (int32_t r = 0; r < a->n_processes; r++)
        sizes[r] = from.counts[r] * (int64_t)size;
    TRY(hd_slabs_exchange(a->context, sizes, packed, received_sizes, received));
done:
    FREE(packed, sizes);
    return hd_agree(a->context, status);
}

static huddle_status move_rows(const hd_arrangement *a, side from, side to, const void *rows,
                               size_t row_size, void *moved) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = NULL;
    void *received = NULL;
    ALLOC(sizes, a->n_processes);
    for (size_t begin = 0; begin < row_size; begin += PIECE) {
        size_t size = row_size - begin < PIECE ? row_size - begin : PIECE;
        TRY(send_rows(a, from, rows, row_size, begin, size, sizes, &received));
        for (int64_t k = 0; k < to.n; k++)
            memcpy((char *)moved + (size_t)to.row[k] * row_size + begin,
                   (const char *)received + (size_t)k * size, size);
        huddle_free(received);
        received = NULL;
    }
done:
    FREE(sizes, received);
    return hd_agree(a->context, status);
}

huddle_status hd_arrange_rows(const hd_arrangement *a, const void *rows, size_t row_size,
                              void *moved) {
    return move_rows(a, rows_before(a), rows_now(a), rows, row_size, moved);
}

huddle_status hd_arrange_back(const hd_arrangement *a, const void *moved, size_t row_size,
                              void *rows) {
    return move_rows(a, rows_now(a), rows_before(a), moved, row_size, rows);
}

/* Sends the entries of sparse rows; those of row i begin at offsets[i]. */
static huddle_status send_entries(const hd_arrangement *a, side from, const int64_t *offsets,
                                  const void *entries, size_t size, void **received) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = NULL, *received_sizes = NULL, count = 0, k = 0;
    char *packed = NULL;
    ALLOC_ZERO(sizes, a->n_processes);
    ALLOC(received_sizes, a->n_processes);
    ALLOC(packed, offsets[from.n] * (int64_t)size);
    for (int32_t r = 0; r < a->n_processes; r++)
        for (int64_t end = k + from.counts[r]; k < end; k++) {
            int64_t at = offsets[from.row[k]], length = offsets[from.row[k] + 1] - at;
            memcpy(packed + (size_t)count * size, (const char *)entries + (size_t)at * size,
                   (size_t)length * size);
            count += length;
            sizes[r] += length * (int64_t)size;
        }
    TRY(hd_slabs_exchange(a->context, sizes, packed, received_sizes, received));
done:
    FREE(sizes, received_sizes, packed);
    return hd_agree(a->context, status);
}

huddle_status hd_arrange_entries_back(const hd_arrangement *a, const int64_t *offsets,
                                      const void *moved, size_t entry_size,
                                      const int64_t *rows_offsets, void *entries) {
    huddle_status status = HUDDLE_OK;
    void *received = NULL;
    TRY(send_entries(a, rows_now(a), offsets, moved, entry_size, &received));
    const char *from = received;
    for (int64_t k = 0; k < a->n; k++) {
        int64_t at = rows_offsets[a->order[k]], count = rows_offsets[a->order[k] + 1] - at;
        memcpy((char *)entries + (size_t)at * entry_size, from, (size_t)count * entry_size);
        from += (size_t)count * entry_size;
    }
done:
    huddle_free(received);
    return status;
}

/* ---- the graph ----------------------------------------------------------------------------- */

/* The graph as it came: rows in the order of arrival. Columns are numbered as before until
 * localise_columns(). */
typedef struct arrived {
    int64_t *offsets; /* moved + 1 */
    int32_t *columns;
    double *values;
    int64_t n_foreign; /* columns that are not rows of this process, and their numbers */
    int64_t *foreign;
} arrived;

static huddle_status send_graph(hd_arrangement *a, const huddle_csr *graph, int64_t first,
                                arrived *g) {
    huddle_status status = HUDDLE_OK;
    int64_t *own = NULL; /* length and number of each row */
    int64_t *sizes = NULL, *facts = NULL;
    void *received = NULL;
    ALLOC(own, 2 * a->n);
    ALLOC(sizes, a->n_processes);
    for (int64_t i = 0; i < a->n; i++) {
        own[2 * i] = graph->offsets[i + 1] - graph->offsets[i];
        own[2 * i + 1] = first + i;
    }
    TRY(send_rows(a, rows_before(a), own, 2 * sizeof *own, 0, 2 * sizeof *own, sizes, &received));
    facts = received;
    for (int32_t r = 0; r < a->n_processes; r++) {
        a->came[r] = sizes[r] / (int64_t)(2 * sizeof *own);
        a->moved += a->came[r];
    }
    ALLOC(g->offsets, a->moved + 1);
    ALLOC(a->number, a->moved);
    g->offsets[0] = 0;
    for (int64_t k = 0; k < a->moved; k++) {
        g->offsets[k + 1] = g->offsets[k] + facts[2 * k];
        a->number[k] = facts[2 * k + 1];
    }
    TRY(send_entries(a, rows_before(a), graph->offsets, graph->columns, sizeof *graph->columns,
                     (void **)&g->columns));
    TRY(send_entries(a, rows_before(a), graph->offsets, graph->values, sizeof *graph->values,
                     (void **)&g->values));
done:
    FREE(own, sizes, received);
    return hd_agree(a->context, status);
}

/* ---- columns that are here, and others ----------------------------------------------------- */

/* A set of row numbers: a bit for each row of all processes, and the members before each word.
 * A lookup costs no search, and .2 bytes per row of all are little even if there are many
 * processes. */
typedef struct number_set {
    uint64_t *bits;
    int32_t *before;
    int64_t words;
} number_set;

static huddle_status number_set_new(int64_t total, number_set *set) {
    huddle_status status = HUDDLE_OK;
    set->words = total / 64 + 1;
    ALLOC_ZERO(set->bits, set->words);
    ALLOC(set->before, set->words);
done:
    return status;
}

static void number_set_free(number_set *set) {
    FREE(set->bits, set->before);
}

static void add_number(number_set *set, int64_t number) {
    set->bits[number / 64] |= (uint64_t)1 << number % 64;
}

/* Counts the members, once all are added. */
static int64_t count_numbers(number_set *set) {
    int64_t count = 0;
    for (int64_t w = 0; w < set->words; w++) {
        set->before[w] = (int32_t)count;
        count += __builtin_popcountll(set->bits[w]);
    }
    return count;
}

/* The place of a number among the members, which ascend, or -1. */
static int32_t find_number(const number_set *set, int64_t number) {
    uint64_t word = set->bits[number / 64], bit = (uint64_t)1 << number % 64;
    return word & bit ? set->before[number / 64] + __builtin_popcountll(word & (bit - 1)) : -1;
}

/* Columns become places k of the rows that came, or -1 - f for the f-th of the foreign rows. Rows
 * came in ascending order of their numbers. */
static huddle_status localise_columns(const hd_arrangement *a, int64_t total, arrived *g) {
    huddle_status status = HUDDLE_OK;
    number_set own = {0}, others = {0};
    int64_t entries = g->offsets[a->moved];
    TRY(number_set_new(total, &own));
    TRY(number_set_new(total, &others));
    for (int64_t k = 0; k < a->moved; k++)
        add_number(&own, a->number[k]);
    count_numbers(&own);
    for (int64_t e = 0; e < entries; e++)
        if (find_number(&own, g->columns[e]) < 0)
            add_number(&others, g->columns[e]);
    g->n_foreign = count_numbers(&others);
    ALLOC(g->foreign, g->n_foreign);
    for (int64_t e = 0; e < entries; e++) {
        int32_t number = g->columns[e], k = find_number(&own, number);
        if (k < 0) {
            int32_t f = find_number(&others, number);
            g->foreign[f] = number;
            k = -1 - f;
        }
        g->columns[e] = k;
    }
done:
    number_set_free(&own);
    number_set_free(&others);
    return status;
}

/* Rows came in ascending order of their numbers. Along edges, breadth first from the lowest row of
 * each component of this process, neighbours are near each other. */
static huddle_status place_rows(hd_arrangement *a, const arrived *g, bool along_edges) {
    huddle_status status = HUDDLE_OK;
    int32_t *queue = NULL;
    int64_t filled = 0;
    ALLOC(queue, a->moved);
    ALLOC(a->place, a->moved);
    for (int64_t k = 0; k < a->moved; k++)
        a->place[k] = -1;
    for (int64_t root = 0, taken = 0; root < a->moved; root++) {
        if (a->place[root] < 0) {
            a->place[root] = (int32_t)filled;
            queue[filled++] = (int32_t)root;
        }
        for (; along_edges && taken < filled; taken++)
            for (int64_t e = g->offsets[queue[taken]]; e < g->offsets[queue[taken] + 1]; e++) {
                int32_t k = g->columns[e];
                if (k >= 0 && a->place[k] < 0) {
                    a->place[k] = (int32_t)filled;
                    queue[filled++] = k;
                }
            }
    }
done:
    huddle_free(queue);
    return status;
}

/* ---- new numbers of columns ---------------------------------------------------------------- */

/* Asks the processes that had the rows before, which know where they are now: `now` has the new
 * number of each row this process had, begins the first row of each process. answers: the new
 * numbers of the foreign rows, in their order. */
static huddle_status ask_numbers(const hd_arrangement *a, const int64_t *begins, const int64_t *now,
                                 int64_t count, const int64_t *foreign, void **answers) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = NULL, *asked_sizes = NULL, *asked = NULL;
    void *received = NULL;
    int64_t k = 0, total = 0, first = begins[hd_slabs_rank(a->context)];
    ALLOC_ZERO(sizes, a->n_processes);
    ALLOC(asked_sizes, a->n_processes);
    for (int32_t r = 0; r < a->n_processes; r++)
        for (; k < count && foreign[k] < begins[r + 1]; k++)
            sizes[r] += (int64_t)sizeof *foreign;
    TRY(hd_slabs_exchange(a->context, sizes, foreign, asked_sizes, &received));
    asked = received;
    for (int32_t r = 0; r < a->n_processes; r++)
        total += asked_sizes[r] / (int64_t)sizeof *asked;
    for (int64_t t = 0; t < total; t++)
        asked[t] = now[asked[t] - first];
    TRY(hd_slabs_exchange(a->context, asked_sizes, asked, sizes, answers));
done:
    FREE(sizes, asked_sizes, received);
    return hd_agree(a->context, status);
}

/* The first row of each process before, and the rows of all. */
static huddle_status find_begins(const hd_arrangement *a, int64_t **begins) {
    huddle_status status = HUDDLE_OK;
    double *counts = NULL;
    ALLOC_ZERO(counts, a->n_processes);
    ALLOC_ZERO(*begins, a->n_processes + 1);
    counts[hd_slabs_rank(a->context)] = (double)a->n;
    TRY(hd_reduce_sum(a->context, a->n_processes, counts));
    for (int32_t r = 0; r < a->n_processes; r++)
        (*begins)[r + 1] = (*begins)[r] + (int64_t)counts[r];
done:
    huddle_free(counts);
    return status;
}

/* Sorts the entries of a row by column (Shell): most rows are short, those of hubs are not. */
static void sort_row(int64_t count, int32_t *columns, double *values) {
    static const int64_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
        for (int64_t e = gaps[k]; e < count; e++) {
            int32_t column = columns[e];
            double value = values[e];
            int64_t t = e;
            for (; t >= gaps[k] && columns[t - gaps[k]] > column; t -= gaps[k]) {
                columns[t] = columns[t - gaps[k]];
                values[t] = values[t - gaps[k]];
            }
            columns[t] = column;
            values[t] = value;
        }
}

/* Writes the arrived graph into its new order, and the columns as new numbers. */
static huddle_status write_graph(hd_arrangement *a, const arrived *g, int64_t first, int64_t total,
                                 const int64_t *answers) {
    huddle_status status = HUDDLE_OK;
    int32_t *at = NULL; /* which row that came is at each place */
    int64_t count = 0;
    ALLOC(at, a->moved);
    TRY(huddle_csr_new(a->moved, total, g->offsets[a->moved], &a->graph));
    for (int64_t k = 0; k < a->moved; k++)
        at[a->place[k]] = (int32_t)k;
    for (int64_t i = 0; i < a->moved; i++) {
        for (int64_t e = g->offsets[at[i]]; e < g->offsets[at[i] + 1]; e++, count++) {
            int32_t k = g->columns[e];
            a->graph.columns[count] = (int32_t)(k >= 0 ? first + a->place[k] : answers[-1 - k]);
            a->graph.values[count] = g->values[e];
        }
        /* Columns must ascend, as those of every huddle_csr do. */
        int64_t begin = a->graph.offsets[i];
        sort_row(count - begin, a->graph.columns + begin, a->graph.values + begin);
        a->graph.offsets[i + 1] = count;
    }
done:
    huddle_free(at);
    return status;
}

static huddle_status number_rows(hd_arrangement *a, const arrived *g, hd_slab before) {
    huddle_status status = HUDDLE_OK;
    hd_slab after;
    int64_t *begins = NULL, *numbers = NULL, *now = NULL;
    void *answers = NULL;
    TRY(hd_slab_locate(a->context, a->moved, &after));
    ALLOC(numbers, a->moved);
    ALLOC(now, a->n);
    for (int64_t i = 0; i < a->moved; i++)
        numbers[i] = after.first + i;
    TRY(hd_arrange_back(a, numbers, sizeof *numbers, now));
    TRY(find_begins(a, &begins));
    TRY(ask_numbers(a, begins, now, g->n_foreign, g->foreign, &answers));
    TRY(write_graph(a, g, after.first, before.total, answers));
done:
    FREE(begins, numbers, now, answers);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* number[] is in the order of arrival until here, and then in that of the rows. */
static huddle_status number_by_place(hd_arrangement *a) {
    huddle_status status = HUDDLE_OK;
    int64_t *by_place = NULL;
    ALLOC(by_place, a->moved);
    for (int64_t k = 0; k < a->moved; k++)
        by_place[a->place[k]] = a->number[k];
    huddle_free(a->number);
    a->number = by_place;
done:
    return status;
}

huddle_status hd_arrange_open(huddle_context *context, const huddle_csr *graph,
                              const int32_t *owner, bool along_edges, hd_arrangement *a) {
    huddle_status status = HUDDLE_OK;
    int32_t *found = NULL;
    hd_slab slab;
    arrived g = {0};
    *a = (hd_arrangement){
        .context = context, .n = graph->rows, .n_processes = hd_slabs_count(context)};
    TRY(hd_slab_locate(context, a->n, &slab));
    if (owner == NULL) {
        ALLOC(found, a->n);
        TRY(hd_arrange_partition(context, graph, found));
    }
    TRY(order_rows(a, owner != NULL ? owner : found));
    TRY(send_graph(a, graph, slab.first, &g));
    TRY(localise_columns(a, slab.total, &g));
    TRY(place_rows(a, &g, along_edges));
    TRY(number_rows(a, &g, slab));
    TRY(number_by_place(a));
done:
    FREE(found, g.offsets, g.columns, g.values, g.foreign);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        hd_arrange_close(a);
    return status;
}

void hd_arrange_close(hd_arrangement *a) {
    huddle_csr_free(&a->graph);
    FREE(a->sent, a->came, a->order, a->place, a->number);
    memset(a, 0, sizeof *a);
}
