/* Tables: how a CSV file is laid out, which of its columns are used, and how its rows are read. */
#ifndef HUDDLE_SRC_IO_CSV_H
#define HUDDLE_SRC_IO_CSV_H

#include "io/container.h"
#include "io/lines.h"

#include <stdatomic.h>

/* ---- fields --------------------------------------------------------------------------------- */

typedef struct hd_io_field {
    const char *begin, *end; /* without quotes and blanks around it; no number goes on at the end */
    bool quoted, open;       /* open: the closing quote is missing */
} hd_io_field;

typedef struct hd_io_fields {
    hd_io_field *items;
    int64_t count, capacity;
} hd_io_fields;

/* A tab is a blank unless it is the separator: in a TSV file it delimits an empty field. */
static inline bool hd_io_is_blank(char c, char separator) {
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* Cuts the record at *p into fields; *p is moved past its line feed, or to end. */
huddle_status hd_io_fields_split(const char **p, const char *end, char separator,
                                 hd_io_fields *fields);

/* The same for the next record that is not a blank line; no fields if there is none. */
huddle_status hd_io_fields_next(const char **p, const char *end, char separator,
                                hd_io_fields *fields);

/* The number in a field whose column has that decimal sign, '.' or ','; false if it is none.
 * Thousands separators, a currency sign and a per cent sign (5 % is 0.05) are understood. */
bool hd_io_field_number(const hd_io_field *field, char decimal, double *value);

/* The same where the decimal sign is not known yet. */
static inline bool hd_io_field_any_number(const hd_io_field *field, double *value) {
    return hd_io_field_number(field, '.', value) || hd_io_field_number(field, ',', value);
}

/* What hd_io_field_number() skips on its way, as signs of trouble when a column mixes them. */
typedef uint32_t hd_io_marks;
enum { HD_IO_BARE = 1, HD_IO_PER_CENT = 2, HD_IO_CURRENCY = 4 }; /* and on, a bit for each */
bool hd_io_styled_number(const char *begin, const char *end, char decimal, double *value,
                         hd_io_marks *marks);

/* True for an empty field and for NA, NaN, null, ? and similar words. */
bool hd_io_field_missing(const hd_io_field *field);

/* True for inf and -inf. */
bool hd_io_field_infinite(const hd_io_field *field);

/* The same as missing, for a label, where "none" and "-" may be names of classes. */
bool hd_io_label_missing(const char *begin, int64_t length);

/* True for a date (a month or a quarter of a year included), a time, or both. */
bool hd_io_is_date(const char *begin, const char *end);

/* ---- layout --------------------------------------------------------------------------------- */

typedef enum hd_io_column_kind {
    HD_IO_NUMBERS,
    HD_IO_WORDS,
    HD_IO_DATES,
    HD_IO_EMPTY
} hd_io_column_kind;

/* What the values of a column look like, judged by those that were examined. */
typedef struct hd_io_column {
    hd_io_column_kind kind; /* of most of the values that are not missing */
    bool whole;             /* all are whole numbers */
    bool counts;            /* the values are 0, 1, 2, ... or 1, 2, 3, ... from the first row on */
    char decimal;           /* '.' or ',' */
    bool open;              /* its values, such as 1,234, do not determine the decimal sign */
    bool ambiguous;         /* nor do the other columns */
    bool mixed;        /* some values have a per cent or currency sign, others none or another */
    bool times;        /* the dates are times of day */
    bool nominal;      /* the file lists its values */
    char example[24];  /* a doubtful value */
    char mixes[2][24]; /* two values with different signs */
} hd_io_column;

/* options->header. */
typedef enum hd_io_header_rule {
    HD_IO_HEADER_AUTO,
    HD_IO_HEADER_YES,
    HD_IO_HEADER_NO
} hd_io_header_rule;

/* What was decided about the first row. The middle two are guesses, which are reported. */
typedef enum hd_io_header {
    HD_IO_HEADER_NONE,
    HD_IO_HEADER_UNLIKELY, /* it may be a header of numbers, and is read as a row */
    HD_IO_HEADER_LIKELY,   /* it may be a row of numbers, and is taken for the header */
    HD_IO_HEADER_CERTAIN
} hd_io_header;

typedef struct hd_io_layout {
    const char *top;         /* where the header begins, or the data if there is none */
    const char *begin, *end; /* the data, without header */
    const char *units;       /* a line below the header that is none of the data; or NULL */
    int64_t units_line;      /* its number in the file */
    hd_io_header header;
    int64_t first_line;   /* the number of the first line of the data in the file */
    int64_t counted_line; /* the line that determines the number of columns */
    char separator;       /* ' ' means any run of blanks and tabs */
    bool quoted;          /* quotes occur */
    bool row_names;       /* the header has one name fewer: the first column names the rows */
    bool all_examined;    /* the kinds were judged by all records */
    int64_t columns;
    char **names;                /* of columns, or NULL */
    hd_io_column *kinds;         /* columns */
    hd_io_column_kind *declared; /* columns, if the file declares them; else NULL */
    int64_t class_column;        /* the position of the declared class, from 1; 0: none */
    char *owned;                 /* what begin points into, if it is not the file */
    hd_io_pieces pieces;         /* the rows, if they were cut */
} hd_io_layout;

/* The layout of an ARFF file, whose rows are rewritten as CSV. */
huddle_status hd_io_arff_layout(huddle_context *context, const hd_file *file, hd_io_layout *layout);

/* Finds separator, header and, from the first records, the kinds of the columns. Of the options,
 * which may be NULL, only the header and the names of expected features count. */
huddle_status hd_io_layout_find(huddle_context *context, const hd_file *file,
                                const huddle_read_options *options, hd_io_layout *layout);
void hd_io_layout_free(hd_io_layout *layout);

/* Decides whether the row at layout->begin is a header, and passes it if it is. */
huddle_status hd_io_header_find(hd_io_layout *layout, hd_io_header_rule rule,
                                const huddle_read_options *options);

/* Line feeds in a text; the end of the blank lines at p, which are added to first_line. */
int64_t hd_io_count_lines(const char *begin, const char *end);
const char *hd_io_skip_blank_lines(hd_io_layout *layout, const char *p);

/* Examines the columns in the first max_records records. */
huddle_status hd_io_layout_examine(hd_io_layout *layout, int64_t max_records);

/* The column of that name or 1-based position, or -1. */
int64_t hd_io_layout_column(const hd_io_layout *layout, const char *name);

/* The column of that name, or -1: "2" is a name like any other. A column without a name is called
 * "column 2". */
int64_t hd_io_layout_named(const hd_io_layout *layout, const char *name);

/* The column's name, or "". */
const char *hd_io_layout_name(const hd_io_layout *layout, int64_t column);

/* A part of a message. */
typedef struct hd_io_phrase {
    char text[600];
} hd_io_phrase;

/* "column 3 (age)" */
hd_io_phrase hd_io_layout_place(const hd_io_layout *layout, int64_t column);

/* ---- which column is what ------------------------------------------------------------------- */

/* What a column is for: the number of a numeric feature, nothing, or text k to be read, which is
 * the label or a text to encode. */
enum { HD_IO_SKIP = -1 };
static inline int32_t hd_io_text_role(int64_t k) {
    return (int32_t)(-2 - k);
}

/* A feature that the caller expects: a column of numbers, or one text of a column of texts. */
typedef struct hd_io_feature {
    int64_t column;
    const char *text; /* NULL: the column's numbers */
    int32_t category; /* the number of that text among those of the column; -1: it has none */
} hd_io_feature;

/* What the values of a column have in common, found by reading all of them. */
typedef struct hd_io_facts {
    bool whole;    /* every value is a whole number */
    int64_t first; /* if the values are first, first + 1, ...; -1 if they are not */
    int64_t distinct;
    int64_t missing; /* empty values */
    int32_t *values; /* rows, 0 .. distinct - 1: equal where the texts are; NULL: not read */
} hd_io_facts;

/* A table and what its columns are for. fields: all that is decided about it. */
typedef struct hd_io_schema {
    const hd_io_request *request; /* its options are NULL if nothing is to be suggested */
    const hd_io_layout *layout;   /* with its pieces */
    hd_io_facts *facts;           /* columns, once they are found */
    int32_t *roles;               /* columns */
    huddle_column *columns;       /* the same for the caller, with reasons */
    int64_t *chosen;              /* columns of the features, in order */
    int64_t n_chosen;
    hd_io_feature *expected;   /* options->n_x features in the caller's order; NULL: as they come */
    int64_t d;                 /* numeric features */
    int64_t *sources;          /* the column of each feature of the points, once they are read */
    bool *leaks;               /* columns: left out because it determines the labels */
    int64_t label;             /* its column, or -1 */
    int64_t n_texts;           /* texts to be read; the label, if there is one, is the first */
    int64_t looks_like_labels; /* a column that is none because labels are not wanted; or -1 */
    int64_t rejected;          /* a column that was taken for labels and has too many; or -1 */
    int64_t names;             /* the column that names the rows, or -1 */
    bool guessed;              /* the label is the only column of texts and nobody asked for it */
    bool label_given;          /* the caller named the label */
    bool from_files;           /* the labels are in other files */
    bool automatic;            /* features were not named */
    bool styled;               /* a feature has decimal commas */
    atomic_bool misread;       /* a value was refused that is not missing */
    const char *y_reason;      /* why the label is the label; static text */
} hd_io_schema;

/* Decides which columns are features and labels. Request and layout are given. */
huddle_status hd_io_schema_make(hd_io_schema *schema);
void hd_io_schema_free(hd_io_schema *schema);

/* How a column is used, and why. */
huddle_status hd_io_schema_set_role(hd_io_schema *schema, int64_t column, huddle_column_role role,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Finds the column of the labels: the one that the options name, or that looks like labels. */
huddle_status hd_io_schema_choose_label(hd_io_schema *schema);

/* The number of columns of texts, and the last of them; row names are not counted. */
int64_t hd_io_count_words(const hd_io_layout *layout, int64_t *last);

/* HUDDLE_INVALID, with the columns that there are. feature: "city=Paris" may be one of "city". */
huddle_status hd_io_no_such_column(const hd_io_layout *layout, const char *name, bool feature);

/* Leaves out a column that maps one to one onto the labels. */
huddle_status hd_io_schema_leave_out_leak(hd_io_schema *schema, int64_t column);

/* True if the caller named the label, or selects classes, which means the same. */
bool hd_io_labels_needed(const hd_io_schema *schema);

/* True if so many different values in so many rows of a column that has the name of labels identify
 * the rows rather than group them; texts must not all be different either. */
bool hd_io_are_no_labels(const hd_io_column *kind, int64_t distinct, int64_t rows);

/* The same for a column whose facts are known. guessed: it has no such name. */
bool hd_io_is_no_label(const hd_io_schema *schema, int64_t column, bool guessed);

/* Leaves out a column that was taken for labels: its values identify the rows. */
huddle_status hd_io_schema_reject_label(hd_io_schema *schema, int64_t column, int64_t distinct,
                                        int64_t rows);

/* Finds the facts of these columns. */
huddle_status hd_io_facts_find(hd_io_schema *schema, const int64_t *columns, int64_t count);

/* True if the column is unnamed or its name, such as id or index, says that it identifies rows. */
bool hd_io_is_id(const hd_io_layout *layout, int64_t column);

/* True if the column numbers the rows; if it is of texts that name them. */
bool hd_io_are_row_numbers(const hd_io_schema *schema, int64_t column);
bool hd_io_are_row_names(const hd_io_schema *schema, int64_t column, bool encode);

/* The only column of texts that groups the rows, or -1, and how many columns of texts name them. */
int64_t hd_io_find_groups(const hd_io_schema *schema, int64_t *names);

/* The labels of a table that is read for them alone, reported where others could be meant.
 * clusters: they are those of a clustering, for which the column that huddle_columns_append() adds
 * is preferred. HUDDLE_FORMAT if there are none. */
huddle_status hd_io_find_label(hd_io_schema *schema, const char *path, bool clusters,
                               int64_t *found);

/* Whether equal labels have equal values and different labels different ones; not if there is one
 * label, or one for every row. */
huddle_status hd_io_one_to_one(int64_t n, const int32_t *labels, int64_t n_labels,
                               const int32_t *values, int64_t n_values, bool *same);

/* ---- suggestions ---------------------------------------------------------------------------- */

/* How a caller would choose the given columns: "--x width --x height" for the tool, quoted for a
 * shell, or x = ["width", "height"]. Many columns become ranges of positions. */
hd_io_phrase hd_io_hint_columns(const huddle_read_options *options, const hd_io_layout *layout,
                                const int64_t *columns, int64_t count);

/* How a caller would name one column: "--y kind" or y = "kind"; its position if it has no name. */
hd_io_phrase hd_io_hint_column(const huddle_read_options *options, const char *option,
                               const hd_io_layout *layout, int64_t column);

/* "--missing drop" or missing = "drop"; without a value "--encode" or encode = true. */
hd_io_phrase hd_io_hint(const huddle_read_options *options, const char *name, const char *value);

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows being read: into points through an intake, into doubles, or neither if only texts count. */
typedef struct hd_io_reading {
    hd_io_schema *schema;
    hd_io_intake *intake;
    double *values;      /* rows x d */
    hd_io_span *texts;   /* n_texts x rows, or NULL */
    uint8_t *incomplete; /* rows: a value is missing: NaN or an empty text; NULL: refused */
    bool label_required; /* text 0 must not be missing even so */
    bool any_text;       /* texts may be empty */
} hd_io_reading;

huddle_status hd_io_table_read(hd_io_reading *reading);

/* The texts of some columns, one column after the other, for the caller to free. any: a missing one
 * is no error. */
huddle_status hd_io_texts_read(const hd_io_schema *table, const int64_t *columns, int64_t count,
                               bool any, hd_io_span **texts);

/* Texts in quotes may hold doubled quotes, which are copied as single ones. */
hd_io_copier hd_io_unquote;

/* ---- tables with missing values or encoded texts -------------------------------------------- */

typedef enum hd_io_missing { HD_IO_REFUSE, HD_IO_DROP, HD_IO_MEAN, HD_IO_MEDIAN } hd_io_missing;

/* The position among `words`, such as "auto|yes|no", of the value of an option; 0 for NULL. */
huddle_status hd_io_choose(const char *option, const char *value, const char *words, int *chosen);

/* Points and labels of a table with missing values or texts to encode; data->features holds the
 * names of the features if the table has a header or texts were encoded. */
huddle_status hd_io_table_values(hd_io_schema *schema, hd_io_missing policy, hd_io_labels *labels,
                                 huddle_data *data);

#endif
