/* The path of gamma of a page: progress and cancelling. */
#include "pages.h"

typedef struct seen_levels {
    int count, last, total, stop_at;
    double done;
} seen_levels;

static int watch(void *user, const char *stage, double done, double total) {
    seen_levels *seen = user;
    int level, of;
    if (sscanf(stage, "page: level %d of %d", &level, &of) != 2)
        return 0;
    assert_true(level >= seen->last && level <= of && done >= seen->done && done <= total);
    seen->count++;
    seen->last = level;
    seen->total = of;
    seen->done = done;
    return seen->stop_at > 0 && level >= seen->stop_at;
}

/* Progress is reported at most ten times per second, so only the first report is certain. */
static void test_progress(void **state) {
    fixture *f = *state;
    huddle_context *context = NULL;
    seen_levels seen = {0};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, watch, &seen);
    assert_ok(huddle_report_write(context, f->model, &f->x, NULL, f->page));
    assert_true(seen.count >= 1 && seen.total >= 12);
    seen = (seen_levels){.stop_at = 1};
    (void)remove(f->page);
    huddle_context_free(context);
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, watch, &seen);
    assert_refused(huddle_report_write(context, f->model, &f->x, NULL, f->page), HUDDLE_CANCELLED,
                   "cancelled");
    assert_null(fopen(f->page, "rb"));
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_progress)};
    return cmocka_run_group_tests_name("report_progress", tests, set_up, tear_down);
}
