#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/parallel.h"
#include "io/formats.h"
#include "io/lines.h"
#include "io/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What a column is for: the number of a feature, or one of these. */
enum { SKIP = -1, LABEL = -2 };

typedef struct columns_plan {
    const hd_layout *layout;
    int32_t *roles; /* columns */
    int64_t d;
    int64_t label; /* its column, or -1 */
    bool guessed;  /* it is taken for the labels only because it alone holds texts */
} columns_plan;

/* ---- failures ------------------------------------------------------------------------------- */

/* "line 12, column 3 (age)" */
static void name_place(const columns_plan *plan, int64_t line, int64_t column, char *text,
                       size_t size) {
    const char *name = plan->layout->names != NULL ? plan->layout->names[column] : "";
    if (name[0] != '\0')
        snprintf(text, size, "line %lld, column %lld (%.100s)", (long long)line,
                 (long long)column + 1, name);
    else
        snprintf(text, size, "line %lld, column %lld", (long long)line, (long long)column + 1);
}

static huddle_status refuse_field(const columns_plan *plan, int64_t line, int64_t column,
                                  const hd_field *field) {
    char place[200];
    name_place(plan, line, column, place, sizeof place);
    if (hd_field_missing(field))
        return hd_fail(HUDDLE_FORMAT, "%s: the value is missing", place);
    return hd_fail(HUDDLE_FORMAT, "%s: '%.*s' is not a number", place,
                   (int)(field->end - field->begin < 60 ? field->end - field->begin : 60),
                   field->begin);
}

/* A number that float cannot hold. */
static huddle_status refuse_value(const columns_plan *plan, int64_t line, const double *values) {
    char place[200];
    for (int64_t c = 0; c < plan->layout->columns; c++) {
        int32_t role = plan->roles[c];
        if (role < 0 || fabs(values[role]) <= (double)FLT_MAX)
            continue;
        name_place(plan, line, c, place, sizeof place);
        return hd_fail(HUDDLE_INVALID, "%s: %g is beyond single precision", place, values[role]);
    }
    return hd_fail(HUDDLE_INVALID, "line %lld: a value less its shift is beyond single precision",
                   (long long)line);
}

/* ---- one record ----------------------------------------------------------------------------- */

static inline bool is_blank(char c, char separator) {
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* A record without quotes and without faults; NULL if it is not one. Ends one past its line
 * feed, which is always there. */
static const char *read_plain(const columns_plan *plan, const char *p, double *values,
                              hd_span *label) {
    const char separator = plan->layout->separator;
    const int64_t columns = plan->layout->columns;
    for (int64_t c = 0; c < columns; c++) {
        while (is_blank(*p, separator))
            p++;
        int32_t role = plan->roles[c];
        const char *begin = p;
        if (role >= 0) {
            p = hd_number_at(begin, true, &values[role]);
        } else {
            while (*p != separator && *p != '\n' && *p != '"' && !is_blank(*p, separator) &&
                   *p != '\r')
                p++;
            if (role == LABEL)
                *label = (hd_span){begin, p - begin};
            else if (p == begin && *p == separator)
                begin--; /* an empty field nobody asks for is no fault */
        }
        if (p == begin)
            return NULL;
        const char *end = p;
        while (is_blank(*p, separator))
            p++;
        if (*p == '\r' && p[1] == '\n')
            p++;
        if (*p == '\n')
            return c + 1 == columns ? p + 1 : NULL;
        if (separator == ' ' ? p == end : *p++ != separator)
            return NULL;
    }
    return NULL;
}

/* Any record, with the sentence if it is at fault. */
static huddle_status read_careful(const columns_plan *plan, const char **p, const char *end,
                                  int64_t line, hd_fields *fields, double *values, hd_span *label) {
    const hd_layout *layout = plan->layout;
    *p = hd_fields_split(*p, end, layout->separator, fields);
    if (*p == NULL)
        return HUDDLE_NO_MEMORY;
    if (*p != end || fields->items[fields->count - 1].open)
        return hd_fail(HUDDLE_FORMAT, "line %lld: a quote is not closed", (long long)line);
    if (fields->count != layout->columns)
        return hd_fail(HUDDLE_FORMAT, "line %lld has %lld column%s, but line %lld has %lld",
                       (long long)line, (long long)fields->count, fields->count == 1 ? "" : "s",
                       (long long)layout->counted_line, (long long)layout->columns);
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_field *field = &fields->items[c];
        int32_t role = plan->roles[c];
        if (role >= 0 && !hd_field_number(field, &values[role]))
            return refuse_field(plan, line, c, field);
        if (role != LABEL)
            continue;
        *label = (hd_span){field->begin, field->end - field->begin};
        if (label->length == 0)
            return refuse_field(plan, line, c, field);
    }
    return HUDDLE_OK;
}

/* ---- all records ---------------------------------------------------------------------------- */

typedef struct reading {
    const columns_plan *plan;
    const hd_pieces *pieces;
    hd_intake *intake; /* where rows go: one of these two, or neither if only labels count */
    double *values;
    hd_span *labels; /* or NULL */
} reading;

static huddle_status read_piece(const reading *r, const hd_piece *piece, int32_t worker,
                                double *values, hd_fields *fields) {
    huddle_status status = HUDDLE_OK;
    const hd_layout *layout = r->plan->layout;
    int64_t row = piece->first_row, line = piece->first_line, d = r->plan->d;
    const int64_t rows = row + piece->rows;
    for (const char *p = piece->begin; p < piece->end; line++) {
        const char *begin = p;
        hd_span label = {0};
        double *to = r->values != NULL && row < rows ? r->values + row * d : values;
        const char *next = read_plain(r->plan, p, to, &label);
        if (next == NULL) {
            const char *record = hd_record_end(p, piece->end, layout->separator, layout->quoted);
            if (layout->columns > 1 && hd_is_blank_line(p, record)) {
                p = record;
                continue;
            }
            TRY(read_careful(r->plan, &p, record, line, fields, to, &label));
            next = record;
            for (; begin < next - 1; begin++)
                line += *begin == '\n';
        }
        p = next;
        if (row == rows)
            FAIL(HUDDLE_INTERNAL, "line %lld was not counted", (long long)line);
        if (r->intake != NULL && hd_intake_row(r->intake, worker, row, to) != HUDDLE_OK)
            TRY(refuse_value(r->plan, line, to));
        if (r->labels != NULL)
            r->labels[row] = label;
        row++;
    }
    if (row != rows)
        FAIL(HUDDLE_INTERNAL, "line %lld was counted twice", (long long)line);
done:
    return status;
}

static huddle_status read_pieces(void *argument, hd_chunk chunk) {
    const reading *r = argument;
    huddle_status status = HUDDLE_OK;
    hd_fields fields = {0};
    double *values = NULL;
    ALLOC(values, r->plan->d);
    for (int64_t k = chunk.begin; k < chunk.end; k++)
        TRY(read_piece(r, &r->pieces->items[k], chunk.worker, values, &fields));
done:
    huddle_free(values);
    huddle_free(fields.items);
    return status;
}

static huddle_status read_all(huddle_context *context, reading *r) {
    return hd_parallel(context, "read", r->pieces->count, 1, read_pieces, r);
}

static huddle_status cut(huddle_context *context, const hd_layout *layout, hd_pieces *pieces) {
    hd_records records = {layout->separator, layout->quoted, layout->columns == 1, 0};
    return hd_pieces_cut(context, layout->begin, layout->end, layout->first_line, &records, pieces);
}

static huddle_status read_points(const hd_request *request, const columns_plan *plan,
                                 const hd_pieces *pieces, hd_span *labels, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = request->context;
    hd_intake intake = {0};
    double *values = NULL;
    int64_t n = pieces->rows, d = plan->d;
    TRY(hd_points_reserve(n, d, points));
    TRY(hd_intake_begin(context, points, false, request->options, &intake));
    reading r = {plan, pieces, &intake, NULL, labels};
    TRY(read_all(context, &r));
    if (hd_intake_shifts(context, &intake)) {
        huddle_points_free(points);
        ALLOC(values, n * d);
        r.intake = NULL;
        r.values = values;
        TRY(read_all(context, &r));
        TRY(huddle_points_from_double(context, n, d, values, d, 1, points));
    }
done:
    huddle_free(values);
    hd_intake_free(&intake);
    return status;
}

/* ---- which column is what ------------------------------------------------------------------- */

/* Where the numbers are x and y, or x, y and z, y is no label. */
static bool holds_coordinates(const hd_layout *layout) {
    static const char *const axes[] = {"x", "y", "z"};
    bool found[3] = {false};
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        int axis = 0;
        if (layout->textual[c])
            continue;
        while (axis < 3 && !hd_same_word(layout->names[c], axes[axis]))
            axis++;
        if (axis == 3 || found[axis])
            return false;
        found[axis] = true;
    }
    return found[0] && found[1];
}

/* The column whose name suits labels best, unless it holds numbers that are not whole. */
static int64_t find_label_by_name(const hd_layout *layout) {
    int64_t best = -1;
    int32_t best_rank = INT32_MAX;
    bool coordinates = holds_coordinates(layout);
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        int32_t rank = hd_label_name_rank(layout->names[c]);
        if (rank >= 0 && rank < best_rank &&
            (layout->textual[c] || (layout->whole[c] && !coordinates))) {
            best = c;
            best_rank = rank;
        }
    }
    return best;
}

static int64_t find_label(const hd_layout *layout, bool *guessed) {
    int64_t texts = 0, column = find_label_by_name(layout);
    *guessed = false;
    if (column >= 0)
        return column;
    for (int64_t c = 0; c < layout->columns; c++)
        if (layout->textual[c]) {
            texts++;
            column = c;
        }
    *guessed = texts == 1;
    return texts == 1 ? column : -1;
}

/* "3", "age" or "2-64" as columns first .. last. */
static bool find_columns(const hd_layout *layout, const char *text, int64_t *first, int64_t *last) {
    char *dash;
    char copy[64];
    *first = *last = hd_layout_column(layout, text);
    if (*first >= 0)
        return true;
    if (strlen(text) >= sizeof copy)
        return false;
    memcpy(copy, text, strlen(text) + 1);
    dash = strchr(copy, '-');
    if (dash == NULL)
        return false;
    *dash = '\0';
    *first = hd_layout_column(layout, copy);
    *last = hd_layout_column(layout, dash + 1);
    return *first >= 0 && *last >= *first;
}

static huddle_status no_such_column(const hd_layout *layout, const char *name) {
    char names[400] = "";
    size_t used = 0;
    if (layout->names == NULL)
        return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %lld columns without names",
                       name, (long long)layout->columns);
    for (int64_t c = 0; c < layout->columns && used < sizeof names - 110; c++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", c > 0 ? ", " : "",
                                 c > 0 && used > sizeof names - 220 ? "..." : layout->names[c]);
    return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %s", name, names);
}

static huddle_status choose_features(const hd_layout *layout, const huddle_read_options *options,
                                     columns_plan *plan) {
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        if (!find_columns(layout, options->x[k], &first, &last))
            return no_such_column(layout, options->x[k]);
        for (int64_t c = first; c <= last; c++) {
            if (plan->roles[c] >= 0)
                return hd_fail(HUDDLE_INVALID, "column %lld is chosen twice", (long long)c + 1);
            plan->roles[c] = (int32_t)plan->d++;
        }
    }
    for (int64_t c = 0; options->n_x == 0 && c < layout->columns; c++)
        if (c != plan->label)
            plan->roles[c] = (int32_t)plan->d++;
    return HUDDLE_OK;
}

static huddle_status refuse_texts(const hd_layout *layout) {
    int64_t columns[2] = {0}, count = 0;
    for (int64_t c = 0; c < layout->columns && count < 2; c++)
        if (layout->textual[c])
            columns[count++] = c;
    return hd_fail(HUDDLE_FORMAT,
                   "columns %lld and %lld do not hold numbers; name the features as x, and the "
                   "labels as y",
                   (long long)columns[0] + 1, (long long)columns[1] + 1);
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

/* *from_files: labels come from elsewhere. A column that looks like labels is then no feature
 * either. */
static huddle_status choose_label(const hd_layout *layout, const huddle_read_options *options,
                                  columns_plan *plan, bool *from_files) {
    *from_files = false;
    plan->label = find_label(layout, &plan->guessed);
    if (options->n_y == 0 || hd_labels_unwanted(options)) {
        int64_t texts = 0;
        for (int64_t c = 0; c < layout->columns; c++)
            texts += layout->textual[c];
        return plan->label < 0 && texts > 1 && options->n_x == 0 ? refuse_texts(layout) : HUDDLE_OK;
    }
    int64_t column = hd_layout_column(layout, options->y[0]);
    if (column >= 0 && options->n_y > 1)
        return hd_fail(HUDDLE_INVALID, "only one column can hold the labels, but %lld are named",
                       (long long)options->n_y);
    if (column >= 0) {
        plan->label = column;
        plan->guessed = false;
        return HUDDLE_OK;
    }
    if (!is_file(options->y[0]))
        return no_such_column(layout, options->y[0]);
    *from_files = true;
    return HUDDLE_OK;
}

static huddle_status make_plan(const hd_layout *layout, const huddle_read_options *options,
                               columns_plan *plan, bool *from_files) {
    huddle_status status = HUDDLE_OK;
    *plan = (columns_plan){.layout = layout, .label = -1};
    ALLOC(plan->roles, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        plan->roles[c] = SKIP;
    TRY(choose_label(layout, options, plan, from_files));
    TRY(choose_features(layout, options, plan));
    if (plan->d == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    if (*from_files || hd_labels_unwanted(options) ||
        (plan->label >= 0 && plan->roles[plan->label] >= 0))
        plan->label = -1;
    if (plan->label >= 0)
        plan->roles[plan->label] = LABEL;
done:
    return status;
}

/* ---- the three readers ---------------------------------------------------------------------- */

static huddle_status keep_features(const columns_plan *plan, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const hd_layout *layout = plan->layout;
    if (layout->names == NULL)
        goto done;
    ALLOC_ZERO(data->features, plan->d);
    ALLOC_ZERO(data->names, layout->columns);
    data->n_names = layout->columns;
    for (int64_t c = 0; c < layout->columns; c++) {
        data->names[c] = hd_copy_text(layout->names[c]);
        if (data->names[c] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
        if (plan->roles[c] < 0)
            continue;
        char *name = hd_copy_text(layout->names[c]);
        if (name == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
        data->features[plan->roles[c]] = name;
    }
done:
    return status;
}

/* Texts in quotes may hold doubled quotes: they are copied with single ones. */
static huddle_status unescape(hd_labels *labels) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 0;
    for (int64_t i = 0; i < labels->n; i++)
        bytes += labels->texts[i].length + 1;
    ALLOC(labels->arena, bytes);
    char *to = labels->arena;
    for (int64_t i = 0; i < labels->n; i++) {
        hd_span text = labels->texts[i];
        char *begin = to;
        for (int64_t k = 0; k < text.length; k++) {
            *to++ = text.begin[k];
            k += text.begin[k] == '"' && k + 1 < text.length && text.begin[k + 1] == '"';
        }
        labels->texts[i] = (hd_span){begin, to - begin};
        *to++ = '\n';
    }
done:
    return status;
}

/* A column of texts that are nearly all different tells the rows apart; it does not group them. */
static void drop_identifiers(huddle_context *context, const columns_plan *plan, huddle_data *data) {
    enum { FEW = 20 };
    char column[120];
    int64_t n = data->points.n;
    if (!plan->guessed || n <= FEW || 2 * (int64_t)data->n_classes <= n)
        return;
    const char *name = plan->layout->names != NULL ? plan->layout->names[plan->label] : "";
    if (name[0] != '\0')
        snprintf(column, sizeof column, "%.100s", name);
    else
        snprintf(column, sizeof column, "%lld", (long long)plan->label + 1);
    hd_warn(context,
            "column %s: %d different texts in %lld rows, taken for names, not labels; "
            "name it as y to use it",
            column, data->n_classes, (long long)n);
    hd_classes_free(data->classes, data->n_classes);
    huddle_free(data->labels);
    data->classes = NULL;
    data->labels = NULL;
    data->n_classes = 0;
    data->classes_numeric = false;
}

huddle_status hd_csv_read(hd_request *request, const hd_file *file, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_layout layout = {0};
    hd_pieces pieces = {0};
    hd_labels labels = {0};
    columns_plan plan = {0};
    bool from_files = false;
    TRY(hd_layout_find(file, &layout));
    data->format = layout.separator == '\t' ? "tsv" : "csv";
    if (request->options->transpose)
        FAIL(HUDDLE_UNSUPPORTED, "a table has its samples in rows; transpose is for arrays");
    TRY(make_plan(&layout, request->options, &plan, &from_files));
    TRY(cut(request->context, &layout, &pieces));
    if (plan.label >= 0) {
        ALLOC(labels.texts, pieces.rows);
        labels.n = pieces.rows;
    }
    TRY(read_points(request, &plan, &pieces, labels.texts, &data->points));
    TRY(keep_features(&plan, data));
    if (plan.label >= 0 && layout.quoted)
        TRY(unescape(&labels));
    if (from_files) {
        TRY(hd_labels_from_files(request, &labels));
        TRY(hd_data_set_file_labels(request, data, &labels));
    } else if (plan.label >= 0) {
        TRY(hd_data_set_labels(data, &labels));
        drop_identifiers(request->context, &plan, data);
    }
done:
    hd_labels_free(&labels);
    huddle_free(plan.roles);
    hd_pieces_free(&pieces);
    hd_layout_free(&layout);
    return status;
}

huddle_status hd_csv_labels(huddle_context *context, const hd_file *file, hd_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_layout layout = {0};
    hd_pieces pieces = {0};
    columns_plan plan = {0};
    bool guessed;
    *labels = (hd_labels){0};
    TRY(hd_layout_find(file, &layout));
    plan.layout = &layout;
    plan.label = layout.columns == 1 ? 0 : find_label(&layout, &guessed);
    if (plan.label < 0)
        FAIL(HUDDLE_FORMAT, "it has %lld columns, and none is known to hold labels",
             (long long)layout.columns);
    ALLOC(plan.roles, layout.columns);
    for (int64_t c = 0; c < layout.columns; c++)
        plan.roles[c] = c == plan.label ? LABEL : SKIP;
    TRY(cut(context, &layout, &pieces));
    ALLOC(labels->texts, pieces.rows);
    labels->n = pieces.rows;
    reading r = {&plan, &pieces, NULL, NULL, labels->texts};
    TRY(read_all(context, &r));
    TRY(unescape(labels)); /* also a copy that outlives the file */
done:
    huddle_free(plan.roles);
    hd_pieces_free(&pieces);
    hd_layout_free(&layout);
    if (status != HUDDLE_OK)
        hd_labels_free(labels);
    return status;
}

huddle_status hd_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_layout layout = {0};
    hd_pieces pieces = {0};
    columns_plan plan = {0};
    memset(matrix, 0, sizeof *matrix);
    TRY(hd_layout_find(file, &layout));
    plan.layout = &layout;
    plan.label = -1;
    ALLOC(plan.roles, layout.columns);
    plan.d = layout.columns;
    for (int64_t c = 0; c < layout.columns; c++)
        plan.roles[c] = (int32_t)c;
    TRY(cut(context, &layout, &pieces));
    TRY(huddle_dense_new(pieces.rows, layout.columns, matrix));
    reading r = {&plan, &pieces, NULL, matrix->values, NULL};
    TRY(read_all(context, &r));
done:
    huddle_free(plan.roles);
    hd_pieces_free(&pieces);
    hd_layout_free(&layout);
    if (status != HUDDLE_OK)
        huddle_dense_free(matrix);
    return status;
}
