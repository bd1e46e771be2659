/* Names that options have in other programs: accepted if they mean the same, else a reason to
 * suggest the option of this tool. */
#ifndef HUDDLE_CLI_SYNONYMS_H
#define HUDDLE_CLI_SYNONYMS_H

#include <stdbool.h>
#include <stddef.h>

/* The name to look up for what follows "--" (length characters): with dashes instead of
 * underscores, and the tool's own name for one of scikit-learn's. */
void flag_name(const char *word, size_t length, char *name, size_t size);

/* The option that others call so; NULL after the k-th and last. */
const char *name_synonym(const char *name, int k);
const char *letter_synonym(char letter, int k);

#endif
