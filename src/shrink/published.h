/* The iteration as it was published, for those who want to see what it does. See published.c. */
#ifndef HUDDLE_SRC_SHRINK_PUBLISHED_H
#define HUDDLE_SRC_SHRINK_PUBLISHED_H

#include "shrink/solve.h"

/* Rows that "printed" takes: its matrix is dense. */
enum { HD_SHRINK_PRINTED_ROWS = 5000 };

/* The values of the option shrink_start; ends with NULL. */
extern const char *const hd_shrink_start_names[];

/* Whether the solver of that name is "published" or "printed". */
bool hd_shrink_is_published(const char *solver);

/* HUDDLE_UNSUPPORTED if rows are distributed over processes, or if there are too many. To be called
 * before processes share anything, since all of them refuse at once. */
huddle_status hd_shrink_published_check(const huddle_context *context, const char *solver,
                                        int64_t n);

/* Solves by one of the two, and fills in out and info; Z is always computed. The edges of the input
 * are read. */
huddle_status hd_shrink_published(hd_shrink_solve *solve, huddle_shrunk *out);

#endif
