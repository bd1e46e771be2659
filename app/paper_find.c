/* Which of the published data sets a folder holds. */
#include "paper.h"

#include "output.h"
#include "talk.h"
#include "text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_data_name(const char *path) {
    static const char *const endings[] = {".csv", ".tsv", ".txt", ".dat",  ".data", ".npy",
                                          ".npz", ".mat", ".h5",  ".hdf5", ".hdf",  ".libsvm",
                                          ".svm", ".mtx", ".idx", ".gz",   NULL};
    struct stat place;
    const char *dot = strrchr(path, '.');
    if (stat(path, &place) != 0)
        return false;
    if (S_ISDIR(place.st_mode))
        return true;
    for (int i = 0; dot != NULL && endings[i] != NULL; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* "ORL_32x32.mat" is ORL's; a name as short as AR must end there: archive.csv is not AR's. */
static bool is_name_of(const char *name, const paper_set *set) {
    size_t length = strlen(set->prefix);
    if (strncasecmp(name, set->prefix, length) != 0)
        return false;
    return length > 3 || !isalpha((unsigned char)name[length]);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted names in the folder; ends with NULL. NULL, with errno, if it cannot be read. */
static char **list_names(const char *folder) {
    DIR *open = opendir(folder);
    size_t count = 0, room = 16;
    const struct dirent *entry;
    if (open == NULL)
        return NULL;
    char **names = must(malloc(room * sizeof *names));
    while ((entry = readdir(open)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (count + 2 > room)
            names = must(realloc(names, (room *= 2) * sizeof *names));
        names[count++] = must(strdup(entry->d_name));
    }
    closedir(open);
    qsort(names, count, sizeof *names, compare_names);
    names[count] = NULL;
    return names;
}

static void match_names(const char *folder, char **names, paper_found *found) {
    for (int s = 0; s < PAPER_SETS; s++)
        for (int i = 0; names[i] != NULL; i++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            if (!is_name_of(names[i], &paper_sets[s]) || !is_data_name(path))
                continue;
            if (found->file[s] == NULL)
                found->file[s] = must(strdup(path));
            else
                append_text(found->note[s], sizeof found->note[s], "%s%s",
                            found->note[s][0] == '\0' ? "the first by name is used, not " : ", ",
                            names[i]);
        }
}

/* ---- what the files hold -------------------------------------------------------------------- */

static void add_note(char *note, size_t size, const char *text) {
    append_text(note, size, "%s%s", note[0] == '\0' ? "" : "; ", text);
}

/* Training and test parts to be stacked, under the names they usually have. */
static bool read_stacked(huddle_context *context, const char *file, json_t *entry,
                         huddle_data *data) {
    static const char *const names[][2] = {
        {"data", "target"}, {"X", "y"}, {"x", "y"}, {"fea", "gnd"}, {"images", "labels"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char train_x[32], test_x[32], train_y[32], test_y[32];
        snprintf(train_x, sizeof train_x, "train/%s", names[i][0]);
        snprintf(test_x, sizeof test_x, "test/%s", names[i][0]);
        snprintf(train_y, sizeof train_y, "train/%s", names[i][1]);
        snprintf(test_y, sizeof test_y, "test/%s", names[i][1]);
        const char *x[] = {train_x, test_x}, *y[] = {train_y, test_y};
        huddle_read_options options = {.x = x, .n_x = 2, .y = y, .n_y = 2, .noise = HUDDLE_AUTO};
        if (huddle_data_read(context, file, &options, data) != HUDDLE_OK)
            continue;
        json_object_set_new(entry, "x", json_pack("[s, s]", train_x, test_x));
        json_object_set_new(entry, "y", json_pack("[s, s]", train_y, test_y));
        return true;
    }
    return false;
}

/* Letters only, 30 of each, from a file that has the ten figures before them. */
static bool cut_letters(const huddle_data *data, json_t *entry) {
    enum { FIGURES = 10, ALL = 36 };
    if (data->n_classes != ALL)
        return false;
    char list[1024] = "";
    if (data->classes_numeric)
        snprintf(list, sizeof list, "%s-%s", data->classes[FIGURES], data->classes[ALL - 1]);
    for (int k = FIGURES; k < ALL && !data->classes_numeric; k++)
        append_text(list, sizeof list, "%s%s", k == FIGURES ? "" : ",", data->classes[k]);
    json_object_set_new(entry, "classes", json_string(list));
    json_object_set_new(entry, "per_class", json_integer(30));
    return true;
}

/* The path as it is from any folder, for a plan that may be moved. */
static json_t *from_root(const char *path) {
    char full[8192] = "";
    if (path[0] != '/' && getcwd(full, sizeof full / 2) != NULL)
        append_text(full, sizeof full, "/");
    append_text(full, sizeof full, "%s", path);
    return text_json(full);
}

static void look_into(huddle_context *context, int s, paper_found *found) {
    huddle_data data = {0};
    huddle_read_options options = {.noise = HUDDLE_AUTO};
    char *note = found->note[s];
    size_t size = sizeof found->note[s];
    json_t *entry =
        json_pack("{s:s, s:o}", "name", paper_sets[s].name, "source", from_root(found->file[s]));
    bool read = huddle_data_read(context, found->file[s], &options, &data) == HUDDLE_OK;
    if (!read) {
        char sentence[400];
        snprintf(sentence, sizeof sentence, "%s", huddle_last_error());
        read = read_stacked(context, found->file[s], entry, &data);
        add_note(note, size, read ? "training and test part are stacked" : sentence);
    }
    if (read && data.labels == NULL)
        add_note(note, size, "it has no labels to score by");
    if (read && strcmp(paper_sets[s].name, "BinAlpha") == 0 && cut_letters(&data, entry))
        add_note(note, size, "cut to classes 11-36, the first 30 of each");
    if (read && data.labels != NULL)
        found->entry[s] = entry;
    else
        json_decref(entry);
    huddle_data_free(&data);
}

int paper_find(huddle_context *context, const char *folder, paper_found *found) {
    char **names = list_names(folder);
    int count = 0;
    if (names == NULL)
        return failed("%s: the folder of the data cannot be opened: %s", folder, strerror(errno));
    match_names(folder, names, found);
    for (int i = 0; names[i] != NULL; i++)
        free(names[i]);
    free(names);
    for (int s = 0; s < PAPER_SETS; s++) {
        if (found->file[s] == NULL)
            snprintf(found->note[s], sizeof found->note[s],
                     "not found; expected a file such as %s.mat: %s", paper_sets[s].name,
                     paper_sets[s].what);
        else
            look_into(context, s, found);
        count += found->entry[s] != NULL;
    }
    if (count > 0)
        return EXIT_DONE;
    for (int s = 0; s < PAPER_SETS; s++)
        note("%s: %s", paper_sets[s].name, found->note[s]);
    return failed("%s: none of the data sets is here", folder);
}

void paper_found_free(paper_found *found) {
    for (int s = 0; s < PAPER_SETS; s++) {
        free(found->file[s]);
        json_decref(found->entry[s]);
    }
    *found = (paper_found){0};
}
