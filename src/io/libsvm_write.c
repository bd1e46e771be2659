#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "io/number.h"
#include "io/writers.h"

#include <stdio.h>

/* " 12:0.5", indices from 1 */
static huddle_status write_pair(hd_output *output, int64_t column, double value, bool wide) {
    char text[64];
    int length = snprintf(text, sizeof text, " %lld:", (long long)column + 1);
    length += hd_io_number_write(value, wide, text + length);
    return hd_output_write(output, text, length);
}

/* Zeros are left out. The first line contains the last feature even if it is zero: readers
 * derive the number of features from the largest index. */
static huddle_status write_row(hd_output *output, const huddle_data *data, int64_t i) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    int64_t begin = x->offsets != NULL ? x->offsets[i] : 0;
    int64_t end = x->offsets != NULL ? x->offsets[i + 1] : x->d, last = -1;
    for (int64_t e = begin; e < end; e++) {
        int64_t column = x->offsets != NULL ? x->columns[e] : e;
        double value = hd_io_value(data, x->offsets != NULL ? e : i * x->stride + e, column);
        /* A value that is zero only after its shift is added is left out, too. */
        if (value == 0)
            continue;
        TRY(write_pair(output, column, value, hd_io_writes_doubles(data)));
        last = column;
    }
    if (i == 0 && last < x->d - 1)
        TRY(write_pair(output, x->d - 1, 0, false));
    TRY(hd_output_write(output, "\n", 1));
done:
    return status;
}

/* LIBSVM demands a number before every line: text labels are written as class numbers with a
 * warning, and data without labels as 0. */
huddle_status hd_io_libsvm_write(huddle_context *context, const huddle_data *data,
                                 const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    int64_t *numbers = NULL;
    TRY(hd_output_begin(path, false, &output));
    TRY(hd_io_label_numbers(data, &numbers));
    if (data->labels != NULL && numbers == NULL)
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: labels that are strings are written as 0 .. %d", path, data->n_classes - 1);
    /* The label is a number in any case, since readers parse it as one. */
    for (int64_t i = 0; i < data->points.n; i++) {
        char label[24];
        int64_t number = numbers != NULL ? numbers[i] : data->labels != NULL ? data->labels[i] : 0;
        TRY(hd_output_write(&output, label,
                            snprintf(label, sizeof label, "%lld", (long long)number)));
        TRY(write_row(&output, data, i));
        if (i % 256 == 0)
            TRY(hd_progress(context, "write", (double)i, (double)data->points.n));
    }
done:
    huddle_free(numbers);
    return hd_output_end(&output, status);
}
