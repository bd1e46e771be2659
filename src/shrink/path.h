/* The tree of a path. */
#ifndef HUDDLE_SRC_SHRINK_PATH_H
#define HUDDLE_SRC_SHRINK_PATH_H

#include "huddle/path.h"

/* Sets fusions and n_fusions from n, the groups and the gammas of at least one level. */
huddle_status hd_shrink_find_fusions(huddle_path *path);

#endif
