#include "input.h"

#include "talk.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *const label_endings[] = {".npy", ".csv", ".txt", NULL};

static uint64_t seed_of(const app_arguments *arguments) {
    const char *text = argument(arguments, "seed");
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static bool is_generator(const char *source) {
    for (const char *const *kind = huddle_data_kinds(); *kind != NULL; kind++)
        if (strcmp(*kind, source) == 0 && strcmp(source, "digits") != 0)
            return true;
    return false;
}

/* Flags that mean nothing for this source are mistakes, not wishes. */
static int check_flags(const app_arguments *arguments, const char *source) {
    bool generator = is_generator(source);
    static const char *const for_files[] = {"x", "transpose", NULL};
    static const char *const for_generators[] = {"n", "noise", NULL};
    const char *const *misplaced = generator ? for_files : for_generators;
    for (; *misplaced != NULL; misplaced++)
        if (argument(arguments, *misplaced) != NULL)
            return usage_error("%s: --%s is for %s", source, *misplaced,
                               generator ? "files" : "generators");
    return EXIT_DONE;
}

int input_read(huddle_context *context, const app_arguments *arguments, const char *source,
               huddle_data *data) {
    huddle_read_options options = {.transpose = argument(arguments, "transpose") != NULL,
                                   .classes = argument(arguments, "classes"),
                                   .per_class = argument_count(arguments, "per-class", 0),
                                   .n = argument_count(arguments, "n", 0),
                                   .noise = argument_number(arguments, "noise", HUDDLE_AUTO),
                                   .seed = seed_of(arguments)};
    int result = check_flags(arguments, source);
    if (result != EXIT_DONE)
        return result;
    const char **x = argument_all(arguments, "x", &options.n_x);
    const char **y = argument_all(arguments, "y", &options.n_y);
    options.x = x;
    options.y = y;
    huddle_status status = huddle_data_read(context, source, &options, data);
    if (status != HUDDLE_OK)
        result = failed_call(status, source);
    free(x);
    free(y);
    return result;
}

void input_describe(const huddle_data *data, char *text, size_t size) {
    snprintf(text, size, "%lld point%s, %lld feature%s", (long long)data->points.n,
             plural(data->points.n), (long long)data->points.d, plural(data->points.d));
    if (data->labels != NULL)
        append_text(text, size, ", %d class%s", data->n_classes, data->n_classes == 1 ? "" : "es");
}

int output_check(const char *path) {
    struct stat place;
    char folder[4096];
    if (path == NULL)
        return EXIT_DONE;
    if (stat(path, &place) == 0 && S_ISDIR(place.st_mode))
        return failed("%s: is a folder", path);
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return EXIT_DONE;
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &place) != 0 || !S_ISDIR(place.st_mode))
        return failed("%s: there is no folder '%s'", path, folder);
    return EXIT_DONE;
}

int output_check_folder(const char *path) {
    struct stat place;
    if (path != NULL && stat(path, &place) == 0 && !S_ISDIR(place.st_mode))
        return failed("%s: is not a folder", path);
    return EXIT_DONE;
}

int output_check_ending(const char *path, const char *what, const char *const *endings) {
    char known[128] = "";
    if (path == NULL)
        return EXIT_DONE;
    size_t length = strlen(path);
    for (int i = 0; endings[i] != NULL; i++) {
        size_t own = strlen(endings[i]);
        if (length > own && strcasecmp(path + length - own, endings[i]) == 0)
            return EXIT_DONE;
        append_text(known, sizeof known, "%s%s",
                    i == 0                   ? ""
                    : endings[i + 1] == NULL ? " or "
                                             : ", ",
                    endings[i]);
    }
    return usage_error("%s: %s can be written as %s", path, what, known);
}
