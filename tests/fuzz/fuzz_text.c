#include "fuzz.h"

/* Packed files and other encodings. What is unpacked is not bounded by the input. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return fuzz_file(bytes, size < 4096 ? size : 4096, "csv");
}
