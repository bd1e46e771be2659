/* xz, by liblzma. */
#include "io/unpack.h"

#include <lzma.h>

/* The header of a damaged file may ask for a dictionary of 4 GiB; that of xz -9 has 64 MiB. */
static const uint64_t max_memory = (uint64_t)1 << 30;

static bool begin_member(void *state) {
    *(lzma_stream *)state = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(state, max_memory, 0) == LZMA_OK;
}

static hd_io_flow_end take_step(void *state, hd_io_flow *flow) {
    lzma_stream *stream = state;
    stream->next_in = (const uint8_t *)flow->in;
    stream->avail_in = (size_t)flow->n_in;
    stream->next_out = (uint8_t *)flow->out;
    stream->avail_out = (size_t)flow->n_out;
    lzma_ret code = lzma_code(stream, LZMA_RUN);
    flow->n_in = (int64_t)stream->avail_in;
    flow->n_out = (int64_t)stream->avail_out;
    return code == LZMA_STREAM_END                                 ? HD_IO_ENDS
           : code == LZMA_OK || code == LZMA_BUF_ERROR             ? HD_IO_FLOWS
           : code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR ? HD_IO_STARVED
                                                                   : HD_IO_DAMAGED;
}

static void end_member(void *state) {
    lzma_end(state);
}

const hd_io_packer hd_io_xz = {sizeof(lzma_stream), begin_member, take_step, end_member};
