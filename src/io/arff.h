/* ARFF, the format of Weka: attributes are declared, then follow the rows, dense ("1.5,red") or
 * sparse ("{0 1.5, 7 red}"). Dense files are read as tables (csv.h), sparse ones as containers. */
#ifndef HUDDLE_SRC_IO_ARFF_H
#define HUDDLE_SRC_IO_ARFF_H

#include "archive/file.h"
#include "io/labels.h"

typedef enum hd_io_attribute_kind {
    HD_IO_ATTRIBUTE_NUMERIC,
    HD_IO_ATTRIBUTE_NOMINAL,
    HD_IO_ATTRIBUTE_STRING,
    HD_IO_ATTRIBUTE_DATE
} hd_io_attribute_kind;

typedef struct hd_io_attribute {
    char *name;
    hd_io_attribute_kind kind;
    bool numbers; /* nominal: all values are numbers */
    char *first;  /* nominal: the first value, which sparse rows leave out */
} hd_io_attribute;

typedef struct hd_io_arff {
    hd_io_attribute *attributes;
    int64_t count, capacity;
    const char *data; /* the line after @data */
    const char *end;
    int64_t data_line; /* its number in the file */
} hd_io_arff;

/* Reads the declarations. */
huddle_status hd_io_arff_header(const hd_file *file, hd_io_arff *arff);
void hd_io_arff_free(hd_io_arff *arff);

/* The attribute that is the class: called class or by another conventional name, or the last one,
 * if it is nominal; -1 if there is none. */
int64_t hd_io_arff_class(const hd_io_arff *arff);

/* Cuts a value off: a word that ends before a comma, blank (unless blanks_belong), brace or line
 * end, or text in quotes. *p is moved past it and past blanks; the text is in *value, of which
 * quoted values need hd_io_arff_unescape(). False if a quote is not closed. */
typedef struct hd_io_arff_value {
    const char *begin, *end;
    bool quoted;
} hd_io_arff_value;
bool hd_io_arff_next(const char **p, const char *end, bool blanks_belong, hd_io_arff_value *value);

/* Copies a value without the backslashes before quotes; returns the end. `to` has room for it. */
char *hd_io_arff_unescape(const hd_io_arff_value *value, char *to);

/* The end of the line at p: its line feed, or end. */
const char *hd_io_arff_line(const char *p, const char *end);

#endif
