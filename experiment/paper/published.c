/* The published numbers, from tables 2 and 3 of the paper: means and standard deviations in per
 * cent, one line for each method in the order of paper_methods, one column for each data set in the
 * order of paper_sets. */
#include "experiment/paper/paper.h"

#include <string.h>

/* The prefix is what file names begin with, in any case: MSRA50 is found under every name that
 * begins with MSRA. */
const paper_set paper_sets[PAPER_SETS] = {
    {"AR", "AR", "840 faces of 120 people"},
    {"JAFFE", "JAFFE", "213 faces of 10 people, 26 x 26"},
    {"ORL", "ORL", "400 faces of 40 people, 32 x 32"},
    {"UMIST", "UMIST", "564 or 575 faces of 20 people"},
    {"BinAlpha", "BinAlpha", "30 images of each of the 26 letters, 20 x 16"},
    {"MSRA50", "MSRA", "1799 faces of 12 people, 32 x 32"},
    {"YaleB", "YaleB", "2414 faces of 38 people, 32 x 32"},
    {"USPS", "USPS", "9298 digits, 16 x 16"},
};

const char *const paper_methods[PAPER_METHODS] = {
    "kmeans", "sc", "pca-kmeans", "pca-sc", "lda-kmeans", "lda-sc", "llc", "spls", "ssc"};

/* clang-format off */
static const paper_score paper_acc[PAPER_METHODS][PAPER_SETS] = {
    {{36.3, 1.4}, {75.6, 1.8}, {60.5, 1.8}, {41.3, 1.6}, {41.7, 1.1}, {46.2, 1.7}, {14.4, 1.5}, {65.4, 1.7}},
    {{41.6, 2.1}, {76.1, 1.6}, {72.7, 2.3}, {52.2, 1.4}, {43.6, 1.5}, {52.3, 1.8}, {34.8, 1.4}, {64.3, 1.4}},
    {{39.8, 1.8}, {75.8, 1.5}, {64.5, 2.3}, {48.8, 1.7}, {42.4, 1.5}, {56.0, 1.9}, {24.9, 1.8}, {69.4, 1.8}},
    {{43.2, 1.7}, {76.9, 1.8}, {67.8, 2.1}, {54.1, 1.9}, {44.3, 1.8}, {54.9, 1.6}, {36.8, 2.0}, {69.1, 1.5}},
    {{40.4, 1.5}, {76.5, 1.7}, {65.6, 2.6}, {49.7, 1.8}, {42.9, 1.7}, {56.4, 1.8}, {26.1, 1.8}, {70.1, 1.3}},
    {{44.5, 1.3}, {77.4, 1.9}, {68.3, 2.4}, {54.7, 1.5}, {45.1, 1.4}, {55.1, 1.7}, {38.2, 1.6}, {70.4, 1.5}},
    {{48.7, 1.6}, {78.6, 1.5}, {71.5, 2.2}, {63.3, 1.8}, {40.7, 1.8}, {48.1, 1.4}, {38.2, 1.5}, {63.9, 1.7}},
    {{49.2, 1.4}, {79.5, 2.1}, {74.2, 1.8}, {70.4, 1.6}, {48.5, 1.9}, {60.3, 1.3}, {47.3, 1.7}, {71.4, 1.6}},
    {{51.3, 1.5}, {81.2, 1.6}, {76.0, 1.6}, {71.1, 1.8}, {49.4, 1.3}, {63.2, 1.1}, {49.8, 1.6}, {75.5, 1.9}},
};

static const paper_score paper_nmi[PAPER_METHODS][PAPER_SETS] = {
    {{68.7, 3.0}, {79.4, 0.8}, {80.3, 1.8}, {64.4, 1.5}, {58.6, 1.4}, {56.7, 1.8}, {17.3, 1.5}, {67.3, 1.8}},
    {{71.3, 2.6}, {80.2, 0.9}, {85.8, 1.9}, {72.1, 1.7}, {59.7, 1.6}, {70.0, 1.6}, {55.6, 1.6}, {69.5, 1.6}},
    {{69.4, 2.8}, {79.8, 0.8}, {80.6, 1.6}, {68.2, 1.8}, {59.1, 1.8}, {60.3, 1.5}, {26.7, 1.8}, {73.1, 1.9}},
    {{70.3, 2.4}, {81.5, 1.3}, {86.3, 1.4}, {72.9, 1.5}, {60.6, 1.9}, {72.4, 1.8}, {38.6, 1.5}, {74.2, 1.8}},
    {{69.9, 1.9}, {82.1, 1.4}, {81.1, 2.1}, {68.8, 1.5}, {59.8, 1.6}, {61.1, 1.9}, {29.4, 1.6}, {75.1, 1.6}},
    {{70.8, 1.5}, {81.9, 0.9}, {86.8, 1.7}, {74.1, 2.0}, {61.3, 1.7}, {73.2, 1.6}, {39.9, 1.4}, {75.4, 1.7}},
    {{71.2, 2.4}, {82.5, 1.7}, {84.9, 1.5}, {77.3, 1.8}, {61.4, 1.9}, {66.2, 1.6}, {34.1, 1.3}, {67.5, 1.5}},
    {{72.4, 1.7}, {83.1, 2.1}, {87.2, 1.8}, {82.2, 1.6}, {63.6, 1.8}, {69.6, 1.8}, {41.4, 1.6}, {76.5, 1.8}},
    {{73.2, 1.4}, {84.3, 1.6}, {88.6, 1.5}, {84.1, 1.5}, {64.1, 1.4}, {72.2, 1.4}, {46.8, 1.3}, {79.8, 1.6}},
};
/* clang-format on */

const paper_score *paper_number(const char *metric, int method, int set) {
    return strcmp(metric, "acc") == 0 ? &paper_acc[method][set] : &paper_nmi[method][set];
}
