#define _XOPEN_SOURCE 700
/* The file that an output replaces or creates: links are kept, as by programs that open their
 * output, and the file that they lead to is written, also if it does not exist yet. */
#include "base/check.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the path up to its last slash. */
static int64_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : slash + 1 - path;
}

static huddle_status join(const char *begin, int64_t length, const char *rest, char **joined) {
    huddle_status status = HUDDLE_OK;
    int64_t size = (int64_t)strlen(rest) + 1;
    ALLOC(*joined, length + size);
    memcpy(*joined, begin, (size_t)length);
    memcpy(*joined + length, rest, (size_t)size);
done:
    return status;
}

/* Replaces *path, if it is a link, by the path in it, which is relative to the folder of the
 * link. */
static huddle_status follow_link(char **path, bool *followed) {
    huddle_status status = HUDDLE_OK;
    char *text = NULL, *next = NULL;
    ALLOC(text, PATH_MAX);
    ssize_t length = readlink(*path, text, PATH_MAX - 1);
    *followed = length >= 0;
    if (*followed) {
        text[length] = '\0';
        TRY(join(*path, text[0] == '/' ? 0 : folder_length(*path), text, &next));
        huddle_free(*path);
        *path = next;
    }
done:
    huddle_free(text);
    return status;
}

/* Resolves the links of the folder. One that does not exist is left for open() to report. */
static huddle_status resolve_folder(char **path) {
    huddle_status status = HUDDLE_OK;
    int64_t length = folder_length(*path);
    char *folder = NULL, *real = NULL, *next = NULL;
    TRY(join(*path, length, length == 0 ? "./" : "", &folder));
    real = realpath(folder, NULL);
    if (real == NULL)
        goto done;
    huddle_free(folder);
    folder = NULL;
    TRY(join(real, (int64_t)strlen(real), strcmp(real, "/") == 0 ? "" : "/", &folder));
    TRY(join(folder, (int64_t)strlen(folder), *path + length, &next));
    huddle_free(*path);
    *path = next;
done:
    free(real);
    huddle_free(folder);
    return status;
}

huddle_status huddle_file_target(const char *path, char **target) {
    enum { MAX_LINKS = 40 }; /* as in Linux */
    huddle_status status = HUDDLE_OK;
    struct stat about;
    bool followed = true;
    *target = NULL;
    char *real = realpath(path, NULL);
    /* A descriptor's link (/dev/fd/3) to a removed file exists, but leads nowhere. */
    if (real == NULL && (errno != ENOENT || stat(path, &about) == 0))
        FAIL(HUDDLE_IO, "%s: cannot be written: %s", path, strerror(errno));
    TRY(join("", 0, real != NULL ? real : path, target));
    for (int k = 0; k < MAX_LINKS && real == NULL && followed; k++)
        TRY(follow_link(target, &followed));
    if (real == NULL)
        TRY(resolve_folder(target));
done:
    free(real);
    if (status != HUDDLE_OK) {
        huddle_free(*target);
        *target = NULL;
    }
    return status;
}

bool huddle_file_same(const char *a, const char *b) {
    struct stat first, second;
    char *first_target = NULL, *second_target = NULL;
    bool first_exists = stat(a, &first) == 0, second_exists = stat(b, &second) == 0;
    if (first_exists && second_exists)
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    bool same = !first_exists && !second_exists &&
                huddle_file_target(a, &first_target) == HUDDLE_OK &&
                huddle_file_target(b, &second_target) == HUDDLE_OK &&
                strcmp(first_target, second_target) == 0;
    FREE(first_target, second_target);
    return same;
}
