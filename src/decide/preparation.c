/* The preparation chosen without labels (prepare = auto; docs/method.md, "Preparation").
 *
 * Each candidate is evaluated by clustering its points and scoring the labels on its own neighbour
 * graph. The candidate with the largest score is chosen, of equal ones the simplest. If there are
 * many points, a sample selects a few candidates, which are evaluated once more on a larger sample.
 * Points with fewer than ten features are not changed: scaling the rows of a plane to norm 1 folds
 * it into a circle.
 *
 * For a method that refines its labels, a candidate is clustered as the method would cluster it,
 * with the same options but without shrinking, and scored by the divergence J of the refined
 * labels. For other methods it is scored by the modularity (21) of sc with default options.
 * Both scores measure how much more weight lies inside clusters than would be expected by chance; a
 * preparation that blurs clusters lowers them.
 *
 * Scores depend on the number of clusters, so all candidates of a round are evaluated at the same
 * numbers: the given one or, for a range, the mean over up to five evenly spaced ones. With
 * n_clusters = auto the eigengaps of each candidate propose a number first. The largest clear one
 * is used; if none is clear, the range of the eigengap rule is treated like any other range. The
 * exception is auto with refinement: then the candidate with the largest modularity over all
 * numbers is chosen. The number of clusters itself is chosen afterwards, on the graph of the chosen
 * preparation. One embedding per candidate is sufficient for all numbers. */
#include "decide/preparation.h"

#include "base/check.h"
#include "base/parallel.h"
#include "decide/candidate.h"
#include "decide/count.h"
#include "decide/table.h"
#include "prepare/pca.h"
#include "steps/slabs.h"

#include <math.h>
#include <string.h>

/* Two rounds bound the cost: without them, each of the ten candidates would need a neighbour search
 * over all points. The first round only has to keep the winner among the finalists, which needs far
 * fewer points than ranking the finalists does. The divergence of refined labels separates the
 * candidates less than the modularity of spectral clustering, and needs two finalists and some
 * restarts more: with 4 and 5, 3 of 8 seeds missed the best preparation of MNIST. */
enum {
    FIRST_ROUND = 2500, /* points on which all candidates are evaluated, */
    LAST_ROUND = 10000, /* and on which the best are evaluated again, */
    FINALISTS = 4,      /* so many of them, */
    REFINED_FINALISTS = 6,
    RESTARTS = 5, /* with so many restarts of K-means */
    REFINED_RESTARTS = 10,
    MAX_COMPONENTS = 150
};

/* Restarts and the tolerance of the eigenvectors in the last round, with refinement. Labels of
 * K-means are starts only, which moves improve: with these, the screening and the shorter first
 * round together, 4 of 108 choices (36 data sets, three seeds) changed, and 3 of them gained
 * accuracy. */
enum { LAST_RESTARTS = 3 };
static const double last_tol = 1e-2;

/* With many clusters eigenvectors and K-means take most of the time of a candidate. Clusters found
 * by merging alone then show which candidates are far from the best: those with a divergence
 * smaller by more than this share. On image sets, sheets and 16 mixtures of normal distributions
 * with at least so many clusters the chosen candidate was within .011. With few clusters merging
 * says less, and there is less to save. */
enum { SCREENED_CLUSTERS = 20 };
static const double screening_margin = .08;

/* The candidates, simple ones first: equal scores are resolved by this order. whiten:R with few and
 * with many components are separate candidates because no single R is good for all data: whitening
 * amplifies the components of small variance, which carry the classes in some image data (faces
 * under changing light) and noise in others. */
static const huddle_rule candidates[] = {
    {"none", 0},   {"unit", 0},      {"center-rows", 0}, {"center-columns", 0}, {"pca:R", 20},
    {"pca:R", 40}, {"whiten:R", 20}, {"whiten:R", 40},   {"whiten:R", 80},      {"whiten:R", 150},
};

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };
_Static_assert((int)N_CANDIDATES <= (int)HD_FIT_MAX_PREPARE_TRIALS, "a model file holds them all");

/* ---- candidates ---------------------------------------------------------------------------- */

/* With refinement the options of the method, so that the graphs compared are those it would use;
 * else the defaults of sc. Either with fewer restarts of K-means. */
static hd_spectral_options trial_options(const hd_spectral_options *method) {
    bool refines = hd_spectral_refines(method);
    hd_step_common common = method->common;
    hd_spectral_options options =
        refines ? *method : hd_spectral_defaults(common.n_clusters, common.seed);
    options.embed.verify = "none"; /* a missed eigenvector would cost a little of the score only */
    if (options.kmeans.init == NULL) /* a method whose labels come from a rotation */
        options.kmeans = huddle_kmeans_defaults();
    options.trial = refines;
    int32_t limit = refines ? REFINED_RESTARTS : RESTARTS;
    if (options.kmeans.n_init > limit)
        options.kmeans.n_init = limit;
    options.kmeans.keep_starts = false;
    options.kmeans.seed = common.seed;
    return options;
}

/* Whether a rule can be applied to these points, given the rank of the widest whitening, and may
 * differ from the others: a projection needs as many components as it keeps, centring would make
 * sparse points dense, and norm 1 changes nothing if the rows have it. */
static bool is_possible(const huddle_rule *rule, const huddle_points *x, int64_t rank) {
    if (hd_decide_projects(rule))
        return rule->r <= rank;
    if (x->offsets != NULL && strcmp(rule->name, "unit") == 0)
        return !hd_prepare_has_unit_rows(x);
    bool centres = strncmp(rule->name, "center", 6) == 0;
    return x->offsets == NULL || !centres;
}

/* Lists the candidates that can be applied, not yet evaluated. */
static huddle_status list_trials(const hd_decide_round *judge, int64_t rank) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepare_trials *trials = judge->trials;
    ALLOC(trials->items, N_CANDIDATES);
    for (int k = 0; k < N_CANDIDATES; k++)
        if (is_possible(&candidates[k], judge->x, rank))
            trials->items[trials->count++] = (huddle_prepare_trial){candidates[k], NAN, NAN, 0};
done:
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static int32_t clamp_to(int64_t number, int64_t limit) {
    return (int32_t)(number < limit ? number : limit);
}

/* Up to five numbers of a range, evenly spaced, including both ends. */
static void choose_numbers(huddle_range range, hd_fit_prepare_trials *trials) {
    const int32_t limit = sizeof trials->clusters / sizeof *trials->clusters;
    int32_t width = range.last - range.first, count = width + 1 < limit ? width + 1 : limit;
    trials->n_clusters = count;
    for (int32_t k = 0; k < count; k++)
        trials->clusters[k] = range.first + (count > 1 ? width * k / (count - 1) : 0);
}

/* With auto: the largest number for which some candidate's eigengap is clear, or without a clear
 * one the whole range that the eigengap rule chooses from. The largest is taken because a
 * preparation that blurs clusters merges some of them, and its clear eigengap is at a smaller
 * number. */
static huddle_range propose_clusters(const hd_decide_candidate *tried, int32_t count, int64_t n) {
    int32_t clear = 0;
    for (int32_t k = 0; k < count; k++) {
        const huddle_embed_choice *choice = &tried[k].fit.trials.choice;
        if (choice->n_clear > 0 && choice->candidates[0] > clear)
            clear = choice->candidates[0];
    }
    return clear > 0 ? (huddle_range){clear, clear} : hd_decide_all_numbers(n);
}

/* Sorts by decreasing score. The insertion sort is stable, so that of equal candidates the simpler
 * one is chosen. */
static void rank_trials(const hd_decide_candidate *tried, int32_t count,
                        hd_fit_prepare_trials *trials) {
    huddle_prepare_trial *items = trials->items;
    for (int32_t k = 0; k < count; k++) {
        huddle_prepare_trial trial = tried[k].trial;
        double score = hd_decide_score_of(&trial, trials->score);
        int32_t place = k;
        for (; place > 0 && hd_decide_score_of(&items[place - 1], trials->score) < score; place--)
            items[place] = items[place - 1];
        items[place] = trial;
    }
}

/* One pass over the candidates of a round. */
typedef struct pass {
    const hd_decide_round *judge;
    hd_decide_candidate *tried;
    huddle_status (*evaluate)(const hd_decide_round *judge, hd_decide_candidate *c);
} pass;

static huddle_status evaluate_candidate(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    return p->evaluate(p->judge, &p->tried[chunk.begin]);
}

/* On the CPU candidates are evaluated side by side, one on each thread: on samples of this size
 * that is faster than one after the other on all threads, and the results are the same. An engine
 * has one device or one communicator, and gets one candidate at a time. */
static huddle_status run_pass(pass *p, int32_t count) {
    return hd_engine_loop(p->judge->context, "prepare", count, evaluate_candidate, p);
}

/* For a known number of clusters each candidate is scored and freed before the next one: with many
 * clusters all embeddings would be a lot of memory. */
static huddle_status evaluate_at_once(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_decide_embed(judge, c));
    TRY(hd_decide_score(judge, c));
done:
    hd_fit_free(&c->fit);
    return status;
}

/* Scores a candidate that was embedded for auto at the numbers that were agreed on. If its graph
 * has more components than clusters, it is embedded again, connected as in a fit with these
 * numbers. */
static huddle_status evaluate_embedded(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    if (c->fit.embedding.info.components > judge->n_clusters.first) {
        hd_fit_free(&c->fit);
        TRY(hd_decide_embed(judge, c));
    }
    TRY(hd_decide_score(judge, c));
done:
    return status;
}

/* The score of a round, and whether its numbers of clusters are known only after all candidates
 * were embedded. */
static huddle_prepare_score choose_score(const hd_decide_round *judge, bool *two_passes) {
    bool is_auto = judge->n_clusters.first == HUDDLE_AUTO;
    *two_passes = is_auto && !judge->refines;
    if (!judge->refines)
        return HUDDLE_PREPARE_BY_MODULARITY;
    return is_auto ? HUDDLE_PREPARE_BY_LARGEST_MODULARITY : HUDDLE_PREPARE_BY_DIVERGENCE;
}

/* Screens the candidates of a pass. Those within the margin come first afterwards, in the order
 * they had; *left of them. The others remain among the trials, with the scores found here. */
static huddle_status screen_candidates(pass p, int32_t count, int32_t *left) {
    huddle_status status = HUDDLE_OK;
    hd_decide_candidate *others = NULL;
    double best = -INFINITY;
    int32_t n_others = 0;
    *left = 0;
    p.evaluate = hd_decide_screen; /* it keeps the graph for the candidates that remain */
    ALLOC_ZERO(others, count);
    TRY(run_pass(&p, count));
    for (int32_t k = 0; k < count; k++)
        best = fmax(best, p.tried[k].trial.divergence);
    for (int32_t k = 0; k < count; k++)
        if (p.tried[k].trial.divergence >= best - screening_margin * fabs(best))
            p.tried[(*left)++] = p.tried[k];
        else
            others[n_others++] = p.tried[k];
    memcpy(p.tried + *left, others, (size_t)n_others * sizeof *others);
    for (int32_t k = 0; k < count; k++)
        p.judge->trials->items[k] = p.tried[k].trial;
done:
    huddle_free(others);
    return status;
}

/* Gives a candidate what was checked if that is its own. Not by the threads of a pass: one would
 * take it while the others ask whose it is. */
static void take_checked(const hd_decide_round *judge, hd_decide_candidate *c) {
    if (judge->checked == NULL || !judge->checked->fit.graph.present ||
        strcmp(c->trial.rule.name, "none") != 0)
        return;
    *c = *judge->checked;
    *judge->checked = (hd_decide_candidate){0};
}

/* Evaluates the first `count` trials on these points and ranks them. *left: so many of them, which
 * come first, were not screened out. If that is one, or at most `enough`, which is how many the
 * next round can evaluate, nothing is to be selected and they are not evaluated. */
static huddle_status run_round(hd_decide_round judge, int32_t count, int32_t enough,
                               int32_t *left) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepare_trials *trials = judge.trials;
    huddle_points whitened = {0};
    bool two_passes, projects = false;
    trials->score = choose_score(&judge, &two_passes);
    pass p = {&judge, NULL, two_passes ? hd_decide_embed : evaluate_at_once};
    ALLOC_ZERO(p.tried, count);
    for (int32_t k = 0; k < count; k++) {
        p.tried[k].trial = trials->items[k];
        take_checked(&judge, &p.tried[k]);
        projects = projects || hd_decide_projects(&trials->items[k].rule);
    }
    if (projects)
        TRY(huddle_prepare_apply(judge.context, judge.widest, judge.x, &whitened, NULL));
    judge.whitened = &whitened;
    choose_numbers(judge.n_clusters, trials);
    *left = count;
    /* With refinement, for known numbers of clusters, all large. */
    if (judge.screens && trials->score == HUDDLE_PREPARE_BY_DIVERGENCE &&
        trials->clusters[0] >= SCREENED_CLUSTERS) {
        TRY(screen_candidates(p, count, left));
        enough = enough > 1 ? enough : 1;
    }
    if (*left <= enough)
        goto done;
    TRY(run_pass(&p, *left));
    if (two_passes) {
        judge.n_clusters =
            propose_clusters(p.tried, count, hd_fit_rows_everywhere(&p.tried->fit.rows));
        choose_numbers(judge.n_clusters, trials);
        p.evaluate = evaluate_embedded;
        TRY(run_pass(&p, count));
    }
    if (trials->score == HUDDLE_PREPARE_BY_LARGEST_MODULARITY) {
        huddle_range range = hd_decide_all_numbers(p.tried->trial.n);
        trials->n_clusters = 2;
        trials->clusters[0] = range.first;
        trials->clusters[1] = range.last;
    }
    rank_trials(p.tried, *left, trials);
done:
    for (int32_t k = 0; p.tried != NULL && k < count; k++)
        hd_fit_free(&p.tried[k].fit);
    huddle_free(p.tried);
    huddle_points_free(&whitened);
    return status;
}

/* Limits the range to the n points of a sample; more clusters than points would be invalid.
 * HUDDLE_AUTO is negative and remains unchanged. */
static huddle_range clusters_in_sample(huddle_range range, int64_t n) {
    return (huddle_range){clamp_to(range.first, n), clamp_to(range.last, n)};
}

/* Whether the points, as they are, consist of the given number of separate parts: their graph has a
 * clear eigengap there. A preparation could only blur them, and the divergence would not notice: it
 * grows as clusters become even, so that a preparation under which a small cluster is lost in a
 * large one that is cut in halves has the larger one. Real images are far from this (relative
 * eigengaps of at most .2 without preparation, on eight data sets; clear is .8). The graph and its
 * embedding are kept for the first round. */
static huddle_status check_separate(hd_decide_round *judge, hd_decide_candidate *none,
                                    bool *separate) {
    huddle_status status = HUDDLE_OK;
    huddle_range range = judge->n_clusters;
    huddle_embed_choice choice;
    *separate = false;
    *none = (hd_decide_candidate){.trial = {candidates[0], NAN, NAN, 0}};
    if (!judge->refines || range.first < 2 || range.first != range.last)
        return status;
    TRY(hd_decide_embed(judge, none));
    huddle_spectrum spectrum = hd_fit_spectrum(&none->fit);
    TRY(huddle_embed_choose(&spectrum, range.first, range.first, &choice));
    *separate = choice.n_clear > 0;
    judge->checked = none;
done:
    return status;
}

static void begin_last_round(hd_decide_round *judge) {
    hd_spectral_options *options = &judge->options;
    judge->checked = NULL;
    judge->screens = false;
    if (!judge->refines)
        return;
    if (options->kmeans.n_init > LAST_RESTARTS)
        options->kmeans.n_init = LAST_RESTARTS;
    options->embed.tol = fmax(options->embed.tol, last_tol);
}

/* Two rounds: all candidates on few points, the best on many. The whitening is fitted to the small
 * sample once and reused in the second round: the choice of the rule does not need an accurate
 * basis, and the chosen rule is fitted again to all points. */
static huddle_status run_rounds(hd_decide_round judge, const huddle_points *few,
                                const huddle_points *many) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation widest = {0};
    hd_decide_candidate none = {0};
    hd_step_common common = judge.options.common;
    huddle_prepare_options options = {{"whiten:R", MAX_COMPONENTS}, common.seed};
    int32_t enough = 0, left;
    judge.x = few;
    judge.n_clusters = clusters_in_sample(common.n_clusters, few->n);
    TRY(check_separate(&judge, &none, &judge.trials->separate));
    if (judge.trials->separate)
        goto done;
    int64_t side = few->n < few->d ? few->n : few->d;
    options.prepare.r = clamp_to(side, MAX_COMPONENTS);
    TRY(hd_prepare_fit(judge.context, few, &options, true, &widest));
    TRY(list_trials(&judge, widest.d_out));
    judge.widest = &widest;
    judge.screens = true;
    if (many->n > few->n)
        enough = judge.refines ? REFINED_FINALISTS : FINALISTS;
    TRY(run_round(judge, judge.trials->count, enough, &left));
    bool decided = left == 1 && judge.trials->items[0].n > 0;
    if (many->n == few->n || decided)
        goto done;
    begin_last_round(&judge);
    judge.x = many;
    judge.n_clusters = clusters_in_sample(common.n_clusters, many->n);
    TRY(run_round(judge, left < enough ? left : enough, 0, &left));
done:
    hd_fit_free(&none.fit);
    huddle_preparation_free(&widest);
    return status;
}

/* ---- rows on several processes ------------------------------------------------------------- */

/* The rule of a trial by its place among the candidates: texts of one process mean nothing to
 * another. */
static int32_t number_of_rule(const huddle_rule *rule) {
    int32_t number = 0;
    for (int32_t k = 0; k < N_CANDIDATES; k++)
        if (strcmp(candidates[k].name, rule->name) == 0 && candidates[k].r == rule->r)
            number = k;
    return number;
}

/* What process 0 found, on all processes. */
static huddle_status tell_trials(huddle_context *context, hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    huddle_prepare_trial told[N_CANDIDATES] = {0}, *items = trials->items;
    int32_t numbers[N_CANDIDATES] = {0};
    for (int32_t k = 0; k < trials->count && items != NULL; k++) {
        told[k] = items[k];
        numbers[k] = number_of_rule(&items[k].rule);
    }
    TRY(hd_slabs_broadcast(context, 0, sizeof told, told));
    TRY(hd_slabs_broadcast(context, 0, sizeof numbers, numbers));
    TRY(hd_slabs_broadcast(context, 0, sizeof *trials, trials));
    trials->items = items;
    if (items == NULL && trials->count > 0)
        ALLOC_ZERO(trials->items, N_CANDIDATES);
    for (int32_t k = 0; k < trials->count; k++) {
        trials->items[k] = told[k];
        trials->items[k].rule = candidates[numbers[k]];
    }
done:
    return status;
}

/* The rounds on samples of the points. If rows are distributed, process 0 judges alone. */
static huddle_status judge_samples(hd_decide_round judge) {
    huddle_status status = HUDDLE_OK;
    huddle_points few_owned = {0}, few, many_owned = {0}, many;
    huddle_context *context = judge.context;
    uint64_t seed = judge.options.common.seed;
    TRY(hd_step_sample(context, judge.x, FIRST_ROUND, seed, &few_owned, &few));
    TRY(hd_step_sample(context, judge.x, LAST_ROUND, seed, &many_owned, &many));
    if (hd_slabs_distributed(context)) {
        TRY_ON_FIRST(context, run_rounds(judge, &few, &many));
        TRY(tell_trials(context, judge.trials));
    } else {
        TRY(run_rounds(judge, &few, &many));
    }
done:
    huddle_points_free(&few_owned);
    huddle_points_free(&many_owned);
    return status;
}

/* ---- the choice ---------------------------------------------------------------------------- */

/* The trials share the context of the fit, and with it threads, progress and cancelling; only their
 * messages are suppressed. */
static huddle_status choose_by_trials(huddle_context *context, const huddle_points *x,
                                      const hd_spectral_options *method,
                                      hd_fit_prepare_trials *trials, huddle_rule *rule) {
    huddle_status status = HUDDLE_OK;
    double begin = hd_seconds();
    hd_slab slab;
    *rule = (huddle_rule){"none", 0};
    /* Two points have one neighbour each in any preparation: nothing can be compared. */
    TRY(hd_slab_locate(context, x->n, &slab));
    if (x->d < HD_DECIDE_MIN_FEATURES || slab.total < 3)
        return status;
    /* Process 0 judges on the CPU. */
    hd_decide_round judge = {.context = context,
                             .options = trial_options(method),
                             .refines = hd_spectral_refines(method),
                             .x = x,
                             .trials = trials};
    /* Warnings of a trial are not about the result. */
    TRY_SILENT(context, judge_samples(judge));
    if (!trials->separate)
        *rule = trials->items[0].rule;
    trials->seconds = hd_seconds() - begin;
done:
    return status;
}

huddle_status hd_decide_preparation(huddle_context *context, const huddle_points *x,
                                    const hd_spectral_options *spectral, hd_fit_prepared *prepared,
                                    huddle_rule *rule) {
    prepared->table.is_scaled = hd_decide_is_to_scale(spectral, &prepared->table);
    if (!prepared->table.is_scaled)
        return choose_by_trials(context, x, spectral, &prepared->trials, rule);
    *rule = (huddle_rule){"clip", 0};
    return HUDDLE_OK;
}
