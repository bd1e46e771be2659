/* A text cut into pieces that end with a line, for reading in parallel. */
#ifndef HUDDLE_SRC_IO_LINES_H
#define HUDDLE_SRC_IO_LINES_H

#include "huddle/base.h"

#include <string.h>
#include <strings.h>

typedef struct hd_io_piece {
    const char *begin, *end; /* the last character is a line feed */
    int64_t first_line;      /* 1, 2, ... in the file */
    int64_t first_row;       /* of the data: lines that are not blank */
    int64_t lines, rows;
} hd_io_piece;

/* What records look like. */
typedef struct hd_io_records {
    char separator;
    bool quoted;     /* line feeds may be inside quotes; a quote counts where a field begins */
    bool keep_blank; /* blank lines are rows too */
    char comment;    /* lines that begin with it are not rows; 0: none are */
} hd_io_records;

typedef struct hd_io_pieces {
    hd_io_records records;
    hd_io_piece *items;
    int64_t count, capacity;
    int64_t rows;
    char *tail; /* a copy of the last line, if the text does not end with a line feed */
} hd_io_pieces;

/* Cuts the text between begin and end, which is not empty; its first line is number first_line. */
huddle_status hd_io_pieces_cut(huddle_context *context, const char *begin, const char *end,
                               int64_t first_line, hd_io_records records, hd_io_pieces *pieces);
void hd_io_pieces_free(hd_io_pieces *pieces);

/* True if a text of that length is the word, whatever the case of ASCII letters. */
static inline bool hd_io_same_word(const char *text, int64_t length, const char *word) {
    return (size_t)length == strlen(word) && strncasecmp(text, word, (size_t)length) == 0;
}

/* The end of the record that begins at p: one past its line feed. */
const char *hd_io_record_end(const char *p, const char *end, char separator, bool quoted);

/* True if the record between begin and end, its line feed included, is a row of data. */
bool hd_io_is_row(const char *begin, const char *end, const hd_io_records *records);

/* Past white space and comments, which begin with # and end with the line; they may be mixed. */
const char *hd_io_skip_comments(const char *p, const char *end);

/* True if there are only blanks between begin and the line feed. */
bool hd_io_is_blank_line(const char *begin, const char *end);

#endif
