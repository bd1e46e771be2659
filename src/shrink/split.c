#include "shrink/split.h"

#include "base/check.h"
#include "base/parallel.h"
#include "shrink/certificate.h"
#include "shrink/part.h"

#include <stdlib.h>
#include <string.h>

/* Components of at least this many edges, or of half of all, are solved one after the other, each
 * on all threads; the others side by side, each on one thread, from the largest to the smallest. */
enum { LARGE_PART = 1 << 18 };

/* Columns are rotated if there are at most this many, for rows that are at least as many as the
 * columns (c^2 n operations), and for gaps that the rounding of the rotation cannot touch. */
enum { MAX_ROTATED = 256 };
static const double smallest_rotated_gap = 1e-6;

/* What the directions left out add to the objective may be at most this share of the gap; it is
 * measured after a solve. Where a row moves far, its distance in the directions left out is added
 * in squares to a larger one and costs little; where it does not move, it costs its whole length.
 */
static const double left_out_share = .1;

/* So few directions are enough for most components, but which rows move is known only after a
 * solve. The first one is a draft: of so many steps, in the directions that are enough if all rows
 * move to their mean, at a tenth of the cost allowed. The directions of the second solve, which
 * starts at the draft, are chosen from it; if they cost too much after all, the third solve has
 * all. */
enum { DRAFT_STEPS = 25 };
static const double draft_share = .1, second_share = .5;

/* A component is major if moving its rows to their mean costs at least this share of the sum over
 * all components. Major ones are solved first, to the gap that is asked for. The others may leave a
 * share of the whole gap, like the blocks of one solve (solve.c): where the rows of a component are
 * almost equal, a small relative gap would take long and mean nothing. */
static const double major_share = .02;

/* The share of the gap of the components that are not major that is relative to the bound of the
 * major ones, not to their own objective. */
static const double common_share = .3;

/* The gaps of components leave this much for the directions left out and for rounding. */
static const double part_gap = .9;

/* A component and what became of it. */
typedef struct outcome {
    int64_t first, n, edges; /* rows first .. first + n - 1 of split.row */
    double collapsed;        /* see part.h */
    double gap, outside;     /* to reach: gap (objective + outside) */
    bool is_major;
    huddle_shrink_info info; /* its dual is a bound of all columns */
} outcome;

typedef struct split {
    hd_shrink_solve *whole;
    int32_t n_parts;
    int32_t *component; /* n; becomes the group of each row */
    int32_t *row;       /* n: rows, component by component */
    int32_t *local;     /* n: place within the component */
    outcome *parts;
    outcome **order;        /* n_parts: by descending edges */
    outcome *const *chosen; /* parts of the loop under way, */
    bool is_major;          /* which is over the major ones or the others */
    huddle_shrunk *out;
} split;

bool hd_shrink_is_large(int64_t n, int64_t edges, int64_t c) {
    return (double)(n + edges) * (double)c >= HD_SHRINK_SMALLEST_SPLIT;
}

bool hd_shrink_is_large_part(int64_t edges) {
    return edges >= LARGE_PART;
}

/* ---- components ---------------------------------------------------------------------------- */

/* Rows by component, each component in ascending order, by a counting sort. */
static huddle_status list_rows(split *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_input *in = &t->whole->input;
    int64_t n = in->f->rows, first = 0;
    ALLOC(t->component, n);
    ALLOC(t->row, n);
    ALLOC(t->local, n);
    TRY(hd_shrink_components(in->context, in->edges, n, t->component, &t->n_parts));
    ALLOC_ZERO(t->parts, t->n_parts);
    ALLOC(t->order, t->n_parts);
    for (int64_t v = 0; v < n; v++)
        t->local[v] = (int32_t)t->parts[t->component[v]].n++;
    for (int32_t q = 0; q < t->n_parts; q++) {
        t->parts[q].first = first;
        first += t->parts[q].n;
    }
    for (int64_t v = 0; v < n; v++)
        t->row[t->parts[t->component[v]].first + t->local[v]] = (int32_t)v;
    for (int64_t e = 0; e < in->edges->count; e++)
        t->parts[t->component[in->edges->i[e]]].edges += in->edges->weight[e] > 0;
done:
    return status;
}

static int by_edges(const void *a, const void *b) {
    const outcome *x = *(outcome *const *)a, *y = *(outcome *const *)b;
    if (x->edges != y->edges)
        return x->edges > y->edges ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static hd_shrink_part part_of(const split *t, const outcome *o) {
    return (hd_shrink_part){
        .whole = &t->whole->input, .rows = t->row + o->first, .local = t->local, .n = o->n};
}

static huddle_status measure_parts(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    split *t = argument;
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        outcome *o = t->order[k];
        hd_shrink_part part = part_of(t, o);
        status = hd_shrink_part_open(&part, false);
        o->collapsed = part.collapsed;
        hd_shrink_part_close(&part);
        TRY(status);
    }
done:
    return status;
}

/* ---- one component ------------------------------------------------------------------------- */

/* The first solve, unless it has all columns or the caller allows no more steps than a draft. */
static bool is_draft(const split *t, const hd_shrink_part *part, int attempt) {
    int32_t steps = t->whole->options.shrink_max_iter;
    return attempt == 0 && part->kept < t->whole->input.f->cols &&
           (steps == HUDDLE_AUTO || steps > DRAFT_STEPS);
}

/* A start in the directions kept: the given one, or the rows of the solve before, whose directions
 * come first. In the others those rows are at the mean. */
static huddle_status set_start(const split *t, const hd_shrink_part *part,
                               const huddle_dense *before, huddle_dense *start) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *given = t->whole->options.start;
    if (before->values == NULL || part->kept == t->whole->input.f->cols) {
        if (given != NULL)
            TRY(hd_shrink_part_rows(part, given, start));
        goto done;
    }
    TRY(huddle_dense_new(part->n, part->kept, start));
    for (int64_t i = 0; i < part->n; i++)
        memcpy(start->values + i * start->stride, before->values + i * before->stride,
               (size_t)(before->cols < part->kept ? before->cols : part->kept) *
                   sizeof *start->values);
done:
    return status;
}

/* Solves the component in the directions that `part` keeps. before: the solve before, or empty. */
static huddle_status solve_kept(const split *t, outcome *o, const hd_shrink_part *part, int attempt,
                                const huddle_dense *before, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    huddle_dense f = {0}, start = {0};
    huddle_csr w = {0};
    double *weights = NULL;
    TRY(hd_shrink_part_rows(part, t->whole->input.f, &f));
    TRY(hd_shrink_part_graph(part, &w, &weights));
    TRY(set_start(t, part, before, &start));
    hd_shrink_solve s = hd_shrink_solve_of(t->whole, &f, &w, weights, &start, &o->info);
    s.started = hd_seconds();
    s.outside = o->outside;
    s.options.gap = o->gap;
    s.options.seed += (uint64_t)o->first;
    s.is_draft = is_draft(t, part, attempt);
    if (s.is_draft)
        s.options.shrink_max_iter = DRAFT_STEPS;
    TRY(hd_shrink_solve_part(&s, out));
done:
    huddle_dense_free(&f);
    huddle_dense_free(&start);
    huddle_csr_free(&w);
    huddle_free(weights);
    return status;
}

/* The gap that a component may leave at this objective. */
static double allowed_gap(const outcome *o, double objective) {
    return o->gap * (objective + o->outside);
}

/* Writes G and groups of a component. Groups are named by their place in `row`. */
static void keep_part(split *t, outcome *o, const hd_shrink_part *part, const huddle_shrunk *out) {
    hd_shrink_part_return(part, out != NULL ? &out->g : NULL, &t->out->g);
    for (int64_t i = 0; i < o->n; i++)
        t->component[t->row[o->first + i]] =
            (int32_t)(o->first + (out != NULL ? out->group[i] : 0));
}

/* Solves a component in as few directions as are enough. */
static huddle_status solve_reduced(split *t, outcome *o, hd_shrink_part *part, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    int64_t c = t->whole->input.f->cols, solves = 0;
    huddle_dense before = {0};
    double *cost = NULL;
    ALLOC(cost, c + 1);
    TRY(hd_shrink_part_costs(part, NULL, cost));
    hd_shrink_part_reduce(part, cost,
                          draft_share * left_out_share * allowed_gap(o, part->collapsed));
    for (int attempt = 0;; attempt++) {
        TRY(solve_kept(t, o, part, attempt, &before, out));
        solves += o->info.n_solves;
        if (part->kept == c)
            break;
        TRY(hd_shrink_part_costs(part, &out->g, cost));
        double most = left_out_share * allowed_gap(o, o->info.objective);
        bool is_ended = !is_draft(t, part, attempt) || o->info.stop != HUDDLE_STOP_MAX_ITER;
        if (is_ended && cost[part->kept] <= most)
            break;
        hd_shrink_part_reduce(part, cost, attempt == 0 ? second_share * most : -1);
        huddle_dense_free(&before);
        before = out->g;
        out->g = (huddle_dense){0};
        huddle_shrunk_free(out);
        huddle_shrink_info_free(&o->info);
    }
    o->info.n_solves = solves;
done:
    huddle_dense_free(&before);
    huddle_free(cost);
    return status;
}

/* Solves a component; or moves its rows to their mean at once, with the trivial bound 0, if that is
 * within its gap. */
static huddle_status solve_part(split *t, outcome *o) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_part part = part_of(t, o);
    huddle_shrunk out = {0};
    int64_t c = t->whole->input.f->cols;
    bool rotate = c > 1 && c <= MAX_ROTATED && o->n >= c && o->gap >= smallest_rotated_gap;
    TRY(hd_check_cancel(t->whole->input.context));
    TRY(hd_shrink_part_open(&part, rotate));
    if (part.collapsed <= o->gap * o->outside) {
        o->info.objective = part.collapsed;
        keep_part(t, o, &part, NULL);
        goto done;
    }
    TRY(solve_reduced(t, o, &part, &out));
    o->info.dual = hd_shrink_part_bound(&part, o->info.dual);
    keep_part(t, o, &part, &out);
done:
    huddle_shrunk_free(&out);
    hd_shrink_part_close(&part);
    return status;
}

static huddle_status solve_chosen(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    split *t = argument;
    for (int64_t k = chunk.begin; k < chunk.end; k++)
        TRY(solve_part(t, t->chosen[k]));
done:
    return status;
}

/* Solves the major components, or the others: large ones, and all that an engine is asked for, one
 * after the other. */
static huddle_status solve_parts(split *t) {
    huddle_status status = HUDDLE_OK;
    outcome **chosen = NULL;
    int64_t count = 0, large = 0, edges = 0;
    bool asks = hd_shrink_asks_engine(t->whole);
    ALLOC(chosen, t->n_parts);
    for (int32_t k = 0; k < t->n_parts; k++)
        if (t->order[k]->is_major == t->is_major) {
            chosen[count++] = t->order[k];
            edges += t->order[k]->edges;
        }
    while (large < count && (asks || hd_shrink_is_large_part(chosen[large]->edges) ||
                             2 * chosen[large]->edges >= edges))
        large++;
    for (int64_t k = 0; k < large; k++)
        TRY(solve_part(t, chosen[k]));
    t->chosen = chosen + large;
    TRY(hd_parallel(t->whole->input.context, "shrink", count - large, 1, solve_chosen, t));
done:
    huddle_free(chosen);
    return status;
}

/* ---- all components ------------------------------------------------------------------------ */

/* Which components are major, and the gap of each. With a share q of all edges in the others and s
 * = common_share, the major ones get the share 1 - q s of the gap, and the others the share 1 - s
 * of it relative to their own objective and s relative to the bound of the major ones, each its
 * part of that by edges: at most the whole gap in all. */
static huddle_status set_gaps(split *t) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = t->whole->input.context;
    double sums[2] = {0}, minor = 0, gap = part_gap * t->whole->options.gap;
    for (int32_t q = 0; q < t->n_parts; q++) {
        sums[0] += t->parts[q].collapsed;
        sums[1] += (double)t->parts[q].edges;
    }
    TRY(hd_reduce_sum(context, 2, sums));
    for (int32_t q = 0; q < t->n_parts; q++) {
        t->parts[q].is_major = t->parts[q].collapsed >= major_share * sums[0];
        minor += t->parts[q].is_major ? 0 : (double)t->parts[q].edges;
    }
    TRY(hd_reduce_sum(context, 1, &minor));
    for (int32_t q = 0; q < t->n_parts; q++)
        t->parts[q].gap = t->parts[q].is_major && sums[1] > 0
                              ? gap * (1 - common_share * minor / sums[1])
                              : gap * (1 - common_share);
done:
    return status;
}

/* The bound of the major components, shared out among the others by edges. */
static huddle_status set_outside(split *t) {
    huddle_status status = HUDDLE_OK;
    double sums[2] = {0};
    for (int32_t q = 0; q < t->n_parts; q++) {
        sums[0] += t->parts[q].is_major ? t->parts[q].info.dual : 0;
        sums[1] += (double)t->parts[q].edges;
    }
    TRY(hd_reduce_sum(t->whole->input.context, 2, sums));
    for (int32_t q = 0; q < t->n_parts && sums[1] > 0; q++)
        if (!t->parts[q].is_major)
            t->parts[q].outside =
                common_share / (1 - common_share) * sums[0] * (double)t->parts[q].edges / sums[1];
done:
    return status;
}

/* Entry k of the history: every component after its step k, or after its last one. Components do
 * not run at the same time, so the seconds are those that all first k + 1 steps took, on as many
 * threads as worked on average. */
static huddle_status add_histories(const split *t, double seconds) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = t->whole->info;
    double busy = 0;
    for (int32_t q = 0; q < t->n_parts; q++) {
        const huddle_shrink_info *part = &t->parts[q].info;
        info->n_history = part->n_history > info->n_history ? part->n_history : info->n_history;
        busy += part->n_history > 0 ? part->history_seconds[part->n_history - 1] : 0;
    }
    ALLOC_ZERO(info->history_objective, info->n_history);
    ALLOC_ZERO(info->history_dual, info->n_history);
    ALLOC_ZERO(info->history_seconds, info->n_history);
    for (int32_t k = 0; k < info->n_history; k++)
        for (int32_t q = 0; q < t->n_parts; q++) {
            const huddle_shrink_info *part = &t->parts[q].info;
            double at[3];
            hd_shrink_read_history(part, k, at);
            info->history_objective[k] += at[0];
            info->history_dual[k] += at[1];
            info->history_seconds[k] += busy == 0 ? 0 : at[2] * seconds / busy;
        }
done:
    return status;
}

/* Counts and names over the components. The linear solver is that of the largest component that
 * needed one. */
static void add_infos(const split *t) {
    huddle_shrink_info *info = t->whole->info;
    info->solver = "exact";
    info->linear_solver = "none";
    info->stop = HUDDLE_STOP_CONVERGED;
    for (int32_t k = 0; k < t->n_parts; k++) {
        const huddle_shrink_info *part = &t->order[k]->info;
        if (part->solver == NULL) /* moved to its mean */
            continue;
        hd_shrink_add_counts(info, part);
        if (strcmp(info->solver, "exact") == 0)
            info->solver = part->solver;
        if (strcmp(info->linear_solver, "none") == 0)
            info->linear_solver = part->linear_solver;
    }
}

/* The objective of all of G on all of W, and what is said of it. */
static huddle_status certify_whole(split *t) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_solve *s = t->whole;
    huddle_shrink_info *info = s->info;
    huddle_shrunk *out = t->out;
    double unused;
    for (int32_t q = 0; q < t->n_parts; q++)
        info->dual += t->parts[q].info.dual;
    TRY(hd_shrink_certify(&s->input, &out->g, NULL, &info->objective, &unused));
    TRY(hd_shrink_number_by_first(t->component, s->input.f->rows, &out->n_groups));
    add_infos(t);
    hd_shrink_report_sum(s, out, t->n_parts);
    TRY(add_histories(t, hd_seconds() - s->started));
    out->group = t->component;
    t->component = NULL;
done:
    return status;
}

/* Everything before the gaps are set: components, their order and their objectives at the mean. */
static huddle_status prepare_parts(split *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_input *in = &t->whole->input;
    TRY(list_rows(t));
    for (int32_t q = 0; q < t->n_parts; q++)
        t->order[q] = &t->parts[q];
    qsort(t->order, (size_t)t->n_parts, sizeof(outcome *), by_edges);
    TRY(hd_parallel(in->context, NULL, t->n_parts, 1, measure_parts, t));
    TRY(huddle_dense_new(in->f->rows, in->f->cols, &t->out->g));
done:
    return status;
}

/* A step of the split on the components of this process, without the others. */
static huddle_status do_alone(split *t, huddle_status (*step)(split *t)) {
    huddle_context *context = t->whole->input.context;
    hd_alone before = hd_alone_begin_if(context, hd_slabs_distributed(context));
    huddle_status status = step(t);
    hd_alone_end(context, before);
    return status;
}

huddle_status hd_shrink_split(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    split t = {.whole = s, .out = out};
    TRY(do_alone(&t, prepare_parts));
    TRY(set_gaps(&t));
    t.is_major = true;
    TRY(do_alone(&t, solve_parts));
    TRY(set_outside(&t));
    t.is_major = false;
    TRY(do_alone(&t, solve_parts));
    TRY(do_alone(&t, certify_whole));
done:
    for (int32_t q = 0; t.parts != NULL && q < t.n_parts; q++)
        huddle_shrink_info_free(&t.parts[q].info);
    FREE(t.parts, t.component, t.row, t.local, t.order);
    return status;
}
