/* gzip, by zlib. */
#include "io/unpack.h"

#include <zlib.h>

/* 15 bits of window, the maximum; 16 selects the gzip wrapper. */
static bool begin_member(void *state) {
    return inflateInit2(state, 15 + 16) == Z_OK;
}

/* The CRC is checked by zlib. zlib asks for a buffer that it does not change without const. */
static hd_io_flow_end take_step(void *state, hd_io_flow *flow) {
    z_stream *stream = state;
    stream->next_in = (unsigned char *)(uintptr_t)flow->in;
    stream->avail_in = (unsigned)flow->n_in;
    stream->next_out = (unsigned char *)flow->out;
    stream->avail_out = (unsigned)flow->n_out;
    int code = inflate(stream, Z_NO_FLUSH);
    flow->n_in = stream->avail_in;
    flow->n_out = stream->avail_out;
    return code == Z_STREAM_END                  ? HD_IO_ENDS
           : code == Z_OK || code == Z_BUF_ERROR ? HD_IO_FLOWS
           : code == Z_MEM_ERROR                 ? HD_IO_STARVED
                                                 : HD_IO_DAMAGED;
}

static void end_member(void *state) {
    (void)inflateEnd(state);
}

const hd_io_packer hd_io_gzip = {sizeof(z_stream), begin_member, take_step, end_member};
