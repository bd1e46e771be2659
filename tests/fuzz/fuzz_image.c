#include "fuzz.h"
#include "io/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    hd_io_image image;
    const char *path = fuzz_put(bytes, size, "img");
    if (hd_io_image_read(path, 0, &image) == HUDDLE_OK)
        huddle_free(image.pixels);
    return 0;
}
