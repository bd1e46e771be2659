/* Input files that the library maps into memory: what happens if one of them becomes shorter while
 * the tool reads it. */
#ifndef HUDDLE_APP_MAPPED_H
#define HUDDLE_APP_MAPPED_H

#include "cli/arguments.h"

/* From now on such a fault ends the process with a message that names the file and with
 * EXIT_FAILED; incomplete outputs are removed. The names in arguments must stay valid. */
void mapped_watch(const cli_arguments *arguments);

/* Restores the default action, which is to abort. */
void mapped_unwatch(void);

#endif
