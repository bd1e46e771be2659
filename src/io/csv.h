/* How a CSV file is laid out, found from its first records. */
#ifndef HUDDLE_SRC_IO_CSV_H
#define HUDDLE_SRC_IO_CSV_H

#include "io/container.h"

typedef struct hd_field {
    const char *begin, *end; /* without quotes and blanks around it */
    bool quoted, open;       /* open: the closing quote is missing */
} hd_field;

typedef struct hd_fields {
    hd_field *items;
    int64_t count, capacity;
} hd_fields;

typedef struct hd_layout {
    const char *begin, *end; /* the data, without header */
    int64_t first_line;      /* its number in the file */
    int64_t counted_line;    /* the line that says how many columns there are */
    char separator;          /* ' ' stands for any run of blanks and tabs */
    bool quoted;             /* quotes occur */
    int64_t columns;
    char **names;  /* of columns, or NULL */
    bool *textual; /* most of the column's first values are no numbers */
    bool *whole;   /* its first values are whole numbers */
} hd_layout;

huddle_status hd_layout_find(const hd_file *file, hd_layout *layout);
void hd_layout_free(hd_layout *layout);

/* Cuts the record at p into fields; returns one past its line feed, or end. NULL: no memory. */
const char *hd_fields_split(const char *p, const char *end, char separator, hd_fields *fields);

/* The number in a field; false if it is none. */
bool hd_field_number(const hd_field *field, double *value);

/* True for an empty field and for NA, null, ? and their like. */
bool hd_field_missing(const hd_field *field);

/* The column of that name or 1-based position, or -1. */
int64_t hd_layout_column(const hd_layout *layout, const char *name);

#endif
