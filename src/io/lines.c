#include "io/lines.h"

#include "base/check.h"
#include "base/parallel.h"
#include "io/number.h"

#include <string.h>

enum { PIECE = 1 << 20 };

bool hd_is_blank_line(const char *begin, const char *end) {
    while (begin < end && (*begin == ' ' || *begin == '\t' || *begin == '\r' || *begin == '\n'))
        begin++;
    return begin == end;
}

bool hd_is_row(const char *begin, const char *end, const hd_records *records) {
    if (records->keep_blank || (unsigned char)*begin > '#')
        return true;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    return !hd_is_blank_line(begin, end) && (*begin != records->comment || *begin == '\0');
}

static const char *line_end(const char *p, const char *end) {
    const char *feed = memchr(p, '\n', (size_t)(end - p));
    return feed == NULL ? end : feed + 1;
}

/* One past the quote that closes the one at p, or end. Doubled quotes are text. */
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

const char *hd_record_end(const char *p, const char *end, char separator, bool quoted) {
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

static huddle_status add_piece(hd_pieces *pieces, const char *begin, const char *end) {
    if (begin == end)
        return HUDDLE_OK;
    if (!hd_grow(&pieces->items, &pieces->capacity, pieces->count + 1, sizeof *pieces->items))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld pieces", (long long)pieces->count + 1);
    pieces->items[pieces->count++] = (hd_piece){.begin = begin, .end = end};
    return HUDDLE_OK;
}

/* Where quotes may hold line feeds, records must be followed from the beginning. */
static huddle_status cut(hd_pieces *pieces, const char *begin, const char *end, char separator,
                         bool quoted) {
    huddle_status status = HUDDLE_OK;
    for (const char *p = begin; p < end;) {
        const char *stop = p;
        if (quoted)
            while (stop < end && stop - p < PIECE)
                stop = hd_record_end(stop, end, separator, true);
        else
            stop = end - p <= PIECE ? end : line_end(p + PIECE, end);
        TRY(add_piece(pieces, p, stop));
        p = stop;
    }
done:
    return status;
}

/* The last line gets the line feed it lacks, in a copy: number readers stop there. */
static huddle_status complete_last(hd_pieces *pieces, char separator, bool quoted) {
    huddle_status status = HUDDLE_OK;
    hd_piece *last = &pieces->items[pieces->count - 1];
    const char *record = last->begin, *next = record;
    if (last->end[-1] == '\n')
        goto done;
    while (next < last->end) {
        record = next;
        next = hd_record_end(record, last->end, separator, quoted);
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

typedef struct counting {
    hd_pieces *pieces;
    const hd_records *records;
} counting;

static huddle_status count_rows(void *argument, hd_chunk chunk) {
    const counting *c = argument;
    const bool quoted = c->records->quoted;
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        hd_piece *piece = &c->pieces->items[k];
        for (const char *p = piece->begin; p < piece->end;) {
            const char *next = hd_record_end(p, piece->end, c->records->separator, quoted);
            piece->rows += hd_is_row(p, next, c->records);
            piece->lines++;
            for (const char *feed = p; quoted && (feed = line_end(feed, next)) < next;)
                piece->lines++;
            p = next;
        }
    }
    return HUDDLE_OK;
}

huddle_status hd_pieces_cut(huddle_context *context, const char *begin, const char *end,
                            int64_t first_line, const hd_records *records, hd_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    counting c = {pieces, records};
    memset(pieces, 0, sizeof *pieces);
    TRY(cut(pieces, begin, end, records->separator, records->quoted));
    if (pieces->count == 0)
        goto done;
    TRY(complete_last(pieces, records->separator, records->quoted));
    TRY(hd_parallel(context, NULL, pieces->count, 1, count_rows, &c));
    for (int64_t k = 0; k < pieces->count; k++) {
        hd_piece *piece = &pieces->items[k];
        piece->first_line = first_line;
        piece->first_row = pieces->rows;
        first_line += piece->lines;
        pieces->rows += piece->rows;
    }
done:
    return status;
}

void hd_pieces_free(hd_pieces *pieces) {
    huddle_free(pieces->items);
    huddle_free(pieces->tail);
    memset(pieces, 0, sizeof *pieces);
}
