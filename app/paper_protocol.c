/* The protocol as a plan: scalars in {1e-6, 1e-3, 1, 1e3, 1e6}, dimensions 10, 20, ..., 150, k = 5,
 * 50 restarts, as published; and beside it what needs no labels, and our own grids. */
#include "paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *scalars(void) {
    return json_pack("[f, f, f, f, f]", 1e-6, 1e-3, 1.0, 1e3, 1e6);
}

static json_t *dimensions(void) {
    json_t *list = json_array();
    for (int dim = 10; dim <= 150; dim += 10)
        json_array_append_new(list, json_integer(dim));
    return list;
}

/* The published protocol has no preparation. */
static json_t *published(const char *method) {
    json_t *entry = json_pack("{s:s, s:{s:s}}", "method", method, "options", "prepare", "none");
    if (strncmp(method, "pca-", 4) == 0 || strncmp(method, "lda-", 4) == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "dim", dimensions()));
    else if (strcmp(method, "llc") == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "alpha", scalars()));
    else if (strcmp(method, "ssc") == 0)
        json_object_set_new(entry, "grid", json_pack("{s:o}", "gamma", scalars()));
    else if (strcmp(method, "spls") == 0)
        json_object_set_new(
            entry, "grid",
            json_pack("{s:o, s:[s, i, i]}", "gamma", scalars(), "dim", "c", 50, 150));
    return entry;
}

static json_t *labelled(const char *method, const char *what) {
    return json_pack("{s:s, s:s+}", "method", method, "label", method, what);
}

static json_t *over_preparations(void) {
    json_t *entry = labelled("ssc", ", preparations and gamma");
    json_t *gammas = json_pack("[s, s, s, s, s, s, s, s]", "0.1 n/c", "0.3 n/c", "n/c", "3 n/c",
                               "10 n/c", "100 n/c", "1000 n/c", "10000 n/c");
    json_t *rules =
        json_pack("[s, s, s, s, s, s, s, s, s, s]", "none", "unit", "center-rows", "center-columns",
                  "pca:20", "pca:40", "whiten:20", "whiten:40", "whiten:80", "whiten:150");
    json_object_set_new(entry, "grid", json_pack("{s:o, s:o}", "gamma", gammas, "prepare", rules));
    return entry;
}

/* A power of ten to four digits. */
static double short_power(double exponent) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", pow(10, exponent));
    return strtod(text, NULL);
}

/* Four values a decade where something happens, and the two ends of the published grid. */
static json_t *finer(const char *what, const char *prepare) {
    json_t *entry = labelled("ssc", what), *gammas = json_array();
    json_array_append_new(gammas, json_real(1e-6));
    for (int k = -4; k <= 20; k++)
        json_array_append_new(gammas, json_real(short_power(k / 4.0)));
    json_array_append_new(gammas, json_real(1e6));
    json_object_set_new(entry, "options", json_pack("{s:s}", "prepare", prepare));
    json_object_set_new(entry, "grid", json_pack("{s:o}", "gamma", gammas));
    return entry;
}

static json_t *ends(const char *what, const char *prepare) {
    json_t *entry = labelled("ssc", what);
    json_object_set_new(entry, "options", json_pack("{s:s}", "prepare", prepare));
    json_object_set_new(entry, "keep", json_pack("[s]", "ends"));
    return entry;
}

static json_t *traces(void) {
    json_t *entry = labelled("ssc", ", convergence");
    json_object_set_new(entry, "options", json_pack("{s:s, s:f}", "prepare", "none", "gap", 1e-6));
    json_object_set_new(
        entry, "grid",
        json_pack("{s:[i, s], s:[s, s]}", "gamma", 1, "n/c", "solver", "plain", "auto"));
    json_object_set_new(entry, "keep", json_pack("[s]", "trace"));
    return entry;
}

json_t *paper_plan(const paper_found *found, int n_init) {
    json_t *data = json_array(), *methods = json_array();
    for (int s = 0; s < PAPER_SETS; s++)
        if (found->entry[s] != NULL)
            json_array_append(data, found->entry[s]);
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, published(paper_methods[m]));
    for (int m = 0; m < PAPER_METHODS; m++)
        json_array_append_new(methods, labelled(paper_methods[m], ", default"));
    json_array_append_new(methods, over_preparations());
    json_array_append_new(methods, finer(", finer gamma", "none"));
    json_array_append_new(methods, finer(", finer gamma, prepared", "auto"));
    json_array_append_new(methods, ends(", ends of gamma", "none"));
    json_array_append_new(methods, ends(", ends of gamma, prepared", "auto"));
    json_array_append_new(methods, traces());
    return json_pack("{s:s, s:o, s:o, s:[i], s:i}", "name", "The published experiments again",
                     "data", data, "methods", methods, "seeds", 0, "n_init", n_init);
}
