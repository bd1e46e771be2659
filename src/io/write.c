/* huddle_data_write(): chooses the writer; and what writers share. */
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ending decides the format: there is no content to recognise yet. Formats without sparse
 * matrices refuse them, because a dense copy might not fit into memory. */
huddle_status huddle_data_write(huddle_context *context, const huddle_data *data,
                                const char *path) {
    char endings[128];
    const hd_io_format *format = hd_io_find_writer(path);
    if (format == NULL) {
        hd_io_list_write_endings(endings, sizeof endings);
        return hd_fail(HUDDLE_INVALID, "%s: the name must end in %s", path, endings);
    }
    if (data->points.offsets != NULL && !format->about->sparse)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "%s: sparse points are not made dense; write .npz, .mat or .svm", path);
    if (data->row_names != NULL && format->write != hd_io_csv_write)
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: the names of the rows are not written; .csv contains them", path);
    huddle_status status = hd_io_check_library(format);
    return status == HUDDLE_OK ? format->write(context, data, path)
                               : hd_fail_at(status, "%s", path);
}

/* Text labels are quoted as in CSV, so that any class name can be read back. */
huddle_status hd_io_labels_write_lines(hd_output *output, int64_t n, const int32_t *values,
                                       const char *const *texts) {
    huddle_status status = HUDDLE_OK;
    for (int64_t i = 0; i < n; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", values[i]);
        const char *text = texts != NULL ? texts[values[i]] : number;
        TRY(hd_io_csv_text(output, text, ','));
        TRY(hd_output_write(output, "\n", 1));
    }
done:
    return status;
}

huddle_status hd_io_labels_write_header(hd_output *output) {
    return hd_has_extension(output->path, "csv") ? hd_output_write(output, "cluster\n", 8)
                                                 : HUDDLE_OK;
}

huddle_status huddle_labels_write(const char *path, int64_t n, const int32_t *values,
                                  const char *const *texts) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    int64_t length;
    if (hd_has_extension(path, "npy")) {
        TRY(hd_io_npy_begin(path, "<i4", 1, &n, &output, &length));
        TRY(hd_output_write(&output, values, n * (int64_t)sizeof *values));
    } else {
        TRY(hd_output_begin(path, false, &output));
        TRY(hd_io_labels_write_header(&output));
        TRY(hd_io_labels_write_lines(&output, n, values, texts));
    }
done:
    return hd_output_end(&output, status);
}

/* Class names that are numbers are turned back into them, so that the labels of the file
 * survive a conversion unchanged. strtoll() cannot fail: classes_numeric guarantees whole
 * numbers. */
huddle_status hd_io_label_numbers(const huddle_data *data, int64_t **numbers) {
    huddle_status status = HUDDLE_OK;
    int64_t *values = NULL;
    *numbers = NULL;
    if (data->labels == NULL || (data->classes != NULL && !data->classes_numeric))
        goto done;
    ALLOC(values, data->n_classes);
    ALLOC(*numbers, data->points.n);
    for (int32_t k = 0; k < data->n_classes; k++)
        values[k] = data->classes != NULL ? strtoll(data->classes[k], NULL, 10) : k;
    for (int64_t i = 0; i < data->points.n; i++)
        (*numbers)[i] = values[data->labels[i]];
done:
    huddle_free(values);
    return status;
}

/* Without a copy if the points already have the layout of the file. by_columns writes the
 * transpose, which is the layout of MATLAB. The shift that was subtracted when the points were
 * rounded to float is added again; floats without one stay what they are. */
huddle_status hd_io_block_make(const huddle_points *x, double *exact, bool by_columns,
                               hd_io_block *block) {
    huddle_status status = HUDDLE_OK;
    const huddle_data data = {.points = *x, .exact = exact};
    const int64_t row_step = by_columns ? 1 : x->d, step = by_columns ? x->n : 1;
    float *floats = NULL;
    double *doubles = NULL;
    *block = (hd_io_block){.wide = hd_io_writes_doubles(&data),
                           .values = exact != NULL ? (const void *)exact : x->values};
    if (!by_columns && (exact != NULL || (!block->wide && x->stride == x->d)))
        goto done;
    if (block->wide)
        ALLOC(doubles, x->n * x->d);
    else
        ALLOC(floats, x->n * x->d);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++) {
            const int64_t place = i * row_step + j * step;
            if (block->wide)
                doubles[place] = hd_io_value(&data, i * x->stride + j, j);
            else
                floats[place] = x->values[i * x->stride + j];
        }
    block->owned = block->wide ? (void *)doubles : floats;
    block->values = block->owned;
done:
    return status;
}
