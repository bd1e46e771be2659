/* The walk over structs of the stages that several parts contain. */
#include "fit/walk.h"

#include "base/options.h"

/* Contents are checked by the part that contains it. */
void hd_walk_distinct(hd_walk *walk, const char *name, huddle_distinct *distinct) {
    char part[HD_WALK_NAME];
    hd_walk_int(walk, hd_walk_join(part, name, "n"), &distinct->n);
    hd_walk_int(walk, hd_walk_join(part, name, "count"), &distinct->count);
    hd_walk_ints(walk, hd_walk_join(part, name, "of"), distinct->n, &distinct->of);
    hd_walk_longs(walk, hd_walk_join(part, name, "first"), distinct->count, &distinct->first);
    hd_walk_longs(walk, hd_walk_join(part, name, "copies"), distinct->count, &distinct->copies);
}

/* The arrays have d_in elements or are absent; the projection is checked against d_in and d_out
 * later. */
void hd_walk_preparation(hd_walk *walk, const char *name, huddle_preparation *p) {
    char part[HD_WALK_NAME];
    const huddle_option *option = huddle_option_find(huddle_prepare_options_table(), "prepare");
    hd_walk_choice(walk, hd_walk_join(part, name, "rule"), option, &p->rule.name);
    hd_walk_int32(walk, hd_walk_join(part, name, "r"), &p->rule.r);
    hd_walk_int(walk, hd_walk_join(part, name, "d_in"), &p->d_in);
    hd_walk_int(walk, hd_walk_join(part, name, "d_out"), &p->d_out);
    hd_walk_bool(walk, hd_walk_join(part, name, "center_rows"), &p->center_rows);
    hd_walk_bool(walk, hd_walk_join(part, name, "unit_rows"), &p->unit_rows);
    hd_walk_real(walk, hd_walk_join(part, name, "variance_kept"), &p->variance_kept);
    hd_walk_real(walk, hd_walk_join(part, name, "limit"), &p->limit);
    hd_walk_reals(walk, hd_walk_join(part, name, "centre"), p->d_in, &p->centre);
    hd_walk_reals(walk, hd_walk_join(part, name, "scale"), p->d_in, &p->scale);
    hd_walk_reals(walk, hd_walk_join(part, name, "shift"), p->d_in, &p->shift);
    hd_walk_dense(walk, hd_walk_join(part, name, "projection"), &p->projection);
    /* A file may contain any number. */
    bool in_range = p->d_in >= 0 && p->d_in < INT64_MAX;
    if (!in_range)
        hd_walk_fail(walk, hd_walk_join(part, name, "d_in"));
    hd_walk_longs(walk, hd_walk_join(part, name, "knot_offsets"), in_range ? p->d_in + 1 : 0,
                  &p->knot_offsets);
    hd_walk_dense(walk, hd_walk_join(part, name, "knots"), &p->knots);
}

void hd_walk_scale(hd_walk *walk, const char *name, huddle_scale *scale) {
    char part[HD_WALK_NAME];
    const huddle_option *option = huddle_option_find(huddle_weight_options_table(), "scale");
    hd_walk_choice(walk, hd_walk_join(part, name, "rule"), option, &scale->rule);
    hd_walk_real(walk, hd_walk_join(part, name, "delta2"), &scale->delta2);
    hd_walk_real(walk, hd_walk_join(part, name, "smallest"), &scale->smallest);
    hd_walk_row_count(walk, hd_walk_join(part, name, "n"), &scale->n);
    hd_walk_row_reals(walk, hd_walk_join(part, name, "local"), scale->n, &scale->local);
}
