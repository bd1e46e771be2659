/* How the tests divide rows among the members of a team. */
#ifndef HUDDLE_TESTS_GRAPH_DIVISIONS_H
#define HUDDLE_TESTS_GRAPH_DIVISIONS_H

#include "engines/team.h"
#include "support/support.h"

/* Shares of the rows of up to four members; 0: none, below 0: that many rows. */
typedef struct division {
    int members;
    double share[TEAM_MAX];
} division;

static const division divisions[] = {
    {1, {1}},
    {2, {.5, .5}},
    {2, {-2, 1}},
    {2, {1, 0}},
    {3, {.2, .5, .3}},
    {3, {.6, 0, .4}},
    {4, {.1, .4, .3, .2}},
    {4, {-1, .5, -3, .5}},
    {4, {0, .5, 0, .5}},
};
enum { N_DIVISIONS = sizeof divisions / sizeof *divisions };

static inline void divide(const division *by, int64_t n, int64_t *begins) {
    double sum = 0, fixed = 0, share = 0;
    for (int m = 0; m < by->members; m++) {
        sum += by->share[m] > 0 ? by->share[m] : 0;
        fixed += by->share[m] < 0 ? -by->share[m] : 0;
    }
    begins[0] = 0;
    for (int m = 0; m < by->members; m++) {
        share += by->share[m] < 0 ? -by->share[m] : by->share[m] / sum * ((double)n - fixed);
        begins[m + 1] = (int64_t)(share + .5);
    }
    assert_int_equal(begins[by->members], n);
}

#endif
