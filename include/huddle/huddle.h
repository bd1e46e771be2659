/* Huddle: spectral shrunk clustering. This header includes all others except huddle/report.h.
 *
 * Stages, in the order of the data flow. Each has one header, takes plain matrices, returns plain
 * matrices and can be used on its own:
 *
 *   huddle/io.h        files, the built-in digits, generators -> points and labels
 *   huddle/prepare.h   scaling, PCA, whitening                -> points
 *   huddle/graph.h     nearest neighbours, weights            -> a sparse graph
 *   huddle/embed.h     eigenvectors of its Laplacian          -> an embedding F
 *   huddle/shrink.h    convex shrinking with a certificate    -> shrunk rows G
 *   huddle/path.h      shrinking for a range of gamma         -> a tree of fusions
 *   huddle/kmeans.h    K-means with restarts                  -> labels
 *   huddle/metrics.h   scores with and without known classes
 *   huddle/refine.h    moves of vertices on the graph         -> better labels
 *
 * The simple interface, which runs the stages of a method chosen by name:
 *
 *   huddle/methods.h   the list of methods
 *   huddle/fit.h       results that belong to no single stage
 *   huddle/model.h     new, set_option, fit, labels, predict, save, load
 *
 * Used by all of them: huddle/matrix.h (the three containers) and huddle/base.h (status, context,
 * options).
 *
 * Libraries. libhuddle (pkg-config huddle, CMake huddle::huddle) contains everything except
 * huddle/io.h, which is in libhuddle-io (huddle-io, huddle::io), because readers have more
 * dependencies, and huddle/report.h, HTML reports of models, which is in libhuddle-report
 * (huddle-report, huddle::report).
 *
 * The core of a program (README.md has a complete one):
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
#include "huddle/refine.h"
#include "huddle/shrink.h"
#include "huddle/version.h"

#endif
