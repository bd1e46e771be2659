/* Which of the published data sets a folder contains. */
#include "experiment/paper/paper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---------------------------------------------------------------------------------- */

/* A folder, or a file whose ending is that of a data format. README files and checksums beside
 * the data have the same prefixes. */
static bool is_data_file(const char *path) {
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

/* "ORL_32x32.mat" is ORL. After a prefix as short as AR no letter may follow: "archive.csv" is
 * not AR. */
static bool matches_set(const char *name, const paper_set *set) {
    size_t length = strlen(set->prefix);
    if (strncasecmp(name, set->prefix, length) != 0)
        return false;
    return length > 3 || !isalpha((unsigned char)name[length]);
}

/* Hidden files, "." and ".." are no data. */
static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Finds the first file of each set, and mentions the others in a note: silently choosing among
 * them could surprise. */
static huddle_status match_names(const char *folder, struct dirent *const *entries, int count,
                                 paper_found *found) {
    huddle_status status = HUDDLE_OK;
    for (int s = 0; s < PAPER_SETS; s++)
        for (int i = 0; i < count; i++) {
            char path[4096];
            const char *name = entries[i]->d_name;
            snprintf(path, sizeof path, "%s/%s", folder, name);
            if (!matches_set(name, &paper_sets[s]) || !is_data_file(path))
                continue;
            if (found->file[s] == NULL)
                TRY_POINTER(found->file[s] = strdup(path));
            else
                append_text(found->note[s], sizeof found->note[s], "%s%s",
                            found->note[s][0] == '\0' ? "the first by name is used, not " : ", ",
                            name);
        }
done:
    return status;
}

/* ---- contents ------------------------------------------------------------------------------- */

/* Several notes on one data set are separated by semicolons. */
static void add_note(char *note, size_t size, const char *text) {
    append_text(note, size, "%s%s", note[0] == '\0' ? "" : "; ", text);
}

/* Reads training and test parts, which are concatenated, under their conventional names. */
static bool read_parts(huddle_context *context, const char *file, json_t *entry,
                       huddle_data *data) {
    static const char *const names[][2] = {
        {"data", "target"}, {"X", "y"}, {"x", "y"}, {"fea", "gnd"}, {"images", "labels"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char parts[4][32];
        for (int k = 0; k < 4; k++)
            snprintf(parts[k], sizeof parts[k], "%s/%s", k % 2 == 0 ? "train" : "test",
                     names[i][k / 2]);
        const char *x[] = {parts[0], parts[1]}, *y[] = {parts[2], parts[3]};
        huddle_read_options options = {.x = x, .n_x = 2, .y = y, .n_y = 2, .noise = HUDDLE_AUTO};
        /* The next pair of names is tried. */
        if (huddle_data_read(context, file, &options, data) != HUDDLE_OK)
            continue;
        json_object_set_new(entry, "x", json_pack("[s, s]", x[0], x[1]));
        json_object_set_new(entry, "y", json_pack("[s, s]", y[0], y[1]));
        return true;
    }
    return false;
}

/* Selects the letters if the file has the ten digits before them, and of classes with more than 30
 * points a random 30, as the paper does. Classes are sorted, so that digits come first in either
 * coding. Returns how many points are left. */
static int64_t select_letters(const huddle_data *data, json_t *entry, char *note, size_t size) {
    enum { N_DIGITS = 10, N_ALL = 36, PER_CLASS = 30 };
    bool all = data->n_classes == N_ALL, draw = false;
    int first = all ? N_DIGITS : 0;
    int64_t counts[N_ALL] = {0}, n = 0;
    if (data->n_classes > N_ALL) /* something else */
        return data->points.n;
    for (int64_t i = 0; i < data->points.n; i++)
        if (data->labels[i] >= first)
            counts[data->labels[i]]++;
    for (int k = first; k < data->n_classes; k++) {
        draw = draw || counts[k] > PER_CLASS;
        n += counts[k] < PER_CLASS ? counts[k] : PER_CLASS;
    }
    if (draw) {
        json_object_update_new(
            entry, json_pack("{s:i, s:b, s:i}", "per_class", PER_CLASS, "draw", 1, "seed", 0));
        add_note(note, size, "30 points of each class are drawn at random, with seed 0");
    }
    if (!all)
        return n;
    add_note(note, size, "reduced to classes 11-36");
    char list[1024] = "";
    if (data->classes_numeric)
        snprintf(list, sizeof list, "%s-%s", data->classes[N_DIGITS], data->classes[N_ALL - 1]);
    for (int k = N_DIGITS; k < N_ALL && !data->classes_numeric; k++)
        append_text(list, sizeof list, "%s%s", k == N_DIGITS ? "" : ",", data->classes[k]);
    json_object_set_new(entry, "classes", json_string(list));
    return n;
}

/* The absolute path, because the plan is written to OUT and may be run from elsewhere. */
static json_t *make_absolute(const char *path) {
    char full[8192] = "";
    if (path[0] != '/' && getcwd(full, sizeof full / 2) != NULL)
        append_text(full, sizeof full, "/");
    append_text(full, sizeof full, "%s", path);
    return page_text(full);
}

/* Reads the file to see whether it can be used, and how. The message is copied, since trying
 * other names overwrites it. A file without labels is of no use: the protocol scores. */
static void inspect_file(huddle_context *context, int s, paper_found *found) {
    huddle_data data = {0};
    huddle_read_options options = {.noise = HUDDLE_AUTO};
    char *note = found->note[s];
    size_t size = sizeof found->note[s];
    json_t *entry = json_pack("{s:s, s:o}", "name", paper_sets[s].name, "source",
                              make_absolute(found->file[s]));
    bool read = huddle_data_read(context, found->file[s], &options, &data) == HUDDLE_OK;
    /* Without conventional names at the top level, training and test parts are tried. */
    if (!read) {
        char message[400];
        snprintf(message, sizeof message, "%s", huddle_last_error());
        read = read_parts(context, found->file[s], entry, &data);
        add_note(note, size, read ? "training and test parts are concatenated" : message);
    }
    int64_t n = data.points.n;
    if (read && data.labels == NULL)
        add_note(note, size, "it has no labels to score against");
    else if (read && strcmp(paper_sets[s].name, "BinAlpha") == 0)
        n = select_letters(&data, entry, note, size);
    if (read && n != paper_sets[s].n) {
        char text[64];
        snprintf(text, sizeof text, "%lld points, the paper's has %d", (long long)n,
                 paper_sets[s].n);
        add_note(note, size, text);
    }
    if (read && data.labels != NULL)
        found->entry[s] = entry;
    else
        json_decref(entry);
    huddle_data_free(&data);
}

static huddle_status find_sets(huddle_context *context, const char *folder, paper_found *found) {
    huddle_status status = HUDDLE_OK;
    struct dirent **entries = NULL;
    /* Sorted, so that the choice among several files does not depend on the file system. */
    int count = scandir(folder, &entries, is_visible, alphasort), n_usable = 0;
    if (count < 0)
        return set_error(HUDDLE_IO, "%s: the folder cannot be opened: %s", folder, strerror(errno));
    TRY(match_names(folder, entries, count, found));
    for (int s = 0; s < PAPER_SETS; s++) {
        if (found->file[s] == NULL)
            snprintf(found->note[s], sizeof found->note[s],
                     "not found; expected a file such as %s.mat: %s", paper_sets[s].name,
                     paper_sets[s].contents);
        else
            inspect_file(context, s, found);
        n_usable += found->entry[s] != NULL;
    }
    if (n_usable == 0)
        status = set_error(HUDDLE_INVALID, "%s: none of the data sets was found", folder);
done:
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status;
}

bool paper_note(const paper_found *found, int s, char *text, size_t size) {
    bool unusable = found->file[s] != NULL && found->entry[s] == NULL;
    snprintf(text, size, "%s%s", unusable ? "not used; " : "", found->note[s]);
    return text[0] != '\0';
}

json_t *paper_notes(const paper_found *found) {
    json_t *notes = json_array();
    for (int s = 0; s < PAPER_SETS; s++) {
        char note[PAPER_NOTE_SIZE];
        if (paper_note(found, s, note, sizeof note))
            json_array_append_new(notes, json_sprintf("%s: %s", paper_sets[s].name, note));
    }
    return notes;
}

void paper_found_free(paper_found *found) {
    for (int s = 0; s < PAPER_SETS; s++) {
        free(found->file[s]);
        json_decref(found->entry[s]);
    }
    *found = (paper_found){0};
}

/* found is released even if the experiment never ran. */
void paper_free(paper *p) {
    experiment_free(&p->e);
    paper_found_free(&p->found);
}

/* Every data set is opened now, so that a file that cannot be used is reported before the run, not
 * in its middle. Each of several processes reads all of it. */
huddle_status paper_find(huddle_context *context, const char *folder, paper_found *found) {
    (void)huddle_context_set_alone(context, true);
    huddle_status status = find_sets(context, folder, found);
    (void)huddle_context_set_alone(context, false);
    return huddle_context_agree(context, status);
}
