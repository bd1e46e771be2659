/* IDX, the format of MNIST: 0, 0, type, rank, the dimensions as big-endian 32-bit numbers, then
 * the elements. Often packed by gzip. */
#include "base/check.h"
#include "base/text.h"
#include "io/formats.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Deflate cannot compress further than by this factor. */
enum { MAX_RATIO = 1032 };

/* The magic number of gzip with method 8, deflate. */
static bool is_packed(const hd_file *file) {
    return file->size >= 18 && memcmp(file->text, "\x1f\x8b\x08", 3) == 0;
}

/* Two zero bytes, the type of the elements (0x0A is not assigned) and the rank. MNIST's files
 * have rank 1 (labels) and 3 (images). */
static bool is_header(const unsigned char *b) {
    return b[0] == 0 && b[1] == 0 && b[2] >= 0x08 && b[2] <= 0x0E && b[2] != 0x0A && b[3] >= 1 &&
           b[3] <= 4;
}

/* Unpacks at most `size` bytes from the beginning; *got is how many there were. A damaged
 * stream just ends early: the caller compares *got with what the header claims. zlib counts in
 * 32 bits, so input and output are passed in parts of STEP bytes. */
static huddle_status unpack_prefix(const hd_file *file, char *to, int64_t size,
                                   int64_t *n_unpacked) {
    enum { STEP = 1 << 30 };
    z_stream stream = {0};
    int64_t consumed = 0, code = Z_OK;
    *n_unpacked = 0;
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack");
    while (*n_unpacked < size && code == Z_OK) {
        int64_t in = file->size - consumed, out = size - *n_unpacked;
        stream.next_in = (unsigned char *)(uintptr_t)(file->text + consumed);
        stream.avail_in = (unsigned)(in < STEP ? in : STEP);
        stream.next_out = (unsigned char *)to + *n_unpacked;
        stream.avail_out = (unsigned)(out < STEP ? out : STEP);
        unsigned offered = stream.avail_in, room = stream.avail_out;
        code = inflate(&stream, Z_NO_FLUSH);
        consumed += offered - stream.avail_in;
        *n_unpacked += room - stream.avail_out;
        /* No progress: the stream is damaged or at its end. */
        if (offered == stream.avail_in && room == stream.avail_out)
            break;
    }
    inflateEnd(&stream);
    return HUDDLE_OK;
}

/* Asked of every file before its format is known, so a packed one is unpacked for four bytes
 * only. Called by hd_io_gunzip_file() too, which leaves packed IDX to this reader. */
bool hd_io_idx_is(const hd_file *file) {
    /* Not a header unless four bytes are read into it. */
    unsigned char head[4] = {1};
    int64_t got = file->size < 4 ? 0 : 4;
    if (is_packed(file)) {
        if (unpack_prefix(file, (char *)head, 4, &got) != HUDDLE_OK)
            return false;
    } else if (got == 4) {
        memcpy(head, file->text, 4);
    }
    return got == 4 && is_header(head);
}

/* Types 0x08 .. 0x0E; elements[2] belongs to 0x0A, which is_header() has excluded. Numbers are
 * big-endian, so they are swapped on a little-endian machine. */
static huddle_status parse_header(const unsigned char *head, int64_t size, hd_io_array *array,
                                  int64_t *length) {
    static const hd_io_element elements[] = {HD_IO_U1, HD_IO_I1, HD_IO_U1, HD_IO_I2,
                                             HD_IO_I4, HD_IO_F4, HD_IO_F8};
    const uint16_t one = 1;
    int32_t rank = head[3];
    *length = 4 + 4 * rank;
    if (size < *length)
        return hd_fail(HUDDLE_FORMAT, "the IDX header is cut short");
    if (rank > 3)
        return hd_fail(HUDDLE_UNSUPPORTED, "the array has %d dimensions, more than three", rank);
    array->element = elements[head[2] - 8];
    array->swapped = *(const unsigned char *)&one == 1;
    array->rank = rank;
    for (int32_t k = 0; k < rank; k++) {
        const unsigned char *b = head + 4 + 4 * k;
        array->dims[k] =
            (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | (int64_t)b[3];
    }
    return HUDDLE_OK;
}

static huddle_status report_short_file(int64_t count, int64_t there) {
    return hd_fail(HUDDLE_FORMAT, "the IDX header claims %lld bytes, but there are %lld",
                   (long long)count, (long long)there);
}

/* Makes the array of a file available as `variable`. The claimed dimensions are checked
 * against the bytes present or, in a packed file, against what they could unpack to, before
 * anything is allocated; 20 bytes are the longest header, of rank 4. Array bytes of a plain
 * file stay where they are in the map. */
static huddle_status read_array(const hd_file *file, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    unsigned char head[20] = {0};
    char *bytes = NULL;
    int64_t there = file->size < 20 ? file->size : 20, length;
    bool packed = is_packed(file);
    if (packed)
        TRY(unpack_prefix(file, (char *)head, sizeof head, &there));
    else
        memcpy(head, file->text, (size_t)there);
    TRY(parse_header(head, there, &variable->array, &length));
    int64_t room = packed ? file->size * MAX_RATIO : file->size - length;
    int64_t count = hd_io_array_count(&variable->array, room);
    if (count < 0)
        FAIL(HUDDLE_FORMAT, "the IDX header claims more elements than the file can hold");
    hd_io_array_pack(&variable->array, false);
    int64_t size = count * hd_io_element_size(variable->array.element);
    /* The bytes of a plain file are used where they are mapped; those of a packed one are
     * replaced below. */
    variable->array.bytes = file->text + length;
    if (packed) {
        ALLOC(bytes, size + length);
        TRY(unpack_prefix(file, bytes, size + length, &there));
        if (there < size + length)
            TRY(report_short_file(size + length, there));
        variable->owned = bytes;
        variable->array.bytes = bytes + length;
        bytes = NULL;
    }
done:
    huddle_free(bytes);
    return status;
}

/* "train-images-idx3-ubyte.gz" to "train-labels-idx1-ubyte", the naming of MNIST and its
 * successors; false if the name is not like it. Eight bytes are reserved so that the caller
 * can append ".gz". */
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
    if (hd_has_extension(labels, "gz"))
        labels[strlen(labels) - 3] = '\0';
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
    for (int packed = 0; packed < 2 && labels.text == NULL; packed++) {
        if (packed)
            memcpy(path + strlen(path), ".gz", 4); /* labels_path() left room for it */
        /* A file that does not exist is not an error, so the message is dropped. */
        (void)hd_file_open(path, &labels);
    }
    /* A file of that name with other content is not the labels, and is ignored. */
    if (labels.text == NULL || !hd_io_idx_is(&labels))
        goto done;
    variable = hd_io_container_add(container, "labels", 6);
    if (variable == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    status = read_array(&labels, variable);
    if (status != HUDDLE_OK && status != HUDDLE_NO_MEMORY) {
        status = hd_fail_at(status, "%s", path);
        request->failing_path = NULL;
    }
    TRY(status);
    /* The labels' file is closed below while its container lives on, so they are copied. */
    if (variable->owned == NULL) {
        int64_t size = hd_io_array_count(&variable->array, INT64_MAX / 8) *
                       hd_io_element_size(variable->array.element);
        variable->owned = hd_copy_part(variable->array.bytes, size);
        variable->array.bytes = variable->owned;
        if (variable->owned == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)size);
    }
done:
    if (labels.text != NULL)
        hd_file_close(&labels);
    return status;
}

huddle_status hd_io_idx_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable = hd_io_container_add(container, "images", 6);
    if (variable == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    TRY(read_array(file, variable));
    container->divisible = file->descriptor >= 0 && !is_packed(file);
    /* A file of rank 1 contains labels itself and has none beside it. */
    if (variable->array.rank > 1 && !hd_io_labels_unwanted(request->options))
        TRY(find_labels(request, file, container));
done:
    return status;
}
