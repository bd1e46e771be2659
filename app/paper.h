/* huddle paper: the published experiments again, on whichever of their data sets are at hand. */
#ifndef HUDDLE_APP_PAPER_H
#define HUDDLE_APP_PAPER_H

#include "experiment.h"

/* ---- what was published (paper_numbers.c) -------------------------------------------------- */

enum { PAPER_SETS = 8, PAPER_METHODS = 9 };

typedef struct paper_set {
    const char *name;   /* in tables */
    const char *prefix; /* of a file's name, any case */
    const char *what;   /* what it holds, for those who look for it */
} paper_set;

typedef struct paper_score {
    double mean, std; /* in per cent */
} paper_score;

extern const paper_set paper_sets[PAPER_SETS];
extern const char *const paper_methods[PAPER_METHODS]; /* the tool's names */
extern const paper_score paper_acc[PAPER_METHODS][PAPER_SETS];
extern const paper_score paper_nmi[PAPER_METHODS][PAPER_SETS];

/* "acc" or "nmi". */
const paper_score *paper_number(const char *metric, int method, int set);

/* ---- what is there (paper_find.c) ----------------------------------------------------------- */

typedef struct paper_found {
    char *file[PAPER_SETS];     /* or NULL */
    json_t *entry[PAPER_SETS];  /* of a plan's data; NULL unless the file can be used */
    char note[PAPER_SETS][512]; /* what to know about it; may be "" */
} paper_found;

int paper_find(huddle_context *context, const char *folder, paper_found *found);
void paper_found_free(paper_found *found);

/* ---- the protocol (paper_protocol.c) -------------------------------------------------------- */

/* Entries of the plan, in this order; the first two stand for nine each. */
enum {
    ENTRY_GRID = 0,                     /* + method: over the published grid */
    ENTRY_DEFAULT = PAPER_METHODS,      /* + method: no option set, no label used */
    ENTRY_PREPARED = 2 * PAPER_METHODS, /* ssc over preparations and gamma around n/c */
    ENTRY_FINE,                         /* ssc over a finer gamma, points as they are */
    ENTRY_FINE_AUTO,                    /* the same, points prepared by auto */
    ENTRY_ENDS,                         /* ssc at n/c with the two ends of gamma */
    ENTRY_ENDS_AUTO,
    ENTRY_TRACE, /* ssc at gamma 1 and n/c, plain and accelerated */
    N_ENTRIES
};

/* The plan for these data sets; n_init restarts. */
json_t *paper_plan(const paper_found *found, int n_init);

/* Everything the outputs are made of. */
typedef struct paper {
    experiment e;
    paper_found found;
    int set[PAPER_SETS]; /* of each data set of the experiment */
} paper;

/* ---- outputs (paper_tables.c, paper_figures.c, paper_page.c) -------------------------------- */

/* acc.* and nmi.* in OUT. */
int paper_tables(const paper *p);

/* figure1.* and figure2.* in OUT; the SVG texts are handed out, to be freed. */
int paper_figures(const paper *p, char *svg[2]);

/* index.html in OUT, or `file`. */
int paper_page(const paper *p, char *const svg[2], const char *file);

/* Tables for people, on stdout. */
void paper_print(const paper *p);

/* Sets that are not there, and notes about those that are: an array of texts. */
json_t *paper_notes(const paper *p);

#endif
