/* bzip2, by libbz2. */
#include "base/memory.h"
#include "io/unpack.h"

#include <bzlib.h>

static void *begin_member(void) {
    bz_stream *stream = hd_alloc_zero(1, sizeof *stream);
    if (stream != NULL && BZ2_bzDecompressInit(stream, 0, 0) != BZ_OK) {
        huddle_free(stream);
        return NULL;
    }
    return stream;
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
    BZ2_bzDecompressEnd(state);
    huddle_free(state);
}

const hd_io_packer hd_io_bzip2 = {begin_member, take_step, end_member};
