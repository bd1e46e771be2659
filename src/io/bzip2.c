/* bzip2, by libbz2. */
#include "io/unpack.h"

#include <bzlib.h>

static bool begin_member(void *state) {
    return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

/* libbz2 asks for a buffer that it does not change without const. */
static hd_io_flow_end take_step(void *state, hd_io_flow *flow) {
    bz_stream *stream = state;
    stream->next_in = (char *)(uintptr_t)flow->in;
    stream->avail_in = (unsigned)flow->n_in;
    stream->next_out = flow->out;
    stream->avail_out = (unsigned)flow->n_out;
    int code = BZ2_bzDecompress(stream);
    flow->n_in = stream->avail_in;
    flow->n_out = stream->avail_out;
    return code == BZ_STREAM_END  ? HD_IO_ENDS
           : code == BZ_OK        ? HD_IO_FLOWS
           : code == BZ_MEM_ERROR ? HD_IO_STARVED
                                  : HD_IO_DAMAGED;
}

static void end_member(void *state) {
    (void)BZ2_bzDecompressEnd(state);
}

const hd_io_packer hd_io_bzip2 = {sizeof(bz_stream), begin_member, take_step, end_member};
