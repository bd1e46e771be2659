/* Eigenvectors of a graph, and rows of the embedding. */
#ifndef HUDDLE_SRC_STEPS_EMBED_H
#define HUDDLE_SRC_STEPS_EMBED_H

#include "steps/options.h"

/* Columns of the embedding for n_clusters: one per cluster, two with row rule "commute". */
int64_t hd_spectral_count_columns(const char *row_rule, int32_t n_clusters);

/* The columns of F if one number of clusters is given, else 0. */
int64_t hd_spectral_count_given(const hd_spectral_options *options);

/* Eigenvectors to find: those of the columns; if there is a choice, one more than could be chosen,
 * for the eigengap after the last. Refinement needs those of commute rows. */
int32_t hd_spectral_count_vectors(const hd_spectral_options *options, huddle_range n_clusters,
                                  const hd_fit_rows *rows);

/* The eigenvectors of the fit's graph. */
huddle_status hd_spectral_find_vectors(huddle_context *context, const hd_spectral_options *options,
                                       huddle_range n_clusters, hd_fit *fit);

/* Measures their extents, for the eigengap rule. */
huddle_status hd_spectral_measure_extents(huddle_context *context, hd_fit *fit);

/* Makes embedding.f.rows for n_clusters out of the first vectors, or all if there are fewer than
 * columns; a given embedding stays. */
huddle_status hd_spectral_make_rows(const char *row_rule, int32_t n_clusters,
                                    hd_fit_embedding *embedding);

/* Applies a row rule to vectors; f may be vectors. degrees: NULL if all are 1, so that "rw" is
 * "sym". eigenvalues is needed for "commute" only, at least one per column of f. */
huddle_status hd_spectral_apply_rule(const char *rule, const huddle_dense *vectors,
                                     const double *degrees, const double *eigenvalues,
                                     huddle_dense *f);

/* Warns if the eigenvectors did not converge, could not be verified, or depend on an arbitrary
 * choice at the number of clusters asked for (with row rule "commute": after the last of them). */
void hd_spectral_warn_embedding(huddle_context *context, const huddle_embed_options *options,
                                const huddle_embed_info *info, huddle_range n_clusters);

#endif
