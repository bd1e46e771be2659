/* The digits that are always there: 1797 images of 8 x 8 pixels, gray 0 .. 16. See data/. */
#include "base/check.h"
#include "io/formats.h"

#include <stdio.h>

enum { SAMPLES = 1797, PIXELS = 64, CLASSES = 10 };

/* 64 pixels and the label, one image per row; generated from the file in data/. */
static const unsigned char digits[SAMPLES * (PIXELS + 1)] = {
#include "digits.inc"
};

/* As a reader of a file would produce them. */
huddle_status hd_io_data_number_classes(int32_t n_classes, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(data->classes, n_classes);
    data->n_classes = n_classes;
    data->classes_numeric = true;
    for (int32_t k = 0; k < n_classes; k++) {
        char text[12];
        snprintf(text, sizeof text, "%d", k);
        TRY(hd_io_copy_text(text, "a class's name", &data->classes[k]));
    }
done:
    return status;
}

huddle_status hd_io_digits_make(huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    data->format = "digits";
    TRY(huddle_points_new(SAMPLES, PIXELS, &data->points));
    ALLOC(data->labels, SAMPLES);
    TRY(hd_io_data_number_classes(CLASSES, data));
    data->height = data->width = 8;
    data->channels = 1;
    for (int i = 0; i < SAMPLES; i++) {
        const unsigned char *row = digits + i * (PIXELS + 1);
        for (int j = 0; j < PIXELS; j++)
            data->points.values[i * PIXELS + j] = (float)row[j];
        data->labels[i] = row[PIXELS];
    }
done:
    return status;
}
