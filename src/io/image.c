#include "io/image.h"

#include "base/check.h"
#include "io/formats.h"

#include <stdio.h>
#include <string.h>

/* ---- kinds ---------------------------------------------------------------------------------- */

static bool is_png(const hd_file *file) {
    return file->size >= 8 && memcmp(file->text, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static bool is_jpeg(const hd_file *file) {
    return file->size >= 3 && memcmp(file->text, "\xff\xd8\xff", 3) == 0;
}

/* "II" or "MM", then 42, or 43 in files larger than 4 GiB. */
bool hd_io_tiff_is(const hd_file *file) {
    static const char *const magics[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (int k = 0; k < 4; k++)
        if (file->size >= 8 && memcmp(file->text, magics[k], 4) == 0)
            return true;
    return false;
}

/* How images are recognised and read. HUDDLE_WITH_* are 0 or 1; functions that need a library which
 * was left out are NULL. */
enum { NETPBM, BMP, PNG, JPEG, TIFF, N_KINDS };

typedef struct image_kind {
    const char *name, *library;
    bool (*is)(const hd_file *file);
    huddle_status (*read)(const hd_file *file, int32_t page, hd_io_image *image);
    huddle_status (*count)(const hd_file *file, int32_t *pages); /* NULL: a file is one image */
} image_kind;

static const image_kind kinds[N_KINDS] = {
    [NETPBM] = {"PGM, PPM", NULL, hd_io_netpbm_is, hd_io_netpbm_read, NULL},
    [BMP] = {"BMP", NULL, hd_io_bmp_is, hd_io_bmp_read, NULL},
    [PNG] = {"PNG", "libpng", is_png, HUDDLE_WITH_PNG ? hd_io_png_read : NULL, NULL},
    [JPEG] = {"JPEG", "libjpeg", is_jpeg, HUDDLE_WITH_JPEG ? hd_io_jpeg_read : NULL, NULL},
    [TIFF] = {"TIFF", "libtiff", hd_io_tiff_is, HUDDLE_WITH_TIFF ? hd_io_tiff_read : NULL,
              HUDDLE_WITH_TIFF ? hd_io_tiff_pages : NULL},
};

static huddle_status missing_library(const image_kind *kind) {
    return hd_io_missing_library(kind->library, "%s images", kind->name);
}

void hd_io_image_formats(char *text, size_t size) {
    int last = TIFF;
    size_t used = 0;
    while (kinds[last].read == NULL)
        last--;
    for (int k = 0; k <= last && used < size; k++)
        if (kinds[k].read != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     k == 0      ? ""
                                     : k == last ? " and "
                                                 : ", ",
                                     kinds[k].name);
}

/* ---- pixels --------------------------------------------------------------------------------- */

/* The sides of an image come from its file. The bounds keep their product within reach of the
 * allocator and of int64, and in proportion to the file. */
huddle_status hd_io_image_reserve(int64_t height, int64_t width, int32_t channels, int64_t ratio,
                                  int64_t file_size, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    if (height < 1 || width < 1 || height > HD_IO_MAX_SIDE || width > HD_IO_MAX_SIDE)
        FAIL(HUDDLE_FORMAT, "an image of %lld x %lld is invalid", (long long)height,
             (long long)width);
    if (height * width / ratio > file_size)
        FAIL(HUDDLE_FORMAT, "its header claims %lld x %lld pixels, more than %lld bytes can hold",
             (long long)height, (long long)width, (long long)file_size);
    ALLOC(image->pixels, height * width * channels);
    image->height = (int32_t)height;
    image->width = (int32_t)width;
    image->channels = channels;
done:
    return status;
}

/* Programs save gray pictures as colour ones. One channel of them is enough, and kept exactly. */
static void drop_equal_channels(hd_io_image *image) {
    int64_t count = (int64_t)image->height * image->width;
    if (image->channels != 3)
        return;
    for (int64_t k = 0; k < count; k++) {
        const float *rgb = image->pixels + 3 * k;
        if (rgb[0] != rgb[1] || rgb[0] != rgb[2])
            return;
    }
    for (int64_t k = 0; k < count; k++)
        image->pixels[k] = image->pixels[3 * k];
    image->channels = 1;
}

/* Turns an image as its orientation says: 2 to 4 mirror and rotate by half a turn, 5 to 8 also
 * exchange rows and columns. Pixel (y, x) of the result is pixel (v, u) of the file. */
static huddle_status turn_upright(hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    float *pixels = NULL;
    int32_t o = image->orientation, h = image->height, w = image->width, c = image->channels;
    bool exchanged = o >= 5;
    bool flip_v = o == 3 || o == 4 || o == 6 || o == 7,
         flip_u = o == 2 || o == 3 || o == 7 || o == 8;
    if (o < 2 || o > 8)
        goto done;
    ALLOC(pixels, (int64_t)h * w * c);
    image->height = exchanged ? w : h;
    image->width = exchanged ? h : w;
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++) {
            int64_t v = exchanged ? x : y, u = exchanged ? y : x;
            v = flip_v ? h - 1 - v : v;
            u = flip_u ? w - 1 - u : u;
            memcpy(pixels + ((int64_t)y * image->width + x) * c, image->pixels + (v * w + u) * c,
                   (size_t)c * sizeof *pixels);
        }
    huddle_free(image->pixels);
    image->pixels = pixels;
done:
    return status;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Content decides, not the ending of the name: folders contain PGM files renamed to .png. */
static huddle_status decode_file(const hd_file *file, int32_t page, hd_io_image *image) {
    for (int k = 0; k < N_KINDS; k++)
        if (kinds[k].is(file))
            return kinds[k].read != NULL ? kinds[k].read(file, page, image)
                                         : missing_library(&kinds[k]);
    return hd_fail(HUDDLE_FORMAT,
                   "the content is neither PGM (P2, P5), PPM (P3, P6), PNG, JPEG, TIFF nor BMP");
}

huddle_status hd_io_image_decode(const hd_file *file, int32_t page, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    *image = (hd_io_image){0};
    TRY(decode_file(file, page, image));
    TRY(turn_upright(image));
    drop_equal_channels(image);
done:
    if (status != HUDDLE_OK) {
        huddle_free(image->pixels);
        *image = (hd_io_image){0};
    }
    return hd_io_locate_failure(file->path, status);
}

huddle_status hd_io_image_read(const char *path, int32_t page, hd_io_image *image) {
    hd_file file = {.descriptor = -1};
    huddle_status status = hd_io_locate_failure(path, hd_file_open(path, &file));
    *image = (hd_io_image){0};
    if (status == HUDDLE_OK)
        status = hd_io_image_decode(&file, page, image);
    hd_file_close(&file);
    return status;
}

huddle_status hd_io_image_pages(const hd_file *file, int32_t *pages) {
    *pages = 1;
    if (!hd_io_tiff_is(file))
        return HUDDLE_OK;
    huddle_status status =
        kinds[TIFF].count != NULL ? kinds[TIFF].count(file, pages) : missing_library(&kinds[TIFF]);
    return hd_io_locate_failure(file->path, status);
}
