/* io: what becomes of the columns of a table, numbers as people write them, missing values. */
#include "huddle/io.h"
#include "io/csv.h"
#include "support/support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *put(const char *name, const char *text) {
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return path;
}

/* What the reader says, one sentence a line. */
static char said[4000];

static void hear(void *user, huddle_log_level level, huddle_warning_code code, const char *text) {
    (void)user;
    assert_int_equal(code,
                     level == HUDDLE_LOG_WARNING ? HUDDLE_WARNING_INPUT : HUDDLE_WARNING_NONE);
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s%s\n",
             level == HUDDLE_LOG_WARNING ? "warning: " : "", text);
}

static huddle_status read_text(const char *text, const huddle_read_options *options,
                               huddle_data *data) {
    huddle_context *context = NULL;
    said[0] = '\0';
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, hear, NULL);
    huddle_status status = huddle_data_read(context, put("table.csv", text), options, data);
    huddle_context_free(context);
    return status;
}

static void assert_values(const huddle_data *data, int64_t n, int64_t d, const double *values) {
    assert_int_equal(data->points.n, n);
    assert_int_equal(data->points.d, d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            double shift = data->points.shift != NULL ? data->points.shift[j] : 0;
            assert_close((double)data->points.values[i * data->points.stride + j] + shift,
                         values[i * d + j], 1e-6);
        }
}

/* Text of a table that grows. */
static char *grow(char *text, const char *format, ...) {
    static char room[100000];
    va_list arguments;
    if (text == NULL)
        room[0] = '\0';
    size_t used = strlen(room);
    va_start(arguments, format);
    vsnprintf(room + used, sizeof room - used, format, arguments);
    va_end(arguments);
    return room;
}

static const huddle_column *column_of(const huddle_data *data, int64_t c) {
    assert_true(c < data->n_columns);
    return &data->columns[c];
}

/* ---- row numbers ---------------------------------------------------------------------------- */

/* A table of 30 rows whose column `at` is value(i), under that header. */
static char *numbered(const char *header, int at, int (*value)(int)) {
    char *text = grow(NULL, "%s", header);
    for (int i = 0; i < 30; i++) {
        if (at == 0)
            text = grow(text, "%d,%d.5,%d\n", value(i), i % 7, i % 5);
        else
            text = grow(text, "%d.5,%d,%d\n", i % 7, i % 5, value(i));
    }
    return text;
}

static int from_zero(int i) {
    return i;
}
static int from_one(int i) {
    return i + 1;
}
static int shuffled(int i) {
    return i * 7 % 30 + 1;
}
static int apart(int i) {
    return 842302 + 1000 * (i * 7 % 30);
}
static int sorted(int i) {
    return 2 * i;
}
static int nearly(int i) {
    return i == 29 ? 77 : i;
}
static int repeated(int i) {
    return i % 29;
}

static void row_numbers_are_left_out(void **state) {
    (void)state;
    static const struct {
        const char *header;
        int at;
        int (*value)(int);
        bool left_out;
    } cases[] = {
        {"", 0, from_zero, true},
        {"", 0, from_one, true},
        {"a,b,c\n", 0, from_one, true},
        {"Id,b,c\n", 0, shuffled, true},
        {"id,b,c\n", 0, apart, true},
        {"b,c,CustomerID\n", 2, apart, true},
        {"b,c,row_id\n", 2, shuffled, true},
        {"b,c,index\n", 2, from_zero, true},
        {"Unnamed: 0,b,c\n", 0, shuffled, true},
        {",b,c\n", 0, shuffled, true},
        {"b,c,Unnamed: 0.1\n", 2, from_zero, true},
        /* Features that only look a little like it. */
        {"", 0, sorted, false},
        {"", 0, nearly, false},
        {"a,b,c\n", 0, shuffled, false},
        {"a,b,c\n", 2, from_one, false},
        {"id,b,c\n", 0, repeated, false},
        {"grid,b,c\n", 0, shuffled, false},
        {"acid,b,c\n", 0, apart, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        char *text = numbered(cases[k].header, cases[k].at, cases[k].value);
        assert_ok(read_text(text, NULL, &data));
        if (data.points.d != (cases[k].left_out ? 2 : 3))
            fail_msg("case %zu has %lld features", k, (long long)data.points.d);
        assert_int_equal(strstr(said, "row numbers") != NULL, cases[k].left_out);
        assert_int_equal(column_of(&data, cases[k].at)->role,
                         cases[k].left_out ? HUDDLE_COLUMN_LEFT_OUT : HUDDLE_COLUMN_FEATURE);
        double shift = data.points.shift != NULL ? data.points.shift[0] : 0;
        if (cases[k].left_out)
            assert_close((double)data.points.values[2] + shift, 1.5, 0);
        huddle_data_free(&data);
        const char *all[] = {"1-3"};
        assert_ok(read_text(text, &(huddle_read_options){.x = all, .n_x = 1}, &data));
        assert_int_equal(data.points.d, 3); /* x brings it back */
        assert_string_equal(said, "");
        huddle_data_free(&data);
    }
}

/* Numbers in quotes, large numbers, several pieces. */
static void row_numbers_are_found_in_large_files(void **state) {
    (void)state;
    enum { N = 200000 };
    char path[300];
    snprintf(path, sizeof path, "%s/large.csv", test_directory());
    static const int last[] = {N - 1, 5, N + 5};
    for (int broken = 0; broken < 3; broken++) {
        FILE *file = fopen(path, "w");
        for (int i = 0; i < N; i++)
            fprintf(file, "\"%d\",%d.25,%d\n", i == N - 1 ? last[broken] : i, i % 11, i % 13);
        fclose(file);
        huddle_data data;
        assert_ok(huddle_data_read(NULL, path, NULL, &data));
        assert_int_equal(data.points.n, N);
        assert_int_equal(data.points.d, broken ? 3 : 2);
        huddle_data_free(&data);
    }
}

static void only_features_are_kept_even_if_they_count(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("x,label\n1,a\n2,b\n3,a\n4,b\n", NULL, &data));
    assert_values(&data, 4, 1, (double[]){1, 2, 3, 4});
    huddle_data_free(&data);
}

/* R writes no name above the names of rows; Kaggle's tables have a comma too many. */
static void headers_may_be_one_name_off(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("\"a\",\"b\"\n\"Mazda\",1.5,2\n\"Fiat\",3,4\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    assert_string_equal(data.features[0], "a");
    assert_non_null(strstr(said, "column 1 is left out: names of rows"));
    huddle_data_free(&data);
    assert_ok(read_text("a,b,\n1.5,2\n3,4\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    huddle_data_free(&data);
    assert_ok(read_text("a,b,\n1.5,2,\n3,4,\n", NULL, &data)); /* an empty column */
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    assert_string_equal(column_of(&data, 2)->reason, "no values");
    huddle_data_free(&data);
    assert_ok(read_text(",0,1\n7,1.5,2\n5,3,4\n", NULL, &data)); /* pandas without names */
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    huddle_data_free(&data);
    assert_refused(read_text("1,2\n3,4,5\n", NULL, &data), HUDDLE_FORMAT, "line 2 has 3 columns");
}

/* ---- labels --------------------------------------------------------------------------------- */

static void columns_that_tell_the_labels_are_left_out(void **state) {
    (void)state;
    static const char *const names[] = {"setosa", "versicolor", "virginica"};
    const char *species[] = {"species"}, *target[] = {"target"};
    huddle_data data;
    char *text = grow(NULL, "width,target,code,half,species,constant\n");
    for (int i = 0; i < 30; i++)
        text = grow(text, "%d.25,%d,%d,%d,%s,1\n", i % 7, i % 3, 30 - 10 * (i % 3), i % 3 == 0,
                    names[i % 3]);
    assert_ok(read_text(text, &(huddle_read_options){.y = species, .n_y = 1}, &data));
    assert_int_equal(data.points.d, 3); /* half and constant say less than the labels */
    assert_string_equal(data.features[0], "width");
    assert_string_equal(data.features[1], "half");
    assert_string_equal(data.features[2], "constant");
    assert_close((double)data.points.values[3 * 4 + 0], 4.25, 0);
    assert_close((double)data.points.values[3 * 3 + 1], 1, 0);
    assert_non_null(strstr(said, "warning: column 2 (target) is left out: it maps one to one"));
    assert_non_null(strstr(said, "warning: column 3 (code) is left out: it maps one to one"));
    assert_int_equal(column_of(&data, 4)->role, HUDDLE_COLUMN_LABEL);
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = target, .n_y = 1}, &data));
    assert_int_equal(data.points.d, 3); /* of texts too */
    assert_int_equal(column_of(&data, 4)->role, HUDDLE_COLUMN_LEFT_OUT);
    huddle_data_free(&data);
    const char *all[] = {"width", "target"};
    assert_ok(
        read_text(text, &(huddle_read_options){.x = all, .n_x = 2, .y = species, .n_y = 1}, &data));
    assert_int_equal(data.points.d, 2); /* who names it gets it */
    huddle_data_free(&data);
}

static void labels_are_explained(void **state) {
    (void)state;
    const char *y[] = {"b"};
    huddle_data data;
    assert_ok(read_text("a,b,city\n1,5,P\n4,5,R\n3,6,P\n", NULL, &data));
    assert_string_equal(column_of(&data, 2)->reason, "the only text column");
    huddle_data_free(&data);
    assert_ok(read_text("a,b,class\n1,5,0\n4,5,1\n3,6,0\n", NULL, &data));
    assert_string_equal(column_of(&data, 2)->reason, "a usual name for labels");
    assert_string_equal(column_of(&data, 2)->name, "class");
    huddle_data_free(&data);
    assert_ok(
        read_text("a,b,c\n1,5,0\n4,5,1\n3,6,0\n", &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_string_equal(column_of(&data, 1)->reason, "chosen by y");
    huddle_data_free(&data);
    char *text = grow(NULL, "name,a,city\n");
    for (int i = 0; i < 30; i++)
        text = grow(text, "n%d,%d.5,c%d\n", i, i % 7, i % 4);
    assert_ok(read_text(text, NULL, &data));
    assert_int_equal(data.n_classes, 4);
    assert_string_equal(column_of(&data, 2)->reason, "the only text column whose values repeat");
    assert_int_equal(column_of(&data, 0)->role, HUDDLE_COLUMN_LEFT_OUT);
    huddle_data_free(&data);
}

static void dates_are_recognised(void **state) {
    (void)state;
    static const char *const dates[] = {"2024-01-31",
                                        "2024-01-31 14:30",
                                        "2024-01-31T14:30:59.5Z",
                                        "2024/1/31",
                                        "31.12.2024",
                                        "12/31/2024",
                                        "1/2/24",
                                        "31-12-2024",
                                        "31.12.24",
                                        "31 Dec 2024",
                                        "December 31, 2024",
                                        "31-Dec-24",
                                        "2024-01-31 09:05:00",
                                        "2024-01-31 14:30+02",
                                        "14:30",
                                        "9:05:10 PM",
                                        "2020-01",
                                        "2020/12",
                                        "Jan-20",
                                        "20-Jan",
                                        "January 2020",
                                        "2020Q1",
                                        "2020-Q4",
                                        "Q1 2020"};
    static const char *const others[] = {
        "2024",       "1.2.3",   "12.345.678", "192.168.1.1", "abc",     "1-2",     "25:70",
        "99/99/2024", "3.14",    "May",        "1 2 24",      "",        "-",       "1/2",
        "2024-13-45", "2020-13", "20-01",      "2020Q5",      "Mars-20", "1234-12", "Decks 4"};
    for (size_t k = 0; k < sizeof dates / sizeof *dates; k++)
        if (!hd_io_is_date(dates[k], dates[k] + strlen(dates[k])))
            fail_msg("%s is a date", dates[k]);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (hd_io_is_date(others[k], others[k] + strlen(others[k])))
            fail_msg("%s is no date", others[k]);
}

static void dates_in_eight_digits_need_a_name(void **state) {
    (void)state;
    static const char *const names[] = {"date", "Birthday", "TimeStamp", "code"};
    for (size_t k = 0; k < 4; k++) {
        huddle_data data;
        char *text = grow(NULL, "a,%s\n", names[k]);
        for (int i = 0; i < 9; i++)
            text = grow(text, "%d.5,2020010%d\n", i, i % 5 + 1);
        assert_ok(read_text(text, NULL, &data));
        assert_int_equal(data.points.d, k < 3 ? 1 : 2);
        huddle_data_free(&data);
    }
    huddle_data data;
    assert_ok(read_text("a,day\n1.5,20200101\n2,20209901\n", NULL, &data));
    assert_int_equal(data.points.d, 2); /* one of them is no date */
    huddle_data_free(&data);
    assert_ok(read_text("a,when\n1.5,12:30:00\n2,12:31:00\n", NULL, &data));
    assert_string_equal(column_of(&data, 1)->reason, "times");
    huddle_data_free(&data);
}

static void dates_never_become_classes(void **state) {
    (void)state;
    const char *x[] = {"day"}, *y[] = {"day"};
    huddle_data data;
    char *text = grow(NULL, "day,a,b\n");
    for (int i = 0; i < 28; i++)
        text = grow(text, "2024-01-%02d,%d.5,%d\n", i % 7 + 1, i % 5, i % 3);
    assert_ok(read_text(text, NULL, &data));
    assert_null(data.labels);
    assert_int_equal(data.points.d, 2);
    assert_string_equal(column_of(&data, 0)->reason, "dates");
    assert_non_null(strstr(said, "column 1 (day) is left out: dates"));
    huddle_data_free(&data);
    assert_refused(read_text(text, &(huddle_read_options){.x = x, .n_x = 1}, &data), HUDDLE_FORMAT,
                   "'2024-01-01' is a date");
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 7); /* unless they are asked for */
    huddle_data_free(&data);
}

/* ---- numbers as people write them ----------------------------------------------------------- */

static void styled_numbers_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double with_point, with_comma; /* NAN: no number so */
    } cases[] = {
        {"1.5", 1.5, NAN},
        {"1,5", NAN, 1.5},
        {"1,234", 1234, 1.234},
        {"1.234", 1.234, 1234},
        {"1.234,56", NAN, 1234.56},
        {"1,234.56", 1234.56, NAN},
        {"1,234,567", 1234567, NAN},
        {"0,123", NAN, .123},
        {"0.123", .123, NAN},
        {"12,34", NAN, 12.34},
        {"1,2345", NAN, 1.2345},
        {"1234,567", NAN, 1234.567},
        {"1'234.5", 1234.5, NAN},
        {"1 234", 1234, 1234},
        {"1\xC2\xA0"
         "234,5",
         NAN, 1234.5},
        {"$3.10", 3.1, NAN},
        {"-$3.10", -3.1, NAN},
        {"3,10 \xE2\x82\xAC", NAN, 3.1},
        {"5 %", .05, .05},
        {"5%", .05, .05},
        {"1e3", 1000, 1000},
        {"\xE2\x88\x92"
         "7",
         -7, -7},
        {"$", NAN, NAN},
        {"%", NAN, NAN},
        {"1,,5", NAN, NAN},
        {"1,234,56", NAN, NAN},
        {"5 apples", NAN, NAN},
        {"1.2.3", NAN, NAN},
        {"", NAN, NAN},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *text = cases[k].text;
        for (int comma = 0; comma < 2; comma++) {
            double value = -99, expected = comma ? cases[k].with_comma : cases[k].with_point;
            hd_io_marks marks;
            bool good =
                hd_io_styled_number(text, text + strlen(text), comma ? ',' : '.', &value, &marks);
            if (good != !isnan(expected) || (good && fabs(value - expected) > 1e-12))
                fail_msg("'%s' with %c: %d, %g", text, comma ? ',' : '.', good, value);
        }
    }
}

static void decimal_commas_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("a;b;kind\n1,5;1.234,5;u\n-2,25;10;v\n0,125;3,5e2;u\n", NULL, &data));
    assert_values(&data, 3, 2, (double[]){1.5, 1234.5, -2.25, 10, .125, 350});
    assert_string_equal(said, "");
    huddle_data_free(&data);
    assert_ok(read_text("a,b\n\"$1,000\",5 %\n$3.10,7 %\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1000, .05, 3.1, .07});
    huddle_data_free(&data);
    assert_ok(read_text("a\tb\n1,5\t2\n2,5\t3\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 2.5, 3});
    huddle_data_free(&data);
}

/* 1.234 beside 1,5 has thousands; alone it has a fraction. What cannot be known is reported. */
static void doubtful_commas_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double first;
        const char *said;
    } cases[] = {
        {"a;b\n1,234;5\n2,345;6\n", 1.234,
         "column 1 (a): 2,345 is read as 2.345, the comma being the decimal sign"},
        {"a\tb\n1,234\t5\n1,166\t6\n", 1234,
         "column 1 (a): 1,166 is read as 1166, the comma separating thousands"},
        {"a,b\n\"1,234\",5\n\"2,345\",6\n", 1234, "read as 2345, the comma separating thousands"},
        {"a;b\n1.234;5\n3.500;6\n", 1.234, "3.500 is read as 3.5, the point being the decimal"},
        /* Another column decides. */
        {"a;b\n1.234;5,5\n2.345;6,25\n", 1234, ""},
        {"a;b\n1,234;5.5\n2,345;6.25\n", 1234, ""},
        {"a,b\n1.234,5\n2.345,6\n", 1.234, ""},
        {"a;b\n1.234;5\n2.5;6\n", 1.234, ""},
        {"a;b\n1,234;5\n2,5;6\n", 1.234, ""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        assert_ok(read_text(cases[k].text, NULL, &data));
        assert_close((double)data.points.values[0], cases[k].first, 1e-6);
        if (strstr(said, cases[k].said) == NULL || (cases[k].said[0] == '\0' && said[0] != '\0'))
            fail_msg("case %zu: %s", k, said);
        huddle_data_free(&data);
    }
    huddle_data data;
    assert_refused(read_text("a;b\n1,5;1\n2,5;2\n3.5;3\n", NULL, &data), HUDDLE_FORMAT,
                   "line 4, column 1 (a): '3.5' is not a number with a decimal comma");
    assert_ok(read_text("a,b\n5 %,1\n7,2\n", NULL, &data));
    assert_non_null(strstr(said, "mixes values such as 5 %, read as 0.05, with 7, read as 7"));
    huddle_data_free(&data);
}

/* The first records promise a decimal point, the last a decimal comma. */
static void late_commas_decide_for_all_rows(void **state) {
    (void)state;
    huddle_data data;
    char *text = grow(NULL, "a;b\n");
    for (int i = 0; i < 300; i++)
        text = grow(text, "%d.%03d;%d\n", i % 9 + 1, i, i % 5);
    text = grow(text, "7,5;1\n");
    assert_ok(read_text(text, NULL, &data));
    assert_close((double)data.points.values[0], 1000, 1e-9);
    assert_close((double)data.points.values[2 * 300], 7.5, 1e-9);
    huddle_data_free(&data);
}

/* ---- missing values ------------------------------------------------------------------------- */

static void missing_values_are_named_dropped_or_filled(void **state) {
    (void)state;
    static const char *const words[] = {"", "NA", "nan", "NaN", "?", "null", "None", "-", "N/A"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        huddle_data data;
        char *text = grow(NULL, "a,b,label\n4,2,u\n5,%s,v\n9,4,u\n1,9,v\n", words[k]);
        assert_refused(read_text(text, NULL, &data), HUDDLE_FORMAT,
                       "line 3, column 2 (b): the value is missing; missing = "
                       "\"drop|mean|median\"");
        assert_ok(read_text(text, &(huddle_read_options){.missing = "drop"}, &data));
        assert_values(&data, 3, 2, (double[]){4, 2, 9, 4, 1, 9});
        assert_int_equal(data.n_dropped, 1);
        assert_int_equal(data.dropped[0], 1);
        assert_memory_equal(data.labels, ((int32_t[]){0, 0, 1}), 12);
        assert_non_null(strstr(said, "1 of 4 rows left out because a value is missing: row 2"));
        huddle_data_free(&data);
        assert_ok(read_text(text, &(huddle_read_options){.missing = "mean"}, &data));
        assert_values(&data, 4, 2, (double[]){4, 2, 5, 5, 9, 4, 1, 9});
        assert_non_null(strstr(said, "1 missing value was filled in by the mean"));
        huddle_data_free(&data);
        assert_ok(read_text(text, &(huddle_read_options){.missing = "median"}, &data));
        assert_values(&data, 4, 2, (double[]){4, 2, 5, 4, 9, 4, 1, 9});
        huddle_data_free(&data);
    }
    huddle_data data;
    assert_refused(read_text("a\n1\n", &(huddle_read_options){.missing = "guess"}, &data),
                   HUDDLE_INVALID, "missing = guess is not one of error|drop|mean|median");
    assert_refused(read_text("a,b\n1,\n,2\n", &(huddle_read_options){.missing = "drop"}, &data),
                   HUDDLE_FORMAT, "every row lacks a value");
}

static void missing_labels_can_only_be_dropped(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "a,label\n4,u\n5,\n7,v\n9,NA\n3,none\n";
    assert_refused(read_text(text, NULL, &data), HUDDLE_FORMAT,
                   "line 3, column 2 (label): the label is missing; missing = \"drop\"");
    assert_refused(read_text(text, &(huddle_read_options){.missing = "mean"}, &data), HUDDLE_FORMAT,
                   "the label is missing");
    assert_ok(read_text(text, &(huddle_read_options){.missing = "drop"}, &data));
    assert_values(&data, 3, 1, (double[]){4, 7, 3});
    assert_int_equal(data.n_classes, 3); /* none may be a class */
    huddle_data_free(&data);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void texts_are_refused_with_the_columns_that_work(void **state) {
    (void)state;
    static const char text[] =
        "a,city,max temp,it's,kind\n1,P,4,5,u\n6,R,8,9,v\n3,P,5,6,u\n2,R,1,1,u\n";
    huddle_data data;
    assert_refused(read_text(text, &(huddle_read_options){.hints_as_flags = true}, &data),
                   HUDDLE_FORMAT,
                   "column 2 (city), column 5 (kind): texts, not numbers; choose the columns with "
                   "numbers by --x a --x 'max temp' --x 'it'\\''s', or make features of the texts "
                   "by --encode");
    assert_refused(read_text(text, NULL, &data), HUDDLE_FORMAT,
                   "by x = [\"a\", \"max temp\", \"it's\"], or make features of the texts by "
                   "encode = true");
    const char *x[] = {"a", "max temp", "it's"};
    assert_ok(read_text(text, &(huddle_read_options){.x = x, .n_x = 3}, &data));
    assert_values(&data, 4, 3, (double[]){1, 4, 5, 6, 8, 9, 3, 5, 6, 2, 1, 1});
    huddle_data_free(&data);
    assert_refused(read_text("1,P,2,3,u\n4,R,2,1,v\n5,P,1,1,u\n",
                             &(huddle_read_options){.hints_as_flags = true}, &data),
                   HUDDLE_FORMAT, "by --x 1 --x 3-4, or");
}

static void texts_are_encoded(void **state) {
    (void)state;
    const double s = sqrt(.5);
    static const char text[] =
        "city,a,kind,label\nP,1,u,0\n\"R \"\"x\"\"\",2,v,1\nP,3,w,0\nP,5,u,1\n";
    huddle_data data;
    assert_ok(read_text(text, &(huddle_read_options){.encode = true}, &data));
    assert_values(&data, 4, 6, (double[]){s, 0, 1, s, 0, 0, 0, s, 2, 0, s, 0,
                                          s, 0, 3, 0, 0, s, s, 0, 5, s, 0, 0});
    assert_string_equal(data.features[1], "city=R \"x\"");
    assert_string_equal(data.features[2], "a");
    assert_string_equal(data.features[5], "kind=w");
    assert_string_equal(column_of(&data, 2)->reason, "encoded, 3 texts");
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
    assert_refused(read_text("a,c\n1,u\n2,\n4,u\n", &(huddle_read_options){.encode = true}, &data),
                   HUDDLE_FORMAT, "missing");
    assert_ok(read_text("a,c\n1,u\n2,\n4,v\n9,u\n",
                        &(huddle_read_options){.encode = true, .missing = "mean"}, &data));
    assert_values(&data, 4, 3, (double[]){1, s, 0, 2, 2 * s / 3, s / 3, 4, 0, s, 9, s, 0});
    huddle_data_free(&data);
}

static void encoded_texts_do_not_tell_the_labels(void **state) {
    (void)state;
    huddle_data data;
    char *text = grow(NULL, "a,city,target\n");
    for (int i = 0; i < 30; i++)
        text = grow(text, "%d.5,c%d,%d\n", i % 7, i % 3, i % 3);
    assert_ok(read_text(text, &(huddle_read_options){.encode = true}, &data));
    assert_int_equal(data.points.d, 1);
    assert_non_null(strstr(said, "warning: column 2 (city) is left out: it maps one to one"));
    huddle_data_free(&data);
    text = grow(NULL, "a,city\n");
    for (int i = 0; i < 300; i++)
        text = grow(text, "%d.5,c%d\n", i % 7, i % 101);
    assert_refused(read_text(text, &(huddle_read_options){.encode = true}, &data), HUDDLE_FORMAT,
                   "column 2 (city) has 101 different texts");
}

static void texts_have_a_header_if_it_comes_once(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool header;
    } cases[] = {
        {"colour,shape\nred,round\nblue,round\nred,flat\nblue,flat\n", true},
        {"red,flat\nred,round\nblue,round\nred,flat\nblue,flat\n", false},
        {"red,shape\nred,round\nblue,round\nred,flat\nblue,flat\n", false},
        {"colour,shape\nred,a\nblue,b\nred,c\nblue,d\n", false}, /* one column repeats */
        {"same,same\nred,round\nblue,round\nred,flat\nblue,flat\n", false},
        {"colour,shape\nred,round\nred,round\n", false}, /* too few rows to know */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        assert_ok(read_text(cases[k].text, &(huddle_read_options){.encode = true}, &data));
        if ((data.names != NULL) != cases[k].header)
            fail_msg("case %zu", k);
        huddle_data_free(&data);
    }
}

static void features_are_found_by_name_in_their_order(void **state) {
    (void)state;
    const double s = sqrt(.5);
    const char *x[] = {"2", "city=R", "a=1", "city=P", "city=\"q\""};
    huddle_read_options options = {.x = x, .n_x = 5, .x_by_name = true};
    huddle_data data;
    assert_ok(read_text("city,a=1,2,more\nP,1,7,1\nR,2,8,1\n\"\"\"q\"\"\",3,9,1\nS,4,6,1\n",
                        &options, &data));
    assert_values(&data, 4, 5,
                  (double[]){7, 0, 1, s, 0, 8, s, 2, 0, 0, 9, 0, 3, 0, s, 6, 0, 4, 0, 0});
    assert_string_equal(data.features[1], "city=R");
    assert_non_null(strstr(said, "warning: column 1 (city): no feature stands for 'S' (1 row)"));
    huddle_data_free(&data);
    assert_ok(read_text("city,a=1,2\n7,1,7\n8,2,8\n", &options, &data)); /* still texts */
    assert_values(&data, 2, 5, (double[]){7, 0, 1, 0, 0, 8, 0, 2, 0, 0});
    huddle_data_free(&data);
    assert_refused(read_text("city,a=1,b\nP,1,7\nR,2,8\n", &options, &data), HUDDLE_INVALID,
                   "no column '2'; it has city, a=1, b");
    assert_refused(read_text("city,a=1,2\nP,1,7\nR,,8\n", &options, &data), HUDDLE_FORMAT,
                   "the value is missing; missing = \"drop\" leaves such rows out");
    const char *both[] = {"a", "a=1"};
    assert_refused(read_text("a,b\n1,2\n3,4\n",
                             &(huddle_read_options){.x = both, .n_x = 2, .x_by_name = true}, &data),
                   HUDDLE_INVALID, "no column 'a' or 'a=1'");
    const char *named[] = {"b", "a=1"}; /* no text of a, which would be a column of numbers */
    assert_refused(read_text("a,b\n1,2\n3,4\n",
                             &(huddle_read_options){.x = named, .n_x = 2, .x_by_name = true},
                             &data),
                   HUDDLE_INVALID, "no column 'a' or 'a=1'");
    const char *range[] = {"1-2"};
    assert_refused(read_text("a,b\n1,2\n3,4\n",
                             &(huddle_read_options){.x = range, .n_x = 1, .x_by_name = true},
                             &data),
                   HUDDLE_INVALID, "no column '1-2'");
}

static int same(int i) {
    return i / 10;
}

static void numbers_that_differ_in_every_row_are_no_labels(void **state) {
    (void)state;
    const char *y[] = {"target"};
    huddle_data data;
    char *text = numbered("a,b,target\n", 2, shuffled);
    assert_ok(read_text(text, NULL, &data));
    assert_null(data.labels);
    assert_int_equal(data.points.d, 2);
    assert_int_equal(column_of(&data, 2)->role, HUDDLE_COLUMN_LEFT_OUT);
    assert_non_null(strstr(said, "warning: column 3 (target) is left out: 30 different numbers in "
                                 "30 rows are too many for labels; y = \"target\" makes"));
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 30);
    huddle_data_free(&data);
    assert_ok(read_text(numbered("a,b,target\n", 2, same), NULL, &data));
    assert_int_equal(data.n_classes, 3);
    huddle_data_free(&data);
}

static huddle_status read_once(void *path) {
    huddle_data data;
    huddle_status status = huddle_data_read(
        NULL, path, &(huddle_read_options){.missing = "mean", .encode = true}, &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static huddle_status drop_once(void *path) {
    huddle_data data;
    huddle_status status =
        huddle_data_read(NULL, path, &(huddle_read_options){.missing = "drop"}, &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static huddle_status expect_once(void *path) {
    const char *x[] = {"city=v", "a", "city=u"};
    huddle_data data;
    huddle_status status = huddle_data_read(
        NULL, path, &(huddle_read_options){.x = x, .n_x = 3, .x_by_name = true, .missing = "drop"},
        &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s",
             put("faulty.csv", "id;a;city;label\n1;1,5;u;0\n2;2,5;v;0\n3;NA;u;1\n5;4;v;1\n"));
    test_each_allocation(read_once, path);
    test_each_allocation(expect_once, path);
    snprintf(path, sizeof path, "%s",
             put("faulty2.csv", "id,a,b,label\n1,1,5,p\n2,1,NA,p\n3,1,7,p\n4,2,8,q\n5,2,8,q\n6,2,"
                                "9,q\n7,2,9,q\n"));
    test_each_allocation(drop_once, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_numbers_are_left_out),
        cmocka_unit_test(row_numbers_are_found_in_large_files),
        cmocka_unit_test(only_features_are_kept_even_if_they_count),
        cmocka_unit_test(headers_may_be_one_name_off),
        cmocka_unit_test(columns_that_tell_the_labels_are_left_out),
        cmocka_unit_test(labels_are_explained),
        cmocka_unit_test(dates_are_recognised),
        cmocka_unit_test(dates_in_eight_digits_need_a_name),
        cmocka_unit_test(dates_never_become_classes),
        cmocka_unit_test(styled_numbers_are_read),
        cmocka_unit_test(decimal_commas_are_read),
        cmocka_unit_test(doubtful_commas_are_reported),
        cmocka_unit_test(late_commas_decide_for_all_rows),
        cmocka_unit_test(missing_values_are_named_dropped_or_filled),
        cmocka_unit_test(missing_labels_can_only_be_dropped),
        cmocka_unit_test(texts_are_refused_with_the_columns_that_work),
        cmocka_unit_test(texts_are_encoded),
        cmocka_unit_test(encoded_texts_do_not_tell_the_labels),
        cmocka_unit_test(texts_have_a_header_if_it_comes_once),
        cmocka_unit_test(features_are_found_by_name_in_their_order),
        cmocka_unit_test(numbers_that_differ_in_every_row_are_no_labels),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
