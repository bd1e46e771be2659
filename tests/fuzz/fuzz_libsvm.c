#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return fuzz_container(bytes, size, hd_io_libsvm_is, hd_io_libsvm_open);
}
