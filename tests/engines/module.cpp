/* An engine in C++, for test_engines.c: the headers that an engine includes compile as C++, and what they
 * declare is what the library defines in C. */
#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"
#include "base/machine.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "engines/module.h"
#include "huddle/huddle.h"
#include "matrix/resident.h"
#include "shrink/linear.h"

namespace {

/* The test compares what the state holds with what it is in C. */
huddle_status open_engine(huddle_context *context, const char *options, void **state) {
    if (options[0] != '\0')
        return hd_fail(HUDDLE_INVALID, "no option '%s'", options);
    auto *sizes = static_cast<size_t *>(hd_alloc(2, sizeof(size_t)));
    if (sizes == nullptr)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the engine");
    sizes[0] = sizeof *context;
    sizes[1] = offsetof(huddle_context, pool);
    *state = sizes;
    return HUDDLE_OK;
}

const hd_engine engine = {
    .text = {MODULE_NAME, "for a test, in C++"}, .open = open_engine, .close = huddle_free};

}  // namespace

HD_ENGINE_MODULE(engine)
