/* zstd, by libzstd. */
#include "io/unpack.h"

#include <zstd.h>
#include <zstd_errors.h>

static bool begin_member(void *state) {
    ZSTD_DStream **stream = state;
    *stream = ZSTD_createDStream();
    return *stream != NULL;
}

/* The checksum of a frame, if it has one, is checked by libzstd, which also limits the window that
 * a frame may ask for to 128 MiB. */
static hd_io_flow_end take_step(void *state, hd_io_flow *flow) {
    ZSTD_inBuffer in = {flow->in, (size_t)flow->n_in, 0};
    ZSTD_outBuffer out = {flow->out, (size_t)flow->n_out, 0};
    size_t code = ZSTD_decompressStream(*(ZSTD_DStream **)state, &out, &in);
    flow->n_in -= (int64_t)in.pos;
    flow->n_out -= (int64_t)out.pos;
    if (ZSTD_isError(code))
        return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? HD_IO_STARVED
                                                                       : HD_IO_DAMAGED;
    return code == 0 ? HD_IO_ENDS : HD_IO_FLOWS;
}

static void end_member(void *state) {
    ZSTD_freeDStream(*(ZSTD_DStream **)state);
}

const hd_io_packer hd_io_zstd = {sizeof(ZSTD_DStream *), begin_member, take_step, end_member};
