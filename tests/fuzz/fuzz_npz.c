#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return fuzz_container(bytes, size, hd_npz_is, hd_npz_open);
}
