#include "experiment/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* bytes is NULL if the caller had no memory for them. */
huddle_status experiment_write_file(const experiment *e, const char *name, const char *bytes,
                                    size_t size) {
    huddle_status status = HUDDLE_OK;
    char *path = join_path(e->output, name);
    TRY_POINTER(path);
    TRY_POINTER(bytes);
    TRY(experiment_fail_about(huddle_file_write(path, bytes, size), path));
done:
    free(path);
    return status;
}

/* Gives a finished record to every cell with its key: a plan may name one fit in several
 * places. Cells that failed are computed again, because the cause may be gone, and so are those of
 * builds that kept no digest of the labels: without it tables could not say which results are the
 * same ("= sc"). Records of other plans in the same file are ignored. */
static void assign_record(experiment *e, json_t *record) {
    const char *key = text_of(record, "key");
    if (json_object_get(record, "error") != NULL || text_of(record, "labels")[0] == '\0')
        return;
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record == NULL && strcmp(e->cells[i].key, key) == 0) {
            e->cells[i].record = json_incref(record);
            e->n_found++;
        }
}

/* Reads all complete lines and cuts off an incomplete last one, which a killed run may leave:
 * the next record would otherwise be appended to it. A complete line that is not JSON is
 * skipped, but kept in the file. */
static bool read_records(experiment *e, int file) {
    /* A duplicate, because fclose() closes the file below the stream. */
    FILE *lines = fdopen(dup(file), "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    off_t complete = 0;
    if (lines == NULL)
        return false;
    /* The duplicate shares its offset with `file`. */
    rewind(lines);
    while ((length = getline(&line, &capacity, lines)) > 0) {
        if (line[length - 1] != '\n')
            break;
        json_t *record = json_loadb(line, (size_t)length, 0, NULL);
        if (record != NULL)
            assign_record(e, record);
        json_decref(record);
        complete += (off_t)length;
    }
    free(line);
    bool fine = !ferror(lines);
    fclose(lines);
    return fine && ftruncate(file, complete) == 0;
}

/* Opens OUT and locks it. Two runs that append to one folder would compute the same cells twice;
 * the lock ends with the process, however that ends. It is one of flock(): one of fcntl() would end
 * as soon as read_records() closes its duplicate of the file. */
huddle_status store_open(experiment *e, result_store *store) {
    *store = (result_store){.file = -1, .path = join_path(e->output, "results.jsonl")};
    if (store->path == NULL)
        return experiment_no_memory();
    if (mkdir(e->output, 0777) != 0 && errno != EEXIST)
        return set_error(HUDDLE_IO, "%s: %s", e->output, strerror(errno));
    store->file = open(store->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (store->file < 0)
        return set_error(HUDDLE_IO, "%s: %s", store->path, strerror(errno));
    if (flock(store->file, LOCK_EX | LOCK_NB) != 0)
        return set_error(HUDDLE_IO, "%s: another process is writing to this folder", e->output);
    if (!read_records(e, store->file))
        return set_error(HUDDLE_IO, "%s: %s", store->path, strerror(errno));
    return HUDDLE_OK;
}

/* Closing the file also releases the lock. */
void store_close(result_store *store) {
    if (store->file >= 0)
        close(store->file);
    free(store->path);
    *store = (result_store){.file = -1};
}

/* Appends one record and waits until it is on the disk: after a power failure at most the cell in
 * progress is lost. One write() per record keeps lines whole with O_APPEND. */
bool store_append(const result_store *store, const json_t *record) {
    char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text == NULL) {
        errno = ENOMEM;
        return false;
    }
    size_t size = strlen(text), done = 0;
    text[size] = '\n'; /* in place of the null byte; size + 1 bytes are written */
    while (done <= size) {
        ssize_t written = write(store->file, text + done, size + 1 - done);
        /* A signal is no failure. */
        if (written < 0 && errno != EINTR)
            break;
        done += written > 0 ? (size_t)written : 0;
    }
    free(text);
    return done > size && fsync(store->file) == 0;
}
