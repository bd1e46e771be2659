/* A folder of images: one sub-folder per class, or images alone, without labels. A TIFF file of
 * several pages is as many images, and may be read by itself. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/image.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Owned texts: paths of files or folders. */
typedef struct list {
    char **items;
    int64_t count, capacity;
} list;

/* By bytes, so that the order does not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Takes the name over, also if it fails. */
static huddle_status append_name(list *names, char *name) {
    if (name == NULL ||
        !hd_grow(&names->items, &names->capacity, names->count + 1, sizeof *names->items)) {
        huddle_free(name);
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a file's name");
    }
    names->items[names->count++] = name;
    return HUDDLE_OK;
}

/* Without a second slash if the folder was given with one. */
static char *join_path(const char *folder, const char *name) {
    size_t head = strlen(folder), size = head + strlen(name) + 2;
    char *path = hd_alloc((int64_t)size, 1);
    bool slash = head > 0 && folder[head - 1] == '/';
    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

/* Adds the paths of the images and of the folders in a folder; hidden ones are left out. They are
 * sorted, because their order differs between file systems: the rows of the data must not depend on
 * the machine. `folders` is NULL inside a class folder: classes are one level deep. */
static huddle_status list_folder(const char *folder, list *images, list *folders) {
    huddle_status status = HUDDLE_OK;
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, by_name);
    if (count < 0)
        FAIL(HUDDLE_IO, "cannot be opened: %s", strerror(errno));
    for (int k = 0; k < count; k++) {
        struct stat about;
        char *path = join_path(folder, entries[k]->d_name);
        if (path == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a file's name");
        bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
        if (is_folder && folders != NULL)
            TRY(append_name(folders, path));
        else if (!is_folder && hd_io_image_named(path))
            TRY(append_name(images, path));
        else
            huddle_free(path);
    }
done:
    for (int k = 0; k < count; k++)
        free(entries[k]);
    free(entries);
    return status;
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* An image: a page of a file. */
typedef struct item {
    const char *path;    /* of a list */
    const hd_file *file; /* if it is open already; else NULL */
    int32_t page;
} item;

typedef struct items {
    item *all;
    int64_t count, capacity;
} items;

/* Adds all pages of an image. */
static huddle_status add_pages(item first, int32_t pages, items *found) {
    if (!hd_grow(&found->all, &found->capacity, found->count + pages, sizeof *found->all))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld images",
                       (long long)found->count + pages);
    for (; first.page < pages; first.page++)
        found->all[found->count++] = first;
    return HUDDLE_OK;
}

/* Only files named like TIFF are opened to count: of other images there is one in each file. */
static huddle_status add_file(const char *path, items *found) {
    huddle_status status = HUDDLE_OK;
    hd_file file = {.descriptor = -1};
    int32_t pages = 1;
    if (hd_has_extension(path, "tif") || hd_has_extension(path, "tiff")) {
        TRY(hd_io_locate_failure(path, hd_file_open(path, &file)));
        TRY(hd_io_image_pages(&file, &pages));
    }
    TRY(add_pages((item){path, NULL, 0}, pages, found));
done:
    hd_file_close(&file);
    return status;
}

static huddle_status read_item(const item *from, hd_io_image *image) {
    return from->file != NULL ? hd_io_image_decode(from->file, from->page, image)
                              : hd_io_image_read(from->path, from->page, image);
}

/* ---- pixels --------------------------------------------------------------------------------- */

/* The argument of read_chunk(). */
typedef struct reading {
    const items *images;
    huddle_data *data;
    bool gray;
    atomic_bool colour; /* an image has colours, although the first has none */
} reading;

/* Rec. 601, as libjpeg and Pillow weight colours. */
static float luminance(const float *rgb) {
    return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
}

/* Makes a gray image of a colour one, by its luminance, or the other way round. */
static huddle_status convert_image(hd_io_image *image, int32_t channels) {
    huddle_status status = HUDDLE_OK;
    float *pixels = NULL;
    int64_t count = (int64_t)image->height * image->width;
    if (image->channels == channels)
        goto done;
    ALLOC(pixels, count * channels);
    for (int64_t k = 0; k < count; k++) {
        const float *from = image->pixels + k * image->channels;
        for (int32_t c = 0; c < channels; c++)
            pixels[k * channels + c] = image->channels == 3 ? luminance(from) : from[0];
    }
    huddle_free(image->pixels);
    image->pixels = pixels;
    image->channels = channels;
done:
    return status;
}

/* Images are decoded in parallel, each into its own row. All must have the size of the first,
 * or their pixels would not correspond. */
static huddle_status read_chunk(void *argument, hd_chunk chunk) {
    reading *r = argument;
    huddle_status status = HUDDLE_OK;
    hd_io_image image = {0};
    int64_t d = r->data->points.d;
    for (int64_t i = chunk.begin; i < chunk.end && !atomic_load(&r->colour); i++) {
        const char *path = r->images->all[i].path;
        TRY(read_item(&r->images->all[i], &image));
        if (image.height != r->data->height || image.width != r->data->width)
            FAIL(HUDDLE_FORMAT, "%s: the image is %d x %d, but %s is %d x %d", path, image.height,
                 image.width, r->images->all[0].path, r->data->height, r->data->width);
        if (image.channels > r->data->channels && !r->gray)
            atomic_store(&r->colour, true);
        TRY(convert_image(&image, r->data->channels));
        memcpy(r->data->points.values + i * d, image.pixels, (size_t)d * sizeof *image.pixels);
        huddle_free(image.pixels);
        image.pixels = NULL;
    }
done:
    huddle_free(image.pixels);
    return status;
}

/* Reads all images with as many channels as data->channels says. */
static huddle_status read_all(hd_io_request *request, reading *r) {
    huddle_status status = HUDDLE_OK;
    huddle_data *data = r->data;
    huddle_points_free(&data->points);
    TRY(hd_io_points_reserve(r->images->count, (int64_t)data->height * data->width * data->channels,
                             &data->points));
    TRY(hd_parallel(request->context, "read", r->images->count, 8, read_chunk, r));
done:
    return status;
}

/* The first image is read twice: its size decides how many features there are. If it is gray and
 * another one is not, all become colour images. */
static huddle_status read_pixels(hd_io_request *request, const items *images, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_image first = {0};
    reading r = {.images = images, .data = data, .gray = request->options->gray};
    if (images->all == NULL)
        FAIL(HUDDLE_FORMAT, "there are no images in it");
    TRY(hd_io_located(request, read_item(&images->all[0], &first)));
    data->height = first.height;
    data->width = first.width;
    data->channels = r.gray ? 1 : first.channels;
    TRY(hd_io_located(request, read_all(request, &r)));
    if (atomic_load(&r.colour)) {
        atomic_store(&r.colour, false);
        data->channels = 3;
        TRY(hd_io_located(request, read_all(request, &r)));
    }
done:
    huddle_free(first.pixels);
    return status;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* Classes are named after their folders: what is between the last two slashes of a path, which
 * join_path() has put there. */
static hd_io_span class_of(const char *path) {
    const char *end = strrchr(path, '/'), *begin = end;
    while (begin > path && begin[-1] != '/')
        begin--;
    return (hd_io_span){begin, end - begin};
}

/* Labels from a file (y) replace those of the folders. */
static huddle_status label_images(hd_io_request *request, bool classed, const items *images,
                                  huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels labels = {0};
    if (hd_io_labels_unwanted(request->options) || (!classed && request->options->n_y <= 0))
        goto done;
    if (request->options->n_y > 0) {
        TRY(hd_io_labels_from_files(request, &labels));
    } else {
        ALLOC(labels.texts, images->count);
        labels.n = images->count;
        for (int64_t i = 0; i < images->count; i++)
            labels.texts[i] = class_of(images->all[i].path);
    }
    TRY(hd_io_data_set_labels(request, data, &labels));
done:
    hd_io_labels_free(&labels);
    return status;
}

/* Images beside class folders are probably a preview or a mean image, so they are ignored with
 * a warning. */
huddle_status hd_io_images_read(hd_io_request *request, const char *folder, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    list images = {0}, loose = {0}, folders = {0};
    items pages = {0};
    char known[80];
    data->format = "images";
    TRY(list_folder(folder, &loose, &folders));
    for (int64_t k = 0; k < folders.count; k++)
        TRY(list_folder(folders.items[k], &images, NULL));
    bool classed = images.count > 0;
    const list *read = classed ? &images : &loose;
    hd_io_image_formats(known, sizeof known);
    if (read->count == 0)
        FAIL(HUDDLE_FORMAT, "the folder contains no images, nor folders of them; %s are read",
             known);
    if (classed && loose.count > 0)
        hd_warn(request->context, HUDDLE_WARNING_INPUT,
                "%s: %lld images outside the class folders are ignored", folder,
                (long long)loose.count);
    for (int64_t i = 0; i < read->count; i++)
        TRY(hd_io_located(request, add_file(read->items[i], &pages)));
    TRY(read_pixels(request, &pages, data));
    TRY(label_images(request, classed, &pages, data));
done:
    huddle_free(pages.all);
    hd_io_classes_free(images.items, images.count);
    hd_io_classes_free(loose.items, loose.count);
    hd_io_classes_free(folders.items, folders.count);
    return status;
}

huddle_status hd_io_pages_read(hd_io_request *request, const hd_file *file, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    items pages = {0};
    int32_t count = 0;
    data->format = "images";
    TRY(hd_io_located(request, hd_io_image_pages(file, &count)));
    if (count < 2)
        FAIL(HUDDLE_UNSUPPORTED,
             "a single image is not a data set; give the folder of its class folders");
    TRY(add_pages((item){file->path, file, 0}, count, &pages));
    TRY(read_pixels(request, &pages, data));
    TRY(label_images(request, false, &pages, data));
done:
    huddle_free(pages.all);
    return status;
}
