#include "archive/file.h"
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/number.h"
#include "io/writers.h"

#include <stdio.h>
#include <string.h>

/* RFC 4180: a text with a separator, quote or line break is quoted, and its quotes are
 * doubled. Also quoted is what the reader would not return unchanged: an empty text, blanks at
 * the ends, and '#', which would make a first line a comment. */
bool hd_io_csv_needs_quotes(const char *text, char separator) {
    size_t length = strlen(text);
    char special[] = {separator, '"', '\n', '\r', '\0'};
    return length == 0 || strpbrk(text, special) != NULL || text[0] == ' ' || text[0] == '#' ||
           text[length - 1] == ' ';
}

huddle_status hd_io_csv_text(hd_output *output, const char *text, char separator) {
    huddle_status status = HUDDLE_OK;
    if (!hd_io_csv_needs_quotes(text, separator))
        return hd_output_write(output, text, (int64_t)strlen(text));
    TRY(hd_output_write(output, "\"", 1));
    for (; *text != '\0'; text++) {
        if (*text == '"')
            TRY(hd_output_write(output, text, 1));
        TRY(hd_output_write(output, text, 1));
    }
    TRY(hd_output_write(output, "\"", 1));
done:
    return status;
}

/* The column that the names of the rows came from, if the data is from a table. */
static const char *names_title(const huddle_data *data) {
    for (int64_t c = 0; c < data->n_columns; c++)
        if (data->columns[c].role == HUDDLE_COLUMN_NAMES && data->columns[c].name[0] != '\0')
            return data->columns[c].name;
    return "name";
}

/* A table with names is written even if the data has none, so that the header never has to be
 * guessed. */
static huddle_status write_header(hd_output *output, const huddle_data *data, char separator) {
    huddle_status status = HUDDLE_OK;
    if (data->row_names != NULL) {
        TRY(hd_io_csv_text(output, names_title(data), separator));
        TRY(hd_output_write(output, &separator, 1));
    }
    for (int64_t j = 0; j < data->points.d; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%lld", (long long)j + 1);
        if (j > 0)
            TRY(hd_output_write(output, &separator, 1));
        TRY(hd_io_csv_text(output, data->features != NULL ? data->features[j] : name, separator));
    }
    if (data->labels != NULL) {
        TRY(hd_output_write(output, &separator, 1));
        TRY(hd_output_write(output, "label", 5));
    }
    TRY(hd_output_write(output, "\n", 1));
done:
    return status;
}

/* A value with a shift has the precision of a double. */
static huddle_status write_row(hd_output *output, const huddle_data *data, int64_t i,
                               char separator) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    if (data->row_names != NULL) {
        TRY(hd_io_csv_text(output, data->row_names[i], separator));
        TRY(hd_output_write(output, &separator, 1));
    }
    for (int64_t j = 0; j < x->d; j++) {
        char text[40];
        bool wide = data->exact != NULL || (x->shift != NULL && x->shift[j] != 0);
        int length = hd_io_number_write(hd_io_value(data, i * x->stride + j, j), wide, text);
        text[length++] = j + 1 < x->d || data->labels != NULL ? separator : '\n';
        TRY(hd_output_write(output, text, length));
    }
    if (data->labels != NULL) {
        char number[12];
        snprintf(number, sizeof number, "%d", data->labels[i]);
        TRY(hd_io_csv_text(output, data->classes != NULL ? data->classes[data->labels[i]] : number,
                           separator));
        TRY(hd_output_write(output, "\n", 1));
    }
done:
    return status;
}

huddle_status hd_io_csv_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    /* Only .tsv has tabs; .txt is written as CSV. */
    char separator = hd_has_extension(path, "tsv") ? '\t' : ',';
    TRY(hd_output_begin(path, false, &output));
    TRY(write_header(&output, data, separator));
    for (int64_t i = 0; i < data->points.n; i++) {
        TRY(write_row(&output, data, i, separator));
        /* Often enough for a smooth display, and rare enough that the clock costs nothing. */
        if (i % 256 == 0)
            TRY(hd_progress(context, "write", (double)i, (double)data->points.n));
    }
done:
    return hd_output_end(&output, status);
}
