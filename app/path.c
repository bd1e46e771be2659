/* huddle path: the shrink problem for every gamma. */
#include "fitting.h"
const app_command path_command = {.name = "path", .operands = "DATA"};
