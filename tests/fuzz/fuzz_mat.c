#include "fuzz.h"

/* Version 7.3 is HDF5, which is opened by name; version 5 is read from memory, which is much
 * faster. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size > 10 && memcmp(bytes + 1, "MATLAB 7.", 9) == 0)
        return fuzz_file(bytes, size, "mat");
    return fuzz_container(bytes, size, hd_io_mat5_is, hd_io_mat5_open);
}
