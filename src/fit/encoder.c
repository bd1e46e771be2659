/* The layers of an encoder: what new points need besides the centres. */
#include "fit/fit.h"

#include "base/check.h"

#include <string.h>

/* As many layers as an option can have. */
enum { MAX_LAYERS = HUDDLE_MAX_NUMBERS };

/* Only models of this method have the members, so that files of others remain as they were. */
static void walk_encoder(hd_walk *walk, hd_fit_encoder *encoder) {
    if (walk->mode == HD_WALK_SAVE && encoder->n_layers == 0)
        return;
    if (walk->mode == HD_WALK_LOAD && hd_json_get(walk->values, "encoder_layers") == NULL)
        return;
    hd_walk_count(walk, "encoder_layers", MAX_LAYERS, &encoder->n_layers);
    hd_walk_ints(walk, "encoder_widths", encoder->n_layers, &encoder->widths);
    hd_walk_dense(walk, "encoder", &encoder->weights);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_encoder(walk, &fit->encoder);
}

void hd_fit_encoder_free(hd_fit_encoder *encoder) {
    hd_walk walk = {.mode = HD_WALK_FREE};
    walk_encoder(&walk, encoder);
    memset(encoder, 0, sizeof *encoder);
}

/* Every layer has the inputs that the one before it gives; the first has the rows of the fit, the
 * last gives those of the embedding. */
static huddle_status sizes_fit(const hd_fit *fit) {
    const hd_fit_encoder *e = &fit->encoder;
    int64_t inputs = fit->rows.n, rows = 0;
    if (e->n_layers == 0)
        return HUDDLE_OK;
    if (e->widths == NULL || e->weights.values == NULL)
        return hd_fit_lacks("encoder_widths.npy or encoder.npy");
    for (int32_t l = 0; l < e->n_layers; l++) {
        HD_FIT_REQUIRE(e->widths[l] >= 1 && e->widths[l] <= e->weights.cols, "encoder_widths.npy",
                       e->widths[l]);
        rows += inputs + 1;
        inputs = e->widths[l];
    }
    HD_FIT_REQUIRE(rows == e->weights.rows, "rows of encoder.npy", e->weights.rows);
    HD_FIT_REQUIRE(inputs == fit->embedding.f.rows.cols, "columns of embedding.npy",
                   fit->embedding.f.rows.cols);
    return HUDDLE_OK;
}

static void write_encoder(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_encoder *e = &fit->encoder;
    if (e->n_layers == 0)
        return;
    hd_json_set_object(json, "encoder");
    hd_json_set_array(json, "layers");
    for (int32_t l = 0; l < e->n_layers; l++)
        hd_json_integer(json, e->widths[l]);
    hd_json_close_array(json);
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_encoder = {
    .walk = walk_part, .fits = sizes_fit, .write_json = write_encoder};
