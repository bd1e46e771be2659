/* The readers of tables: data sets, labels, matrices. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- points --------------------------------------------------------------------------------- */

/* Complete rows of numbers, straight into floats. Only if a column turns out to need a shift,
 * which is known when all values have been seen, are they read again as doubles, unless the caller
 * wants those too: reading twice is rare and costs less than keeping doubles for every file. */
static huddle_status read_points(hd_io_schema *schema, hd_io_labels *labels, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = schema->request->context;
    huddle_points *points = &data->points;
    hd_io_intake intake = {0};
    double *values = NULL;
    int64_t n = schema->layout->pieces.rows, d = schema->d;
    hd_io_reading r = {.schema = schema, .intake = &intake};
    /* The texts of labels point into the mapped file, without a copy. */
    if (schema->label >= 0) {
        ALLOC(labels->texts, n);
        labels->n = n;
        r.texts = labels->texts;
    }
    TRY(hd_io_points_reserve(n, d, points));
    TRY(hd_io_intake_begin(context, points, false, schema->request->options, &intake));
    TRY(hd_io_table_read(&r));
    if (hd_io_intake_shifts(context, &intake)) {
        huddle_points_free(points);
        if (intake.exact == NULL) {
            ALLOC(values, n * d);
            r.intake = NULL;
            r.values = values;
            TRY(hd_io_table_read(&r));
        }
        TRY(hd_io_exact_points(context, n, d, values != NULL ? values : intake.exact, points));
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
static huddle_status keep_features(hd_io_schema *schema, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    ALLOC(schema->sources, schema->d);
    for (int64_t k = 0; k < schema->n_chosen; k++)
        schema->sources[schema->roles[schema->chosen[k]]] = schema->chosen[k];
    if (schema->layout->names != NULL)
        TRY(copy_names(schema->layout, schema->sources, schema->d, &data->features));
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
 * them. */
static huddle_status read_other_labels(hd_io_request *request, hd_io_labels *labels,
                                       huddle_data *data) {
    huddle_status status = hd_io_labels_from_files(request, labels);
    int64_t rows = data->points.n + data->n_dropped;
    if (status != HUDDLE_OK || data->n_dropped == 0)
        return status;
    if (labels->n != rows) {
        request->failing_path = request->options->y[0];
        return hd_fail(HUDDLE_INVALID, "there are %lld labels for %lld samples",
                       (long long)labels->n, (long long)rows);
    }
    hd_io_labels_drop(labels, data->dropped, data->n_dropped);
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
            TRY(hd_io_labels_own(labels, hd_io_unquote));
        TRY(hd_io_data_set_labels(request, data, labels));
        TRY(drop_identifiers(schema, data));
    }
done:
    return status;
}

/* In a pass of their own: the names are not missing where a field is empty, and are not needed
 * until it is known that they are names. The names of dropped rows are dropped too. */
static huddle_status read_names(const hd_io_schema *schema, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels names = {.n = schema->layout->pieces.rows};
    if (schema->names < 0)
        goto done;
    TRY(hd_io_texts_read(schema, &schema->names, 1, true, &names.texts));
    hd_io_labels_drop(&names, data->dropped, data->n_dropped);
    if (schema->layout->quoted)
        TRY(hd_io_labels_own(&names, hd_io_unquote));
    ALLOC_ZERO(data->row_names, names.n + 1);
    for (int64_t i = 0; i < names.n; i++) {
        data->row_names[i] = hd_copy_part(names.texts[i].begin, names.texts[i].length);
        if (data->row_names[i] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for the name of a row");
    }
done:
    hd_io_labels_free(&names);
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
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++) {
            if (gone[j])
                continue;
            if (data->exact != NULL)
                data->exact[kept] = data->exact[i * x->d + j];
            x->values[kept++] = x->values[i * x->stride + j];
        }
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
static huddle_status drop_leaks(hd_io_schema *schema, huddle_data *data) {
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
        TRY(hd_io_schema_leave_out_leak(schema, schema->sources[j]));
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

/* A column in which 1,234 may be 1234 or 1.234 and no other column decides: the warning shows the
 * reading that was chosen. Only features: the style of other columns does not matter. */
static void report_styles(const hd_io_schema *schema) {
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        const hd_io_column *kind = &schema->layout->kinds[schema->chosen[k]];
        hd_io_phrase place = hd_io_layout_place(schema->layout, schema->chosen[k]);
        if (schema->roles[schema->chosen[k]] < 0)
            continue;
        if (kind->ambiguous) {
            char sign = strchr(kind->example, ',') != NULL ? ',' : '.';
            hd_warn(schema->request->context, HUDDLE_WARNING_INPUT,
                    "%s: %s is read as %.15g, the %s %s", place.text, kind->example,
                    styled_value(kind->example, kind->decimal), sign == ',' ? "comma" : "point",
                    sign == kind->decimal ? "being the decimal sign" : "separating thousands");
        }
        if (kind->mixed)
            hd_warn(schema->request->context, HUDDLE_WARNING_INPUT,
                    "%s mixes values such as %s, read as %.15g, with %s, read as %.15g", place.text,
                    kind->mixes[0], styled_value(kind->mixes[0], kind->decimal), kind->mixes[1],
                    styled_value(kind->mixes[1], kind->decimal));
    }
}

/* True if the digits of an integer are not those of the double that is read. 2^53 has 16 digits,
 * the largest double 309. */
static bool is_rounded(const hd_io_field *field) {
    char digits[320];
    double value;
    const char *p = field->begin;
    p += p < field->end && (*p == '-' || *p == '+');
    while (p < field->end && *p == '0')
        p++;
    size_t length = (size_t)(field->end - p);
    for (size_t k = 0; k < length; k++)
        if (p[k] < '0' || p[k] > '9')
            return false;
    if (length < 16 || length > 308 || !hd_io_field_number(field, '.', &value))
        return false;
    snprintf(digits, sizeof digits, "%.0f", fabs(value));
    return strlen(digits) != length || memcmp(digits, p, length) != 0;
}

static const hd_io_field *find_rounded(const hd_io_schema *schema, const hd_io_fields *fields) {
    for (int64_t c = 0; c < schema->layout->columns && c < fields->count; c++)
        if (schema->roles[c] >= 0 && is_rounded(&fields->items[c]))
            return &fields->items[c];
    return NULL;
}

/* A warning if a feature has an integer in digits that a double does not hold. count: of the values
 * that were read from the table. Once is enough. The text is read again only if a value is that
 * large. */
static huddle_status warn_rounded(const hd_io_schema *schema, const double *values, int64_t count) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = schema->layout;
    const hd_io_pieces *pieces = &layout->pieces;
    const hd_io_field *found = NULL;
    hd_io_fields fields = {0};
    int64_t e = 0;
    while (e < count && fabs(values[e]) < 0x1p53)
        e++;
    for (int64_t k = 0; e < count && found == NULL && k < pieces->count; k++)
        for (const char *p = pieces->items[k].begin, *end = pieces->items[k].end;
             found == NULL && p < end;) {
            const char *next = hd_io_record_end(p, end, layout->separator, layout->quoted);
            TRY(hd_io_fields_split(&p, next, layout->separator, &fields));
            found = find_rounded(schema, &fields);
            p = next;
        }
    if (found != NULL)
        hd_warn(schema->request->context, HUDDLE_WARNING_INPUT,
                "integers beyond 2^53, such as %.*s, are rounded to double precision",
                (int)(found->end - found->begin), found->begin);
done:
    huddle_free(fields.items);
    return status;
}

/* The first fields of the line at `from`, for a message: "0, 1, 2, ...". */
static huddle_status list_fields(const hd_io_layout *layout, const char *from, char text[160]) {
    enum { MOST = 4, LONGEST = 20, SIZE = 160 };
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    int used = 0;
    TRY(hd_io_fields_split(&from, layout->end, layout->separator, &fields));
    for (int64_t c = 0; c < fields.count && c < MOST; c++) {
        const hd_io_field *field = &fields.items[c];
        int length = hd_cut_text(field->begin, field->end - field->begin, LONGEST);
        used += snprintf(text + used, (size_t)(SIZE - used), "%s%.*s", c > 0 ? ", " : "", length,
                         field->begin);
    }
    snprintf(text + used, (size_t)(SIZE - used), "%s", fields.count > MOST ? ", ..." : "");
done:
    huddle_free(fields.items);
    return status;
}

/* What --header makes of a line; nothing for a matrix, which is read without options. */
static hd_io_phrase suggest_header(const huddle_read_options *options, const char *rule,
                                   const char *what) {
    hd_io_phrase advice = {""};
    if (options != NULL)
        snprintf(advice.text, sizeof advice.text, "; %.60s makes it %s",
                 hd_io_hint(options, "header", rule).text, what);
    return advice;
}

/* Logs what was guessed about the first lines; `path` is named if it is not NULL, where several
 * files may be read. Units are a warning: a value that is no number may look like one. */
static huddle_status report_header(const hd_io_request *request, const char *path,
                                   const hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = request->context;
    const huddle_read_options *options = request->options;
    const char *file = path != NULL ? path : "", *colon = path != NULL ? ": " : "";
    char fields[160];
    if (layout->units != NULL) {
        TRY(list_fields(layout, layout->units, fields));
        hd_warn(context, HUDDLE_WARNING_INPUT,
                "%s%sline %lld (%s) is read as the units of the columns, not as a row%s", file,
                colon, (long long)layout->units_line, fields,
                suggest_header(options, "yes", "a row").text);
    }
    if (layout->header != HD_IO_HEADER_LIKELY && layout->header != HD_IO_HEADER_UNLIKELY)
        goto done;
    bool taken = layout->header == HD_IO_HEADER_LIKELY;
    TRY(list_fields(layout, layout->top, fields));
    hd_log(context, "%s%sline %lld (%s) is taken for %s%s", file, colon,
           (long long)layout->counted_line, fields, taken ? "the header" : "a row",
           suggest_header(options, taken ? "no" : "yes", taken ? "a row" : "the header").text);
done:
    return status;
}

/* ---- the three readers ---------------------------------------------------------------------- */

/* One attempt; *misread: a value contradicts what the first records suggested. The fast path
 * needs complete rows and no texts but the label; otherwise all values pass through memory as
 * doubles. Leaks are dropped after the labels are known, and reported with the other ignored
 * columns. */
static huddle_status read_table(hd_io_request *request, const hd_io_layout *layout, bool *misread,
                                huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels labels = {0};
    hd_io_schema schema = {request, layout};
    int policy;
    /* The options are checked before the table, so that a mistake in them is reported first. */
    TRY(hd_io_choose("missing", request->options->missing, "error|drop|mean|median", &policy));
    TRY(hd_io_schema_make(&schema));
    if (policy != HD_IO_REFUSE || schema.n_texts > (schema.label >= 0))
        TRY(hd_io_table_values(&schema, (hd_io_missing)policy, &labels, data));
    else {
        TRY(read_points(&schema, &labels, data));
        TRY(keep_features(&schema, data));
    }
    if (layout->names != NULL) { /* used or not: the caller may want to choose among them */
        data->n_names = layout->columns;
        TRY(copy_names(layout, NULL, layout->columns, &data->names));
    }
    TRY(set_labels(request, &schema, &labels, data));
    TRY(drop_leaks(&schema, data));
    TRY(read_names(&schema, data));
    if (data->exact != NULL)
        TRY(warn_rounded(&schema, data->exact, data->points.n * data->points.d));
    report_columns(&schema);
    report_styles(&schema);
    /* Ownership moves to the caller. */
    data->columns = schema.columns;
    data->n_columns = layout->columns;
    schema.columns = NULL;
done:
    *misread = atomic_load(&schema.misread);
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

/* The layout and rows of a table. `path` is named in what is logged, if it is not NULL. A blank
 * line is a missing value if there is one column, and no row otherwise. */
static huddle_status open_table(const hd_io_request *request, const hd_file *file, const char *path,
                                hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_layout_find(request->context, file, request->options, layout));
    TRY(report_header(request, path, layout));
    if (needs_all_records(layout))
        TRY(hd_io_layout_examine(layout, INT64_MAX));
    hd_io_records records = {layout->separator, layout->quoted, layout->columns == 1, 0};
    TRY(hd_io_pieces_cut(request->context, layout->begin, layout->end, layout->first_line, records,
                         &layout->pieces));
done:
    return status;
}

/* The kinds of the columns are found from the first records, which is right for nearly every
 * file. If reading then fails on a value that contradicts them, all records are examined and
 * the table is read once more, with the majority of the values deciding. */
huddle_status hd_io_csv_read(hd_io_request *request, const hd_file *file, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_layout layout = {0};
    bool misread = false;
    if (request->options->transpose)
        FAIL(HUDDLE_UNSUPPORTED, "a table has its samples in rows; transpose is for arrays");
    TRY(open_table(request, file, NULL, &layout));
    data->format = layout.declared != NULL ? "arff" : layout.separator == '\t' ? "tsv" : "csv";
    status = read_table(request, &layout, &misread, data);
    if (status != HUDDLE_OK && misread && !layout.all_examined) {
        huddle_points_free(&data->points);
        huddle_free(data->exact);
        data->exact = NULL;
        TRY(hd_io_layout_examine(&layout, INT64_MAX));
        status = read_table(request, &layout, &misread, data);
    }
done:
    hd_io_layout_free(&layout);
    return status;
}

/* Rows are read without options: nothing can be suggested to somebody who only asked for labels. */
huddle_status hd_io_csv_labels(huddle_context *context, const hd_file *file, bool clusters,
                               hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    const hd_io_request request = {.context = context};
    hd_io_layout layout = {0};
    hd_io_schema schema = {&request, &layout};
    *labels = (hd_io_labels){0};
    TRY(open_table(&request, file, file->path, &layout));
    TRY(hd_io_find_label(&schema, file->path, clusters, &schema.label));
    labels->n = layout.pieces.rows;
    TRY(hd_io_texts_read(&schema, &schema.label, 1, false, &labels->texts));
    TRY(hd_io_labels_own(labels, hd_io_unquote)); /* they outlive the file */
done:
    hd_io_schema_free(&schema);
    hd_io_layout_free(&layout);
    if (status != HUDDLE_OK)
        hd_io_labels_free(labels);
    return status;
}

/* Every column is a feature: a matrix has no labels, and a text in it is an error. */
huddle_status hd_io_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    const hd_io_request request = {.context = context};
    hd_io_layout layout = {0};
    hd_io_schema schema = {&request, &layout, .label = -1};
    memset(matrix, 0, sizeof *matrix);
    TRY(open_table(&request, file, file->path, &layout));
    ALLOC(schema.roles, layout.columns);
    schema.d = layout.columns;
    /* Texts are refused by the reader, with their line and column. */
    for (int64_t c = 0; c < layout.columns; c++) {
        schema.roles[c] = (int32_t)c;
        schema.styled = schema.styled || layout.kinds[c].decimal != '.';
    }
    TRY(huddle_dense_new(layout.pieces.rows, layout.columns, matrix));
    hd_io_reading r = {.schema = &schema, .values = matrix->values};
    TRY(hd_io_table_read(&r));
done:
    hd_io_schema_free(&schema);
    hd_io_layout_free(&layout);
    if (status != HUDDLE_OK)
        huddle_dense_free(matrix);
    return status;
}
