/* Parts of a path that huddle_shrink_path() and huddle_shrink_path_coarse() share. */
#ifndef HUDDLE_SRC_SHRINK_PATH_H
#define HUDDLE_SRC_SHRINK_PATH_H

#include "huddle/path.h"

/* HUDDLE_INVALID unless the options are valid and the caller's gammas, if any, are positive and
 * ascend. */
huddle_status hd_shrink_check_grid(const huddle_path_options *options);

/* Sets fusions and n_fusions from n, the groups and the gammas of at least one level. */
huddle_status hd_shrink_find_fusions(huddle_path *path);

#endif
