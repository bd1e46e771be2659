/* cluster --dump: the intermediate results of a fit as files that NumPy and SciPy read. */
#include "cli/text.h"
#include "fitting.h"
#include "report/arrays.h"
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Arrays of the model, and the file of each, which is named after its symbol in the paper. */
static const char *const dumped[] = {"points",       "graph",  "embedding", "eigenvalues",
                                     "shrink_graph", "shrunk", "centres",   "labels",
                                     "confidence",   NULL};
const char *const dump_files[] = {"X.npy", "A.npz",       "F.npy",      "eigenvalues.npy", "W.npz",
                                  "G.npy", "centres.npy", "labels.npy", "confidence.npy",  NULL};

/* Writes a one-dimensional NPY array, which huddle_dense_write_npy() cannot: it writes
 * matrices. NPY version 1.0: magic, version, the length of the header (little-endian), a
 * Python dictionary padded by blanks to a multiple of 64 bytes, a line feed, the values. They
 * are in the byte order of the machine, which the header states. */
static huddle_status write_vector(const huddle_array *array, const char *path) {
    enum { HEADER = 128 };
    const uint16_t one = 1;
    size_t size = (size_t)array->rows * sizeof(double);
    char *bytes = check_allocation(malloc(HEADER + size)), text[HEADER];
    int length =
        snprintf(text, sizeof text, "{'descr': '%cf8', 'fortran_order': False, 'shape': (%lld,), }",
                 *(const char *)&one == 1 ? '<' : '>', (long long)array->rows);
    memset(bytes, ' ', HEADER);
    memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10); /* 118 bytes of text follow */
    memcpy(bytes + 10, text, (size_t)length);
    bytes[HEADER - 1] = '\n';
    if (size > 0)
        memcpy(bytes + HEADER, array->values, size);
    huddle_status status = huddle_file_write(path, bytes, HEADER + size);
    free(bytes);
    return status;
}

/* Each type of array has one natural file: NPY for dense ones, SciPy's NPZ for sparse ones. */
static huddle_status write_array(const huddle_array *array, bool is_vector, const char *path) {
    huddle_points points = array_points(array);
    huddle_dense dense = array_dense(array);
    huddle_csr csr = array_csr(array);
    switch (array->type) {
    case HUDDLE_ARRAY_F32:
        return huddle_points_write_npy(path, &points);
    case HUDDLE_ARRAY_F64:
        return is_vector ? write_vector(array, path) : huddle_dense_write_npy(path, &dense);
    case HUDDLE_ARRAY_I32:
        return huddle_labels_write(path, array->rows, array->values, NULL);
    case HUDDLE_ARRAY_CSR:
        return huddle_csr_write_npz(path, &csr);
    case HUDDLE_ARRAY_NONE:
        break;
    }
    return HUDDLE_OK;
}

/* An existing folder is used, so that a run can be repeated; its other files stay. */
static int make_folder(const char *folder) {
    struct stat place;
    if (mkdir(folder, 0777) == 0)
        return EXIT_DONE;
    int reason = errno;
    if (reason == EEXIST && stat(folder, &place) == 0 && S_ISDIR(place.st_mode))
        return EXIT_DONE;
    return failed("%s: %s", folder, reason == EEXIST ? "is not a folder" : strerror(reason));
}

/* The model keeps the points only if it has prepared them; otherwise they are written from the
 * input. Sparse points are left out: NPY has no sparse arrays. */
static huddle_status dump_points(const fitting *fit, const char *path) {
    const huddle_points *points = fitting_points(fit);
    if (points == NULL || points->offsets != NULL)
        return HUDDLE_OK;
    return huddle_points_write_npy(path, points);
}

static huddle_array confidence_array(const fitting *fit) {
    huddle_array values = {.type = HUDDLE_ARRAY_F64, .cols = 1, .values = fit->confidence};
    (void)huddle_model_labels(fit->model, &values.rows);
    return values;
}

/* A method lacks some of the arrays (K-means has no graph); these are left out without a
 * message. */
int fitting_dump(const fitting *fit, const char *folder) {
    static const char *const none[] = {NULL}, *const vectors[] = {"eigenvalues", "confidence",
                                                                  NULL};
    const char *const *names = huddle_model_arrays(fit->model);
    int result = make_folder(folder);
    for (size_t i = 0; dumped[i] != NULL && result == EXIT_DONE; i++) {
        huddle_array array = {0};
        char path[4096];
        huddle_status status = HUDDLE_OK;
        bool known = is_listed(dumped[i], names == NULL ? none : names);
        if (known)
            status = huddle_model_array(fit->model, dumped[i], &array);
        else if (strcmp(dumped[i], "confidence") == 0 && fit->confidence != NULL)
            array = confidence_array(fit);
        snprintf(path, sizeof path, "%s/%s", folder, dump_files[i]);
        if (status == HUDDLE_OK && i == 0 && !known)
            status = dump_points(fit, path);
        else if (status == HUDDLE_OK)
            status = write_array(&array, is_listed(dumped[i], vectors), path);
        if (status != HUDDLE_OK)
            result = call_result(status, path);
    }
    return result;
}
