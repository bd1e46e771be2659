/* The claims of the paper as rules on numbers: what its tables and ours say to each of them.
 *
 * claims.c has the rules, which know nothing of files and records; claims_found.c applies them to
 * the published tables and to the results of a run, and claims_output.c writes what was found. */
#ifndef HUDDLE_EXPERIMENT_PAPER_CLAIMS_H
#define HUDDLE_EXPERIMENT_PAPER_CLAIMS_H

#include "experiment/paper/paper.h"

/* ---- rules (claims.c) ----------------------------------------------------------------------- */

enum { CLAIM_ACC, CLAIM_NMI, CLAIM_METRICS };

/* The tables that a rule looks at, in per cent as shown; NAN where a number is missing. */
typedef struct claim_scores {
    int n_sets;
    const char *set[PAPER_SETS];
    double score[CLAIM_METRICS][PAPER_METHODS][PAPER_SETS];
    double spread[CLAIM_METRICS][PAPER_METHODS][PAPER_SETS]; /* standard deviations */
} claim_scores;

/* What a rule found: how many comparisons it made, how many came out as claimed, and the others in
 * words, separated by semicolons. */
enum { CLAIM_TEXT = 8192 };
typedef struct claim_finding {
    int n_checked, n_kept;
    char exceptions[CLAIM_TEXT];
} claim_finding;

typedef enum claim_verdict { CLAIM_UNTESTED, CLAIM_KEPT, CLAIM_BROKEN } claim_verdict;

/* Broken by a single exception: the claims say "consistently", "each" and "the best". */
claim_verdict claim_judge(const claim_finding *finding);

/* The observations that the paper draws from its tables, in its order. The fourth, that LLC is the
 * most robust spectral variant, may mean its scores or their deviations: both are looked at. */
typedef enum claim_observation {
    CLAIM_SPECTRAL_ABOVE_KMEANS,
    CLAIM_REDUCTION_HELPS,
    CLAIM_LDA_ABOVE_PCA,
    CLAIM_LLC_SCORES,
    CLAIM_LLC_VARIES_LEAST,
    CLAIM_SPLS_SECOND,
    CLAIM_SSC_BEST,
    CLAIM_OBSERVATIONS
} claim_observation;

void claim_observe(const claim_scores *scores, claim_observation observation,
                   claim_finding *finding);

/* The cells in which the paper sets its own method in bold although another row is larger. */
void claim_list_bold(const claim_scores *published, claim_finding *finding);

/* The following add one data set to a finding. */

/* gamma = 1 is the best of the published grid but on MSRA50 and USPS; `acc` in per cent. */
void claim_add_gamma(const char *set, int n, const double *gamma, const double *acc,
                     claim_finding *finding);

/* No step raises the objective. Counts steps. */
void claim_add_descent(const char *set, int n, const double *objective, claim_finding *finding);

/* The last objective is the optimum, of which `bound` is a certified lower bound. */
void claim_add_optimum(const char *set, int n, const double *objective, double bound,
                       claim_finding *finding);

/* The objective is near the optimum after few steps. */
void claim_add_speed(const char *set, int n, const double *objective, double bound,
                     claim_finding *finding);

/* ---- what was found (claims_found.c) -------------------------------------------------------- */

/* Whose numbers: the paper's own, or those of one of our blocks of tables. */
enum { CLAIM_PUBLISHED, CLAIM_LETTER, CLAIM_OURS, CLAIM_DEFAULTS, CLAIM_SOURCES };
extern const char *const claim_sources[CLAIM_SOURCES];

typedef struct claim_line {
    const char *claim, *rule;
    claim_finding found[CLAIM_SOURCES];
} claim_line;

enum { CLAIM_LINES = CLAIM_OBSERVATIONS + 8 };

typedef struct claim_list {
    claim_line line[CLAIM_LINES];
    claim_finding bold; /* of the published tables */
} claim_list;

/* All claims and what this run says to them, freed by free(); NULL without memory. */
claim_list *claims_find(const paper *p);

/* The tables of the paper, all eight data sets. */
void claims_published(claim_scores *scores);

/* ---- output (claims_output.c) --------------------------------------------------------------- */

/* "contradicted by its own tables", "confirmed" and so on: the word for a verdict of a source. */
const char *claim_word(int source, claim_verdict verdict);

/* claims.md in OUT. */
huddle_status paper_write_claims(const paper *p);

/* A list of objects for --json. NULL without memory. */
json_t *paper_claims(const paper *p);

/* The section of the page. */
void paper_add_claims(report_page *page, const paper *p);

#endif
