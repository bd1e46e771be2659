#include "views.h"

#include "cli/messages.h"
#include "cli/text.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int views_check(const cli_arguments *arguments) {
    static const char *const others[] = {"graph", "embedding", "classes", "per-class", NULL};
    const char *missing = argument(arguments, "missing");
    const char *other = argument_any(arguments, others);
    if (argument(arguments, "view") == NULL)
        return EXIT_DONE;
    if (other != NULL)
        return usage_error("--view and --%s cannot be combined", other);
    if (missing != NULL && strcmp(missing, "drop") == 0)
        return usage_error("--missing drop would leave out rows of one view only; --missing mean "
                           "and median keep all");
    return EXIT_DONE;
}

/* FILE, or FILE:ARRAY where there is no file of the whole name; :ARRAY is one of DATA. Changes
 * text. */
static const char *split_array(char *text, const char *source, const char **array) {
    char *colon = strrchr(text, ':');
    *array = NULL;
    if (colon == NULL || colon[1] == '\0' || access(text, F_OK) == 0)
        return text;
    *colon = '\0';
    *array = colon + 1;
    return colon == text ? source : text;
}

/* The flags that say how files are read apply to all of them; --x and --y are about DATA, but for
 * --y none. Labels in a view are found, and not used. */
static huddle_status read_view(huddle_context *context, const cli_arguments *arguments,
                               const char *file, const char *array, const double *shift,
                               int64_t n_shift, huddle_data *data) {
    static const char *const none[] = {"none"};
    const char *y = argument(arguments, "y");
    bool unlabelled = y != NULL && strcmp(y, "none") == 0;
    const huddle_read_options options = {.x = array != NULL ? &array : NULL,
                                         .n_x = array != NULL,
                                         .y = unlabelled ? none : NULL,
                                         .n_y = unlabelled,
                                         .transpose = argument(arguments, "transpose") != NULL,
                                         .missing = argument(arguments, "missing"),
                                         .encode = argument(arguments, "encode") != NULL,
                                         .header = argument(arguments, "header"),
                                         .gray = argument(arguments, "gray") != NULL,
                                         .image = "none", /* pages show the rows of DATA */
                                         .noise = HUDDLE_AUTO,
                                         .shift = shift,
                                         .n_shift = n_shift,
                                         .hints_as_flags = true};
    return huddle_data_read(context, file, &options, data);
}

/* Rows are compared at once, while the name of the file is known. */
static int read_one(huddle_context *context, const cli_arguments *arguments, const char *source,
                    const char *name, const huddle_model *model, view_list *views, int64_t v) {
    size_t size = strlen(name) + 1;
    char *text = check_allocation(malloc(size));
    const char *array;
    huddle_data *data = &views->data[v - 1];
    int64_t n_shift = 0, n = views->points[0].n;
    memcpy(text, name, size);
    const char *file = split_array(text, source, &array);
    const double *shift =
        model != NULL ? huddle_model_view_shift(model, (int32_t)v, &n_shift) : NULL;
    huddle_status status = read_view(context, arguments, file, array, shift, n_shift, data);
    int result = call_result(status, status == HUDDLE_NO_MEMORY ? file : NULL);
    if (result == EXIT_DONE && data->points.n != n)
        result = failed("--view %s: %lld rows, but %s has %lld", name, (long long)data->points.n,
                        source, (long long)n);
    views->points[v] = data->points;
    free(text);
    return result;
}

int views_read(huddle_context *context, const cli_arguments *arguments, const char *source,
               const huddle_data *first, const huddle_model *model, view_list *views) {
    int64_t count = 0;
    const char **names = argument_all(arguments, "view", &count);
    int result = EXIT_DONE;
    views->points = check_allocation(calloc((size_t)count + 1, sizeof *views->points));
    views->data = check_allocation(calloc((size_t)count + 1, sizeof *views->data));
    views->count = count + 1;
    views->points[0] = first->points;
    for (int64_t v = 1; v <= count && result == EXIT_DONE; v++)
        result = read_one(context, arguments, source, names[v - 1], model, views, v);
    free(names);
    return result;
}

void views_free(view_list *views) {
    for (int64_t v = 1; v < views->count; v++)
        huddle_data_free(&views->data[v - 1]);
    free(views->points);
    free(views->data);
}
