/* Compiled in place of xz.c when its library is left out: unpack.c then says so. */
#include "io/unpack.h"

const hd_io_packer hd_io_xz = {0};
