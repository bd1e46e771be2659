#define _XOPEN_SOURCE 700 /* realpath() */
#include "output.h"

#include "cli/messages.h"
#include "cli/text.h"
#include "streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without .npz and .mat, which would need a name for the array. */
const char *const label_endings[] = {".npy", ".csv", ".txt", NULL};
const char *const data_endings[] = {".csv", ".tsv",  ".txt", ".npy",    ".npz", ".mat",
                                    ".h5",  ".hdf5", ".svm", ".libsvm", NULL};

/* Names of formats are endings without the dot. */
const char *const *stream_formats(void) {
    static const char *const names[] = {"csv", "tsv", "npy", "npz", "mat", "h5", "svm", NULL};
    return names;
}

int output_check_format(const cli_arguments *arguments, const char *path) {
    if (argument(arguments, "format") == NULL || streams_shown(path) != path)
        return EXIT_DONE;
    return usage_error("%s: --format is for stdout; the extension determines the format of a file",
                       path);
}

/* A file is written under a temporary name beside its final place and then renamed, so the
 * folder must be writable, not the file. */
static int check_parent(const char *path) {
    struct stat place;
    char folder[4096] = ".";
    size_t length = strlen(path);
    /* The part before the last slash; "." if there is none, "/" for a file in the root. */
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length > 0)
        snprintf(folder, sizeof folder, "%.*s", (int)(length > 1 ? length - 1 : 1), path);
    if (stat(folder, &place) != 0 || !S_ISDIR(place.st_mode))
        return failed("%s: folder '%s' does not exist", path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return failed("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_DONE;
}

/* Not a guarantee, since the disk may fill up during the computation, but it finds the usual
 * mistakes before it. */
int output_check(const char *path) {
    struct stat place;
    if (path == NULL)
        return EXIT_DONE;
    if (stat(path, &place) != 0)
        return check_parent(path);
    if (S_ISDIR(place.st_mode))
        return failed("%s: is a folder", path);
    if (!S_ISREG(
            place.st_mode)) /* devices and pipes are written directly, without a temporary file */
        return access(path, W_OK) == 0 ? EXIT_DONE
                                       : failed("%s: cannot be written: %s", path, strerror(errno));
    char *real = realpath(path, NULL); /* a link is kept; the file it leads to is replaced */
    int result = check_parent(real == NULL ? path : real);
    free(real);
    return result;
}

/* A folder that does not exist is created later, so only its parent is checked. */
int output_check_folder(const char *path) {
    struct stat place;
    if (path == NULL)
        return EXIT_DONE;
    if (stat(path, &place) != 0)
        return check_parent(path);
    if (!S_ISDIR(place.st_mode))
        return failed("%s: is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return failed("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_DONE;
}

/* By device and inode, so that different spellings and links are recognised. Devices are
 * excluded: /dev/null may be input and output. */
static bool same_file(const char *a, const char *b) {
    struct stat first, second;
    /* a == b is the same argument, not another file of that name. */
    return a != b && stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Replacing an input is nearly always a mistake, and the data would be gone. */
int output_check_not_input(const cli_arguments *arguments, const char *path) {
    bool same = false;
    if (path == NULL)
        return EXIT_DONE;
    for (int i = 0; i < arguments->n_operands; i++)
        same = same || same_file(path, arguments->operands[i]);
    for (int i = 0; i < arguments->n_settings; i++)
        if (arguments->settings[i].flag != NULL && arguments->settings[i].flag->reads)
            same = same || same_file(path, arguments->settings[i].value);
    if (same)
        return usage_error("%s: is also an input and would be overwritten; choose another file",
                           path);
    return EXIT_DONE;
}

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
