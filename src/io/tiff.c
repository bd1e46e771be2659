/* TIFF images, by libtiff. */
#include "base/check.h"
#include "io/image.h"

#include <stdio.h>
#include <string.h>
#include <tiffio.h>

/* Pixels of one bit, packed by deflate: fax compression, which packs white pages even better, is
 * not used for data sets. */
enum { MAX_RATIO = 8 * 1032 };

/* The mapped file, for the callbacks of libtiff, and the first message of an error. */
typedef struct source {
    const hd_file *file;
    int64_t at;
    char text[120];
} source;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size) {
    source *s = handle;
    int64_t left = s->at < s->file->size ? s->file->size - s->at : 0;
    int64_t count = size < left ? size : left;
    memcpy(to, s->file->text + (left > 0 ? s->at : 0), (size_t)count);
    s->at += count;
    return count;
}

static tmsize_t refuse_bytes(thandle_t handle, void *from, tmsize_t size) {
    (void)handle, (void)from, (void)size;
    return -1;
}

static toff_t seek_bytes(thandle_t handle, toff_t offset, int whence) {
    source *s = handle;
    int64_t base = whence == SEEK_CUR ? s->at : whence == SEEK_END ? s->file->size : 0;
    if (offset > (toff_t)(INT64_MAX / 2) || base > INT64_MAX / 2)
        return (toff_t)-1;
    s->at = base + (int64_t)offset;
    return (toff_t)s->at;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of_file(thandle_t handle) {
    return (toff_t)((source *)handle)->file->size;
}

/* Handlers that belong to one open file: those of the process are not the library's to change. */
static int keep_error(TIFF *tiff, void *user, const char *module, const char *format,
                      va_list list) {
    source *s = user;
    (void)tiff, (void)module;
    if (s->text[0] == '\0')
        vsnprintf(s->text, sizeof s->text, format, list);
    return 1;
}

static int ignore_warning(TIFF *tiff, void *user, const char *module, const char *format,
                          va_list list) {
    (void)tiff, (void)user, (void)module, (void)format, (void)list;
    return 1;
}

/* A damaged file cannot make libtiff allocate more than what its bytes could hold. */
static TIFF *open_source(source *s) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL)
        return NULL;
    int64_t limit = s->file->size > (INT64_MAX >> 20) ? INT64_MAX : s->file->size * 4 * MAX_RATIO;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, limit < (1 << 20) ? 1 << 20 : limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, s);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, NULL);
    TIFF *tiff = TIFFClientOpenExt("TIFF", "rm", s, read_bytes, refuse_bytes, seek_bytes,
                                   close_nothing, size_of_file, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static huddle_status report_damage(const source *s) {
    return hd_fail(HUDDLE_FORMAT, "the TIFF is damaged: %s",
                   s->text[0] != '\0' ? s->text : "it cannot be opened");
}

/* What the tags of a page say. */
typedef struct page_form {
    uint32_t height, width;
    uint16_t bits, samples, format, photometric, planes, orientation;
} page_form;

static page_form read_form(TIFF *tiff) {
    page_form p = {0};
    (void)TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &p.height);
    (void)TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &p.width);
    (void)TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &p.photometric);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &p.bits);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &p.samples);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &p.format);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &p.planes);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &p.orientation);
    return p;
}

/* Gray or RGB of 8 or 16 bits, row by row, so that all 16 bits are used. */
static bool is_simple(TIFF *tiff, const page_form *p) {
    bool gray =
        p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_MINISWHITE;
    return !TIFFIsTiled(tiff) && (p->bits == 8 || p->bits == 16) &&
           ((gray && p->samples == 1) || (p->photometric == PHOTOMETRIC_RGB && p->samples >= 3 &&
                                          p->planes == PLANARCONFIG_CONTIG));
}

static huddle_status read_rows(TIFF *tiff, const source *s, const page_form *p,
                               hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    unsigned char *row = NULL;
    int64_t bytes = p->bits / 8, needed = (int64_t)p->width * p->samples * bytes;
    if (TIFFScanlineSize(tiff) < needed)
        TRY(report_damage(s));
    ALLOC(row, TIFFScanlineSize(tiff));
    for (uint32_t y = 0; y < p->height; y++) {
        if (TIFFReadScanline(tiff, row, y, 0) < 0)
            TRY(report_damage(s));
        for (int64_t k = 0; k < (int64_t)p->width * image->channels; k++) {
            int64_t at = (k / image->channels * p->samples + k % image->channels) * bytes;
            uint16_t deep = 0;
            if (bytes == 2)
                memcpy(&deep, row + at, 2); /* in the byte order of this machine */
            float value = bytes == 2 ? (float)deep / 257.0f : (float)row[at];
            image->pixels[(int64_t)y * p->width * image->channels + k] =
                p->photometric == PHOTOMETRIC_MINISWHITE ? 255 - value : value;
        }
    }
done:
    huddle_free(row);
    return status;
}

/* Every other kind (palettes, tiles, YCbCr, single bits, ...), by libtiff's own conversion to 8
 * bits. The rows are asked for as they are in the file: turning them comes later. */
static huddle_status read_converted(TIFF *tiff, const source *s, const page_form *p,
                                    hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    uint32_t *raster = NULL;
    ALLOC(raster, (int64_t)p->height * p->width);
    if (!TIFFReadRGBAImageOriented(tiff, p->width, p->height, raster, p->orientation, 1))
        TRY(report_damage(s));
    for (int64_t k = 0; k < (int64_t)p->height * p->width; k++) {
        image->pixels[3 * k] = (float)TIFFGetR(raster[k]);
        image->pixels[3 * k + 1] = (float)TIFFGetG(raster[k]);
        image->pixels[3 * k + 2] = (float)TIFFGetB(raster[k]);
    }
done:
    huddle_free(raster);
    return status;
}

huddle_status hd_io_tiff_read(const hd_file *file, int32_t page, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    source s = {.file = file};
    TIFF *tiff = open_source(&s);
    if (tiff == NULL || !TIFFSetDirectory(tiff, (tdir_t)page))
        TRY(report_damage(&s));
    page_form p = read_form(tiff);
    if (p.bits > 16 || p.format != SAMPLEFORMAT_UINT)
        FAIL(HUDDLE_UNSUPPORTED,
             "a TIFF of %d-bit %s is not read; only 1 to 16 bits without sign are", p.bits,
             p.format == SAMPLEFORMAT_IEEEFP ? "floating-point numbers" : "integers");
    bool simple = is_simple(tiff, &p), gray = simple && p.samples == 1;
    TRY(hd_io_image_reserve(p.height, p.width, gray ? 1 : 3, MAX_RATIO, file->size, image));
    image->orientation = p.orientation;
    if (simple)
        TRY(read_rows(tiff, &s, &p, image));
    else
        TRY(read_converted(tiff, &s, &p, image));
done:
    if (tiff != NULL)
        TIFFClose(tiff);
    /* Several pages are told apart by their number. */
    return status == HUDDLE_OK || page == 0 ? status : hd_fail_at(status, "page %d", page + 1);
}

huddle_status hd_io_tiff_pages(const hd_file *file, int32_t *pages) {
    huddle_status status = HUDDLE_OK;
    source s = {.file = file};
    TIFF *tiff = open_source(&s);
    *pages = tiff != NULL ? (int32_t)TIFFNumberOfDirectories(tiff) : 0;
    if (*pages < 1)
        TRY(report_damage(&s));
done:
    if (tiff != NULL)
        TIFFClose(tiff);
    return status;
}
