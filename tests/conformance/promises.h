/* What every method promises is checked for every method: PROMISE(check) makes a test all_CHECK out
 * of a function check(const char *method). */
#ifndef HUDDLE_TESTS_PROMISES_H
#define HUDDLE_TESTS_PROMISES_H

#include "huddle/methods.h"
#include "support/support.h"

static inline void check_all_methods(void (*check)(const char *method)) {
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++) {
        print_message("    %s\n", (*text)->name);
        check((*text)->name);
    }
}

#define PROMISE(check)                                                                             \
    static void all_##check(void **state) {                                                        \
        (void)state;                                                                               \
        check_all_methods(check);                                                                  \
    }

#endif
