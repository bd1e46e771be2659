/* zstd, by libzstd. */
#include "io/unpack.h"

#include <zstd.h>
#include <zstd_errors.h>

static void *begin_member(void) {
    return ZSTD_createDStream();
}

/* The checksum of a frame, if it has one, is checked by libzstd, which also limits the window that
 * a frame may ask for to 128 MiB. */
static hd_io_flow_end take_step(void *state, hd_io_flow *flow) {
    ZSTD_inBuffer in = {flow->in, (size_t)flow->n_in, 0};
    ZSTD_outBuffer out = {flow->out, (size_t)flow->n_out, 0};
    size_t code = ZSTD_decompressStream(state, &out, &in);
    flow->n_in -= (int64_t)in.pos;
    flow->n_out -= (int64_t)out.pos;
    if (ZSTD_isError(code))
        return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? HD_IO_STARVED
                                                                       : HD_IO_DAMAGED;
    return code == 0 ? HD_IO_ENDS : HD_IO_FLOWS;
}

static void end_member(void *state) {
    ZSTD_freeDStream(state);
}

const hd_io_packer hd_io_zstd = {begin_member, take_step, end_member};
