/* An engine in a shared object of its own, for test_engines.c; it does nothing. Built under several
 * names. */
#include "engines/module.h"

static const hd_engine engine = {.text = {MODULE_NAME, "for a test"}};

HD_ENGINE_MODULE(engine)
