#include "output.h"

#include "cli/messages.h"
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without .npz and .mat, which would need a name for the array. */
const char *const label_endings[] = {".npy", ".csv", ".txt", NULL};

/* ---- places --------------------------------------------------------------------------------- */

/* A file is written under a temporary name beside its final place and then renamed, so the
 * folder must be writable, not the file. `target` is path without links. */
static int check_parent(const char *path, const char *target) {
    struct stat place;
    char folder[4096] = ".";
    size_t length = strlen(target);
    /* The part before the last slash; "." if there is none, "/" for a file in the root. */
    while (length > 1 && target[length - 1] == '/')
        length--;
    while (length > 0 && target[length - 1] != '/')
        length--;
    if (length > 0)
        snprintf(folder, sizeof folder, "%.*s", (int)(length > 1 ? length - 1 : 1), target);
    if (stat(folder, &place) != 0 || !S_ISDIR(place.st_mode))
        return failed("%s: folder '%s' does not exist", path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return failed("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_DONE;
}

/* Not a guarantee, since the disk may fill up during the computation, but it finds the usual
 * mistakes before it. */
static int check_file(const char *path) {
    struct stat place;
    char *target = NULL;
    bool exists = stat(path, &place) == 0;
    if (exists && S_ISDIR(place.st_mode))
        return failed("%s: is a folder", path);
    /* Devices and pipes are written directly, without a temporary file. */
    if (exists && !S_ISREG(place.st_mode))
        return access(path, W_OK) == 0 ? EXIT_DONE
                                       : failed("%s: cannot be written: %s", path, strerror(errno));
    if (huddle_file_target(path, &target) != HUDDLE_OK)
        return failed("%s", huddle_last_error());
    int result = check_parent(path, target);
    huddle_free(target);
    return result;
}

/* A folder that does not exist is created later, so only its parent is checked. */
static int check_folder(const char *path) {
    struct stat place;
    bool exists = stat(path, &place) == 0;
    if (!exists && lstat(path, &place) == 0) /* mkdir() does not follow it */
        return failed("%s: is a link that leads nowhere", path);
    if (!exists)
        return check_parent(path, path);
    if (!S_ISDIR(place.st_mode))
        return failed("%s: is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return failed("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_DONE;
}

/* ---- outputs of a command line -------------------------------------------------------------- */

/* A file or folder that will be written, and the word of the command line that asks for it. */
typedef struct written {
    char word[32];
    char *path; /* owned */
    bool is_folder, in_folder;
} written;

typedef struct written_list {
    written *items;
    int count, capacity;
} written_list;

/* The file `name` in a folder, or the path itself if name is NULL. */
static written *add_written(written_list *list, const char *word, const char *path,
                            const char *name) {
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 8;
        list->items =
            check_allocation(realloc(list->items, (size_t)list->capacity * sizeof *list->items));
    }
    written *item = &list->items[list->count++];
    *item = (written){.path = check_allocation(name == NULL ? strdup(path) : join_path(path, name)),
                      .in_folder = name != NULL};
    snprintf(item->word, sizeof item->word, "%s", word);
    return item;
}

/* One flag of the command, of which the last value counts; a folder with the files that are written
 * in it. */
static void add_flag(written_list *list, const cli_arguments *arguments, const cli_flag *flag,
                     const char *folder) {
    const char *path = argument(arguments, flag->name);
    char word[32];
    if (flag->letter != 0)
        snprintf(word, sizeof word, "-%c", flag->letter);
    else
        snprintf(word, sizeof word, "--%s", flag->name);
    if (flag->kind == FLAG_FOLDER && path == NULL)
        path = folder;
    if (path == NULL || flag->reads || (flag->kind != FLAG_FILE && flag->kind != FLAG_FOLDER))
        return;
    add_written(list, word, path, NULL)->is_folder = flag->kind == FLAG_FOLDER;
    for (const char *const *name = flag->files; name != NULL && *name != NULL; name++)
        add_written(list, word, path, *name);
}

static void list_written(written_list *list, const cli_arguments *arguments, const char *folder) {
    const cli_command *command = arguments->command;
    for (const flag_group *group = command->groups; group->flags != NULL; group++)
        for (const cli_flag *flag = group->flags; flag->kind != FLAG_END; flag++)
            add_flag(list, arguments, flag, folder);
    if (command->stream != NULL)
        add_written(list, "OUT", arguments->operands[command->max_operands - 1], NULL);
}

/* Replacing an input is nearly always a mistake, and the data would be gone. */
static int check_not_input(const cli_arguments *arguments, const written *item) {
    bool same = false;
    int n_read = arguments->n_operands - (arguments->command->stream != NULL);
    struct stat about;
    if (stat(item->path, &about) != 0) /* an input that does not exist cannot be lost */
        return EXIT_DONE;
    for (int i = 0; i < n_read; i++)
        same = same || huddle_file_same(item->path, arguments->operands[i]);
    for (int i = 0; i < arguments->n_settings; i++)
        if (arguments->settings[i].flag != NULL && arguments->settings[i].flag->reads)
            same = same || huddle_file_same(item->path, arguments->settings[i].value);
    if (!same)
        return EXIT_DONE;
    if (item->in_folder)
        return usage_error("%s: is an input and would be overwritten by %s; choose another folder",
                           item->path, item->word);
    return usage_error("%s: is also an input and would be overwritten; choose another file",
                       item->path);
}

/* Files of one folder have different names. */
static int check_distinct(const written_list *list, int k) {
    const written *item = &list->items[k];
    for (int i = 0; i < k; i++) {
        const written *before = &list->items[i];
        if (strcmp(item->word, before->word) != 0 &&
            (huddle_file_same(before->path, item->path) ||
             ((before->is_folder || item->is_folder) && strcmp(before->path, item->path) == 0)))
            return usage_error("%s: %s and %s would write the same file; choose another",
                               item->path, before->word, item->word);
    }
    return EXIT_DONE;
}

int outputs_check(const cli_arguments *arguments, const char *folder) {
    written_list list = {0};
    int result = EXIT_DONE;
    list_written(&list, arguments, folder);
    for (int k = 0; k < list.count && result == EXIT_DONE; k++)
        result = check_distinct(&list, k);
    for (int k = 0; k < list.count && result == EXIT_DONE; k++) {
        const written *item = &list.items[k];
        result = check_not_input(arguments, item);
        if (result == EXIT_DONE && item->is_folder)
            result = check_folder(item->path);
        else if (result == EXIT_DONE && !item->in_folder)
            result = check_file(item->path);
    }
    for (int k = 0; k < list.count; k++)
        free(list.items[k].path);
    free(list.items);
    return result;
}

/* ---- formats -------------------------------------------------------------------------------- */

/* The list of endings is assembled while searching; it is complete exactly if none matched. */
int output_check_ending(const char *path, const char *what, const char *const *endings) {
    char known[128] = "";
    if (path == NULL)
        return EXIT_DONE;
    /* An ending alone (".csv") is not a file name. */
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
