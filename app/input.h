/* DATA: reading it as the flags say, and describing it. */
#ifndef HUDDLE_APP_INPUT_H
#define HUDDLE_APP_INPUT_H

#include "arguments.h"

#include <huddle/io.h>
#include <jansson.h>

/* Reads `source` with the input flags. EXIT_DONE, or another status after a sentence. */
int input_read(huddle_context *context, const app_arguments *arguments, const char *source,
               huddle_data *data);

/* "1797 points, 64 features, 10 classes". */
void input_describe(const huddle_data *data, char *text, size_t size);

/* EXIT_FAILED, after a sentence, if path's folder does not exist or path is a folder: better to
 * know before the work than after it. NULL is fine. */
int output_check(const char *path);

/* EXIT_FAILED, after a sentence, if path is there but is no folder. NULL is fine. */
int output_check_folder(const char *path);

/* EXIT_USAGE, after a sentence, if path does not end in one of the endings (".npy" ...; ends with
 * NULL). `what` says what is written: "labels". NULL is fine. */
int output_check_ending(const char *path, const char *what, const char *const *endings);

/* What labels can be written as. */
extern const char *const label_endings[];

#endif
