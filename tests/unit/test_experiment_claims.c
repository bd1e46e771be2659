/* Verdicts on the claims of the paper: each rule on numbers that keep it, and on the same numbers
 * with one changed. */
#include "experiment_records.h"

#include "experiment/paper/claims.h"

/* The rows of the tables, as in the paper. */
enum { KMEANS, SC, PCA_KMEANS, PCA_SC, LDA_KMEANS, LDA_SC, LLC, SPLS, SSC };

static int count_parts(const char *text) {
    int count = *text != '\0';
    for (; *text != '\0'; text++)
        count += *text == ';';
    return count;
}

/* ---- observations on the tables ------------------------------------------------------------- */

/* Tables of two data sets that keep every observation. */
static void make_scores(claim_scores *scores) {
    static const double level[] = {
        [KMEANS] = 10, [PCA_KMEANS] = 20, [LDA_KMEANS] = 30, [SC] = 40, [PCA_SC] = 50,
        [LDA_SC] = 60, [LLC] = 70,        [SPLS] = 80,       [SSC] = 90};
    *scores = (claim_scores){.n_sets = 2, .set = {"ORL", "USPS"}};
    for (int k = 0; k < CLAIM_METRICS; k++)
        for (int m = 0; m < PAPER_METHODS; m++)
            for (int i = 0; i < 2; i++) {
                scores->score[k][m][i] = level[m] + k + 0.5 * i;
                scores->spread[k][m][i] = m == LLC ? 1 : 2;
            }
}

/* Each observation as pairs of rows, written down from the paper's sentences. */
static const struct {
    int n;
    int pairs[8][2];
} expected[CLAIM_OBSERVATIONS] = {
    [CLAIM_SPECTRAL_ABOVE_KMEANS] =
        {4, {{SC, KMEANS}, {PCA_SC, PCA_KMEANS}, {LDA_SC, LDA_KMEANS}, {LLC, KMEANS}}},
    [CLAIM_REDUCTION_HELPS] =
        {4, {{PCA_KMEANS, KMEANS}, {LDA_KMEANS, KMEANS}, {PCA_SC, SC}, {LDA_SC, SC}}},
    [CLAIM_LDA_ABOVE_PCA] = {2, {{LDA_KMEANS, PCA_KMEANS}, {LDA_SC, PCA_SC}}},
    [CLAIM_LLC_SCORES] = {3, {{LLC, SC}, {LLC, PCA_SC}, {LLC, LDA_SC}}},
    [CLAIM_LLC_VARIES_LEAST] = {3, {{LLC, SC}, {LLC, PCA_SC}, {LLC, LDA_SC}}},
    [CLAIM_SPLS_SECOND] = {8,
                           {{SPLS, KMEANS},
                            {SPLS, SC},
                            {SPLS, PCA_KMEANS},
                            {SPLS, PCA_SC},
                            {SPLS, LDA_KMEANS},
                            {SPLS, LDA_SC},
                            {SPLS, LLC},
                            {SSC, SPLS}}},
    [CLAIM_SSC_BEST] = {8,
                        {{SSC, KMEANS},
                         {SSC, SC},
                         {SSC, PCA_KMEANS},
                         {SSC, PCA_SC},
                         {SSC, LDA_KMEANS},
                         {SSC, LDA_SC},
                         {SSC, LLC},
                         {SSC, SPLS}}},
};

/* The number that the better row of a pair has on a data set. */
static double *better_number(claim_scores *scores, int claim, int metric, int method, int data) {
    return claim == CLAIM_LLC_VARIES_LEAST ? &scores->spread[metric][method][data]
                                           : &scores->score[metric][method][data];
}

/* How an exception names a pair with equal numbers: the row that should have the larger one first.
 */
static void name_pair(int claim, const int *pair, double value, char *text, size_t size) {
    bool spread = claim == CLAIM_LLC_VARIES_LEAST;
    const char *sign = spread ? "± " : "";
    snprintf(text, size, ": %s %s%.1f = %s %s%.1f", paper_methods[pair[spread]], sign, value,
             paper_methods[pair[!spread]], sign, value);
}

static void one_number_breaks_an_observation(void **state) {
    (void)state;
    claim_scores scores;
    claim_finding found;
    char words[128];
    for (int claim = 0; claim < CLAIM_OBSERVATIONS; claim++)
        for (int k = 0; k < expected[claim].n; k++)
            for (int metric = 0; metric < CLAIM_METRICS; metric++)
                for (int data = 0; data < 2; data++) {
                    const int *pair = expected[claim].pairs[k];
                    int all = expected[claim].n * 4;
                    make_scores(&scores);
                    claim_observe(&scores, (claim_observation)claim, &found);
                    assert_int_equal(found.n_checked, all);
                    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
                    assert_string_equal(found.exceptions, "");
                    /* The worse row becomes as good as the better one, but no better. */
                    *better_number(&scores, claim, metric, pair[1], data) =
                        *better_number(&scores, claim, metric, pair[0], data);
                    claim_observe(&scores, (claim_observation)claim, &found);
                    assert_int_equal(claim_judge(&found), CLAIM_BROKEN);
                    assert_true(found.n_kept < all);
                    name_pair(claim, pair, *better_number(&scores, claim, metric, pair[0], data),
                              words, sizeof words);
                    assert_non_null(strstr(found.exceptions, words));
                    assert_int_equal(count_parts(found.exceptions), all - found.n_kept);
                    assert_non_null(strstr(found.exceptions, data == 0 ? "ORL" : "USPS"));
                    assert_null(strstr(found.exceptions, data == 0 ? "USPS" : "ORL"));
                    assert_non_null(strstr(found.exceptions, metric == CLAIM_ACC ? "ACC" : "NMI"));
                    assert_null(strstr(found.exceptions, metric == CLAIM_ACC ? "NMI" : "ACC"));
                }
}

/* What is missing is not compared; without any number nothing has been tested. */
static void missing_numbers_are_not_compared(void **state) {
    (void)state;
    claim_scores scores;
    claim_finding found;
    make_scores(&scores);
    scores.score[CLAIM_NMI][LDA_SC][1] = NAN;
    claim_observe(&scores, CLAIM_LDA_ABOVE_PCA, &found);
    assert_int_equal(found.n_checked, 7);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    scores.n_sets = 0;
    claim_observe(&scores, CLAIM_LDA_ABOVE_PCA, &found);
    assert_int_equal(claim_judge(&found), CLAIM_UNTESTED);
}

/* ---- the published tables ------------------------------------------------------------------- */

static bool mentions(const claim_scores *scores, int claim, const char *text) {
    claim_finding found;
    claim_observe(scores, (claim_observation)claim, &found);
    return strstr(found.exceptions, text) != NULL;
}

/* Facts that anyone can read off the published tables. */
static void the_published_tables_contradict_some_claims(void **state) {
    (void)state;
    claim_scores scores;
    claim_finding found;
    claims_published(&scores);
    assert_true(mentions(&scores, CLAIM_REDUCTION_HELPS, "ORL ACC: pca-sc 67.8 < sc 72.7"));
    assert_true(mentions(&scores, CLAIM_REDUCTION_HELPS, "ORL ACC: lda-sc 68.3 < sc 72.7"));
    assert_true(mentions(&scores, CLAIM_LLC_SCORES, "ORL ACC: llc 71.5 < sc 72.7"));
    assert_true(mentions(&scores, CLAIM_LLC_SCORES, "BinAlpha ACC: llc 40.7 < sc 43.6"));
    assert_true(mentions(&scores, CLAIM_LLC_SCORES, "MSRA50 ACC: llc 48.1 < sc 52.3"));
    assert_true(mentions(&scores, CLAIM_LLC_SCORES, "USPS ACC: llc 63.9 < sc 64.3"));
    assert_true(mentions(&scores, CLAIM_LLC_SCORES, "YaleB ACC: llc 38.2 = lda-sc 38.2"));
    assert_true(mentions(&scores, CLAIM_LLC_VARIES_LEAST, "USPS ACC: sc ± 1.4 < llc ± 1.7"));
    claim_observe(&scores, CLAIM_SSC_BEST, &found);
    assert_string_equal(found.exceptions, "MSRA50 NMI: ssc 72.2 < pca-sc 72.4; "
                                          "MSRA50 NMI: ssc 72.2 < lda-sc 73.2; "
                                          "YaleB NMI: ssc 46.8 < sc 55.6");
    claim_observe(&scores, CLAIM_LDA_ABOVE_PCA, &found);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    assert_int_equal(found.n_checked, 32);
    claim_list_bold(&scores, &found);
    assert_int_equal(found.n_checked, 16);
    assert_string_equal(found.exceptions, "MSRA50 NMI: ssc 72.2 < lda-sc 73.2; "
                                          "YaleB NMI: ssc 46.8 < sc 55.6");
    scores.score[CLAIM_NMI][SSC][6] = 55.7;
    claim_list_bold(&scores, &found);
    assert_string_equal(found.exceptions, "MSRA50 NMI: ssc 72.2 < lda-sc 73.2");
}

/* ---- gamma ---------------------------------------------------------------------------------- */

static claim_finding check_gamma(const char *set, double at_one, double at_large) {
    const double gamma[] = {1e-3, 1, 1e3};
    const double acc[] = {40, at_one, at_large};
    claim_finding found = {0};
    claim_add_gamma(set, 3, gamma, acc, &found);
    return found;
}

/* A point less than the best still counts as the best; the two exceptions of the claim must be
 * further away. */
static void gamma_of_one_is_compared_with_the_best(void **state) {
    (void)state;
    claim_finding found = check_gamma("ORL", 60, 60.9);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    found = check_gamma("ORL", 60, 61.1);
    assert_int_equal(claim_judge(&found), CLAIM_BROKEN);
    assert_string_equal(found.exceptions, "ORL: 60.0 at gamma 1, 61.1 at 1000");
    found = check_gamma("USPS", 60, 60.9);
    assert_int_equal(claim_judge(&found), CLAIM_BROKEN);
    found = check_gamma("MSRA50", 60, 61.1);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    found = (claim_finding){0};
    claim_add_gamma("ORL", 1, (const double[]){1}, (const double[]){60}, &found);
    claim_add_gamma("ORL", 2, (const double[]){2, 3}, (const double[]){60, 70}, &found);
    assert_int_equal(claim_judge(&found), CLAIM_UNTESTED);
}

/* ---- convergence ---------------------------------------------------------------------------- */

static void a_rise_of_the_objective_is_counted(void **state) {
    (void)state;
    claim_finding found = {0};
    claim_add_descent("ORL", 4, (const double[]){4, 3, 3, 3 * (1 + 1e-9)}, &found);
    assert_int_equal(found.n_checked, 3);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    claim_add_descent("USPS", 4, (const double[]){4, 3, 3.0000001, 2}, &found);
    assert_int_equal(found.n_checked, 6);
    assert_int_equal(found.n_kept, 5);
    assert_string_equal(found.exceptions, "USPS: rises in 1 of 3 steps");
    found = (claim_finding){0};
    claim_add_descent("ORL", 3, (const double[]){4, NAN, 2}, &found);
    assert_int_equal(found.n_kept, 0);
    found = (claim_finding){0};
    claim_add_descent("ORL", 0, NULL, &found);
    assert_int_equal(claim_judge(&found), CLAIM_UNTESTED);
}

static void the_end_is_compared_with_the_bound(void **state) {
    (void)state;
    claim_finding found = {0};
    claim_add_optimum("ORL", 3, (const double[]){9, 5, 4.003}, 4, &found);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    claim_add_optimum("USPS", 3, (const double[]){9, 4, 4.005}, 4, &found);
    assert_int_equal(found.n_checked, 2);
    assert_int_equal(claim_judge(&found), CLAIM_BROKEN);
    assert_string_equal(found.exceptions, "USPS: 4.005 after 3 steps, optimum 4");
    found = (claim_finding){0};
    claim_add_optimum("ORL", 1, (const double[]){4}, 0, &found);
    claim_add_optimum("ORL", 0, NULL, 4, &found);
    assert_int_equal(claim_judge(&found), CLAIM_UNTESTED);
}

/* Thirty steps are looked at, or all of a shorter run. */
static void few_steps_must_come_near_the_optimum(void **state) {
    (void)state;
    claim_finding found = {0};
    double objective[40];
    for (int i = 0; i < 40; i++)
        objective[i] = i < 29 ? 8 : 4.03;
    claim_add_speed("ORL", 40, objective, 4, &found);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    objective[29] = 4.08;
    claim_add_speed("USPS", 40, objective, 4, &found);
    assert_int_equal(found.n_kept, 1);
    assert_string_equal(found.exceptions, "USPS: 2.0 % above the optimum after 30 steps");
    found = (claim_finding){0};
    claim_add_speed("ORL", 2, (const double[]){5, 4.01}, 4, &found);
    assert_int_equal(claim_judge(&found), CLAIM_KEPT);
    claim_add_speed("ORL", 2, (const double[]){5, 4.01}, 0, &found);
    assert_int_equal(found.n_checked, 1);
}

/* ---- a run ---------------------------------------------------------------------------------- */

/* All claims of a run; the caller frees them. */
static claim_list *find_all(const paper *p) {
    claim_list *list = claims_find(p);
    assert_non_null(list);
    return list;
}

static const claim_finding *finding_of(const claim_list *list, const char *words, int source) {
    for (int k = 0; k < CLAIM_LINES; k++)
        if (strstr(list->line[k].claim, words) != NULL)
            return &list->line[k].found[source];
    fail_msg("no claim has '%s'", words);
    return NULL;
}

/* The score of a method on all data sets, at all points of its grid. */
static void set_scores(paper *p, int entry, double acc, double nmi) {
    for (int i = 0; i < p->e.n_cells; i++)
        if (p->e.cells[i].entry == entry) {
            json_object_set_new(p->e.cells[i].record, "acc", json_real(acc));
            json_object_set_new(p->e.cells[i].record, "nmi", json_real(nmi));
        }
}

/* The tables of the grid and of the defaults are judged each by its own records. */
static void verdicts_follow_the_records(void **state) {
    (void)state;
    paper p;
    make_paper(&p, "unused");
    set_scores(&p, ENTRY_GRID + SSC, 0.99, 0.98);
    set_scores(&p, ENTRY_DEFAULT + SSC, 0.99, 0.01);
    claim_list *list = find_all(&p);
    assert_int_equal(claim_judge(finding_of(list, "consistently", CLAIM_OURS)), CLAIM_KEPT);
    const claim_finding *defaults = finding_of(list, "consistently", CLAIM_DEFAULTS);
    assert_int_equal(defaults->n_checked, 32);
    assert_int_equal(defaults->n_kept, 16);
    assert_int_equal(claim_judge(finding_of(list, "consistently", CLAIM_PUBLISHED)), CLAIM_BROKEN);
    free(list);
    /* One record of another method. Of equal numbers as shown neither is better. */
    for (int i = 0; i < p.e.n_cells; i++)
        if (p.e.cells[i].entry == ENTRY_GRID + KMEANS && p.e.cells[i].data == 1)
            json_object_set_new(p.e.cells[i].record, "acc", json_real(0.98999));
    list = find_all(&p);
    const claim_finding *ours = finding_of(list, "consistently", CLAIM_OURS);
    assert_int_equal(ours->n_kept, ours->n_checked - 1);
    assert_string_equal(ours->exceptions, "USPS ACC: ssc 99.0 = kmeans 99.0");
    free(list);
    paper_free(&p);
}

static void gamma_is_read_from_the_published_grid(void **state) {
    (void)state;
    paper p;
    make_paper(&p, "unused");
    set_scores(&p, ENTRY_GRID + SSC, 0.5, 0.5);
    for (int i = 0; i < p.e.n_cells; i++) {
        experiment_cell *cell = &p.e.cells[i];
        double gamma = number_of(cell->record, "gamma");
        /* To the letter there are three values of delta for each gamma, of which the best counts.
         */
        if (cell->entry == ENTRY_LETTER + SSC)
            json_object_set_new(cell->record, "acc",
                                json_real(cell->point % 3 != 1 ? 0.4
                                          : gamma == 1         ? 0.6
                                          : gamma == 1e-3      ? 0.8
                                                               : 0.5));
        if (cell->entry == ENTRY_GRID + SSC && cell->data == 1 && gamma == 1e3)
            json_object_set_new(cell->record, "acc", json_real(0.7));
    }
    claim_list *list = find_all(&p);
    const claim_finding *found = finding_of(list, "gamma = 1", CLAIM_OURS);
    assert_int_equal(found->n_checked, 2);
    assert_int_equal(claim_judge(found), CLAIM_KEPT);
    assert_int_equal(claim_judge(finding_of(list, "gamma = 1", CLAIM_PUBLISHED)), CLAIM_UNTESTED);
    const claim_finding *letter = finding_of(list, "gamma = 1", CLAIM_LETTER);
    assert_string_equal(letter->exceptions, "ORL: 60.0 at gamma 1, 80.0 at 0.001");
    assert_int_equal(letter->n_checked, 2);
    free(list);
    set_scores(&p, ENTRY_GRID + SSC, 0.5, 0.5); /* then gamma = 1 is as good on USPS as well */
    list = find_all(&p);
    assert_string_equal(finding_of(list, "gamma = 1", CLAIM_OURS)->exceptions,
                        "USPS: 50.0 at gamma 1, 50.0 at 1e-06");
    free(list);
    paper_free(&p);
}

/* Three steps of an iteration, and the bound that the default has proven. */
static void set_trace(paper *p, int entry, int point, double first, double last, double bound) {
    for (int i = 0; i < p->e.n_cells; i++)
        if (p->e.cells[i].entry == entry && p->e.cells[i].point == point)
            json_object_set_new(p->e.cells[i].record, "trace",
                                json_pack("{s:[f, f, f], s:[f, f]}", "objective", first,
                                          (first + last) / 2, last, "dual", bound / 2, bound));
}

/* The last objective as JSON has it that was not finite. */
static void remove_last(paper *p, int entry) {
    for (int i = 0; i < p->e.n_cells; i++)
        if (p->e.cells[i].entry == entry && p->e.cells[i].point == 0) {
            json_t *list =
                json_object_get(json_object_get(p->e.cells[i].record, "trace"), "objective");
            json_array_set_new(list, json_array_size(list) - 1, json_null());
        }
}

static void verdict_is(const paper *p, const char *words, claim_verdict expected_verdict) {
    claim_list *list = find_all(p);
    assert_int_equal(claim_judge(finding_of(list, words, CLAIM_LETTER)), expected_verdict);
    free(list);
}

static void convergence_is_read_from_the_traces(void **state) {
    (void)state;
    paper p;
    make_paper(&p, "unused");
    verdict_is(&p, "every step", CLAIM_UNTESTED);
    verdict_is(&p, "random starts", CLAIM_UNTESTED);
    verdict_is(&p, "G = F", CLAIM_UNTESTED);
    set_trace(&p, ENTRY_TRACE, 0, 9, 5.0001, 0); /* published */
    set_trace(&p, ENTRY_TRACE, 1, 7, 5, 4.9999); /* the default */
    set_trace(&p, ENTRY_PRINTED, 0, 80, 8, 1);
    verdict_is(&p, "every step", CLAIM_KEPT);
    verdict_is(&p, "converges to the global", CLAIM_KEPT);
    verdict_is(&p, "converges quickly", CLAIM_KEPT);
    verdict_is(&p, "as listed", CLAIM_BROKEN);
    verdict_is(&p, "random starts", CLAIM_KEPT);
    set_trace(&p, ENTRY_FROM_F, 0, 8, 8, 1);
    verdict_is(&p, "random starts", CLAIM_KEPT);
    verdict_is(&p, "G = F", CLAIM_BROKEN);
    set_trace(&p, ENTRY_PRINTED, 0, 80, 5, 1);
    verdict_is(&p, "as listed", CLAIM_KEPT);
    set_trace(&p, ENTRY_TRACE, 0, 4, 6, 0);
    verdict_is(&p, "every step", CLAIM_BROKEN);
    verdict_is(&p, "converges to the global", CLAIM_BROKEN);
    verdict_is(&p, "converges quickly", CLAIM_BROKEN);
    remove_last(&p, ENTRY_PRINTED);
    verdict_is(&p, "as listed", CLAIM_BROKEN);
    claim_list *list = find_all(&p);
    assert_int_equal(finding_of(list, "every step", CLAIM_LETTER)->n_checked, 4);
    assert_non_null(strstr(finding_of(list, "G = F", CLAIM_LETTER)->exceptions,
                           "ORL: 8 after 3 steps, optimum 4.9999"));
    free(list);
    paper_free(&p);
}

/* ---- output --------------------------------------------------------------------------------- */

static void every_output_has_the_verdicts(void **state) {
    (void)state;
    paper p;
    char cells[2][128];
    make_paper(&p, new_folder("claims"));
    assert_ok(paper_write_claims(&p));
    char *text = read_text(p.e.output, "claims.md");
    json_t *json = paper_claims(&p);
    claim_list *list = find_all(&p);
    assert_int_equal(json_array_size(json), CLAIM_LINES);
    for (int k = 0; k < CLAIM_LINES; k++) {
        const json_t *object = json_array_get(json, (size_t)k);
        assert_string_equal(text_of(object, "claim"), list->line[k].claim);
        for (int s = 0; s < CLAIM_SOURCES; s++) {
            const json_t *found = item_of(object, "findings", (size_t)s);
            const claim_finding *own = &list->line[k].found[s];
            assert_close(number_of(found, "compared"), own->n_checked, 0);
            assert_close(number_of(found, "as_claimed"), own->n_kept, 0);
            assert_string_equal(text_of(found, "exceptions"), own->exceptions);
            assert_string_equal(text_of(found, "verdict"), claim_word(s, claim_judge(own)));
            if (own->exceptions[0] != '\0')
                assert_non_null(strstr(text, own->exceptions));
        }
        snprintf(cells[0], sizeof cells[0], "\n| %d | ", k + 1);
        snprintf(cells[1], sizeof cells[1], "\n%d. ", k + 1);
        assert_non_null(strstr(text, cells[0]));
        assert_non_null(strstr(text, cells[1]));
    }
    assert_non_null(strstr(text, "| LDA is better than PCA | holds, 32 of 32 |"));
    assert_string_equal(claim_word(CLAIM_OURS, CLAIM_BROKEN), "not reproduced");
    assert_string_equal(claim_word(CLAIM_PUBLISHED, CLAIM_BROKEN),
                        "contradicted by its own tables");
    assert_string_equal(claim_word(CLAIM_OURS, CLAIM_KEPT), "confirmed");
    assert_string_equal(claim_word(CLAIM_DEFAULTS, CLAIM_UNTESTED), "not tested");
    json_decref(json);
    free(list);
    free(text);
    paper_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_breaks_an_observation),
        cmocka_unit_test(missing_numbers_are_not_compared),
        cmocka_unit_test(the_published_tables_contradict_some_claims),
        cmocka_unit_test(gamma_of_one_is_compared_with_the_best),
        cmocka_unit_test(a_rise_of_the_objective_is_counted),
        cmocka_unit_test(the_end_is_compared_with_the_bound),
        cmocka_unit_test(few_steps_must_come_near_the_optimum),
        cmocka_unit_test(verdicts_follow_the_records),
        cmocka_unit_test(gamma_is_read_from_the_published_grid),
        cmocka_unit_test(convergence_is_read_from_the_traces),
        cmocka_unit_test(every_output_has_the_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
