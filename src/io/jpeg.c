/* JPEG images, by libjpeg. */
#include "base/check.h"
#include "io/array.h"
#include "io/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

/* A block of 64 pixels takes a bit at least. */
enum { MAX_RATIO = 512 };

/* The error manager of libjpeg, and what it keeps for the caller. */
typedef struct failure {
    struct jpeg_error_mgr manager; /* first, so that libjpeg's pointer is also one to this */
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX];
} failure;

/* Called by libjpeg in place of returning an error; it must not return. */
static void keep_error(j_common_ptr info) {
    failure *f = (failure *)info->err;
    info->err->format_message(info, f->text);
    longjmp(f->jump, 1);
}

/* libjpeg fills what is missing of a file with gray. A data set should not contain such images, so
 * these warnings are errors; others are about details that do not change pixels. */
static void judge_warning(j_common_ptr info, int level) {
    int code = info->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER ||
                      code == JWRN_HUFF_BAD_CODE || code == JWRN_NOT_SEQUENTIAL))
        keep_error(info);
}

/* The orientation, tag 0x0112, among the entries of 12 bytes of the first directory of an EXIF
 * marker, which is a small TIFF file after the word "Exif"; 0 if there is none. */
static int32_t find_orientation(const unsigned char *b, uint32_t size) {
    if (size < 14 || memcmp(b, "Exif\0\0", 6) != 0)
        return 0;
    b += 6;
    size -= 6;
    bool big = b[0] == 'M';
    uint32_t at = hd_io_word(b + 4, 4, big);
    if (at > size - 2)
        return 0;
    uint32_t count = hd_io_word(b + at, 2, big);
    for (at += 2; count > 0 && size >= 12 && at <= size - 12; at += 12, count--)
        if (hd_io_word(b + at, 2, big) == 0x0112 && hd_io_word(b + at + 2, 2, big) == 3)
            return (int32_t)hd_io_word(b + at + 8, 2, big);
    return 0;
}

/* Everything that libjpeg may leave by longjmp(). What is allocated here is stored in the
 * arguments, so that the caller can free it. */
static huddle_status decode_image(struct jpeg_decompress_struct *info, failure *f,
                                  const hd_file *file, unsigned char **row, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    if (setjmp(f->jump) != 0)
        return hd_fail(HUDDLE_FORMAT, "the JPEG is damaged: %s", f->text);
    jpeg_create_decompress(info);
    jpeg_mem_src(info, (const unsigned char *)file->text, (unsigned long)file->size);
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xFFFF);
    (void)jpeg_read_header(info, TRUE);
    if (info->num_components != 1 && info->num_components != 3)
        FAIL(HUDDLE_UNSUPPORTED, "a JPEG of %d inks (CMYK) is not read; save it in RGB",
             info->num_components);
    info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    /* Before libjpeg allocates for the size that the header claims. */
    TRY(hd_io_image_reserve(info->image_height, info->image_width, info->num_components, MAX_RATIO,
                            file->size, image));
    for (jpeg_saved_marker_ptr m = info->marker_list; m != NULL; m = m->next)
        if (image->orientation == 0)
            image->orientation = find_orientation(m->data, m->data_length);
    (void)jpeg_start_decompress(info);
    int64_t length = (int64_t)image->width * image->channels;
    ALLOC(*row, length);
    while (info->output_scanline < info->output_height) {
        float *to = image->pixels + info->output_scanline * length;
        (void)jpeg_read_scanlines(info, row, 1);
        for (int64_t k = 0; k < length; k++)
            to[k] = (float)(*row)[k];
    }
    (void)jpeg_finish_decompress(info);
done:
    return status;
}

huddle_status hd_io_jpeg_read(const hd_file *file, int32_t page, hd_io_image *image) {
    (void)page;
    struct jpeg_decompress_struct info = {0};
    failure f = {.text = ""};
    unsigned char *row = NULL;
    info.err = jpeg_std_error(&f.manager);
    f.manager.error_exit = keep_error;
    f.manager.emit_message = judge_warning;
    huddle_status status = decode_image(&info, &f, file, &row, image);
    jpeg_destroy_decompress(&info);
    huddle_free(row);
    return status;
}
