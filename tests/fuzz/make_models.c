/* make_models FOLDER: small fitted models of every kind, as seeds of fuzz_model. */
#include "base/rng.h"
#include "huddle/model.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 24, D = 4 };

static void check(huddle_status status) {
    if (status == HUDDLE_OK)
        return;
    fprintf(stderr, "make_models: %s\n", huddle_last_error());
    exit(1);
}

/* Two groups of points, some of which occur twice, so that rows are merged. */
static huddle_points make_points(void) {
    huddle_points x;
    check(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(3, (uint64_t)(i % 20));
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)hd_rng_below(&rng, 16) + (float)(i % 2 == 0 ? 0 : 40);
    }
    return x;
}

/* The same with three of four values stored. */
static huddle_points make_sparse(const huddle_points *x) {
    huddle_points y;
    int64_t count = 0;
    check(huddle_points_new_sparse(N, D, N * D, &y));
    for (int64_t e = 0; e < N * D; e++) {
        if (e % 4 != 0) {
            y.columns[count] = (int32_t)(e % D);
            y.values[count++] = x->values[e] + 1;
        }
        y.offsets[e / D + 1] = count;
    }
    return y;
}

static void make_model(const char *folder, const char *name, const char *method,
                       const char *prepare, const char *n_clusters, int32_t n_views,
                       const huddle_points *views) {
    char path[4096];
    huddle_model *model;
    check(huddle_model_new(method, &model));
    check(huddle_model_set_option(model, "n_clusters", n_clusters));
    check(huddle_model_set_option(model, "n_init", "2"));
    if (prepare != NULL)
        check(huddle_model_set_option(model, "prepare", prepare));
    huddle_model_keep_starts(model, true);
    check(huddle_model_fit_views(NULL, model, n_views, views));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check(huddle_model_save(model, path));
    huddle_model_free(model);
}

int main(int argc, char **argv) {
    static const char *const cases[][3] = {
        {"kmeans", NULL, "3"}, {"sc", "standard", "2-3"},   {"ssc", NULL, "2"},
        {"lsc", "ranks", "2"}, {"ncut", NULL, "auto"},      {"spls", NULL, "2"},
        {"llc", "pca:2", "2"}, {"mixture", NULL, "2"},      {"nsc", NULL, "2"},
        {"sec", NULL, "2"},    {"l1graph", NULL, "2"},      {"can", NULL, "2"},
        {"l1sc", NULL, "2"},   {"graphencoder", NULL, "2"},
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    huddle_points x = make_points(), sparse = make_sparse(&x);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        make_model(argv[1], cases[k][0], cases[k][0], cases[k][1], cases[k][2], 1, &x);
    make_model(argv[1], "sparse", "sc", "none", "2", 1, &sparse);
    const huddle_points views[] = {x, sparse};
    make_model(argv[1], "views", "sc", "none", "2", 2, views);
    make_model(argv[1], "chain", "rmsc", "none", "2", 2, views);
    huddle_points_free(&x);
    huddle_points_free(&sparse);
    return 0;
}
