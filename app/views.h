/* Views: further files and arrays that describe the rows of DATA (--view). */
#ifndef HUDDLE_APP_VIEWS_H
#define HUDDLE_APP_VIEWS_H

#include "input.h"

#define VIEW_FLAG                                                                                  \
    {                                                                                              \
        "view", 0, FLAG_TEXT, "FILE",                                                              \
            "further features of the same rows, in the same order: another file, an array of a "   \
            "container as FILE:ARRAY, or of DATA itself as :ARRAY; repeat --view for more; "       \
            "labels "                                                                              \
            "are those of DATA",                                                                   \
            .repeats = true, .reads = true                                                         \
    }

/* The points of DATA, which belong to its owner, and of the views behind it. */
typedef struct view_list {
    huddle_points *points; /* count */
    huddle_data *data;     /* of the others: count - 1 */
    int64_t count;         /* 1 without --view */
} view_list;

/* Refuses flags that choose rows of DATA, of which the other views would not know. */
int views_check(const cli_arguments *arguments);

/* Reads them; source: DATA, which is `first`. model: its views' shifts are used, for new points; or
 * NULL. EXIT_DONE, or another status after a message. */
int views_read(huddle_context *context, const cli_arguments *arguments, const char *source,
               const huddle_data *first, const huddle_model *model, view_list *views);
void views_free(view_list *views);

#endif
