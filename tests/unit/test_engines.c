/* The registry of engines, and how a context opens and closes one. */
#include "base/context.h"
#include "base/engine.h"
#include "support/support.h"

#include <string.h>

static int n_open;

static huddle_status open_counted(huddle_context *context, const char *options, void **state) {
    (void)context;
    if (strcmp(options, "broken") == 0)
        return HUDDLE_UNSUPPORTED;
    n_open++;
    *state = &n_open;
    return HUDDLE_OK;
}

static void close_counted(void *state) {
    assert_ptr_equal(state, &n_open);
    n_open--;
}

static const hd_engine counted = {
    .text = {"counted", "for this test"}, .open = open_counted, .close = close_counted};

static void engines_are_found_by_name(void **state) {
    (void)state;
    huddle_context *context;
    assert_string_equal(huddle_engines()[0]->name, "cpu");
    assert_ok(huddle_context_new(&context));
    assert_refused(huddle_context_set_engine(context, "abacus"), HUDDLE_UNSUPPORTED,
                   "no engine named 'abacus'");
    assert_refused(huddle_context_set_engine(context, "cpu:fast"), HUDDLE_INVALID,
                   "takes no options");
    assert_ok(huddle_context_set_engine(context, "cpu"));
    assert_ptr_equal(hd_context_engine(context), &hd_engine_cpu);
    assert_ptr_equal(hd_context_engine(NULL), &hd_engine_cpu);
    assert_string_equal(huddle_context_engine(context), "cpu");
    assert_string_equal(huddle_context_engine(NULL), "cpu");
    huddle_context_free(context);
}

static void an_engine_is_opened_and_closed_once(void **state) {
    (void)state;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &counted, ""));
    assert_int_equal(n_open, 1);
    assert_ptr_equal(hd_context_engine_state(context), &n_open);
    assert_string_equal(huddle_context_engine(context), "counted");
    assert_ok(hd_context_use_engine(context, &counted, "device=1"));
    assert_int_equal(n_open, 1);
    assert_string_equal(huddle_context_engine(context), "counted:device=1");
    /* A choice that fails leaves the engine as it was. */
    assert_refused(huddle_context_set_engine(context, "abacus"), HUDDLE_UNSUPPORTED, "abacus");
    assert_string_equal(huddle_context_engine(context), "counted:device=1");
    assert_int_equal(hd_context_use_engine(context, &counted, "broken"), HUDDLE_UNSUPPORTED);
    assert_ptr_equal(hd_context_engine(context), &counted);
    assert_ok(huddle_context_set_engine(context, "cpu"));
    assert_int_equal(n_open, 0);
    assert_ok(hd_context_use_engine(context, &counted, ""));
    huddle_context_free(context);
    assert_int_equal(n_open, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_are_found_by_name),
        cmocka_unit_test(an_engine_is_opened_and_closed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
