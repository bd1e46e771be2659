/* The protocol as a plan. As published: scalars in {1e-6, 1e-3, 1, 1e3, 1e6}, dimensions 10,
 * 20, ..., 150, k = 5, 50 restarts, no refinement of the labels. In addition: the defaults, which
 * need no labels and refine, and finer grids. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The grid of every regularisation parameter in the paper. */
static json_t *list_scalars(void) {
    return json_pack("[f, f, f, f, f]", 1e-6, 1e-3, 1.0, 1e3, 1e6);
}

/* The grid of every dimension in the paper. */
static json_t *list_dimensions(void) {
    json_t *list = json_array();
    for (int dim = 10; dim <= 150; dim += 10)
        json_array_append_new(list, json_integer(dim));
    return list;
}

/* Turns refinement off for the methods that have it: the published methods end with K-means. */
static void set_unrefined(json_t *entry) {
    static const char *const refined[] = {"sc", "llc", "ssc"};
    json_t *options = json_object_get(entry, "options");
    if (options == NULL) {
        options = json_object();
        json_object_set_new(entry, "options", options);
    }
    for (size_t k = 0; k < sizeof refined / sizeof *refined; k++)
        if (strcmp(json_string_value(json_object_get(entry, "method")), refined[k]) == 0)
            json_object_set_new(options, "refine", json_string("none"));
}

/* An entry of the published protocol, which has neither preparation nor refinement. Each method has
 * the grid of its own parameter; K-means and spectral clustering have none. */
static json_t *make_published(const char *method) {
    json_t *entry = json_pack("{s:s, s:{s:s}}", "method", method, "options", "prepare", "none");
    set_unrefined(entry);
    if (strncmp(method, "pca-", 4) == 0 || strncmp(method, "lda-", 4) == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "dim", list_dimensions()));
    else if (strcmp(method, "llc") == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "alpha", list_scalars()));
    else if (strcmp(method, "ssc") == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "gamma", list_scalars()));
    else if (strcmp(method, "spls") == 0)
        json_object_set_new(
            entry, "grid",
            json_pack("{s:o, s:[s, i, i]}", "gamma", list_scalars(), "dim", "c", 50, 150));
    return entry;
}

/* An entry whose label is the method's name with a suffix: tables must distinguish entries of
 * one method. */
static json_t *make_labelled(const char *method, const char *suffix) {
    return json_pack("{s:s, s:s+}", "method", method, "label", method, suffix);
}

/* Chosen after a look at results, as docs/experiments.md explains: the best of 80 settings, 8
 * values of gamma times 10 preparations. An upper bound, never a default. */
static json_t *make_prepared(void) {
    json_t *entry = make_labelled("ssc", ", preparations and gamma");
    json_t *gammas = json_pack("[s, s, s, s, s, s, s, s]", "0.1 n/c", "0.3 n/c", "n/c", "3 n/c",
                               "10 n/c", "100 n/c", "1000 n/c", "10000 n/c");
    json_t *rules =
        json_pack("[s, s, s, s, s, s, s, s, s, s]", "none", "unit", "center-rows", "center-columns",
                  "pca:20", "pca:40", "whiten:20", "whiten:40", "whiten:80", "whiten:150");
    json_object_set_new(entry, "grid", json_pack("{s:o, s:o}", "gamma", gammas, "prepare", rules));
    set_unrefined(entry);
    return entry;
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
static json_t *make_fine(const char *suffix, const char *prepare) {
    json_t *entry = make_labelled("ssc", suffix), *gammas = json_array();
    json_array_append_new(gammas, json_real(1e-6));
    for (int k = -4; k <= 20; k++)
        json_array_append_new(gammas, json_real(round_power(k / 4.0)));
    json_array_append_new(gammas, json_real(1e6));
    json_object_set_new(entry, "options", json_pack("{s:s}", "prepare", prepare));
    json_object_set_new(entry, "grid", json_pack("{s:o}", "gamma", gammas));
    set_unrefined(entry);
    return entry;
}

/* Records gamma at the two ends, which the figure marks; the default gamma, because the ends do not
 * depend on it. */
static json_t *make_ends(const char *suffix, const char *prepare) {
    json_t *entry = make_labelled("ssc", suffix);
    json_object_set_new(entry, "options", json_pack("{s:s}", "prepare", prepare));
    json_object_set_new(entry, "keep", json_pack("[s]", "ends"));
    set_unrefined(entry);
    return entry;
}

/* A small gap, so that the curves show the whole convergence. The order of the grid is that
 * which convergence_figure.c expects: gamma, then solver. */
static json_t *make_traces(void) {
    json_t *entry = make_labelled("ssc", ", convergence");
    json_object_set_new(entry, "options", json_pack("{s:s, s:f}", "prepare", "none", "gap", 1e-6));
    json_object_set_new(
        entry, "grid",
        json_pack("{s:[i, s], s:[s, s]}", "gamma", 1, "n/c", "solver", "plain", "auto"));
    json_object_set_new(entry, "keep", json_pack("[s]", "trace"));
    set_unrefined(entry);
    return entry;
}

/* Entries are found by their position (ENTRY_* in paper.h), which the size check at the end
 * guards. */
json_t *paper_plan(const paper_found *found, int n_init) {
    json_t *data = json_array(), *methods = json_array();
    for (int s = 0; s < PAPER_SETS; s++)
        if (found->entry[s] != NULL)
            json_array_append(data, found->entry[s]);
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, make_published(paper_methods[m]));
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, make_labelled(paper_methods[m], ", default"));
    json_array_append_new(methods, make_prepared());
    json_array_append_new(methods, make_fine(", finer gamma", "none"));
    json_array_append_new(methods, make_fine(", finer gamma, prepared", "auto"));
    json_array_append_new(methods, make_ends(", ends of gamma", "none"));
    json_array_append_new(methods, make_ends(", ends of gamma, prepared", "auto"));
    json_array_append_new(methods, make_traces());
    if (json_array_size(methods) != N_ENTRIES) { /* entries are found by their place */
        json_decref(data);
        json_decref(methods);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o, s:[i], s:i}", "name", "The published experiments, repeated",
                     "data", data, "methods", methods, "seeds", 0, "n_init", n_init);
}
