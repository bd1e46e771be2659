/* shrink: components of W that are solved whole on one of several processes (team.h), and those
 * that all of them solve together, against the answer of one process. The examples are small; the
 * limits of hd_shrink_distributed() are made small too. */
#include "base/union.h"
#include "engines/team.h"
#include "shrink/distributed.h"
#include "shrink_problems.h"
#include "shrink_team.h"

enum { CLOUDS = 240, N = 270, C = 5 };

/* All in one place; whole components; and components of more than half a share together. */
static const hd_shrink_limits small = {.numbers = 1e6, .share = 1.2};
static const hd_shrink_limits whole = {.share = 1e9};
static const hd_shrink_limits mixed = {.share = .5};

/* Clouds of uneven sizes (one in three of the rows of `clusters` is in the first), then ten pairs
 * and ten rows without edges, all in a random order. */
static example scattered(int32_t clusters, uint64_t seed) {
    example x = clouds(CLOUDS, C, clusters, 4, true, seed), y;
    hd_rng rng = hd_rng_stream(seed, 3);
    int64_t m = 0, entries = x.w.offsets[CLOUDS] + 20;
    int32_t *i = malloc((size_t)entries * sizeof *i), *j = malloc((size_t)entries * sizeof *j);
    int32_t to[N];
    double *weight = malloc((size_t)entries * sizeof *weight);
    for (int32_t v = 0; v < N; v++)
        to[v] = v;
    for (int32_t v = N - 1; v > 0; v--) {
        int32_t u = (int32_t)hd_rng_below(&rng, v + 1), swap = to[v];
        to[v] = to[u];
        to[u] = swap;
    }
    assert_ok(huddle_dense_new(N, C, &y.f));
    for (int64_t v = 0; v < N; v++)
        for (int64_t k = 0; k < C; k++)
            y.f.values[to[v] * C + k] =
                v < CLOUDS ? x.f.values[v * C + k] : hd_rng_normal(&rng) + (double)v;
    for (int64_t v = 0; v < CLOUDS; v++)
        for (int64_t e = x.w.offsets[v]; e < x.w.offsets[v + 1]; e++, m++) {
            i[m] = to[v];
            j[m] = to[x.w.columns[e]];
            weight[m] = x.w.values[e];
        }
    for (int32_t v = CLOUDS; v < CLOUDS + 20; v += 2, m++) {
        i[m] = to[v];
        j[m] = to[v + 1];
        weight[m] = .5 + hd_rng_uniform(&rng);
    }
    /* An edge of weight 0 joins two clouds, and connects nothing. */
    i[m] = to[0];
    j[m] = to[1];
    weight[m++] = 0;
    y.w = graph_of(N, m, i, j, weight);
    free(i);
    free(j);
    free(weight);
    example_free(&x);
    return y;
}

/* ---- a team -------------------------------------------------------------------------------- */

/* What the members share: the problem, and room for their parts of the answer. */
typedef struct shared {
    const example *x;
    huddle_shrink_options options;
    const hd_shrink_limits *limits; /* NULL: huddle_shrink() */
    int size;
    huddle_dense g;
    int32_t group[N];
    huddle_shrink_info info[TEAM_MAX];
    double *z; /* (N x N) x C: from row to column; NAN where no member has written */
    bool z_differs;
} shared;

/* Slabs of very different sizes, one of four empty. */
static void cut(int size, int rank, int64_t *begin, int64_t *end) {
    static const int64_t cuts[TEAM_MAX][TEAM_MAX + 1] = {
        {0, N}, {0, 33, N}, {0, 100, 120, N}, {0, 130, 130, 200, N}};
    *begin = cuts[size - 1][rank];
    *end = cuts[size - 1][rank + 1];
}

/* What huddle_shrink() does, with other limits. */
static huddle_status solve_distributed(huddle_context *context, const example *part,
                                       const huddle_shrink_options *o,
                                       const hd_shrink_limits *limits, huddle_shrunk *out,
                                       huddle_shrink_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_edges edges = {0};
    hd_shrink_solve s = {.options = *o, .info = info};
    TRY(hd_shrink_edges_read(context, &part->w, &edges));
    s.input = (hd_shrink_input){.context = context,
                                .f = &part->f,
                                .w = &part->w,
                                .edges = &edges,
                                .weights = o->weights,
                                .gamma = o->gamma,
                                .squared = strcmp(o->loss, "l2") == 0};
    TRY(hd_shrink_distributed(&s, limits, out));
done:
    hd_shrink_edges_free(&edges);
    return hd_agree(context, status);
}

/* Files z of a member by the numbers of both rows: edges between its rows first, in the order of W,
 * then those to other members. Only the first copy of an edge is kept, and the other compared. */
static void file_dual(shared *all, const example *part, int64_t begin, int64_t end,
                      const huddle_dense *z) {
    int64_t e = 0;
    for (int outward = 0; outward < 2; outward++)
        for (int64_t i = begin; i < end; i++)
            for (int64_t at = part->w.offsets[i - begin]; at < part->w.offsets[i - begin + 1];
                 at++) {
                int64_t j = part->w.columns[at];
                bool is_own = j >= begin && j < end;
                if (is_own == (outward == 1) || (is_own && j <= i))
                    continue;
                for (int64_t k = 0; k < C; k++) {
                    double value = e < z->rows ? z->values[e * z->stride + k] : INFINITY;
                    double *there = &all->z[(i * N + j) * C + k];
                    double *back = &all->z[(j * N + i) * C + k];
                    all->z_differs = all->z_differs || (!isnan(*back) && *back != -value);
                    *there = value;
                    if (is_own)
                        *back = -value;
                }
                e++;
            }
    all->z_differs = all->z_differs || e != z->rows;
}

static pthread_mutex_t filing = PTHREAD_MUTEX_INITIALIZER;

static huddle_status shrink_slab(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    shared *all = argument;
    example part = {0};
    huddle_shrunk out = {0};
    huddle_dense start = {0};
    huddle_shrink_options o = all->options;
    int64_t begin, end;
    cut(all->size, rank, &begin, &end);
    if (o.weights != NULL)
        o.weights += begin;
    if (o.start != NULL) {
        start = (huddle_dense){end - begin, C, C, o.start->values + begin * C, NULL};
        o.start = &start;
    }
    TRY(take_slab(all->x, begin, end, &part));
    TRY(all->limits != NULL
            ? solve_distributed(context, &part, &o, all->limits, &out, &all->info[rank])
            : huddle_shrink(context, &part.f, &part.w, &o, &out, &all->info[rank]));
    memcpy(all->g.values + begin * C, out.g.values, (size_t)((end - begin) * C) * sizeof(double));
    memcpy(all->group + begin, out.group, (size_t)(end - begin) * sizeof(int32_t));
    pthread_mutex_lock(&filing);
    if (o.keep_dual)
        file_dual(all, &part, begin, end, &out.z);
    pthread_mutex_unlock(&filing);
done:
    huddle_shrunk_free(&out);
    example_free(&part);
    return status;
}

static shared run_team(const hd_engine *engine, const example *x, int size,
                       const huddle_shrink_options *o, const hd_shrink_limits *limits) {
    shared all = {.x = x, .options = *o, .limits = limits, .size = size};
    assert_ok(huddle_dense_new(N, C, &all.g));
    all.z = malloc((size_t)N * N * C * sizeof *all.z);
    for (int64_t k = 0; k < (int64_t)N * N * C; k++)
        all.z[k] = NAN;
    assert_ok(team_run(size, engine, shrink_slab, &all));
    assert_false(all.z_differs);
    for (int r = 1; r < size; r++) {
        const huddle_shrink_info *a = &all.info[0], *b = &all.info[r];
        assert_true(a->objective == b->objective && a->dual == b->dual && a->gap == b->gap);
        assert_true(a->stop == b->stop && a->n_iter == b->n_iter && a->n_solves == b->n_solves);
        assert_true(a->n_groups == b->n_groups && a->n_components == b->n_components);
        assert_true(a->n_fixed == b->n_fixed && a->snapped == b->snapped);
        assert_string_equal(a->solver, b->solver);
        assert_string_equal(a->linear_solver, b->linear_solver);
        assert_int_equal(a->n_history, b->n_history);
    }
    return all;
}

static void shared_free(shared *all) {
    for (int r = 0; r < all->size; r++)
        huddle_shrink_info_free(&all->info[r]);
    huddle_dense_free(&all->g);
    free(all->z);
}

/* ---- plain evaluation ---------------------------------------------------------------------- */

static double weight_of(const huddle_shrink_options *o, int64_t i) {
    return o->weights != NULL ? o->weights[i] : 1;
}

static double distance(const double *a, const double *b) {
    double sum = 0;
    for (int64_t k = 0; k < C; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

static double plain_objective(const example *x, const huddle_shrink_options *o,
                              const huddle_dense *g) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++) {
        double d = distance(g->values + i * C, x->f.values + i * C);
        sum += weight_of(o, i) * (strcmp(o->loss, "l2") == 0 ? d * d : d);
        for (int64_t e = x->w.offsets[i]; e < x->w.offsets[i + 1]; e++)
            sum += .5 * o->gamma * x->w.values[e] *
                   distance(g->values + i * C, g->values + x->w.columns[e] * C);
    }
    return sum;
}

/* The component of each row, named by one of its rows. */
static void find_components(const example *x, int32_t *component) {
    for (int32_t i = 0; i < N; i++)
        component[i] = i;
    for (int32_t i = 0; i < N; i++)
        for (int64_t e = x->w.offsets[i]; e < x->w.offsets[i + 1]; e++)
            if (x->w.values[e] > 0)
                hd_unite(component, i, x->w.columns[e]);
    for (int32_t i = 0; i < N; i++)
        component[i] = hd_find_root(component, i);
}

/* The largest distance from row i within its component: an optimal row is no farther from it. */
static double find_radius(const example *x, const int32_t *component, int64_t i) {
    double radius = 0;
    for (int64_t j = 0; j < N; j++)
        if (component[j] == component[i])
            radius = fmax(radius, distance(x->f.values + i * C, x->f.values + j * C));
    return radius;
}

/* <Z, BF> - sum m_i R_i (||y_i|| / m_i - 1)_+, or the bound of "l2"; fails unless every edge has a
 * z within its ball. */
static double plain_dual(const example *x, const huddle_shrink_options *o, const double *z) {
    double sum = 0, y[C];
    int32_t component[N];
    find_components(x, component);
    for (int64_t i = 0; i < N; i++) {
        memset(y, 0, sizeof y);
        for (int64_t e = x->w.offsets[i]; e < x->w.offsets[i + 1]; e++) {
            int64_t j = x->w.columns[e];
            double square = 0;
            for (int64_t k = 0; k < C; k++) {
                double v = z[(i * N + j) * C + k];
                y[k] += v;
                square += v * v;
                sum += .5 * v * (x->f.values[i * C + k] - x->f.values[j * C + k]);
            }
            assert_true(sqrt(square) <= o->gamma * x->w.values[e] * (1 + 1e-9));
        }
        double norm = 0, m = weight_of(o, i);
        for (int64_t k = 0; k < C; k++)
            norm += y[k] * y[k];
        sum -= strcmp(o->loss, "l2") == 0
                   ? norm / (4 * m)
                   : m * find_radius(x, component, i) * fmax(0, sqrt(norm) / m - 1);
    }
    return sum;
}

/* Groups are numbered by their first rows, and joined only within components. */
static void check_groups(const shared *all) {
    int32_t component[N], first[N], count = 0;
    find_components(all->x, component);
    for (int32_t i = 0; i < N; i++) {
        assert_true(all->group[i] >= 0 && all->group[i] <= count);
        if (all->group[i] == count)
            first[count++] = i;
        assert_int_equal(component[i], component[first[all->group[i]]]);
    }
    assert_int_equal(count, all->info[0].n_groups);
    /* Rows that an edge joins are one point only if they are one group. */
    for (int32_t i = 0; i < N && all->info[0].snapped; i++)
        for (int64_t e = all->x->w.offsets[i]; e < all->x->w.offsets[i + 1]; e++) {
            int32_t j = all->x->w.columns[e];
            if (all->x->w.values[e] > 0 &&
                distance(all->g.values + i * C, all->g.values + j * C) == 0)
                assert_int_equal(all->group[i], all->group[j]);
        }
}

/* Whether the rows of each group are one point. */
static bool groups_are_points(const shared *all) {
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < i; j++)
            if (all->group[i] == all->group[j] &&
                distance(all->g.values + i * C, all->g.values + j * C) > 0)
                return false;
    return true;
}

/* Everything that must hold of an answer, beside one with a tiny gap. */
/* Sums over components only improve, and end where the answer is, but for its groups. A step of
 * pdhg is several iterations. */
static void check_history(const huddle_shrink_info *info, double gap) {
    int32_t last = info->n_history - 1;
    if (strcmp(info->solver, "pdhg") != 0)
        assert_int_equal(info->n_iter, info->n_history);
    for (int32_t k = 1; k <= last; k++)
        assert_true(info->history_objective[k] <= info->history_objective[k - 1] * (1 + 1e-12) &&
                    info->history_dual[k] >= info->history_dual[k - 1] * (1 - 1e-12));
    if (last >= 0) {
        assert_true(info->history_objective[last] <= info->objective * (1 + 2 * gap));
        assert_close(info->history_dual[last], info->dual, 1e-6);
    }
}

static void check_answer(const shared *all, const huddle_shrink_info *tight) {
    const huddle_shrink_info *info = &all->info[0];
    const huddle_shrink_options *o = &all->options;
    double objective = plain_objective(all->x, o, &all->g);
    assert_close(info->objective, objective, 1e-12);
    assert_true(info->gap <= o->gap && info->stop <= HUDDLE_STOP_EXACT);
    assert_close(info->gap, (info->objective - info->dual) / info->objective, 1e-9);
    assert_true(info->dual <= tight->objective * (1 + 1e-12));
    assert_true(tight->dual <= info->objective * (1 + 1e-12));
    assert_int_equal(info->n_components, tight->n_components);
    assert_int_equal(info->n_history > 0, info->n_iter > 0);
    check_history(info, o->gap);
    check_groups(all);
    if (o->keep_dual) {
        double dual = plain_dual(all->x, o, all->z);
        assert_true(info->dual <= dual * (1 + 1e-12) && dual <= tight->objective * (1 + 1e-12));
    }
}

static huddle_shrink_options options_for(int trial, const double *weights,
                                         const huddle_dense *start) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.loss = trial % 3 == 2 ? "l2" : "l21";
    o.gamma = (const double[]){.1, .4, 3}[trial / 2 % 3];
    o.weights = trial % 2 ? weights : NULL;
    o.start = trial % 4 == 1 ? start : NULL;
    o.gap = 1e-5;
    return o;
}

static void set_weights(double *weights) {
    for (int64_t v = 0; v < N; v++)
        weights[v] = .5 + .25 * (double)(v % 5);
}

/* The answer of one process, to a tiny gap. */
static huddle_shrink_info solve_tightly(const example *x, huddle_shrink_options o) {
    huddle_shrunk out;
    huddle_shrink_info info;
    o.gap = 1e-8;
    assert_ok(huddle_shrink(NULL, &x->f, &x->w, &o, &out, &info));
    huddle_shrunk_free(&out);
    return info;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Through the public function and with the limits it has. */
static void a_small_problem_is_solved_as_by_one_process(void **state) {
    (void)state;
    double weights[N];
    set_weights(weights);
    for (int trial = 0; trial < 12; trial++) {
        example x = scattered(4, (uint64_t)trial);
        huddle_dense start = copy_dense(&x.f);
        huddle_shrink_options o = options_for(trial, weights, &start);
        huddle_shrunk one;
        huddle_shrink_info single;
        o.keep_dual = true;
        for (int64_t k = 0; k < N * C; k++)
            start.values[k] += .01 * (double)(k % 7);
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &one, &single));
        shared all = run_team(&team_engine, &x, trial % 4 + 1, &o, trial % 2 ? NULL : &small);
        assert_memory_equal(all.g.values, one.g.values, N * C * sizeof(double));
        assert_memory_equal(all.group, one.group, sizeof all.group);
        assert_true(all.info[0].objective == single.objective && all.info[0].dual == single.dual);
        assert_true(all.info[0].n_iter == single.n_iter && all.info[0].stop == single.stop);
        assert_true(all.info[0].n_fixed == single.n_fixed);
        assert_string_equal(all.info[0].solver, single.solver);
        int64_t e = 0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t at = x.w.offsets[i]; at < x.w.offsets[i + 1]; at++)
                if (x.w.columns[at] > i && ++e <= one.z.rows)
                    for (int64_t k = 0; k < C; k++)
                        assert_true(all.z[(i * N + x.w.columns[at]) * C + k] ==
                                    one.z.values[(e - 1) * one.z.stride + k]);
        shared_free(&all);
        huddle_shrunk_free(&one);
        huddle_shrink_info_free(&single);
        huddle_dense_free(&start);
        example_free(&x);
    }
}

/* Components by components (without Z) the answer does not depend on the number of members, because
 * the gaps are shared out over all components. */
static void components_are_solved_whole_by_their_processes(void **state) {
    (void)state;
    double weights[N];
    set_weights(weights);
    for (int trial = 0; trial < 12; trial++) {
        example x = scattered(6, (uint64_t)trial);
        huddle_shrink_options o = options_for(trial, weights, &x.f);
        huddle_shrink_info tight = solve_tightly(&x, o);
        shared one;
        o.keep_dual = trial / 2 % 2 == 1;
        for (int size = 1; size <= TEAM_MAX; size++) {
            shared all = run_team(&team_engine, &x, size, &o, &whole);
            check_answer(&all, &tight);
            if (size == 1) {
                one = all;
                continue;
            }
            /* Without CHOLMOD linear systems are solved to a tolerance. */
            if (!o.keep_dual && HUDDLE_GPL) {
                assert_true(largest_difference(&all.g, &one.g) <= 1e-9);
                assert_memory_equal(all.group, one.group, sizeof all.group);
                assert_int_equal(all.info[0].n_solves, one.info[0].n_solves);
            }
            shared_free(&all);
        }
        shared_free(&one);
        huddle_shrink_info_free(&tight);
        example_free(&x);
    }
}

/* Scatters rows over the members, whatever the edges: nothing may depend on a good partition. */
static huddle_status scatter_rows(void *state, int64_t n, const int64_t *offsets,
                                  const int32_t *columns, int32_t *owner) {
    const team_member *m = state;
    (void)offsets, (void)columns;
    for (int64_t i = 0; i < n; i++)
        owner[i] = (int32_t)((3 * i + m->rank) % m->team->size);
    return HUDDLE_OK;
}

static void large_components_are_solved_together(void **state) {
    (void)state;
    hd_engine_slabs slabs = team_slabs;
    hd_engine engine = team_engine;
    double weights[N];
    int n_snapped = 0;
    set_weights(weights);
    engine.slabs = &slabs;
    for (int trial = 0; trial < 6; trial++) {
        /* Three clouds of 80 rows: of four members half a share is 34 rows, of two 68; for one
         * member no component is large. Pairs and single rows never are. */
        example x = scattered(3, (uint64_t)trial);
        huddle_shrink_options o = options_for(trial, weights, &x.f);
        huddle_shrink_info tight = solve_tightly(&x, o);
        engine.linear_solver = trial % 3 ? &team_linear_solver : NULL;
        slabs.partition = trial % 2 ? scatter_rows : NULL;
        for (int size = 1; size <= TEAM_MAX; size++) {
            o.keep_dual = (trial + size) % 3 > 0;
            shared all = run_team(&engine, &x, size, &o, &mixed);
            check_answer(&all, &tight);
            n_snapped += size > 1 && all.info[0].n_iter > 0 && groups_are_points(&all);
            if (size > 1 && engine.linear_solver != NULL && all.info[0].n_iter > 0)
                assert_string_equal(all.info[0].linear_solver, "team");
            if (size > 1 && engine.linear_solver == NULL && all.info[0].n_iter > 0)
                assert_string_equal(all.info[0].solver, "pdhg");
            shared_free(&all);
        }
        huddle_shrink_info_free(&tight);
        example_free(&x);
    }
    assert_true(n_snapped > 6);
}

/* The path of all processes together takes as many steps as one process. */
static void a_large_component_takes_the_steps_of_one_process(void **state) {
    (void)state;
    hd_engine engine = team_engine;
    engine.linear_solver = &team_linear_solver;
    for (int trial = 0; trial < 4; trial++) {
        example x = clouds(N, C, 3, 4, false, (uint64_t)trial + 7);
        huddle_shrink_options o = options_for(trial, NULL, NULL);
        huddle_shrunk one;
        huddle_shrink_info single;
        o.weights = NULL;
        o.snap = false;
        o.gamma = .3;
        o.solver = trial % 2 ? "irls" : "auto";
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &one, &single));
        shared all = run_team(&engine, &x, 2 + trial % 3, &o, &mixed);
        assert_true(all.info[0].gap <= o.gap);
        assert_true(all.info[0].n_iter <= single.n_iter + single.n_iter / 4 + 2);
        shared_free(&all);
        huddle_shrunk_free(&one);
        huddle_shrink_info_free(&single);
        example_free(&x);
    }
}

/* Groups of one member, groups that extend over members, and rows on their own. */
static const int32_t snap_groups[12] = {0, 0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 2};
static double snapped_rows[12];

static huddle_status snap_rows(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    const double *weights = argument;
    huddle_dense g = {0};
    int32_t none;
    hd_halo halo = {0};
    hd_shrink_problem p = {.halo = &halo};
    int64_t first = 6 * (int64_t)rank;
    hd_shrink_input in = {.context = context, .weights = weights + first};
    TRY(hd_halo_open(context, 6, 0, &none, &halo));
    TRY(huddle_dense_new(6, 1, &g));
    for (int64_t v = 0; v < 6; v++)
        g.values[v] = (double)((first + v) * (first + v));
    TRY(hd_shrink_snap(&in, &p, snap_groups + first, 6, &g));
    memcpy(snapped_rows + first, g.values, 6 * sizeof(double));
done:
    hd_halo_close(&halo);
    huddle_dense_free(&g);
    return status;
}

static void groups_move_to_the_means_of_all_their_rows(void **state) {
    (void)state;
    double weights[12];
    for (int v = 0; v < 12; v++)
        weights[v] = 1 + v % 3;
    assert_ok(team_run(2, &team_engine, snap_rows, weights));
    for (int v = 0; v < 12; v++) {
        double sum = 0, mass = 0;
        for (int u = 0; u < 12; u++)
            if (snap_groups[u] == snap_groups[v]) {
                sum += weights[u] * u * u;
                mass += weights[u];
            }
        assert_close(snapped_rows[v], sum / mass, 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_problem_is_solved_as_by_one_process),
        cmocka_unit_test(components_are_solved_whole_by_their_processes),
        cmocka_unit_test(large_components_are_solved_together),
        cmocka_unit_test(a_large_component_takes_the_steps_of_one_process),
        cmocka_unit_test(groups_move_to_the_means_of_all_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
