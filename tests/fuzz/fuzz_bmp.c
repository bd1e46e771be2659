#include "fuzz.h"
#include "io/image.h"

/* In memory of the exact size, so that reading beyond it is found. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    hd_io_image image = {0};
    if (size == 0)
        return 0;
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    hd_file file = {"input", copy, (int64_t)size, -1};
    if (hd_io_bmp_is(&file) && hd_io_bmp_read(&file, 0, &image) != HUDDLE_OK &&
        huddle_last_error()[0] == '\0')
        abort();
    huddle_free(image.pixels);
    free(copy);
    return 0;
}
