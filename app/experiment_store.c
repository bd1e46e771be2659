/* Where results stay: one line of JSON for each finished cell. */
#include "experiment.h"

#include "talk.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *output_path(const experiment *e, const char *name) {
    size_t size = strlen(e->output) + strlen(name) + 2;
    char *path = must(malloc(size));
    snprintf(path, size, "%s/%s", e->output, name);
    return path;
}

/* ---- what is there -------------------------------------------------------------------------- */

/* A finished record goes to every cell of its key: plans may name one fit in several places. */
static void give_record(experiment *e, json_t *record) {
    const char *key = record_text(record, "key");
    if (json_object_get(record, "error") != NULL)
        return;
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record == NULL && strcmp(e->cells[i].key, key) == 0) {
            e->cells[i].record = json_incref(record);
            e->n_found++;
        }
}

/* Reads whole lines; what a killed run left of a last one is cut off. */
static bool read_records(experiment *e, int file) {
    FILE *lines = fdopen(dup(file), "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    off_t good = 0;
    if (lines == NULL)
        return false;
    rewind(lines);
    while ((length = getline(&line, &room, lines)) > 0) {
        if (line[length - 1] != '\n')
            break;
        json_t *record = json_loadb(line, (size_t)length, 0, NULL);
        if (record != NULL)
            give_record(e, record);
        json_decref(record);
        good += (off_t)length;
    }
    free(line);
    bool fine = !ferror(lines);
    fclose(lines);
    return fine && ftruncate(file, good) == 0;
}

/* ---- opening and appending ------------------------------------------------------------------ */

int store_open(experiment *e, result_store *store) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *store = (result_store){.file = -1, .path = output_path(e, "results.jsonl")};
    if (mkdir(e->output, 0777) != 0 && errno != EEXIST)
        return failed("%s: %s", e->output, strerror(errno));
    store->file = open(store->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (store->file < 0)
        return failed("%s: %s", store->path, strerror(errno));
    if (fcntl(store->file, F_SETLK, &lock) != 0)
        return failed("%s: another run is writing here", e->output);
    if (!read_records(e, store->file))
        return failed("%s: %s", store->path, strerror(errno));
    return EXIT_DONE;
}

void store_close(result_store *store) {
    if (store->file >= 0)
        close(store->file);
    free(store->path);
}

bool store_append(const result_store *store, const json_t *record) {
    char *text = must(json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(17)));
    size_t size = strlen(text), done = 0;
    text[size] = '\n'; /* in place of the end of the string */
    while (done <= size) {
        ssize_t wrote = write(store->file, text + done, size + 1 - done);
        if (wrote < 0 && errno != EINTR)
            break;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    free(text);
    return done > size && fsync(store->file) == 0;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static const char *const csv_numbers[] = {
    "n_clusters",  "restarts",   "acc",         "nmi",     "ari",       "purity",
    "acc_mean",    "acc_std",    "nmi_mean",    "nmi_std", "ari_mean",  "ari_std",
    "purity_mean", "purity_std", "inertia",     "gamma",   "objective", "gap",
    "groups",      "seconds",    "cpu_seconds", NULL};

/* A field, quoted where it must be. */
static void put_field(FILE *out, const char *text) {
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_row(FILE *out, const experiment *e, const experiment_cell *cell) {
    char options[1024] = "", number[40];
    const char *name;
    json_t *value;
    put_field(out, e->data[cell->data].name);
    fputc(',', out);
    put_field(out, plan_method(e, cell->entry));
    fputc(',', out);
    put_field(out, plan_label(e, cell->entry));
    json_object_foreach(cell->settings, name, value) {
        append_text(options, sizeof options, "%s%s=%s", options[0] == '\0' ? "" : " ", name,
                    json_string_value(value));
    }
    fprintf(out, ",%llu,", (unsigned long long)cell->seed);
    put_field(out, options);
    fputc(',', out);
    put_field(out, record_text(cell->record, "prepare"));
    for (int i = 0; csv_numbers[i] != NULL; i++) {
        double x = record_number(cell->record, csv_numbers[i]);
        huddle_format_real(x, number, sizeof number);
        fprintf(out, ",%s", isfinite(x) ? number : "");
    }
    fprintf(out, ",%s\n", record_text(cell->record, "version"));
}

int store_write_csv(const experiment *e) {
    char *text = NULL, *path = output_path(e, "results.csv");
    size_t size = 0;
    FILE *out = must(open_memstream(&text, &size));
    fputs("data,method,label,seed,options,prepare", out);
    for (int i = 0; csv_numbers[i] != NULL; i++)
        fprintf(out, ",%s", csv_numbers[i]);
    fputs(",version\n", out);
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record != NULL)
            put_row(out, e, &e->cells[i]);
    fclose(out);
    huddle_status status = huddle_file_write(path, text, size);
    int result = status == HUDDLE_OK ? EXIT_DONE : failed_call(status, path);
    free(text);
    free(path);
    return result;
}
