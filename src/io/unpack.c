#include "io/unpack.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"

#include <string.h>

/* Rows of both tables. HUDDLE_WITH_* are 0 or 1 and are set by the build. */
enum { GZIP, BZIP2, XZ, ZSTD, N_PACKINGS };

static const huddle_packing packings[N_PACKINGS + 1] = {
    [GZIP] = {"gzip", ".gz", "zlib", true},
    [BZIP2] = {"bzip2", ".bz2", "libbz2", HUDDLE_WITH_BZIP2},
    [XZ] = {"xz", ".xz", "liblzma", HUDDLE_WITH_XZ},
    [ZSTD] = {"zstd", ".zst", "libzstd", HUDDLE_WITH_ZSTD},
};

/* How a packed file is recognised: by its first bytes. gzip: magic number and method 8, deflate.
 * bzip2: "BZh", then the size of blocks, '1' to '9', which is_packed() checks, because text may
 * begin with the same three letters. */
typedef struct handler {
    const char *magic;
    int64_t length;
    const hd_io_packer *packer; /* NULL in a build without its library */
} handler;

static const handler handlers[N_PACKINGS] = {
    [GZIP] = {"\x1f\x8b\x08", 3, &hd_io_gzip},
    [BZIP2] = {"BZh", 3, HUDDLE_WITH_BZIP2 ? &hd_io_bzip2 : NULL},
    [XZ] = {"\xfd"
            "7zXZ",
            6, HUDDLE_WITH_XZ ? &hd_io_xz : NULL},
    [ZSTD] = {"\x28\xb5\x2f\xfd", 4, HUDDLE_WITH_ZSTD ? &hd_io_zstd : NULL},
};

const huddle_packing *huddle_packings(void) {
    return packings;
}

int64_t hd_io_unpacked_length(const char *path) {
    size_t length = strlen(path);
    for (int k = 0; k < N_PACKINGS; k++)
        if (hd_has_extension(path, packings[k].ending + 1))
            return (int64_t)(length - strlen(packings[k].ending));
    return (int64_t)length;
}

/* The shortest file of each format has more than 8 bytes; a block of bzip2 begins with the digits
 * of pi, an empty file ends with those of its square root. */
static bool is_packed(int which, const char *bytes, int64_t size) {
    const handler *h = &handlers[which];
    if (size < 9 || memcmp(bytes, h->magic, (size_t)h->length) != 0)
        return false;
    return which != BZIP2 ||
           (bytes[3] >= '1' && bytes[3] <= '9' &&
            (memcmp(bytes + 4, "1AY&SY", 6) == 0 || memcmp(bytes + 4, "\x17rE8P\x90", 6) == 0));
}

/* What a file is unpacked to. */
typedef struct unpacking {
    int which;
    const hd_file *file;
    char *bytes;
    int64_t size, capacity;
} unpacking;

/* Room for the first piece. The last four bytes of a gzip file are the unpacked size modulo 2^32,
 * of the last member if there are several. It is only a hint, and one that a damaged file cannot
 * make absurd: deflate packs at most 1032 bytes into one. */
static int64_t first_room(const unpacking *u) {
    enum { MAX_RATIO = 1032 };
    const hd_file *file = u->file;
    int64_t size = hd_io_word(file->text + file->size - 4, 4, false);
    if (u->which != GZIP)
        return 4 * file->size;
    return size / MAX_RATIO <= file->size ? size : file->size;
}

/* Unpacks the member that begins at *consumed, which is advanced past it. One byte of room at
 * least, so that every step can make progress or report the end. */
static huddle_status unpack_member(huddle_context *context, unpacking *u, void *state,
                                   int64_t *consumed) {
    enum { STEP = 1 << 22 }; /* progress is reported, and cancelled, between two steps */
    huddle_status status = HUDDLE_OK;
    for (;;) {
        TRY(hd_progress(context, "unpack", (double)*consumed, (double)u->file->size));
        if (!hd_grow(&u->bytes, &u->capacity, u->size + 1 + HD_FILE_PADDING, 1))
            FAIL(HUDDLE_NO_MEMORY, "no memory to unpack more than %lld bytes", (long long)u->size);
        int64_t left = u->file->size - *consumed;
        int64_t room = u->capacity - HD_FILE_PADDING - u->size;
        hd_io_flow flow = {.in = u->file->text + *consumed,
                           .out = u->bytes + u->size,
                           .n_in = left < STEP ? left : STEP,
                           .n_out = room < STEP ? room : STEP};
        hd_io_flow before = flow;
        hd_io_flow_end end = handlers[u->which].packer->step(state, &flow);
        *consumed += before.n_in - flow.n_in;
        u->size += before.n_out - flow.n_out;
        if (end == HD_IO_ENDS)
            goto done;
        if (end == HD_IO_STARVED)
            FAIL(HUDDLE_NO_MEMORY, "no memory to unpack what %s packed", packings[u->which].name);
        /* No progress although both sides have room: the input ended inside a member. */
        bool stuck = before.n_in == flow.n_in && before.n_out == flow.n_out;
        if (end == HD_IO_DAMAGED || stuck)
            FAIL(HUDDLE_FORMAT, "what %s packed is %s", packings[u->which].name,
                 *consumed == u->file->size ? "cut short" : "damaged");
    }
done:
    return status;
}

/* All members, one after the other, as gunzip and its like do. Bytes after the last member that do
 * not begin another one are ignored. */
static huddle_status unpack_members(huddle_context *context, unpacking *u) {
    huddle_status status = HUDDLE_OK;
    const hd_file *file = u->file;
    const hd_io_packer *packer = handlers[u->which].packer;
    int64_t consumed = 0;
    void *state = NULL;
    do {
        huddle_free(state);
        state = hd_alloc_zero(packer->state_size, 1);
        if (state == NULL || !packer->start(state))
            FAIL(HUDDLE_NO_MEMORY, "no memory to unpack");
        status = unpack_member(context, u, state, &consumed);
        packer->end(state);
        TRY(status);
    } while (is_packed(u->which, file->text + consumed, file->size - consumed));
    /* A member may be valid and empty; no format is. */
    if (u->size == 0)
        FAIL(HUDDLE_FORMAT, "the file is empty");
done:
    huddle_free(state);
    return status;
}

huddle_status hd_io_unpack_file(huddle_context *context, hd_file *file) {
    huddle_status status = HUDDLE_OK;
    unpacking u = {.file = file};
    while (u.which < N_PACKINGS && !is_packed(u.which, file->text, file->size))
        u.which++;
    if (u.which == N_PACKINGS)
        goto done;
    if (!packings[u.which].present)
        TRY(hd_io_missing_library(packings[u.which].library, "files packed by %s",
                                  packings[u.which].name));
    if (!hd_grow(&u.bytes, &u.capacity, first_room(&u) + 1 + HD_FILE_PADDING, 1))
        FAIL(HUDDLE_NO_MEMORY, "no memory to unpack %lld bytes", (long long)first_room(&u));
    TRY(unpack_members(context, &u));
    hd_file_replace(file, u.bytes, u.size);
    u.bytes = NULL;
done:
    huddle_free(u.bytes);
    return status;
}
