#include "shrink/distributed.h"

#include "base/check.h"
#include "shrink/linear.h"
#include "shrink/split.h"
#include "shrink/subset.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct distributed_solve {
    hd_shrink_solve *whole;
    hd_shrink_allotment allotment;
    bool *chosen;   /* n: rows of the subset under way */
    int32_t *first; /* n: the number, among all rows, of the first row of each row's group */
    huddle_shrunk *out;
} distributed_solve;

/* ---- the answer of a subset ---------------------------------------------------------------- */

/* Which row, by its number among all rows, is the first of each group. together: groups extend over
 * processes. Numbers of groups mean something within one solve only. That of a row is unique over
 * all solves and processes, and exact in double. */
static huddle_status return_groups(distributed_solve *t, const hd_shrink_subset *u,
                                   const huddle_shrunk *part, bool together) {
    huddle_status status = HUDDLE_OK;
    double *first = NULL;
    int32_t *moved = NULL, *own = NULL;
    int64_t n = part->group != NULL ? u->moved.moved : 0; /* no row came, so none was solved */
    ALLOC(first, part->n_groups);
    ALLOC(moved, u->moved.moved);
    ALLOC(own, u->n);
    for (int32_t q = 0; q < part->n_groups; q++)
        first[q] = INFINITY;
    for (int64_t k = 0; k < n; k++)
        first[part->group[k]] = fmin(first[part->group[k]], (double)u->origin[k]);
    if (together)
        TRY(hd_reduce_min(t->whole->input.context, part->n_groups, first));
    for (int64_t k = 0; k < n; k++)
        moved[k] = (int32_t)first[part->group[k]];
    TRY(hd_arrange_back(&u->moved, moved, sizeof *moved, own));
    for (int64_t k = 0; k < u->n; k++)
        t->first[u->row[k]] = own[k];
done:
    FREE(first, moved, own);
    return status;
}

/* Reads the moved edges again, for Z: no solve returns them. */
static huddle_status return_dual(distributed_solve *t, const hd_shrink_subset *u,
                                 const huddle_shrunk *part, bool together) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = t->whole->input.context;
    hd_shrink_edges edges = {0};
    hd_alone before = hd_alone_begin_if(context, !together);
    status = hd_shrink_edges_read(context, &u->moved.graph, &edges);
    hd_alone_end(context, before);
    TRY(status);
    TRY(hd_shrink_subset_return_dual(u, &edges, &part->z, &t->out->z));
done:
    hd_shrink_edges_free(&edges);
    return status;
}

/* Moves G, groups and Z of a solve to the rows and edges of the whole. F and the start of the
 * subset are freed first, to make room for them. */
static huddle_status return_answer(distributed_solve *t, hd_shrink_subset *u, huddle_shrunk *part,
                                   bool together) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_input *in = &t->whole->input;
    huddle_shrunk *out = t->out;
    hd_shrink_subset_drop_rows(u);
    if (t->whole->options.keep_dual) {
        if (out->z.values == NULL)
            TRY(huddle_dense_new(in->edges->count, in->f->cols, &out->z));
        TRY(return_dual(t, u, part, together));
        huddle_dense_free(&part->z);
    }
    TRY(return_groups(t, u, part, together));
    if (out->g.values == NULL)
        TRY(huddle_dense_new(in->f->rows, in->f->cols, &out->g));
    TRY(hd_shrink_subset_return(u, &part->g, &out->g));
done:
    return status;
}

/* ---- what the solves report ---------------------------------------------------------------- */

/* The place of a name in a list that ends with NULL; 0, the place of "auto", for all others. */
static int32_t find_name(const char *const *names, const char *name) {
    for (int32_t k = 1; name != NULL && names[k] != NULL; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return 0;
}

/* Makes the history of `info` one of n steps: after its last one nothing changes. */
static huddle_status extend_history(huddle_shrink_info *info, int32_t n) {
    huddle_status status = HUDDLE_OK;
    double **const arrays[] = {&info->history_objective, &info->history_dual,
                               &info->history_seconds};
    double last[3];
    hd_shrink_read_history(info, n, last);
    for (int k = 0; k < 3; k++) {
        int64_t room = info->n_history;
        if (!hd_grow(arrays[k], &room, n, sizeof(double)))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %d steps of history", n);
        for (int32_t step = info->n_history; step < n; step++)
            (*arrays[k])[step] = last[k];
    }
    info->n_history = n;
done:
    return status;
}

/* Makes of what this process solved alone what all of them did: sums, the largest counts, and of
 * names the one that is last in its list. Choices travel as their numbers, so that one reduction
 * serves all: "exact" and "none" are 0, and any solver that was needed on some process is above
 * them. */
static huddle_status combine_processes(hd_shrink_solve *whole) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = whole->input.context;
    huddle_shrink_info *info = whole->info;
    const char *const *solvers = hd_shrink_solver_names, *const *linear = hd_shrink_linear_names;
    double sums[] = {info->objective, info->dual, (double)info->n_solves, (double)info->n_fixed};
    double most[] = {info->n_iter,
                     info->snapped,
                     info->stop > HUDDLE_STOP_EXACT ? info->stop : HUDDLE_STOP_CONVERGED,
                     find_name(solvers, info->solver),
                     find_name(linear, info->linear_solver),
                     info->n_history,
                     !whole->is_trivial};
    TRY(hd_reduce_sum(context, 4, sums));
    TRY(hd_reduce_max(context, 7, most));
    TRY(extend_history(info, (int32_t)most[5]));
    if (info->n_history > 0) {
        TRY(hd_reduce_sum(context, info->n_history, info->history_objective));
        TRY(hd_reduce_sum(context, info->n_history, info->history_dual));
        TRY(hd_reduce_max(context, info->n_history, info->history_seconds));
    }
    info->objective = sums[0];
    info->dual = sums[1];
    info->n_solves = (int64_t)sums[2];
    info->n_fixed = (int64_t)sums[3];
    info->n_iter = (int32_t)most[0];
    info->snapped = most[1] > 0;
    info->stop = (huddle_stop)most[2];
    info->solver = most[3] > 0 ? solvers[(int32_t)most[3]] : "exact";
    info->linear_solver = most[4] > 0 ? linear[(int32_t)most[4]] : "none";
    whole->is_trivial = most[6] == 0;
done:
    return status;
}

/* Adds what all processes solved together, which each of them knows. It is not reduced again, which
 * would count it once for each process. */
static huddle_status add_info(huddle_shrink_info *info, const huddle_shrink_info *part) {
    huddle_status status = HUDDLE_OK;
    TRY(extend_history(info,
                       part->n_history > info->n_history ? part->n_history : info->n_history));
    for (int32_t k = 0; k < info->n_history; k++) {
        double at[3];
        hd_shrink_read_history(part, k, at);
        info->history_objective[k] += at[0];
        info->history_dual[k] += at[1];
        if (k < part->n_history)
            info->history_seconds[k] = fmax(info->history_seconds[k], at[2]);
    }
    info->objective += part->objective;
    info->dual += part->dual;
    hd_shrink_add_counts(info, part);
    info->solver = part->solver;
    info->linear_solver = part->linear_solver;
done:
    return status;
}

/* ---- the two kinds of components ----------------------------------------------------------- */

/* Solves components that this process has whole; large problems component by component, as on one
 * process. With keep_dual they are one problem, since the parts of a split return no Z. */
static huddle_status solve_alone(const distributed_solve *t, hd_shrink_solve *s,
                                 huddle_shrunk *part) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = s->input.context;
    hd_shrink_edges edges = {0};
    bool split = !t->allotment.is_small && !s->options.keep_dual;
    s->info->solver = "exact";
    s->is_trivial = true;
    if (find_name(hd_shrink_linear_names, s->options.linear_solver) == 0)
        s->options.linear_solver = "auto"; /* the engine's is for what processes solve together */
    if (split) {
        TRY_ALONE(context, hd_shrink_edges_read(context, s->input.w, &edges));
        s->is_trivial = false;
        s->input.edges = &edges;
        TRY(hd_shrink_split(s, part));
    } else if (s->input.f->rows > 0) {
        TRY_ALONE(context, hd_shrink_solve_part(s, part));
    }
done:
    s->input.edges = NULL;
    hd_shrink_edges_free(&edges);
    return status;
}

/* Solves one component together, or the components that processes have whole (which < 0). All
 * processes make the same calls in the same order, those without any of the rows too. */
static huddle_status solve_subset(distributed_solve *t, int32_t which) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_solve *whole = t->whole;
    const hd_shrink_input *in = &whole->input;
    const int32_t *component = t->allotment.component, *owner = t->allotment.owner;
    bool together = which >= 0;
    hd_shrink_subset u = {0};
    huddle_shrunk part = {0};
    huddle_shrink_info info = {0};
    for (int64_t v = 0; v < in->f->rows; v++)
        t->chosen[v] = together ? component[v] == which : owner[component[v]] != HD_SHRINK_TOGETHER;
    TRY(hd_shrink_subset_open(in, t->chosen, together ? NULL : component, together ? NULL : owner,
                              &whole->options, &u));
    hd_shrink_solve s = hd_shrink_solve_of(whole, &u.f, &u.moved.graph, u.weights, &u.start,
                                           together ? &info : whole->info);
    if (together) {
        TRY(hd_shrink_solve_part(&s, &part));
        TRY(add_info(whole->info, &info));
    } else {
        TRY(solve_alone(t, &s, &part));
        whole->is_trivial = s.is_trivial;
        TRY(combine_processes(whole));
        if (part.z.values == NULL && whole->options.keep_dual)
            TRY(huddle_dense_new(0, in->f->cols, &part.z));
    }
    TRY(return_answer(t, &u, &part, together));
done:
    hd_shrink_subset_close(&u);
    huddle_shrunk_free(&part);
    huddle_shrink_info_free(&info);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

huddle_status hd_shrink_distributed(hd_shrink_solve *s, const hd_shrink_limits *limits,
                                    huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    distributed_solve t = {.whole = s, .out = out};
    int32_t terms = hd_slabs_count(s->input.context);
    TRY(hd_shrink_allot(&s->input, limits, &t.allotment));
    ALLOC(t.chosen, s->input.f->rows);
    ALLOC(t.first, s->input.f->rows);
    /* What processes solve alone comes first: combine_processes() adds up what each of them knows,
     * and must not meet what all of them know. */
    TRY(solve_subset(&t, -1));
    for (int32_t q = 0; q < t.allotment.count; q++)
        if (t.allotment.owner[q] == HD_SHRINK_TOGETHER) {
            TRY(solve_subset(&t, q));
            s->is_trivial = false;
            terms++;
        }
    TRY(hd_shrink_number_first_rows(s->input.context, s->input.f->rows, t.first, &out->n_groups));
    out->group = t.first;
    t.first = NULL;
    /* Bounds are sums of at most `terms` numbers here, whose rounding must not raise them. */
    if (terms > 1 && !t.allotment.is_small)
        s->info->dual *= 1 - (terms + 1) * DBL_EPSILON;
    hd_shrink_report_sum(s, out, t.allotment.count);
done:
    hd_shrink_allotment_free(&t.allotment);
    FREE(t.chosen, t.first);
    return status;
}
