/* The registry of engines, how a context opens and closes one, and engines in shared objects. */
#define _GNU_SOURCE /* dladdr */
#include "base/context.h"
#include "base/engine.h"
#include "engines/module.h"
#include "support/support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
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
    /* The whole name up to a colon, and what follows it. */
    assert_refused(huddle_context_set_engine(context, "cp"), HUDDLE_UNSUPPORTED,
                   "no engine named 'cp'");
    assert_refused(huddle_context_set_engine(context, "cpus"), HUDDLE_UNSUPPORTED,
                   "no engine named 'cpus'");
    assert_ok(huddle_context_set_engine(context, "cpu:"));
    assert_ok(huddle_context_set_engine(context, "cpu"));
    assert_ptr_equal(hd_context_engine(context), &hd_engine_cpu);
    assert_ptr_equal(hd_context_engine(NULL), &hd_engine_cpu);
    /* Chosen by name or not at all: the same code runs, so the context must not differ. */
    assert_null(context->opened);
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

/* ---- shared objects -----------------------------------------------------------------------------
 */

/* Each by its name, and the same table again. */
static void engines_are_loaded_by_name(void **state) {
    (void)state;
    const hd_engine *first = NULL, *second = NULL, *third = NULL, *again = NULL;
    assert_int_equal(setenv("HUDDLE_ENGINE_PATH", ENGINES, 1), 0);
    assert_true(hd_engine_installed("first") && !hd_engine_installed("third"));
    assert_ok(hd_engine_load("first", &first));
    assert_ok(hd_engine_load("second", &second));
    assert_string_equal(first->text.name, "first");
    assert_string_equal(second->text.name, "second");
    assert_ok(hd_engine_load("first", &again));
    assert_ptr_equal(again, first);
    assert_refused(hd_engine_load("third", &third), HUDDLE_UNSUPPORTED, ENGINES "/third.so");
    /* An engine that was loaded stays, wherever others are looked for. */
    assert_int_equal(setenv("HUDDLE_ENGINE_PATH", "/nowhere", 1), 0);
    assert_ok(hd_engine_load("first", &first));
    assert_ptr_equal(first, again);
    assert_refused(hd_engine_load("third", &third), HUDDLE_UNSUPPORTED, "/nowhere/third.so");
    assert_int_equal(unsetenv("HUDDLE_ENGINE_PATH"), 0);
}

/* It has the same idea of the structs as the library, and calls it. */
static void an_engine_may_be_in_another_language(void **state) {
    (void)state;
    const hd_engine *plus = NULL;
    huddle_context *context;
    assert_int_equal(setenv("HUDDLE_ENGINE_PATH", ENGINES, 1), 0);
    assert_ok(hd_engine_load("plus", &plus));
    assert_int_equal(unsetenv("HUDDLE_ENGINE_PATH"), 0);
    assert_ok(huddle_context_new(&context));
    assert_refused(hd_context_use_engine(context, plus, "fast"), HUDDLE_INVALID,
                   "no option 'fast'");
    assert_ok(hd_context_use_engine(context, plus, ""));
    assert_string_equal(huddle_context_engine(context), "plus");
    const size_t *sizes = hd_context_engine_state(context);
    assert_int_equal(sizes[0], sizeof *context);
    assert_int_equal(sizes[1], offsetof(huddle_context, pool));
    huddle_context_free(context);
}

/* Without that variable they are beside the library, which is this program here. */
static void engines_are_beside_the_library(void **state) {
    (void)state;
    static const char anchor = 0;
    const hd_engine *engine = NULL;
    char path[4096];
    Dl_info program;
    assert_int_equal(unsetenv("HUDDLE_ENGINE_PATH"), 0);
    assert_true(dladdr(&anchor, &program) != 0);
    const char *name = strrchr(program.dli_fname, '/');
    int folder = name != NULL ? (int)(name - program.dli_fname) : 0;
    snprintf(path, sizeof path, "there is no %.*s%shuddle-engines/third.so", folder,
             program.dli_fname, name != NULL ? "/" : "");
    assert_refused(hd_engine_load("third", &engine), HUDDLE_UNSUPPORTED, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_are_found_by_name),
        cmocka_unit_test(an_engine_is_opened_and_closed_once),
        cmocka_unit_test(engines_are_loaded_by_name),
        cmocka_unit_test(an_engine_may_be_in_another_language),
        cmocka_unit_test(engines_are_beside_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
