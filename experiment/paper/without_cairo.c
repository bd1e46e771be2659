/* Compiled in place of what draws and writes figures when HUDDLE_WITH_CAIRO is off. */
#include "experiment/paper/paper.h"

static huddle_status fail_without_cairo(void) {
    return set_error(HUDDLE_UNSUPPORTED,
                     "the published figures need cairo, which this build of Huddle was made "
                     "without; huddle from a Debian package or from source has it");
}

/* Before anything is computed, not when the figures are drawn at the end. */
huddle_status paper_run(huddle_context *context, const paper_protocol *protocol, paper *p) {
    (void)context, (void)protocol, (void)p;
    return fail_without_cairo();
}

huddle_status paper_write(const paper *p, const char *page) {
    (void)p, (void)page;
    return fail_without_cairo();
}
