/* Files packed as a whole, by gzip, bzip2, xz or zstd. */
#ifndef HUDDLE_SRC_IO_UNPACK_H
#define HUDDLE_SRC_IO_UNPACK_H

#include "archive/file.h"
#include "huddle/io.h"

/* Bytes on their way through a decompressor, which advances both pointers. */
typedef struct hd_io_flow {
    const char *in;
    char *out;
    int64_t n_in, n_out; /* left to read, and room to write */
} hd_io_flow;

typedef enum hd_io_flow_end {
    HD_IO_FLOWS, /* more to come */
    HD_IO_ENDS,  /* the member is complete and its checksum right */
    HD_IO_DAMAGED,
    HD_IO_STARVED /* no memory */
} hd_io_flow_end;

/* A decompressor. start() begins a member with a state of that size, zeroed; false if there is no
 * memory. */
typedef struct hd_io_packer {
    int64_t state_size;
    bool (*start)(void *state);
    hd_io_flow_end (*step)(void *state, hd_io_flow *flow);
    void (*end)(void *state);
} hd_io_packer;

/* Each is defined only if its library is there. */
extern const hd_io_packer hd_io_gzip, hd_io_bzip2, hd_io_xz, hd_io_zstd;

/* Replaces the bytes of a packed file by what they unpack to; other files are left alone. */
huddle_status hd_io_unpack_file(huddle_context *context, hd_file *file);

/* The length of a path without the ending of a packed file, such as ".gz". */
int64_t hd_io_unpacked_length(const char *path);

#endif
