/* Conversion from double on rows that are distributed over processes: the shift is that of all
 * rows. */
#include "engines/team.h"
#include "support/support.h"

#include <math.h>

enum { N = 40, D = 4 };

typedef struct division {
    double values[N * D];
    int64_t begins[4];
    huddle_points points[3];
} division;

static huddle_status convert_part(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    int64_t begin = all->begins[rank], rows = all->begins[rank + 1] - begin;
    return huddle_points_from_double(context, rows, D, all->values + begin * D, D, 1,
                                     &all->points[rank]);
}

/* Columns: ordinary; narrow around a large mean; constant on the single row of the second member
 * but not elsewhere; constant and no float. The last member may have no rows at all. */
static void the_shift_is_that_of_all_rows(void **state) {
    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        division all = {.begins = {0, 25, 26, N}};
        huddle_points one;
        if (empty)
            all.begins[1] = all.begins[2] = N;
        for (int64_t i = 0; i < N; i++) {
            all.values[i * D] = sin((double)i);
            all.values[i * D + 1] = 1e7 + sin((double)i);
            all.values[i * D + 2] = 1e6 * (double)i;
            all.values[i * D + 3] = 0.1 + 1e6;
        }
        assert_ok(huddle_points_from_double(NULL, N, D, all.values, D, 1, &one));
        assert_true(one.shift[0] == 0 && one.shift[1] != 0 && one.shift[3] == 0.1 + 1e6);
        assert_ok(team_run(3, &team_engine, convert_part, &all));
        for (int m = 0; m < 3; m++) {
            for (int64_t j = 0; j < D; j++)
                assert_close(all.points[m].shift[j], one.shift[j], 1e-15);
            for (int64_t e = 0; e < all.points[m].n * D; e++)
                assert_close((double)all.points[m].values[e],
                             (double)one.values[all.begins[m] * D + e], 1e-6);
            huddle_points_free(&all.points[m]);
        }
        huddle_points_free(&one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_shift_is_that_of_all_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
