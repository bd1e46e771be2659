/* IDX, the format of MNIST: 0, 0, type, rank, the dimensions as big-endian 32-bit numbers, then
 * the elements. Often packed by gzip. */
#include "base/check.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/unpack.h"

#include <stdio.h>
#include <string.h>

/* Two zero bytes, the type of the elements (0x0A is not assigned) and the rank. MNIST's files
 * have rank 1 (labels) and 3 (images). */
static bool is_header(const unsigned char *b) {
    return b[0] == 0 && b[1] == 0 && b[2] >= 0x08 && b[2] <= 0x0E && b[2] != 0x0A && b[3] >= 1 &&
           b[3] <= HD_IO_MAX_RANK;
}

bool hd_io_idx_is(const hd_file *file) {
    return file->size >= 4 && is_header((const unsigned char *)file->text);
}

/* Makes the array of a file with such a header available as `variable`: its bytes stay where they
 * are in memory. Of the types 0x08 .. 0x0E elements[2] belongs to 0x0A, which is_header() has
 * excluded. Numbers are big-endian, so they are swapped on a little-endian machine. The claimed
 * dimensions are checked against the bytes present. */
static huddle_status read_array(const hd_file *file, hd_io_variable *variable) {
    static const hd_io_element elements[] = {HD_IO_U1, HD_IO_I1, HD_IO_U1, HD_IO_I2,
                                             HD_IO_I4, HD_IO_F4, HD_IO_F8};
    const unsigned char *head = (const unsigned char *)file->text;
    hd_io_array *array = &variable->array;
    array->rank = head[3];
    int64_t length = 4 + 4 * array->rank;
    if (file->size < length)
        return hd_fail(HUDDLE_FORMAT, "the IDX header is cut short");
    array->element = elements[head[2] - 8];
    array->swapped = !hd_io_big_endian();
    for (int32_t k = 0; k < array->rank; k++)
        array->dims[k] = hd_io_word(head + 4 + 4 * k, 4, true);
    if (hd_io_array_count(array, file->size - length) < 0)
        return hd_fail(HUDDLE_FORMAT, "the IDX header claims more elements than the file can hold");
    hd_io_array_pack(array, false);
    array->bytes = file->text + length;
    return HUDDLE_OK;
}

/* "train-images-idx3-ubyte.gz" to "train-labels-idx1-ubyte", the naming of MNIST and its
 * successors; false if the name is not like it. Eight bytes are reserved so that the caller
 * can append ".gz" or another such ending. */
static bool labels_path(const char *path, char *labels, size_t size) {
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    const char *images = strstr(name, "images");
    if (images == NULL || strlen(path) + 8 > size)
        return false;
    snprintf(labels, size, "%.*slabels%s", (int)(images - path), path, images + 6);
    char *rank = strstr(labels + (images - path), "idx3");
    if (rank != NULL)
        rank[3] = '1';
    labels[hd_io_unpacked_length(labels)] = '\0';
    return true;
}

/* Labels beside an images file, plain or packed, are added as variable "labels". Their absence
 * is normal; labels that exist but are damaged are an error about their own file. */
static huddle_status find_labels(hd_io_request *request, const hd_file *file,
                                 hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    char path[4096];
    hd_file labels = {.descriptor = -1};
    hd_io_variable *variable = NULL;
    if (!labels_path(file->path, path, sizeof path))
        goto done;
    char *end = path + strlen(path);
    /* A file that does not exist is not an error, so the message is dropped. */
    (void)hd_file_open(path, &labels);
    for (const huddle_packing *p = huddle_packings(); p->name != NULL && labels.text == NULL; p++) {
        memcpy(end, p->ending, strlen(p->ending) + 1); /* labels_path() left room for it */
        (void)hd_file_open(path, &labels);
    }
    if (labels.text == NULL)
        goto done;
    status = hd_io_unpack_file(request->context, &labels);
    /* A file of that name with other content is not the labels, and is ignored. */
    if (status == HUDDLE_OK && !hd_io_idx_is(&labels))
        goto done;
    TRY(hd_io_located(request, hd_io_locate_failure(path, status)));
    TRY(hd_io_container_add(container, "labels", 6, &variable));
    status = read_array(&labels, variable);
    TRY(hd_io_located(request, hd_io_locate_failure(path, status)));
    /* The labels' file is closed below while its container lives on, so they are copied. */
    int64_t size = hd_io_array_count(&variable->array, INT64_MAX / 8) *
                   hd_io_element_size(variable->array.element);
    variable->owned = hd_copy_part(variable->array.bytes, size);
    variable->array.bytes = variable->owned;
    if (variable->owned == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)size);
done:
    hd_file_close(&labels);
    return status;
}

huddle_status hd_io_idx_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable;
    TRY(hd_io_container_add(container, "images", 6, &variable));
    TRY(read_array(file, variable));
    container->divisible = file->descriptor >= 0;
    /* A file of rank 1 contains labels itself and has none beside it. */
    if (variable->array.rank > 1 && !hd_io_labels_unwanted(request->options))
        TRY(find_labels(request, file, container));
done:
    return status;
}
