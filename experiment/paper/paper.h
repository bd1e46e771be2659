/* The published experiments (Chang, Nie, Ma, Yang and Zhou, "A Convex Formulation for Spectral
 * Shrunk Clustering", AAAI 2015), run again on whichever of their data sets are available.
 *
 *     published.c   the published numbers
 *     datasets.c    which of the data sets a folder contains
 *     protocol.c    the published protocol as a plan
 *     paper.c       running it, and writing all files
 *     score_tables.c        cells of the tables, and the tables for people
 *     claims.c, claims_found.c, claims_output.c      verdicts on what the paper claims
 *     table_files.c, latex_tables.c, gamma_figure.c, convergence_figure.c, paper_page.c   output */
#ifndef HUDDLE_EXPERIMENT_PAPER_H
#define HUDDLE_EXPERIMENT_PAPER_H

#include "experiment/experiment.h"

/* ---- published numbers (published.c) -------------------------------------------------------- */

enum { PAPER_SETS = 8, PAPER_METHODS = 9, PAPER_SSC = PAPER_METHODS - 1 };

typedef struct paper_set {
    const char *name;     /* in tables */
    const char *prefix;   /* of the file's name, in any case */
    const char *contents; /* what to look for if it is missing */
    int n;                /* points */
} paper_set;

typedef struct paper_score {
    double mean, std; /* in per cent */
} paper_score;

extern const paper_set paper_sets[PAPER_SETS];
extern const char *const paper_methods[PAPER_METHODS]; /* Huddle's names, in the paper's order */

/* `metric`: "acc" or "nmi". */
const paper_score *paper_number(const char *metric, int method, int set);

/* ---- data sets (datasets.c) ----------------------------------------------------------------- */

/* Size of a note on a data set. */
enum { PAPER_NOTE_SIZE = 512 };

typedef struct paper_found {
    char *file[PAPER_SETS];    /* or NULL */
    json_t *entry[PAPER_SETS]; /* for a plan's data; NULL unless the file can be used */
    char note[PAPER_SETS][PAPER_NOTE_SIZE]; /* remarks, or what is expected; may be "" */
} paper_found;

/* Looks for the data sets in a folder. HUDDLE_INVALID if it contains none of them; the notes are
 * set in that case too. */
huddle_status paper_find(huddle_context *context, const char *folder, paper_found *found);
void paper_found_free(paper_found *found);

/* The note on data set s, as tables show it; false if there is none. */
bool paper_note(const paper_found *found, int s, char *text, size_t size);

/* The notes as an array of strings, "NAME: note". NULL without memory. */
json_t *paper_notes(const paper_found *found);

/* ---- the protocol (protocol.c) -------------------------------------------------------------- */

/* Entries of the plan's methods, in this order. */
enum {
    ENTRY_GRID = 0,                     /* + method: over the published grid */
    ENTRY_DEFAULT = PAPER_METHODS,      /* + method: no option set, no label used */
    ENTRY_PREPARED = 2 * PAPER_METHODS, /* ssc over preparations and gamma around n/c */
    ENTRY_FINE,                         /* ssc over a finer grid of gamma, points unchanged */
    ENTRY_FINE_AUTO,                    /* the same, points prepared by auto */
    ENTRY_ENDS,                         /* ssc at n/c with the two ends of gamma */
    ENTRY_ENDS_AUTO,
    ENTRY_TRACE,      /* ssc to the letter, gamma 1: by the published iteration, by the default */
    ENTRY_TRACE_OURS, /* ssc with our graphs, gamma n/c: by the same two */
    ENTRY_PRINTED,    /* ssc to the letter, gamma 1, by the algorithm as printed */
    ENTRY_FROM_F,     /* ssc to the letter, gamma 1, by the published iteration from G = F */
    ENTRY_LETTER,     /* + method: over the published grid, to the letter */
    N_ENTRIES = ENTRY_LETTER + PAPER_METHODS,
    ENTRY_RELATED = N_ENTRIES /* + k: default of a method that is not in the paper's experiments */
};

typedef struct paper_protocol {
    int n_init;   /* restarts of K-means */
    int n_seeds;  /* every block is run with the seeds 0 .. n_seeds - 1 */
    bool related; /* methods that are not in the paper's experiments, too */
} paper_protocol;

/* More rows than this the printed algorithm does not accept, whose matrix is dense. */
enum { PAPER_PRINTED_ROWS = 5000 };

/* The plan for these data sets. NULL without memory. */
json_t *paper_plan(const paper_found *found, const paper_protocol *protocol);

/* The methods that are not in the paper's experiments: how many, and their names. */
int paper_related_count(void);
const char *paper_related(int k);

/* ---- running and writing (paper.c) ---------------------------------------------------------- */

/* Start from {.e = {.output = ..., .alone = ...}}, and fill `found` by paper_find(). */
typedef struct paper {
    experiment e;
    paper_found found;
    int set[PAPER_SETS]; /* of each data set of the experiment: its index in paper_sets */
} paper;

/* Runs the protocol on the data sets found. */
huddle_status paper_run(huddle_context *context, const paper_protocol *protocol, paper *p);

/* Writes plan, results, tables, figures and the page to OUT; the page to `page`, unless that is
 * NULL. */
huddle_status paper_write(const paper *p, const char *page);
void paper_free(paper *p);

/* ---- output --------------------------------------------------------------------------------- */

/* Which numbers a table shows: over the published grid with our choices, at the point that the
 * labels choose; without labels; of ssc, over preparations too; over the published grid to the
 * letter; or of methods that are not in the paper's experiments, without labels. */
typedef enum table_kind { BY_ORACLE, BY_DEFAULT, BY_PREPARATION, BY_LETTER, BY_RELATED } table_kind;

/* One cell of a table, in per cent and rounded as shown, so that a reader who subtracts gets the
 * differences shown. */
typedef struct table_cell {
    bool missing;                    /* the fits failed */
    double ours, spread;             /* mean and sample deviation over the seeds */
    int n_seeds;                     /* spread means nothing for one */
    double mean, std;                /* of the single restarts */
    double published, published_std; /* NAN if there is no such number */
    char at[128];                    /* the grid point, or what the default chose; may be "" */
    char equal[160];                 /* "sc", if it has found the same clusters; may be "" */
    const char *refusal;             /* why it is missing, or NULL */
} table_cell;

table_cell paper_cell(const paper *p, const char *metric, table_kind kind, int method, int data);

/* A score, 0 .. 1, against gamma over the grid of an entry of ssc, at most `most` values of gamma
 * in the order of the grid; of several points with one gamma, which differ in delta, the best
 * counts. gamma is taken from the records, since the plan may give it as a multiple of n/c. Returns
 * how many; no entry (-1): none. */
int paper_read_gammas(const paper *p, int data, int entry, const char *metric, int most,
                      double *gamma, double *score);

/* The methods of a table: the first, the number after the last, and their names. The rows of
 * BY_RELATED are those of paper_related(). */
int paper_first_method(table_kind kind);
int paper_end_method(const paper *p, table_kind kind);
const char *paper_title(table_kind kind, int method, char *text, size_t size);

/* Whether a cell is bold: the best of its column, or what reaches the paper's number where ssc is
 * alone. */
bool paper_is_bold(const paper *p, const char *metric, table_kind kind, int data,
                   const table_cell *cell);

/* "ACC" or "NMI", and the number of the table in the paper. */
const char *paper_metric_title(const char *metric);
int paper_table_number(const char *metric);

/* The blocks that are shown side by side, in their order: the kind, a title, and what must be known
 * to read it. */
enum { PAPER_BLOCKS = 3 };
typedef struct paper_block {
    table_kind kind;
    const char *title, *lead;
} paper_block;
extern const paper_block paper_blocks[PAPER_BLOCKS];
extern const char paper_related_lead[], paper_prepared_lead[];

/* Text in one line, as messages and names of files may have several: line breaks become spaces, and
 * every character of `escaped` follows a backslash. */
void paper_write_line(FILE *out, const char *text, const char *escaped);

/* "71.5", or "-" where there is no number. */
const char *paper_number_text(double value, char *text, size_t size);

/* acc.* and nmi.* in OUT. */
huddle_status paper_write_tables(const paper *p);

/* A metric as LaTeX (latex_tables.c). */
void paper_write_latex(FILE *out, const paper *p, const char *metric);

/* The tables for people. */
void paper_print(const paper *p, FILE *out);

/* The page, with the two figures as SVG. */
huddle_status paper_write_page(const paper *p, char *const svg[2], const char *file);

#endif
