#include "fuzz.h"
#include "io/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[64];
    hd_io_image image;
    snprintf(path, sizeof path, "/dev/shm/huddle-fuzz-%ld.img", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        abort();
    fwrite(bytes, 1, size, file);
    fclose(file);
    if (hd_io_image_read(path, 0, &image) == HUDDLE_OK)
        huddle_free(image.pixels);
    remove(path);
    return 0;
}
