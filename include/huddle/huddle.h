/* Huddle: clustering by spectral shrinking. A one-page tour.
 *
 *   #include <huddle/huddle.h>
 *
 * The data flow, one header per stage; each stage takes plain matrices, returns plain matrices and
 * can be used alone:
 *
 *   huddle/io.h        files, the embedded digits, generators -> points and labels
 *   huddle/prepare.h   scaling, PCA, whitening                -> points
 *   huddle/graph.h     nearest neighbours, weights            -> a sparse graph
 *   huddle/embed.h     eigenvectors of its Laplacian          -> an embedding F
 *   huddle/shrink.h    the convex step, certified             -> shrunk rows G
 *   huddle/path.h      the same for every gamma               -> a tree of fusions
 *   huddle/kmeans.h    K-means with restarts                  -> labels
 *   huddle/metrics.h   scores with and without known classes
 *
 * and the simple interface, which runs them in order for a method chosen by name:
 *
 *   huddle/methods.h   what methods there are
 *   huddle/fit.h       results that belong to no single stage
 *   huddle/model.h     new, set_option, fit, labels, predict, save, load
 *
 * Below all of them: huddle/matrix.h (the three containers) and huddle/base.h (status, context,
 * options).
 *
 * The functions of huddle/io.h are in a library of their own, libhuddle-io, because readers need
 * more than the rest: link huddle-io (pkg-config) or huddle::io (CMake), which bring libhuddle with
 * them. Everything else is in libhuddle: huddle (pkg-config) or huddle::huddle (CMake). A whole
 * program:
 *
 *   huddle_data data;
 *   huddle_model *model;
 *   if (huddle_data_read(NULL, "digits", NULL, &data) != HUDDLE_OK ||
 *       huddle_model_new("ssc", &model) != HUDDLE_OK ||
 *       huddle_model_set_option(model, "n_clusters", "10") != HUDDLE_OK ||
 *       huddle_model_fit(NULL, model, &data.points) != HUDDLE_OK)
 *       fprintf(stderr, "%s\n", huddle_last_error());
 */
#ifndef HUDDLE_HUDDLE_H
#define HUDDLE_HUDDLE_H

#include "huddle/base.h"
#include "huddle/embed.h"
#include "huddle/fit.h"
#include "huddle/graph.h"
#include "huddle/io.h"
#include "huddle/kmeans.h"
#include "huddle/matrix.h"
#include "huddle/methods.h"
#include "huddle/metrics.h"
#include "huddle/model.h"
#include "huddle/path.h"
#include "huddle/prepare.h"
#include "huddle/shrink.h"
#include "huddle/version.h"

#endif
