/* What finding a header needs: fields, and the rows below the first. */
#ifndef HUDDLE_SRC_IO_CSV_HEADER_H
#define HUDDLE_SRC_IO_CSV_HEADER_H

#include "io/csv.h"

/* Fewer rows are no evidence. */
enum { HD_IO_FEWEST = 4 };

/* The fields of the first rows below some row; fields[c * room + r] is in row r, column c. */
typedef struct hd_io_sample {
    hd_io_field *fields;
    int64_t rows, columns, room;
    bool even; /* all rows have that many columns; those after one that does not are not taken */
} hd_io_sample;

/* The rows from `next` on; s->fields is the caller's to free. */
huddle_status hd_io_sample_take(const hd_io_layout *layout, const char *next, int64_t columns,
                                hd_io_sample *s);

static inline const hd_io_field *hd_io_sampled(const hd_io_sample *s, int64_t row, int64_t column) {
    return &s->fields[column * s->room + row];
}

/* Sorts the fields of a column; true if each occurs twice on average. *seen: the name is one of
 * them. */
bool hd_io_sample_repeats(hd_io_sample *s, int64_t column, const hd_io_field *name, bool *seen);

/* A number, or a word in the place of a number. Both decimal signs count: the sign of a column is
 * not known yet. */
bool hd_io_field_numeric(const hd_io_field *field);

static inline bool hd_io_field_empty(const hd_io_field *field) {
    return field->begin == field->end;
}

/* Compares two fields as texts, as strcmp() does. */
int hd_io_by_text(const void *a, const void *b);

/* Whether a first row with numbers is a header, as far as the rows from `next` on tell. */
huddle_status hd_io_header_of_numbers(const hd_io_layout *layout, const hd_io_fields *first,
                                      const char *next, hd_io_header *found);

#endif
