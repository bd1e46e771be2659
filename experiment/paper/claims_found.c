/* The rules of claims.c, applied to the published tables and to the records of a run. */
#include "experiment/paper/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const claim_sources[CLAIM_SOURCES] = {"the paper's own tables", "to the letter",
                                                  "with our choices", "defaults"};
static const table_kind kinds[CLAIM_SOURCES] = {
    [CLAIM_LETTER] = BY_LETTER, [CLAIM_OURS] = BY_ORACLE, [CLAIM_DEFAULTS] = BY_DEFAULT};

/* The lines that follow the observations. */
enum {
    LINE_GAMMA = CLAIM_OBSERVATIONS,
    LINE_DESCENT,
    LINE_PRINTED,
    LINE_OPTIMUM,
    LINE_SPEED,
    LINE_START,
    LINE_FROM_F,
    LINE_OUTLIERS
};

/* Each claim in our words, and how it is checked. */
static const char *const texts[CLAIM_LINES][2] = {
    [CLAIM_SPECTRAL_ABOVE_KMEANS] =
        {"Spectral clustering and its variants are better than K-means and its variants",
         "like with like: sc above kmeans, pca-sc above pca-kmeans, lda-sc above lda-kmeans, llc "
         "above kmeans"},
    [CLAIM_REDUCTION_HELPS] = {"Reducing the dimension helps K-means and spectral clustering",
                               "pca-kmeans and lda-kmeans above kmeans, pca-sc and lda-sc above "
                               "sc"},
    [CLAIM_LDA_ABOVE_PCA] = {"LDA is better than PCA",
                             "lda-kmeans above pca-kmeans, lda-sc above pca-sc"},
    [CLAIM_LLC_SCORES] = {"LLC is the most robust of the spectral variants: by its scores",
                          "llc above sc, pca-sc and lda-sc"},
    [CLAIM_LLC_VARIES_LEAST] =
        {"LLC is the most robust of the spectral variants: by its deviations",
         "the standard deviation of llc below those of sc, pca-sc and "
         "lda-sc"},
    [CLAIM_SPLS_SECOND] = {"SPLS is the second best",
                           "spls above all others but ssc, and ssc above spls"},
    [CLAIM_SSC_BEST] = {"SSC is consistently the best", "ssc above each of the other eight"},
    [LINE_GAMMA] = {"gamma = 1 is best or nearly so, except on MSRA50 and USPS",
                    "ACC at gamma 1 at most 1 point below the best of the published grid, and more "
                    "than that on the two"},
    [LINE_DESCENT] =
        {"The iteration decreases the objective in every step",
         "as derived (solver = published), gamma 1, over unordered "
         "pairs: no step rises by more than 1e-8 of the objective (rises of 1e-9 are rounding)"},
    [LINE_PRINTED] = {"The algorithm as listed reaches the global optimum",
                      "solver = printed, gamma 1: its end at most 0.1 % above the "
                      "certified optimum"},
    [LINE_OPTIMUM] = {"The iteration converges to the global optimum",
                      "as derived, gamma 1: its end at most 0.1 % above the "
                      "certified optimum"},
    [LINE_SPEED] = {"The objective converges quickly",
                    "as derived, gamma 1, from a random start: at most 1 % above "
                    "the optimum after 30 steps"},
    [LINE_START] = {"The result does not rely on the initialization: random starts",
                    "as derived, gamma 1, one start for each seed: the end at most "
                    "0.1 % above the certified optimum"},
    [LINE_FROM_F] = {"The result does not rely on the initialization: starting at G = F",
                     "as derived, gamma 1, from G = F, until the objective changes by less than "
                     "1e-8 of itself: the end at most 0.1 % above the certified optimum (with "
                     "shrink_tol = 0 the start is left after some 50 steps)"},
    [LINE_OUTLIERS] = {"The l2,1 loss handles outliers, the squared loss does not",
                       "not part of this command; bench/robustness.py, which compares the two "
                       "losses on digits, ORL and UMIST, confirms it for outlying rows of F and "
                       "does not reproduce it for outlying points (docs/results.md)"},
};

/* ---- tables --------------------------------------------------------------------------------- */

static const char *const metrics[CLAIM_METRICS] = {"acc", "nmi"};

void claims_published(claim_scores *scores) {
    *scores = (claim_scores){.n_sets = PAPER_SETS};
    for (int s = 0; s < PAPER_SETS; s++)
        scores->set[s] = paper_sets[s].name;
    for (int k = 0; k < CLAIM_METRICS; k++)
        for (int m = 0; m < PAPER_METHODS; m++)
            for (int s = 0; s < PAPER_SETS; s++) {
                scores->score[k][m][s] = paper_number(metrics[k], m, s)->mean;
                scores->spread[k][m][s] = paper_number(metrics[k], m, s)->std;
            }
}

/* Numbers as shown, so that a verdict agrees with what the tables let a reader see. */
static void read_tables(const paper *p, table_kind kind, claim_scores *scores) {
    *scores = (claim_scores){.n_sets = p->e.n_data};
    for (int i = 0; i < p->e.n_data; i++)
        scores->set[i] = p->e.data[i].name;
    for (int k = 0; k < CLAIM_METRICS; k++)
        for (int m = 0; m < PAPER_METHODS; m++)
            for (int i = 0; i < p->e.n_data; i++) {
                table_cell cell = paper_cell(p, metrics[k], kind, m, i);
                scores->score[k][m][i] = cell.missing ? NAN : cell.ours;
                scores->spread[k][m][i] = cell.missing ? NAN : cell.std;
            }
}

static void find_observations(const paper *p, claim_list *list) {
    claim_scores scores;
    for (int source = 0; source < CLAIM_SOURCES; source++) {
        if (source == CLAIM_PUBLISHED)
            claims_published(&scores);
        else
            read_tables(p, kinds[source], &scores);
        for (int k = 0; k < CLAIM_OBSERVATIONS; k++)
            claim_observe(&scores, (claim_observation)k, &list->line[k].found[source]);
    }
    claims_published(&scores);
    claim_list_bold(&scores, &list->bold);
}

/* ---- gamma ---------------------------------------------------------------------------------- */

/* Numbers as shown, as in the tables. */
static void find_gamma(const paper *p, int entry, claim_finding *finding) {
    enum { MOST = 16 };
    for (int i = 0; i < p->e.n_data; i++) {
        double gamma[MOST], acc[MOST];
        int n = paper_read_gammas(p, i, entry, "acc", MOST, gamma, acc);
        for (int k = 0; k < n; k++)
            acc[k] = shown_percent(acc[k]);
        claim_add_gamma(p->e.data[i].name, n, gamma, acc, finding);
    }
}

/* ---- convergence ---------------------------------------------------------------------------- */

/* The numbers of a trace's list, freed by free(); NULL without the list or without memory. What
 * JSON cannot represent was written as null; as 0 it would be below every optimum. */
static double *read_list(const experiment_cell *cell, const char *name, int *n) {
    const json_t *list = json_object_get(json_object_get(cell->record, "trace"), name);
    size_t size = json_array_size(list);
    double *values = size == 0 ? NULL : malloc(size * sizeof *values);
    for (size_t i = 0; values != NULL && i < size; i++) {
        const json_t *value = json_array_get(list, i);
        values[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    *n = values == NULL ? 0 : (int)size;
    return values;
}

/* The largest lower bound of the optimum that the default solver has proven at a seed. */
static double find_bound(const paper *p, int data, uint64_t seed) {
    double bound = 0;
    for (int c = 0; c < p->e.n_cells; c++) {
        const experiment_cell *cell = &p->e.cells[c];
        if (cell->data != data || cell->entry != ENTRY_TRACE || cell->point != 1 ||
            cell->seed != seed)
            continue;
        int n;
        double *dual = read_list(cell, "dual", &n);
        for (int i = 0; i < n; i++)
            bound = fmax(bound, dual[i]);
        free(dual);
    }
    return bound;
}

/* One run of the published or the printed iteration. The first seed alone counts, except for the
 * claim about the start: steps of several seeds are no more evidence than those of one. */
static void read_run(const paper *p, const experiment_cell *cell, bool is_first, claim_list *list) {
    const char *set = p->e.data[cell->data].name;
    int n;
    double *objective = read_list(cell, "objective", &n);
    double bound = find_bound(p, cell->data, cell->seed);
    if (cell->entry == ENTRY_TRACE && is_first) {
        claim_add_descent(set, n, objective, &list->line[LINE_DESCENT].found[CLAIM_LETTER]);
        claim_add_optimum(set, n, objective, bound, &list->line[LINE_OPTIMUM].found[CLAIM_LETTER]);
        claim_add_speed(set, n, objective, bound, &list->line[LINE_SPEED].found[CLAIM_LETTER]);
    }
    if (cell->entry == ENTRY_PRINTED && is_first)
        claim_add_optimum(set, n, objective, bound, &list->line[LINE_PRINTED].found[CLAIM_LETTER]);
    if (cell->entry == ENTRY_FROM_F && is_first)
        claim_add_optimum(set, n, objective, bound, &list->line[LINE_FROM_F].found[CLAIM_LETTER]);
    if (cell->entry == ENTRY_TRACE)
        claim_add_optimum(set, n, objective, bound, &list->line[LINE_START].found[CLAIM_LETTER]);
    free(objective);
}

/* The first point of each of the three entries is an iteration of the paper; the second one of
 * ENTRY_TRACE is the default solver, which certifies. */
static void find_convergence(const paper *p, claim_list *list) {
    for (int c = 0; c < p->e.n_cells; c++) {
        const experiment_cell *cell = &p->e.cells[c];
        bool is_run = cell->entry == ENTRY_TRACE || cell->entry == ENTRY_PRINTED ||
                      cell->entry == ENTRY_FROM_F;
        if (is_run && cell->point == 0 && cell->record != NULL)
            read_run(p, cell, cell->seed == p->e.cells[0].seed, list);
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

claim_list *claims_find(const paper *p) {
    claim_list *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    for (int k = 0; k < CLAIM_LINES; k++) {
        list->line[k].claim = texts[k][0];
        list->line[k].rule = texts[k][1];
    }
    find_observations(p, list);
    find_gamma(p, ENTRY_GRID + PAPER_SSC, &list->line[LINE_GAMMA].found[CLAIM_OURS]);
    find_gamma(p, ENTRY_LETTER + PAPER_SSC, &list->line[LINE_GAMMA].found[CLAIM_LETTER]);
    find_convergence(p, list);
    return list;
}
