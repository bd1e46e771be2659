#include "io/lines.h"

#include "base/check.h"
#include "base/parallel.h"
#include "io/number.h"

/* Bytes per piece, large enough to amortise the scheduling of a piece and small enough to
 * balance the load. A constant: the division must not depend on the number of threads. */
enum { PIECE = 1 << 20 };

/* CR is blank too: lines may end in CR LF. */
bool hd_io_is_blank_line(const char *begin, const char *end) {
    while (begin < end && (*begin == ' ' || *begin == '\t' || *begin == '\r' || *begin == '\n'))
        begin++;
    return begin == end;
}

/* A byte above '#' is neither white space nor a comment sign, which decides about nearly every
 * line at its first character. */
bool hd_io_is_row(const char *begin, const char *end, const hd_io_records *records) {
    if (records->keep_blank || (unsigned char)*begin > '#')
        return true;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    return !hd_io_is_blank_line(begin, end) && (*begin != records->comment || *begin == '\0');
}

/* memchr() is the fastest scan there is, and why files without quotes have a path of their
 * own. */
static const char *line_end(const char *p, const char *end) {
    const char *feed = memchr(p, '\n', (size_t)(end - p));
    return feed == NULL ? end : feed + 1;
}

const char *hd_io_skip_comments(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '#'))
        p = *p == '#' ? line_end(p, end) : p + 1;
    return p;
}

/* One past the quote that closes the one at p, or end. Doubled quotes are text. A quote that
 * is never closed therefore swallows the rest of the file; the reader reports it. */
static const char *skip_quoted(const char *p, const char *end) {
    for (p++; p < end; p++) {
        if (*p != '"')
            continue;
        if (p + 1 == end || p[1] != '"')
            return p + 1;
        p++;
    }
    return end;
}

/* A quote opens a quoted field only where a field begins: in 5'10" it is a character. Must
 * agree with next_field() in csv_layout.c on where records end. */
const char *hd_io_record_end(const char *p, const char *end, char separator, bool quoted) {
    if (!quoted)
        return line_end(p, end);
    bool field_begins = true;
    while (p < end) {
        char c = *p;
        if (c == '"' && field_begins) {
            p = skip_quoted(p, end);
            field_begins = false;
            continue;
        }
        p++;
        if (c == '\n')
            return p;
        field_begins =
            c == separator || ((field_begins || separator == ' ') && (c == ' ' || c == '\t'));
    }
    return end;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* Not an empty one: every piece has a last character. */
static huddle_status add_piece(hd_io_pieces *pieces, const char *begin, const char *end) {
    if (!hd_grow(&pieces->items, &pieces->capacity, pieces->count + 1, sizeof *pieces->items))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld pieces", (long long)pieces->count + 1);
    pieces->items[pieces->count++] = (hd_io_piece){.begin = begin, .end = end};
    return HUDDLE_OK;
}

/* Where quoted fields may contain line feeds, whether a line feed ends a record is known only
 * by following the text from the beginning. Otherwise pieces are cut at the first line feed
 * after every PIECE bytes, without looking at what is between. */
static huddle_status cut_pieces(hd_io_pieces *pieces, const char *begin, const char *end) {
    huddle_status status = HUDDLE_OK;
    for (const char *p = begin, *stop; p < end && status == HUDDLE_OK; p = stop) {
        stop = p;
        if (pieces->records.quoted)
            while (stop < end && stop - p < PIECE)
                stop = hd_io_record_end(stop, end, pieces->records.separator, true);
        else
            stop = end - p <= PIECE ? end : line_end(p + PIECE, end);
        status = add_piece(pieces, p, stop);
    }
    return status;
}

/* The last line receives the line feed that it lacks, in a copy followed by padding: number
 * readers stop at it, and may read eight bytes at a time. */
static huddle_status complete_last(hd_io_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    const hd_io_records *records = &pieces->records;
    hd_io_piece *last = &pieces->items[pieces->count - 1];
    const char *record = last->begin, *next = record;
    if (last->end[-1] == '\n')
        goto done;
    /* The beginning of the last record, which may span lines. */
    while (next < last->end) {
        record = next;
        next = hd_io_record_end(record, last->end, records->separator, records->quoted);
    }
    int64_t length = last->end - record;
    ALLOC_ZERO(pieces->tail, length + 1 + HD_FILE_PADDING);
    memcpy(pieces->tail, record, (size_t)length);
    pieces->tail[length] = '\n';
    last->end = record;
    if (last->begin == record)
        pieces->count--;
    TRY(add_piece(pieces, pieces->tail, pieces->tail + length + 1));
done:
    return status;
}

/* Records and lines of a piece are counted separately: quoted records span several lines, and
 * blank lines are no records. */
static huddle_status count_rows(void *argument, hd_chunk chunk) {
    const hd_io_pieces *pieces = argument;
    const hd_io_records *records = &pieces->records;
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        hd_io_piece *piece = &pieces->items[k];
        for (const char *p = piece->begin; p < piece->end;) {
            const char *next = hd_io_record_end(p, piece->end, records->separator, records->quoted);
            piece->rows += hd_io_is_row(p, next, records);
            piece->lines++;
            /* Lines inside a quoted record; without quotes a record is a line. */
            for (const char *feed = p; records->quoted && (feed = line_end(feed, next)) < next;)
                piece->lines++;
            p = next;
        }
    }
    return HUDDLE_OK;
}

/* Cut, count in parallel, then sum up: afterwards every piece knows its first row and line,
 * and can be read independently. The count reports no progress; it takes a small part of the
 * time of reading. */
huddle_status hd_io_pieces_cut(huddle_context *context, const char *begin, const char *end,
                               int64_t first_line, hd_io_records records, hd_io_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    *pieces = (hd_io_pieces){.records = records};
    TRY(cut_pieces(pieces, begin, end));
    TRY(complete_last(pieces));
    TRY(hd_parallel(context, NULL, pieces->count, 1, count_rows, pieces));
    for (int64_t k = 0; k < pieces->count; k++) {
        hd_io_piece *piece = &pieces->items[k];
        piece->first_line = first_line;
        piece->first_row = pieces->rows;
        first_line += piece->lines;
        pieces->rows += piece->rows;
    }
done:
    return status;
}

void hd_io_pieces_free(hd_io_pieces *pieces) {
    FREE(pieces->items, pieces->tail);
    memset(pieces, 0, sizeof *pieces);
}
