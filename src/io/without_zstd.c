/* Compiled in place of zstd.c when its library is left out: unpack.c then says so. */
#include "io/unpack.h"

const hd_io_packer hd_io_zstd = {0};
