/* The readers of tables: data sets, labels, matrices. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "io/exact.h"
#include "io/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- points --------------------------------------------------------------------------------- */

/* Complete rows of numbers, straight into floats. Only if a column turns out to need a shift,
 * which is known when all values have been seen, are they read again as doubles, unless the caller
 * wants those too: reading twice is rare and costs less than keeping doubles for every file. */
static huddle_status read_points(const hd_io_schema *schema, bool *misread, hd_io_labels *labels,
                                 huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = schema->request->context;
    huddle_points *points = &data->points;
    hd_io_intake intake = {0};
    double *values = NULL;
    int64_t n = schema->pieces->rows, d = schema->d;
    hd_io_reading r = {.schema = schema, .intake = &intake};
    /* The texts of labels point into the mapped file, without a copy. */
    if (schema->label >= 0) {
        ALLOC(labels->texts, n);
        labels->n = n;
        r.texts = labels->texts;
    }
    TRY(hd_io_points_reserve(n, d, points));
    TRY(hd_io_intake_begin(context, points, false, schema->request->options, &intake));
    status = hd_io_table_read(&r);
    *misread = atomic_load(&r.misread);
    TRY(status);
    if (hd_io_intake_shifts(context, &intake)) {
        huddle_points_free(points);
        if (intake.exact != NULL)
            TRY(hd_io_exact_points(context, n, d, intake.exact, points));
        else {
            ALLOC(values, n * d);
            r.intake = NULL;
            r.values = values;
            TRY(hd_io_table_read(&r));
            TRY(huddle_points_from_double(context, n, d, values, d, 1, points));
        }
    }
    data->exact = intake.exact;
    intake.exact = NULL;
done:
    huddle_free(values);
    hd_io_intake_free(&intake);
    return status;
}

/* The names of `count` columns, or of the first ones if `columns` is NULL. They are copied, since
 * the layout is freed before the data. */
static huddle_status copy_names(const hd_io_layout *layout, const int64_t *columns, int64_t count,
                                char ***names) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(*names, count);
    for (int64_t k = 0; k < count; k++)
        TRY(hd_io_copy_text(layout->names[columns != NULL ? columns[k] : k], "a column's name",
                            &(*names)[k]));
done:
    return status;
}

/* The names of the features, each from its column. The role of a numeric column is the number
 * of its feature. */
static huddle_status keep_features(const hd_io_schema *schema, huddle_data *data,
                                   int64_t **sources) {
    huddle_status status = HUDDLE_OK;
    ALLOC(*sources, schema->d);
    for (int64_t k = 0; k < schema->n_chosen; k++)
        (*sources)[schema->roles[schema->chosen[k]]] = schema->chosen[k];
    if (schema->layout->names != NULL)
        TRY(copy_names(schema->layout, *sources, schema->d, &data->features));
done:
    return status;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* Values that are all or nearly all different identify rows. A column of them is not taken for
 * labels unless the caller names it, or selects classes, which means the same. */
static huddle_status drop_identifiers(hd_io_schema *schema, huddle_data *data) {
    int64_t n = data->points.n, distinct = data->n_classes;
    if (hd_io_labels_needed(schema) ||
        !hd_io_are_no_labels(&schema->layout->kinds[schema->label], distinct, n))
        return HUDDLE_OK;
    hd_io_data_forget_labels(data);
    return hd_io_schema_reject_label(schema, schema->label, distinct, n);
}

/* Labels from another file. If incomplete rows were dropped, that file still has labels for
 * them; data->dropped is in ascending order, so both lists are walked once. */
static huddle_status read_other_labels(hd_io_request *request, hd_io_labels *labels,
                                       huddle_data *data) {
    huddle_status status = hd_io_labels_from_files(request, labels);
    int64_t kept = 0, gone = 0, rows = data->points.n + data->n_dropped;
    if (status != HUDDLE_OK || data->n_dropped == 0)
        return status;
    if (labels->n != rows) {
        request->failing_path = request->options->y[0];
        return hd_fail(HUDDLE_INVALID, "there are %lld labels for %lld samples",
                       (long long)labels->n, (long long)rows);
    }
    for (int64_t i = 0; i < rows; i++) {
        if (gone < data->n_dropped && data->dropped[gone] == i) {
            gone++;
            continue;
        }
        if (labels->texts != NULL)
            labels->texts[kept++] = labels->texts[i];
        else
            labels->numbers[kept++] = labels->numbers[i];
    }
    labels->n = kept;
    return status;
}

/* Identifiers are dropped only among labels that were found by a guess in the table itself;
 * labels from a file were named by the caller. */
static huddle_status set_labels(hd_io_request *request, hd_io_schema *schema, hd_io_labels *labels,
                                huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    if (schema->from_files) {
        TRY(read_other_labels(request, labels, data));
        TRY(hd_io_data_set_labels(request, data, labels));
    } else if (schema->label >= 0) {
        if (schema->layout->quoted)
            TRY(hd_io_texts_unescape(labels));
        TRY(hd_io_data_set_labels(request, data, labels));
        TRY(drop_identifiers(schema, data));
    }
done:
    return status;
}

/* ---- features that determine the labels ----------------------------------------------------- */

/* Floats, not doubles: the points are already rounded. */
static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* True if feature j has one value for each class and no two classes share it: it is then the
 * labels in another coding (a class number beside the class name), and clustering would only
 * reproduce it. Most features fail within a few rows. */
static bool determines_labels(const huddle_data *data, int64_t j, float *values, bool *seen) {
    const huddle_points *x = &data->points;
    memset(seen, 0, (size_t)data->n_classes * sizeof *seen);
    for (int64_t i = 0; i < x->n; i++) {
        float value = x->values[i * x->stride + j];
        int32_t k = data->labels[i];
        if (!seen[k]) {
            seen[k] = true;
            values[k] = value;
        } else if (values[k] != value)
            return false;
    }
    qsort(values, (size_t)data->n_classes, sizeof *values, by_value);
    for (int32_t k = 1; k < data->n_classes; k++)
        if (values[k] == values[k - 1])
            return false;
    return true;
}

/* Removes features in place: a value never moves beyond where it was. */
static void remove_features(huddle_data *data, const bool *gone) {
    huddle_points *x = &data->points;
    int64_t d = 0, kept = 0;
    hd_io_exact_remove(data, gone);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++)
            if (!gone[j])
                x->values[kept++] = x->values[i * x->stride + j];
    for (int64_t j = 0; j < x->d; j++) {
        if (gone[j]) {
            if (data->features != NULL)
                huddle_free(data->features[j]);
            continue;
        }
        if (data->features != NULL)
            data->features[d] = data->features[j];
        if (x->shift != NULL)
            x->shift[d] = x->shift[j];
        d++;
    }
    x->d = d;
    x->stride = d;
}

/* Features that the caller named are kept whatever they contain, and the last feature is kept
 * because there would be no points without it. */
static huddle_status drop_leaks(hd_io_schema *schema, const int64_t *sources, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    enum { ROWS_PER_CLASS = 3 }; /* in fewer a number may fit the classes by accident */
    const int64_t d = data->points.d;
    bool *gone = NULL, *seen = NULL;
    float *values = NULL;
    int64_t count = 0;
    if (!schema->automatic || data->n_classes < 2 ||
        data->points.n < ROWS_PER_CLASS * (int64_t)data->n_classes)
        goto done;
    ALLOC_ZERO(gone, d);
    ALLOC(seen, data->n_classes);
    ALLOC(values, data->n_classes);
    for (int64_t j = 0; j < d; j++) {
        gone[j] = count + 1 < d && determines_labels(data, j, values, seen);
        if (!gone[j])
            continue;
        count++;
        TRY(hd_io_schema_leave_out_leak(schema, sources[j]));
    }
    if (count > 0)
        remove_features(data, gone);
done:
    FREE(gone, seen, values);
    return status;
}

/* ---- log lines and warnings ----------------------------------------------------------------- */

/* Logs what becomes of a column and, if there is a way, how to use it nevertheless; a warning if
 * that is surprising. */
static void report_column(const hd_io_schema *schema, int64_t column, const char *what,
                          bool surprising) {
    const hd_io_layout *layout = schema->layout;
    const huddle_read_options *options = schema->request->options;
    const char *reason = schema->columns[column].reason;
    hd_io_phrase place = hd_io_layout_place(layout, column), use = {""};
    if (column == schema->rejected)
        snprintf(use.text, sizeof use.text, "; %.300s makes it the labels",
                 hd_io_hint_column(options, "y", layout, column).text);
    else if (layout->kinds[column].kind == HD_IO_NUMBERS &&
             hd_io_layout_name(layout, column)[0] == '\0')
        snprintf(use.text, sizeof use.text, "; choose it by its position (%.300s) to use it",
                 hd_io_hint_column(options, "x", layout, column).text);
    else if (layout->kinds[column].kind == HD_IO_NUMBERS)
        snprintf(use.text, sizeof use.text, "; name it in %s to use it",
                 options->hints_as_flags ? "--x" : "x");
    if (surprising)
        hd_warn(schema->request->context, HUDDLE_WARNING_INPUT, "%s %s: %s%s", place.text, what,
                reason, use.text);
    else
        hd_log(schema->request->context, "%s %s: %s%s", place.text, what, reason, use.text);
}

/* What deserves attention (a column that would have determined the result, or one that names the
 * rows although it is called labels) is a warning; the routine cases are log lines, a few of them,
 * since wide tables may have thousands of columns. */
static void report_columns(const hd_io_schema *schema) {
    enum { MAX_REPORTED = 8 };
    int64_t reported = 0;
    for (int64_t c = 0; c < schema->layout->columns; c++) {
        bool notable = schema->leaks[c] || c == schema->rejected;
        if (c == schema->names)
            report_column(schema, c, "names the rows",
                          hd_io_label_name_rank(hd_io_layout_name(schema->layout, c)) >= 0);
        if (schema->columns[c].role != HUDDLE_COLUMN_IGNORED || c == schema->looks_like_labels ||
            !(notable || schema->automatic))
            continue;
        if (notable || reported++ < MAX_REPORTED)
            report_column(schema, c, "is ignored", notable);
    }
    if (reported > MAX_REPORTED)
        hd_log(schema->request->context, "%lld more columns are ignored",
               (long long)(reported - MAX_REPORTED));
}

/* The examples of a column are read again here as the column was, so that the warning shows
 * the value in use. */
static double styled_value(const char *text, char decimal) {
    hd_io_marks marks;
    double value = NAN;
    return hd_io_styled_number(text, text + strlen(text), decimal, &value, &marks) ? value : NAN;
}

/* A column in which 1,234 may be 1234 or 1.234 and no other column decides: the warning shows
 * the reading that was chosen. */
static void warn_ambiguous(huddle_context *context, const char *place, const hd_io_column *kind) {
    char sign = strchr(kind->example, ',') != NULL ? ',' : '.';
    hd_warn(context, HUDDLE_WARNING_INPUT, "%s: %s is read as %.15g, the %s %s", place,
            kind->example, styled_value(kind->example, kind->decimal),
            sign == ',' ? "comma" : "point",
            sign == kind->decimal ? "being the decimal sign" : "separating thousands");
}

/* Only features: the style of a column that is not used does not matter. */
static void report_styles(const hd_io_schema *schema) {
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        const hd_io_column *kind = &schema->layout->kinds[schema->chosen[k]];
        hd_io_phrase place = hd_io_layout_place(schema->layout, schema->chosen[k]);
        if (schema->roles[schema->chosen[k]] < 0)
            continue;
        if (kind->ambiguous)
            warn_ambiguous(schema->request->context, place.text, kind);
        if (kind->mixed)
            hd_warn(schema->request->context, HUDDLE_WARNING_INPUT,
                    "%s mixes values such as %s, read as %.15g, with %s, read as %.15g", place.text,
                    kind->mixes[0], styled_value(kind->mixes[0], kind->decimal), kind->mixes[1],
                    styled_value(kind->mixes[1], kind->decimal));
    }
}

/* ---- the three readers ---------------------------------------------------------------------- */

/* One attempt; *misread: a value contradicts what the first records suggested. The fast path
 * needs complete rows and no texts but the label; otherwise all values pass through memory as
 * doubles. Leaks are dropped after the labels are known, and reported with the other ignored
 * columns. */
static huddle_status read_table(hd_io_request *request, const hd_io_layout *layout,
                                const hd_io_pieces *pieces, bool *misread, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels labels = {0};
    hd_io_schema schema = {request, layout, pieces};
    int policy;
    int64_t *sources = NULL;
    *misread = false;
    /* The options are checked before the table, so that a mistake in them is reported first. */
    TRY(hd_io_choose("missing", request->options->missing, "error|drop|mean|median", &policy));
    TRY(hd_io_schema_make(&schema));
    if (policy != HD_IO_REFUSE || schema.n_texts > (schema.label >= 0))
        TRY(hd_io_table_values(&schema, (hd_io_missing)policy, misread, &labels, data, &sources));
    else {
        TRY(read_points(&schema, misread, &labels, data));
        TRY(keep_features(&schema, data, &sources));
    }
    if (layout->names != NULL) { /* used or not: the caller may want to choose among them */
        data->n_names = layout->columns;
        TRY(copy_names(layout, NULL, layout->columns, &data->names));
    }
    TRY(set_labels(request, &schema, &labels, data));
    TRY(drop_leaks(&schema, sources, data));
    TRY(hd_io_names_read(&schema, data));
    if (data->exact != NULL)
        TRY(hd_io_table_warn_rounded(&schema, data->exact, data->points.n * data->points.d));
    report_columns(&schema);
    report_styles(&schema);
    /* Ownership moves to the caller. */
    data->columns = schema.columns;
    data->n_columns = layout->columns;
    schema.columns = NULL;
done:
    huddle_free(sources);
    hd_io_labels_free(&labels);
    hd_io_schema_free(&schema);
    return status;
}

/* True if the first records leave something open that the others decide: a column empty so
 * far, or one whose decimal sign or units are uncertain. A plain table of numbers is not
 * scanned twice. */
static bool needs_all_records(const hd_io_layout *layout) {
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        if (kind->kind == HD_IO_EMPTY || kind->decimal != '.' || kind->open || kind->mixed)
            return !layout->all_examined;
    }
    return false;
}

/* The layout and rows of a table. `path` is named in what is logged, if it is not NULL. */
static huddle_status open_table(const hd_io_request *request, const hd_file *file, const char *path,
                                hd_io_layout *layout, hd_io_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_layout_find(request->context, file, request->options, layout));
    TRY(hd_io_header_report(request->context, path, request->options, layout));
    if (needs_all_records(layout))
        TRY(hd_io_layout_examine(layout, INT64_MAX));
    TRY(hd_io_table_cut(request->context, layout, pieces));
done:
    return status;
}

static void close_table(hd_io_layout *layout, hd_io_pieces *pieces) {
    hd_io_pieces_free(pieces);
    hd_io_layout_free(layout);
}

/* The kinds of the columns are found from the first records, which is right for nearly every
 * file. If reading then fails on a value that contradicts them, all records are examined and
 * the table is read once more, with the majority of the values deciding. */
huddle_status hd_io_csv_read(hd_io_request *request, const hd_file *file, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_layout layout = {0};
    hd_io_pieces pieces = {0};
    bool misread = false;
    if (request->options->transpose)
        FAIL(HUDDLE_UNSUPPORTED, "a table has its samples in rows; transpose is for arrays");
    TRY(open_table(request, file, NULL, &layout, &pieces));
    data->format = layout.declared != NULL ? "arff" : layout.separator == '\t' ? "tsv" : "csv";
    status = read_table(request, &layout, &pieces, &misread, data);
    if (status != HUDDLE_OK && misread && !layout.all_examined) {
        huddle_points_free(&data->points);
        huddle_free(data->exact);
        data->exact = NULL;
        TRY(hd_io_layout_examine(&layout, INT64_MAX));
        status = read_table(request, &layout, &pieces, &misread, data);
    }
done:
    close_table(&layout, &pieces);
    return status;
}

/* Rows are read without options: nothing can be suggested to somebody who only asked for labels. */
huddle_status hd_io_csv_labels(huddle_context *context, const hd_file *file, bool clusters,
                               hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    const hd_io_request request = {.context = context};
    hd_io_layout layout = {0};
    hd_io_pieces pieces = {0};
    hd_io_schema schema = {&request, &layout, &pieces};
    *labels = (hd_io_labels){0};
    TRY(open_table(&request, file, file->path, &layout, &pieces));
    TRY(hd_io_find_label(&schema, file->path, clusters, &schema.label));
    labels->n = pieces.rows;
    TRY(hd_io_texts_read(&schema, &schema.label, 1, false, &labels->texts));
    TRY(hd_io_texts_unescape(labels)); /* also a copy that outlives the file */
done:
    hd_io_schema_free(&schema);
    close_table(&layout, &pieces);
    if (status != HUDDLE_OK)
        hd_io_labels_free(labels);
    return status;
}

/* Every column is a feature: a matrix has no labels, and a text in it is an error. */
huddle_status hd_io_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    const hd_io_request request = {.context = context};
    hd_io_layout layout = {0};
    hd_io_pieces pieces = {0};
    hd_io_schema schema = {&request, &layout, &pieces, .label = -1};
    memset(matrix, 0, sizeof *matrix);
    TRY(open_table(&request, file, file->path, &layout, &pieces));
    ALLOC(schema.roles, layout.columns);
    schema.d = layout.columns;
    /* Texts are refused by the reader, with their line and column. */
    for (int64_t c = 0; c < layout.columns; c++) {
        schema.roles[c] = (int32_t)c;
        schema.styled = schema.styled || layout.kinds[c].decimal != '.';
    }
    TRY(huddle_dense_new(pieces.rows, layout.columns, matrix));
    hd_io_reading r = {.schema = &schema, .values = matrix->values};
    TRY(hd_io_table_read(&r));
done:
    hd_io_schema_free(&schema);
    close_table(&layout, &pieces);
    if (status != HUDDLE_OK)
        huddle_dense_free(matrix);
    return status;
}
