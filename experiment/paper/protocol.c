/* The protocol as a plan. As published: scalars in {1e-6, 1e-3, 1, 1e3, 1e6}, dimensions 10,
 * 20, ..., 150, k = 5, 50 restarts, no refinement of the labels; to the letter, and with our
 * choices where the paper leaves one. In addition: the defaults, which need no labels and refine,
 * finer grids, and methods that are not in the paper's experiments. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The grid of every regularisation parameter in the paper. */
static json_t *list_scalars(void) {
    return json_pack("[f, f, f, f, f]", 1e-6, 1e-3, 1.0, 1e3, 1e6);
}

/* The grid of dimensions in the paper. That of spls, which has gamma as well, is shorter. */
static json_t *list_dimensions(void) {
    json_t *list = json_array();
    for (int dim = 10; dim <= 150; dim += 10)
        json_array_append_new(list, json_integer(dim));
    return list;
}

/* Each method has the grid of its own parameter; K-means and spectral clustering have none. */
static json_t *published_grid(const char *method) {
    if (strncmp(method, "pca-", 4) == 0 || strncmp(method, "lda-", 4) == 0)
        return json_pack("{s:o}", "dim", list_dimensions());
    if (strcmp(method, "spls") == 0)
        return json_pack("{s:o, s:[s, i, i]}", "gamma", list_scalars(), "dim", "c", 50, 150);
    if (strcmp(method, "llc") == 0 || strcmp(method, "ssc") == 0)
        return json_pack("{s:o}", strcmp(method, "llc") == 0 ? "alpha" : "gamma", list_scalars());
    return NULL;
}

/* An entry of the published protocol, which has neither preparation nor refinement: the published
 * methods end with K-means. */
static json_t *make_published(const char *method) {
    static const char *const refined[] = {"sc", "llc", "ssc"};
    const char *refine = NULL;
    for (size_t k = 0; k < sizeof refined / sizeof *refined; k++)
        refine = strcmp(method, refined[k]) == 0 ? "none" : refine;
    return json_pack("{s:s, s:{s:s, s:s*}, s:o*}", "method", method, "options", "prepare", "none",
                     "refine", refine, "grid", published_grid(method));
}

/* To the letter: points as they are, weights exp(-d^2 / delta^2) with one delta, eigenvectors as
 * they are, a graph that may fall into components, and K-means from random rows. Three values of
 * delta: the mean distance of neighbours, 1.4 times the mean distance of all points, and no limit.
 * The paper's own range has no meaning without the unit of the points: on pixels up to 255
 * everything up to 1e-3 is as good as no weight at all and everything from 1e6 on as no limit. */
static json_t *letter_options(const char *method) {
    if (strcmp(method, "ssc") == 0)
        return json_pack("{s:s}", "preset", "published");
    json_t *options =
        json_pack("{s:s, s:s, s:b}", "prepare", "none", "init", "sample", "full_restarts", 1);
    if (strcmp(method, "llc") == 0 || strstr(method, "sc") != NULL)
        json_object_update_new(options, json_pack("{s:s, s:s}", "rows", "sym", "connect", "false"));
    if (strcmp(method, "llc") == 0 || strcmp(method, "sc") == 0)
        json_object_set_new(options, "refine", json_string("none"));
    if (strcmp(method, "sc") == 0)
        json_object_set_new(options, "duplicates", json_string("keep"));
    if (strcmp(method, "spls") == 0 || strcmp(method, "lda-sc") == 0)
        json_object_set_new(options, "scale", json_string("mean"));
    if (strcmp(method, "spls") == 0)
        json_object_set_new(options, "snap", json_false());
    if (strcmp(method, "lda-kmeans") == 0)
        json_object_set_new(options, "alternate", json_string("all"));
    return options;
}

/* The published grid, with delta, and with the ridge of LDA: 1e-3, our default, differs little from
 * 1e-6, and larger ones than 1 only make its directions principal components again. */
static json_t *letter_grid(const char *method) {
    json_t *grid = published_grid(method);
    bool is_kmeans = strstr(method, "kmeans") != NULL, is_lda = strncmp(method, "lda-", 4) == 0;
    if (grid == NULL && !is_kmeans)
        grid = json_object();
    if (!is_kmeans && !is_lda && strcmp(method, "spls") != 0)
        json_object_set_new(grid, "scale", json_pack("[s, s, s]", "mean", "global", "binary"));
    if (is_lda)
        json_object_set_new(grid, "ridge", json_pack("[f, f]", 1e-6, 1.0));
    return grid;
}

static json_t *make_letter(const char *method) {
    return json_pack("{s:s, s:s+, s:o, s:o*}", "method", method, "label", method, ", to the letter",
                     "options", letter_options(method), "grid", letter_grid(method));
}

/* The entries below have a label, since tables must distinguish entries of one method. */
static json_t *make_default(const char *method) {
    return json_pack("{s:s, s:s+}", "method", method, "label", method, ", default");
}

/* Chosen after a look at results, as docs/experiments.md explains: the best of 80 settings, 8
 * values of gamma times 10 preparations. An upper bound, never a default. */
static json_t *make_prepared(void) {
    json_t *gammas = json_pack("[s, s, s, s, s, s, s, s]", "0.1 n/c", "0.3 n/c", "n/c", "3 n/c",
                               "10 n/c", "100 n/c", "1000 n/c", "10000 n/c");
    json_t *rules =
        json_pack("[s, s, s, s, s, s, s, s, s, s]", "none", "unit", "center-rows", "center-columns",
                  "pca:20", "pca:40", "whiten:20", "whiten:40", "whiten:80", "whiten:150");
    return json_pack("{s:s, s:s, s:{s:o, s:o}, s:{s:s}, s:[i]}", "method", "ssc", "label",
                     "ssc, preparations and gamma", "grid", "gamma", gammas, "prepare", rules,
                     "options", "refine", "none", "seeds", 0);
}

/* A power of ten rounded to four digits: the plan stays readable, and its keys do not depend
 * on the last bit of pow(). */
static double round_power(double exponent) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", pow(10, exponent));
    return strtod(text, NULL);
}

/* Four values per decade where gamma has an effect, and the two ends of the published grid for
 * the whole range of the axis. */
static json_t *make_fine(const char *label, const char *prepare) {
    json_t *gammas = json_pack("[f]", 1e-6);
    for (int k = -4; k <= 20; k++)
        json_array_append_new(gammas, json_real(round_power(k / 4.0)));
    json_array_append_new(gammas, json_real(1e6));
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:o}, s:[i]}", "method", "ssc", "label", label,
                     "options", "prepare", prepare, "refine", "none", "grid", "gamma", gammas,
                     "seeds", 0);
}

/* Records gamma at the two ends, which the figure marks; the default gamma, because the ends do not
 * depend on it. */
static json_t *make_ends(const char *label, const char *prepare) {
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:[s], s:[i]}", "method", "ssc", "label", label,
                     "options", "prepare", prepare, "refine", "none", "keep", "ends", "seeds", 0);
}

/* What Figure 2 and the verdicts on convergence are made of: the objective of every step. A small
 * gap and a small change, so that the curves show the whole convergence; the labels are not used.
 * `solver` NULL is both solvers that are compared, in the order that convergence_figure.c expects.
 * The printed algorithm, which refuses more than PAPER_PRINTED_ROWS rows, is optional. Only the
 * iteration of the paper runs with all seeds, each of which is another random start. */
static json_t *make_trace(const char *label, bool to_the_letter, const char *solver,
                          const char *start) {
    json_t *options = json_pack("{s:f, s:f, s:i}", "gap", 1e-7, "shrink_tol", 1e-8, "n_init", 1);
    json_t *solvers =
        solver == NULL ? json_pack("[s, s]", "published", "auto") : json_pack("[s]", solver);
    bool is_printed = solver != NULL && strcmp(solver, "printed") == 0;
    json_object_set_new(options, "gamma", to_the_letter ? json_integer(1) : json_string("n/c"));
    if (to_the_letter)
        json_object_set_new(options, "preset", json_string("published"));
    else
        json_object_update_new(options,
                               json_pack("{s:s, s:s}", "prepare", "none", "refine", "none"));
    if (start != NULL)
        json_object_set_new(options, "shrink_start", json_string(start));
    json_t *entry = json_pack("{s:s, s:s, s:o, s:{s:o}, s:[s], s:b}", "method", "ssc", "label",
                              label, "options", options, "grid", "solver", solvers, "keep", "trace",
                              "optional", is_printed);
    if (!to_the_letter || solver != NULL)
        json_object_set_new(entry, "seeds", json_pack("[i]", 0));
    return entry;
}

/* ---- related work --------------------------------------------------------------------------- */

static bool is_in_paper(const char *method) {
    for (int m = 0; m < PAPER_METHODS; m++)
        if (strcmp(paper_methods[m], method) == 0)
            return true;
    return false;
}

/* In the order of the catalogue. */
const char *paper_related(int k) {
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++)
        if (!is_in_paper((*m)->name) && k-- == 0)
            return (*m)->name;
    return NULL;
}

int paper_related_count(void) {
    int count = 0;
    while (paper_related(count) != NULL)
        count++;
    return count;
}

/* Restarts of a method by default; 0 if it has none. */
static int default_restarts(const char *method) {
    huddle_model *model = NULL;
    const huddle_option *option = NULL;
    if (huddle_model_new(method, &model) == HUDDLE_OK)
        option = huddle_option_find(huddle_model_options(model), "n_init");
    int count = option == NULL ? 0 : (int)strtol(option->default_text, NULL, 10);
    huddle_model_free(model);
    return count;
}

/* Optional: some of these methods refuse many points, or points without several views. The plan's
 * number of restarts replaces no smaller default, such as the 5 of mixtures. */
static json_t *make_related(const char *method, int n_init) {
    json_t *entry = json_pack("{s:s, s:b}", "method", method, "optional", 1);
    int own = default_restarts(method);
    if (own > 0 && own < n_init)
        json_object_set_new(entry, "options", json_pack("{s:i}", "n_init", own));
    return entry;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static json_t *list_seeds(int n) {
    json_t *seeds = json_array();
    for (int k = 0; k < n; k++)
        json_array_append_new(seeds, json_integer(k));
    return seeds;
}

/* Entries are found by their position (ENTRY_* in paper.h), which the size check at the end
 * guards. */
json_t *paper_plan(const paper_found *found, const paper_protocol *protocol) {
    json_t *data = json_array(), *methods = json_array();
    for (int s = 0; s < PAPER_SETS; s++)
        if (found->entry[s] != NULL)
            json_array_append(data, found->entry[s]);
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, make_published(paper_methods[m]));
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, make_default(paper_methods[m]));
    json_array_append_new(methods, make_prepared());
    json_array_append_new(methods, make_fine("ssc, finer gamma", "none"));
    json_array_append_new(methods, make_fine("ssc, finer gamma, prepared", "auto"));
    json_array_append_new(methods, make_ends("ssc, ends of gamma", "none"));
    json_array_append_new(methods, make_ends("ssc, ends of gamma, prepared", "auto"));
    json_array_append_new(methods, make_trace("ssc, convergence to the letter", true, NULL, NULL));
    json_array_append_new(methods, make_trace("ssc, convergence at n/c", false, NULL, NULL));
    json_array_append_new(methods, make_trace("ssc, as printed", true, "printed", NULL));
    json_array_append_new(methods, make_trace("ssc, from G = F", true, "published", "embedding"));
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, make_letter(paper_methods[m]));
    if (json_array_size(methods) != N_ENTRIES) { /* entries are found by their place */
        json_decref(data);
        json_decref(methods);
        return NULL;
    }
    for (int k = 0; protocol->related && k < paper_related_count(); k++)
        json_array_append_new(methods, make_related(paper_related(k), protocol->n_init));
    return json_pack("{s:s, s:o, s:o, s:o, s:i}", "name", "The published experiments, repeated",
                     "data", data, "methods", methods, "seeds", list_seeds(protocol->n_seeds),
                     "n_init", protocol->n_init);
}
