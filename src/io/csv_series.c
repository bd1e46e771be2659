/* Headers of numbers: whether a first row such as 0,1,2,3 or country,region,2000,2001 has names. */
#include "io/csv.h"

#include "base/check.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>

/* Rows in which a column of measurements shows its fractions, and a column its range. */
enum { ENOUGH = 10 };

/* ---- the names ------------------------------------------------------------------------------- */

/* How numbers are written. */
typedef enum form {
    PLAIN, /* 0, 17, 2004, as names of columns are, but not 007 or -3 */
    POINT, /* 0.0, 17.0, 2004.0: what Python makes of whole numbers that were read as others */
    OTHER  /* 402.5, 2.00, or several forms in a row */
} form;

/* What the numbers of a first row are. */
typedef enum series {
    NO_SERIES,
    DISTINCT, /* plain, and not known to repeat: some of many numbered columns */
    COUNTING, /* 0, 1, 2, ... or 1, 2, 3, ...: what programs write for columns without names */
    YEARS,    /* rising or falling */
    STEPS     /* 400, 402, 404, ...: wavelengths, ages, hours */
} series;

/* The numbers of a row and their columns. */
typedef struct names {
    double *values;
    int64_t *columns, count;
    form written;
    series kind;
} names;

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static bool find_form(const hd_io_field *field, form *written, double *value) {
    const char *begin = field->begin, *end = field->end, *point = skip_digits(begin, end);
    if (point == begin || point - begin > 9 || (point - begin > 1 && *begin == '0'))
        return false;
    *written = PLAIN;
    if (point < end) {
        if (*point != '.' || point + 1 == end || skip_digits(point + 1, end) < end)
            return false;
        *written = end - point == 2 && point[1] == '0' ? POINT : OTHER;
    }
    return hd_io_field_number(field, '.', value);
}

static bool is_year(double value) {
    return value >= 1500 && value <= 2200;
}

static bool are_years(const double *values, int64_t count) {
    bool rising = true, falling = true;
    for (int64_t k = 0; k < count; k++) {
        if (!is_year(values[k]))
            return false;
        rising = rising && (k == 0 || values[k] > values[k - 1]);
        falling = falling && (k == 0 || values[k] < values[k - 1]);
    }
    return rising || falling;
}

static series series_of(const double *values, int64_t count, form written) {
    enum { FEW = 3, MANY = 5 }; /* numbers with fractions are at equal steps by chance too */
    if (count == 0 || (written == OTHER && count < MANY))
        return NO_SERIES;
    if (count == 1)
        return is_year(values[0]) ? YEARS : values[0] <= 1 ? COUNTING : NO_SERIES;
    double step = values[1] - values[0];
    bool even = step != 0;
    for (int64_t k = 2; k < count; k++)
        even = even && fabs(values[k] - values[k - 1] - step) <= 1e-6 * fabs(step);
    if (written == OTHER)
        return even ? STEPS : NO_SERIES;
    if (even && step == 1 && values[0] <= 1)
        return COUNTING;
    if (are_years(values, count))
        return YEARS;
    if (even && count >= FEW)
        return STEPS;
    return written == PLAIN && count >= FEW ? DISTINCT : NO_SERIES;
}

/* A row with numbers of another form, such as -1.5, has no names: they are values. */
static void find_names(const hd_io_fields *row, names *n) {
    n->count = 0;
    for (int64_t c = 0; c < row->count; c++) {
        const hd_io_field *field = &row->items[c];
        form written;
        if (find_form(field, &written, &n->values[n->count])) {
            n->written = n->count == 0 || n->written == written ? written : OTHER;
            n->columns[n->count++] = c;
        } else if (!hd_io_field_empty(field) &&
                   (hd_io_field_numeric(field) || hd_io_is_date(field->begin, field->end))) {
            n->count = 0;
            break;
        }
    }
    n->kind = series_of(n->values, n->count, n->written);
}

/* ---- the values below ------------------------------------------------------------------------ */

/* The numbers of a column. */
typedef struct range {
    double low, high;
    int64_t count, unlike; /* unlike: written in a way in which the names are not */
} range;

static range range_of(const hd_io_sample *s, int64_t column, form written) {
    range found = {INFINITY, -INFINITY, 0, 0};
    for (int64_t r = 0; r < s->rows; r++) {
        const hd_io_field *field = hd_io_sampled(s, r, column);
        double value, unused;
        form own;
        if (!hd_io_field_number(field, '.', &value) && !hd_io_field_number(field, ',', &value))
            continue;
        hd_io_field digits = *field;
        digits.begin += *digits.begin == '-';
        found.count++;
        if (written == PLAIN)
            found.unlike += !find_form(&digits, &own, &unused) || own != PLAIN;
        else
            found.unlike += written == POINT && value != floor(value);
        found.low = fmin(found.low, value);
        found.high = fmax(found.high, value);
    }
    return found;
}

/* How unlikely a name is as a value of its column, as a negative decimal logarithm. A whole number
 * is one of a thousand in a column of fractions, else one of as many as the column spans; so is any
 * number that is further from the range than the range is wide. */
static double surprise(const range *column, double name, form written) {
    const double most = 3, most_whole = 2.5; /* two columns of whole numbers are not enough */
    double span = column->high - column->low;
    bool measured = column->count > 0 && column->unlike == column->count;
    if (column->count < HD_IO_FEWEST)
        return measured || (column->count > 0 &&
                            name > 10 * fmax(fabs(column->low), fabs(column->high)))
                   ? 1.5
                   : 0;
    measured = measured && column->count >= ENOUGH;
    if (measured && written == PLAIN)
        return most;
    if (name < column->low - span || name > column->high + span)
        return column->count >= ENOUGH ? most : 2;
    if (measured)
        return most_whole;
    if (2 * column->unlike >= column->count)
        return 2;
    return written == OTHER ? 1 : fmin(most_whole, log10(span + 1));
}

/* The second row is such a series too, as in 1,2,3 and 2,4,6. */
static bool continues(const hd_io_sample *s, const names *n, double *room) {
    form first = PLAIN, written;
    for (int64_t k = 0; k < n->count; k++) {
        if (!find_form(hd_io_sampled(s, 0, n->columns[k]), &written, &room[k]))
            return false;
        first = k == 0 || first == written ? written : OTHER;
    }
    series kind = series_of(room, n->count, first);
    return kind > DISTINCT && (kind == YEARS) == (n->kind == YEARS);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool repeats(double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    for (int64_t k = 1; k < count; k++)
        if (values[k] == values[k - 1])
            return true;
    return false;
}

/* The evidence of all columns but those in which the second row has the same number, as in lists of
 * combinations or edges: 0,1,2 and then 0,1,3. */
static double weigh_names(const hd_io_fields *first, const hd_io_sample *s, names *n) {
    const double two_free_values = 6, a_year = 1;
    double evidence = 0;
    bool measured = n->written == PLAIN;
    for (int64_t k = 0; k < n->count; k++) {
        int64_t c = n->columns[k];
        range column = range_of(s, c, n->written);
        if (hd_io_by_text(&first->items[c], hd_io_sampled(s, 0, c)) != 0)
            evidence += surprise(&column, n->values[k], n->written);
        measured = measured && column.count >= ENOUGH && column.unlike == column.count;
    }
    if (n->kind == DISTINCT)
        return measured && !repeats(n->values, n->count) ? evidence : 0;
    if (n->kind == STEPS && !measured) /* the first number and the step are arbitrary */
        evidence -= two_free_values;
    return evidence + (n->count == 1 && n->kind == YEARS ? a_year : 0);
}

/* The texts of the first row: true if one occurs again in its column, so that the row is one of
 * the data. *fresh: how many a column of repeated texts lacks, which is evidence of a header. */
static bool has_known_text(const hd_io_fields *first, hd_io_sample *s, int64_t *fresh,
                           bool *texts) {
    for (int64_t c = 0; c < first->count; c++) {
        bool seen = false;
        if (hd_io_field_numeric(&first->items[c]))
            continue;
        *texts = true;
        *fresh += hd_io_sample_repeats(s, c, &first->items[c], &seen);
        if (seen)
            return true;
    }
    return false;
}

/* Nothing in such a row contradicts being data, so that the question is how great a coincidence it
 * would be: among numbers alone less than one in a million makes it a header, beside texts or an
 * empty field, which are rarely without a header, less than one in ten thousand. What would make a
 * class of a name is never kept silently. */
huddle_status hd_io_header_of_numbers(const hd_io_fields *first, hd_io_sample *s,
                                      hd_io_header *found) {
    const double among_numbers = 6, beside_texts = 4, least = 3;
    huddle_status status = HUDDLE_OK;
    names n = {0};
    double *room = NULL;
    int64_t fresh = 0;
    bool texts = hd_io_field_empty(&first->items[0]);
    *found = HD_IO_HEADER_NONE;
    ALLOC(n.values, first->count);
    ALLOC(n.columns, first->count);
    ALLOC(room, first->count);
    find_names(first, &n);
    if (n.kind == NO_SERIES || s->rows == 0 || !s->even)
        goto done;
    double evidence = continues(s, &n, room) ? 0 : weigh_names(first, s, &n);
    if (has_known_text(first, s, &fresh, &texts))
        goto done;
    evidence += (double)fresh;
    if (s->rows >= HD_IO_FEWEST && evidence >= (texts ? beside_texts : among_numbers))
        *found = HD_IO_HEADER_LIKELY;
    else if (evidence >= least || (n.kind != DISTINCT && fresh > 0))
        *found = HD_IO_HEADER_UNLIKELY;
done:
    FREE(n.values, n.columns, room);
    return status;
}
