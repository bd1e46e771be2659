/* The Gaussians of a mixture: what new points need besides the centres, and how well it fits. */
#include "fit/fit.h"

#include "base/check.h"

#include <string.h>

static const char *const covariances[] = {"full", "tied", "diagonal", "spherical", NULL};

/* Only models of this method have the members, so that files of others remain as they were. */
static void walk_mixture(hd_walk *walk, int32_t n_clusters, hd_fit_mixture *mixture) {
    if (walk->mode == HD_WALK_SAVE && mixture->covariance == NULL)
        return;
    if (walk->mode == HD_WALK_LOAD && hd_json_get(walk->values, "mixture_covariance") == NULL)
        return;
    hd_walk_choice(walk, "mixture_covariance", covariances, &mixture->covariance);
    hd_walk_bool(walk, "mixture_is_chosen", &mixture->is_chosen);
    hd_walk_reals(walk, "mixture_weights", n_clusters, &mixture->weights);
    hd_walk_dense(walk, "mixture_scales", &mixture->scales);
    hd_walk_real(walk, "mixture_log_likelihood", &mixture->log_likelihood);
    hd_walk_real(walk, "mixture_bic", &mixture->bic);
    hd_walk_real(walk, "mixture_n_parameters", &mixture->n_parameters);
    hd_walk_int32(walk, "mixture_n_floored", &mixture->n_floored);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_mixture(walk, fit->clusters.n_clusters, &fit->mixture);
}

/* The number of clusters is irrelevant when arrays are freed. */
void hd_fit_mixture_free(hd_fit_mixture *mixture) {
    hd_walk walk = {.mode = HD_WALK_FREE};
    walk_mixture(&walk, 0, mixture);
    memset(mixture, 0, sizeof *mixture);
}

/* Rows and columns of the scales as steps/mixture.h has them; every component has a mean. */
static huddle_status sizes_fit(const hd_fit *fit) {
    const hd_fit_mixture *m = &fit->mixture;
    const hd_fit_clusters *clusters = &fit->clusters;
    int64_t d = clusters->centres.cols, c = clusters->n_clusters;
    if (m->covariance == NULL)
        return HUDDLE_OK;
    if (m->weights == NULL || m->scales.values == NULL)
        return hd_fit_lacks("mixture_weights.npy or mixture_scales.npy");
    /* In a file with an embedding centres are compared with that elsewhere, not with the points. */
    HD_FIT_REQUIRE(clusters->centres.rows == c, "rows of centres.npy", clusters->centres.rows);
    HD_FIT_REQUIRE(d == hd_fit_prepared_columns(&fit->prepared), "columns of centres.npy", d);
    int64_t rows = strcmp(m->covariance, "full") == 0   ? c * d
                   : strcmp(m->covariance, "tied") == 0 ? d
                                                        : c;
    HD_FIT_REQUIRE(m->scales.rows == rows, "rows of mixture_scales.npy", m->scales.rows);
    HD_FIT_REQUIRE(m->scales.cols == (strcmp(m->covariance, "spherical") == 0 ? 1 : d),
                   "columns of mixture_scales.npy", m->scales.cols);
    return HUDDLE_OK;
}

static void write_mixture(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_mixture *m = &fit->mixture;
    if (m->covariance == NULL)
        return;
    hd_json_set_object(json, "mixture");
    hd_json_set_string(json, "covariance", m->covariance);
    hd_json_set_bool(json, "is_chosen", m->is_chosen);
    hd_json_set_real(json, "log_likelihood", m->log_likelihood);
    hd_json_set_real(json, "bic", m->bic);
    hd_json_set_real(json, "n_parameters", m->n_parameters);
    hd_json_set_integer(json, "n_floored", m->n_floored);
    hd_json_set_array(json, "weights");
    for (int32_t k = 0; k < fit->clusters.n_clusters; k++)
        hd_json_real(json, m->weights[k]);
    hd_json_close_array(json);
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_mixture = {
    .walk = walk_part, .fits = sizes_fit, .write_json = write_mixture};
