#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return fuzz_container(bytes, size, hd_matrixmarket_is, hd_matrixmarket_open);
}
