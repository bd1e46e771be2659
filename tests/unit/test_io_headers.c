/* io: the first lines of tables, and the names of their rows. */
#include "support/table.h"

#include <stdint.h>

/* Rows of d values: with fractions, or whole numbers below `span`. A row begins with `before`, if
 * it is a format for the number of the row. */
static char *add_rows(char *text, int rows, const char *before, int d, int span) {
    uint32_t random = 7;
    for (int i = 0; i < rows; i++) {
        if (before != NULL)
            text = grow(text, before, i);
        for (int j = 0; j < d; j++) {
            random = random * 1664525u + 1013904223u;
            if (span == 0)
                text = grow(text, "%d.%03d", (int)(random >> 16) % 9 - 4,
                            (int)(random >> 8) % 999 + 1);
            else
                text = grow(text, "%d", (int)((random >> 8) % (uint32_t)span));
            text = grow(text, j + 1 < d ? "," : "\n");
        }
    }
    return text;
}

static void assert_rows(const char *text, int64_t n, const char *message) {
    huddle_data data;
    assert_ok(read_text(text, NULL, &data));
    assert_int_equal(data.points.n, n);
    if (message == NULL)
        assert_null(strstr(recorded, "line 1"));
    else
        assert_non_null(strstr(recorded, message));
    huddle_data_free(&data);
}

/* pandas numbers columns that have no names. */
static void numbers_may_be_a_header(void **state) {
    (void)state;
    static const char taken[] = "line 1 (0, 1, 2, 3) is taken for the header; header = \"no\"";
    char *text;
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, "1,2,3,4\n"), 60, NULL, 4, 0), 60,
                "(1, 2, 3, 4) is taken for the h");
    assert_rows(add_rows(grow(NULL, "0,1\n"), 60, NULL, 2, 0), 60,
                "(0, 1) is taken for the header");
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 256), 60, taken);
    assert_rows(add_rows(grow(NULL, "2000,2001,2002\n"), 60, NULL, 3, 0), 60,
                "is taken for the header");
    assert_rows(add_rows(grow(NULL, "400,402,404\n"), 60, NULL, 3, 0), 60, "taken for the header");
    text = grow(NULL, "0,1,2\n"); /* some values are whole */
    for (int i = 1; i < 60; i++)
        text = grow(text, "%g,%g,%g\n", -0.25 * i, 7.5 * i, 0.25 * i * i);
    assert_rows(text, 59, "taken for the header");
    text = grow(NULL, "0,1,2\n"); /* in a small range */
    for (int i = 0; i < 60; i++)
        text = grow(text, "%g,%g,%g\n", 0.5 + 0.5 * (i % 3), 0.5 + 0.5 * (i % 5 % 3), 0.25 + i % 2);
    assert_rows(text, 60, "taken for the header");
    assert_rows(add_rows(grow(NULL, "0,1,2,kind\n"), 40, "%1$d.5,%1$d.25,%1$d.125,k\n", 0, 0), 40,
                "taken for the header");
}

/* Numbers beyond the range of their columns. */
static void numbers_out_of_range_are_names(void **state) {
    (void)state;
    static const char taken[] = "is taken for the header", kept[] = "is taken for a row";
    assert_rows(add_rows(grow(NULL, "2000,2001,2002,2003\n"), 60, NULL, 4, 5), 60, taken);
    assert_rows(add_rows(grow(NULL, "0,1,2,3,4,5,6,7,8,9\n"), 60, NULL, 10, 2), 60, taken);
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 3), 61, NULL); /* 3 is near 0 .. 2 */
    assert_rows(add_rows(grow(NULL, "2000,2001\n"), 9, NULL, 2, 5), 10, kept); /* a few rows */
    assert_rows(add_rows(grow(NULL, "2000,2001\n"), 10, NULL, 2, 5), 10, taken);
    char *text = grow(NULL, "0,1,2,3\n0,1,0,0\n"); /* two of four are equal by chance */
    assert_rows(add_rows(text, 60, NULL, 4, 2), 61 + 1, kept);
    assert_rows("2000,2001\n0,1\n5,5\n", 3, kept); /* 0,1 does not continue the years */
}

/* Whole numbers in no order, and numbers that a program has written as others. */
static void names_may_be_written_otherwise(void **state) {
    (void)state;
    static const char taken[] = "is taken for the header", kept[] = "is taken for a row";
    assert_rows(add_rows(grow(NULL, "0,2,5,9\n"), 60, NULL, 4, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, "9,2,5\n"), 10, NULL, 3, 0), 10, taken);
    assert_rows(add_rows(grow(NULL, "9,2,5\n"), 9, NULL, 3, 0), 10, NULL);
    assert_rows(add_rows(grow(NULL, "9,2,9\n"), 60, NULL, 3, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "9,2\n"), 60, NULL, 2, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "9,2,5\n"), 60, NULL, 3, 256), 61, NULL);
    assert_rows(add_rows(grow(NULL, "0.0,1.0,2.0\n"), 60, NULL, 3, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, "0.0,1.0\n"), 60, NULL, 2, 0), 61, kept);
    assert_rows(add_rows(grow(NULL, "2000.0,2001.0\n"), 60, NULL, 2, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, ",0.0,1.0\n"), 3, "c%d,", 2, 0), 3, NULL); /* certain */
    assert_rows(add_rows(grow(NULL, "400.0,402.5,405.0,407.5,410.0\n"), 60, NULL, 5, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, "400.0,402.5,405.0,407.5\n"), 60, NULL, 4, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "400,402.5,405,407.5,410.1\n"), 60, NULL, 5, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "1.5,2.0,2.5,3.0,3.5\n"), 60, NULL, 5, 0), 61, NULL);
    char *text = grow(NULL, "1.0,2.0,3.0\n"); /* whole numbers that are written so */
    for (int i = 0; i < 60; i++)
        text = grow(text, "%d.0,%d.0,%d.0\n", i % 7, i % 5, i % 8);
    assert_rows(text, 61, NULL);
}

/* Without enough evidence a row is a row, and where it might be a header that is said. */
static void numbers_may_be_a_row(void **state) {
    (void)state;
    static const char kept[] = "is taken for a row; header = \"yes\"";
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 5), 61, NULL);
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 10), 61, kept);
    assert_rows(add_rows(grow(NULL, "0\n"), 60, NULL, 1, 0), 61, kept);
    assert_rows(add_rows(grow(NULL, "0\n"), 60, NULL, 1, 1000), 61, NULL);
    assert_rows(add_rows(grow(NULL, "5\n"), 60, NULL, 1, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "0,1\n"), 10, NULL, 2, 100), 11, kept);
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 3, NULL, 4, 0), 4, kept);
    assert_rows(add_rows(grow(NULL, "0,1,2,3\n"), 3, NULL, 4, 10), 4, NULL);
    assert_rows(add_rows(grow(NULL, "2000,2001\n"), 3, NULL, 2, 10), 4, kept);
    assert_rows(add_rows(grow(NULL, "0,1.0,2,3\n"), 60, NULL, 4, 0), 61, NULL);
    assert_rows(add_rows(grow(NULL, "40,42,44,46\n"), 60, NULL, 4, 256), 61, kept);
    /* Combinations, and a table of products. */
    assert_rows("0,1,2,3\n0,1,2,4\n0,1,3,4\n0,2,3,4\n1,2,3,900\n", 5, NULL);
    char *text = grow(NULL, "1,2,3,4\n");
    for (int i = 2; i < 99; i++)
        text = grow(text, "%d,%d,%d,%d\n", 100 * i, 200 * i, 300 * i, 400 * i);
    assert_rows(text, 98, NULL);
}

/* country,region,2000,2001: texts above texts and numbers above numbers. */
static void years_may_be_names(void **state) {
    (void)state;
    huddle_data data;
    char *text = grow(NULL, "country,region,2000,2001\n");
    for (int i = 0; i < 60; i++)
        text = grow(text, "c%d,%s,%d.5,%d.25\n", i, i % 2 == 0 ? "AF" : "EU", i * 7 % 11, i);
    assert_ok(read_text(text, NULL, &data));
    assert_int_equal(data.points.n, 60);
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(data.features[1], "2001");
    assert_string_equal(data.row_names[59], "c59");
    assert_null(data.row_names[60]);
    huddle_data_free(&data);
    assert_rows(add_rows(grow(NULL, ",2000,2001\n"), 30, "c%d,", 2, 0), 30, "taken for the header");
    /* A text that occurs again is a value. */
    text = grow(NULL, "AF,2000,2001\n");
    for (int i = 0; i < 60; i++)
        text = grow(text, "%s,%d.5,%d.25\n", i % 2 == 0 ? "AF" : "EU", i * 7 % 11, i);
    assert_rows(text, 61, NULL);
}

/* A table of 60 rows: a name, a region and a number, below a header. */
static char *lone(const char *header, const char *format) {
    char *text = grow(NULL, "%s\n", header);
    for (int i = 0; i < 60; i++) {
        text = grow(text, "c%d,%s,", i, i % 2 == 0 ? "AF" : "EU");
        text = grow(text, format, i * 7 % 11);
        text = grow(text, "\n");
    }
    return text;
}

/* country,region,2000: a single number beside texts. */
static void one_year_may_be_a_name(void **state) {
    (void)state;
    static const char taken[] = "is taken for the header", kept[] = "is taken for a row";
    assert_rows(lone("country,region,2000", "%d.5"), 60, taken);
    assert_rows(lone("country,region,2000", "%d"), 60, taken);
    assert_rows(lone("country,region,2000", "%d0000"), 60, taken);
    assert_rows(lone("country,region,0", "%d.5"), 60, taken);
    assert_rows(lone("country,region,0", "%d"), 61, kept); /* never silently */
    assert_rows(lone("country,AF,2000", "%d.5"), 61, NULL);
    assert_rows(lone("country,region,17", "%d.5"), 61, NULL);
    assert_rows(add_rows(grow(NULL, "country,2020\n"), 60, "c%d,", 1, 0), 60, taken);
    assert_rows(add_rows(grow(NULL, "country,2020\n"), 60, "c%d,", 1, 100000), 61, kept);
    assert_rows(add_rows(grow(NULL, "country,1\n"), 60, "c%d,", 1, 0), 61, kept);
    char *text = grow(NULL, "2020,Rome\n"); /* years */
    for (int i = 0; i < 60; i++)
        text = grow(text, "%d,city %d\n", 2019 - i, i);
    assert_rows(text, 61, NULL);
}

static void a_header_can_be_forced(void **state) {
    (void)state;
    const huddle_read_options yes = {.header = "yes"}, no = {.header = "no"},
                              wrong = {.header = "1"};
    huddle_data data;
    assert_ok(read_text("5,6\n1,2\n3,4\n", &yes, &data));
    assert_values(&data, 2, 2, (double[]){1, 2, 3, 4});
    assert_string_equal(data.features[0], "5");
    assert_string_equal(recorded, "");
    huddle_data_free(&data);
    assert_ok(read_text(add_rows(grow(NULL, "0,1,2,3\n"), 60, NULL, 4, 0), &no, &data));
    assert_int_equal(data.points.n, 61);
    assert_null(data.features);
    assert_string_equal(recorded, "");
    huddle_data_free(&data);
    assert_refused(read_text("a,b\n1,2\n3,4\n", &no, &data), HUDDLE_FORMAT,
                   "line 1, column 1: 'a' is not a number");
    assert_refused(read_text("1,2\n", &yes, &data), HUDDLE_FORMAT, "a header but no rows");
    assert_refused(read_text("1,2\n", &wrong, &data), HUDDLE_INVALID,
                   "header = 1: expected one of auto|yes|no");
    assert_refused(huddle_data_read(NULL,
                                    io_write_text("a.arff", "@relation r\n@attribute a real\n"
                                                            "@data\n1\n2\n"),
                                    &yes, &data),
                   HUDDLE_UNSUPPORTED, "header = yes is for CSV only");
    assert_refused(huddle_data_read(NULL, "digits", &yes, &data), HUDDLE_UNSUPPORTED,
                   "header = yes is for tables");
}

/* The features of a model are found in a table of too few rows to judge its header. */
static void expected_names_make_a_header(void **state) {
    (void)state;
    const char *x[] = {"1", "0"};
    const huddle_read_options options = {.x = x, .n_x = 2, .x_by_name = true};
    huddle_data data;
    assert_ok(read_text("0,1\n1.5,2.5\n", &options, &data));
    assert_values(&data, 1, 2, (double[]){2.5, 1.5});
    huddle_data_free(&data);
}

static void a_line_of_units_is_passed(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("len,speed,kind\n\nm,m/s,\n\n1.5,2,u\n3,4,u\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    assert_string_equal(data.features[1], "speed");
    assert_string_equal(recorded, "warning: line 3 (m, m/s, ) is read as the units of the columns, "
                                  "not as a row; header = \"yes\" makes it a row\n");
    huddle_data_free(&data);
    assert_refused(
        read_text("len,speed\nm,m/s\n1,2\n3,4\n", &(huddle_read_options){.header = "yes"}, &data),
        HUDDLE_FORMAT, "line 2, column 1 (len): 'm' is not a number");
    /* Two levels of names, as pandas writes them above an index. */
    assert_ok(read_text(",x,x\n,a,b\n0,1.5,2\n1,3,4\n2,5,6\n", NULL, &data));
    assert_values(&data, 3, 2, (double[]){1.5, 2, 3, 4, 5, 6});
    assert_non_null(strstr(recorded, "warning: line 2 (, a, b) is read as the units"));
    huddle_data_free(&data);
    /* A name in a column of names belongs to a row. */
    assert_refused(read_text("city,a\nRome,five\nParis,2\nOslo,3\n", NULL, &data), HUDDLE_FORMAT,
                   "line 2, column 2 (a): 'five' is not a number");
    /* Words for a value that is not known are values. */
    assert_refused(read_text("age\nunknown\n5\n6\n7\n", NULL, &data), HUDDLE_FORMAT,
                   "line 2, column 1 (age): 'unknown' is not a number");
    assert_refused(read_text("a,b\nMissing,unknown\n1,2\n3,4\n", NULL, &data), HUDDLE_FORMAT,
                   "line 2, column 1 (a): 'Missing' is not a number");
    assert_refused(read_text("a,b\nm,m\n1,2\n3,x\n4,5\n", NULL, &data), HUDDLE_FORMAT,
                   "line 4, column 2 (b): 'x' is not a number");
    assert_refused(read_text("a,b,c\n,,bad\n1,2,3\n4,5,6\n", NULL, &data), HUDDLE_FORMAT,
                   "line 2, column 1 (a): the value is missing");
}

/* Only the rows end with a separator: their last column is empty, the first has no names. */
static void rows_may_end_with_a_separator(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("a,b\n1.5,2,\n3,4,\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    assert_string_equal(data.features[0], "a");
    assert_string_equal(column_of(&data, 2)->reason, "no values");
    huddle_data_free(&data);
}

static void separators_are_found_or_given(void **state) {
    (void)state;
    static const char *const texts[] = {"1|2.5\n3|4\n",
                                        "a|b\n1|2.5\n3|4\n",
                                        "1,0|2,5\n3,0|4,0\n",
                                        "sep=;\na;b\n1;2,5\n3;4\n",
                                        "sep=; \t\na;b\n1;2,5\n3;4\n",
                                        "\"sep=:\"\r\n1:2.5\r\n3:4\r\n",
                                        "SEP=\t\n1\t2.5\n3\t4\n",
                                        "\xEF\xBB\xBFsep=|\na|b\n1|2.5\n3|4\n"};
    huddle_data data;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(read_text(texts[i], NULL, &data));
        assert_values(&data, 2, 2, (double[]){1, 2.5, 3, 4});
        huddle_data_free(&data);
    }
    assert_ok(
        read_text("7,Heat,Action|Crime\n8,Jaws,Action|Sea\n9,Duel,Action|Road\n", NULL, &data));
    assert_int_equal(data.n_columns, 3);
    huddle_data_free(&data);
    assert_refused(read_text("sep=\na;b\n1;2\n", NULL, &data), HUDDLE_FORMAT,
                   "line 1: 'sep=': expected");
    assert_refused(read_text("sep=x\naxb\n1x2\n", NULL, &data), HUDDLE_FORMAT, "line 1: 'sep=x'");
    assert_refused(read_text("\n#\nsep=;\na,b\n1,2\n3,4\n", NULL, &data), HUDDLE_FORMAT,
                   "line 3: sep=;, but the lines are separated by ,");
    assert_refused(read_text("sep=,\n1\t2\n3\t4\n", NULL, &data), HUDDLE_FORMAT,
                   "line 1: sep=,, but the lines are separated by TAB");
    assert_ok(read_text("sep=;\n1,5\n2,5\n", NULL, &data)); /* a column of decimal commas */
    assert_values(&data, 2, 1, (double[]){1.5, 2.5});
    huddle_data_free(&data);
    assert_ok(read_text("sep=;\nmax temp\n1\n2\n", NULL, &data));
    huddle_data_free(&data);
    assert_refused(read_text("sep=;\na;b\n1;2\n3;z\n", NULL, &data), HUDDLE_FORMAT,
                   "line 4, column 2 (b): 'z' is not a number");
}

static void lines_may_end_with_carriage_returns(void **state) {
    (void)state;
    huddle_data data;
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    huddle_dense matrix;
    assert_ok(read_text("a,b\r1,2.5\r3,4\r", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1, 2.5, 3, 4});
    huddle_data_free(&data);
    assert_refused(read_text("a,b\r1,2\r3,z\r", NULL, &data), HUDDLE_FORMAT,
                   "line 3, column 2 (b): 'z'");
    assert_refused(read_text("a,b\n1,2\r3\n4,5\n", NULL, &data), HUDDLE_FORMAT,
                   "line 2, column 2 (b): '2\\r3' is not a number");
    assert_ok(huddle_labels_read(NULL, io_write_text("labels.txt", "5\r7\r5\r"), &n, &labels,
                                 &n_classes, &classes));
    assert_int_equal(n, 3);
    assert_int_equal(n_classes, 2);
    huddle_free(labels);
    huddle_free(classes[0]);
    huddle_free(classes[1]);
    huddle_free(classes);
    assert_ok(huddle_dense_read(NULL, io_write_text("matrix.csv", "1,2\r3,4"), &matrix));
    assert_int_equal(matrix.rows, 2);
    huddle_dense_free(&matrix);
}

/* Texts of which none repeats are names, also in a few rows, unless somebody wants classes. */
static void texts_that_differ_are_names(void **state) {
    (void)state;
    const char *y[] = {"country"}, *x[] = {"gdp"}, *none[] = {"none"};
    const char text[] = "country,gdp,life\n\"A \"\"a\"\"\",1.5,9\nB,2.5,7\nNA,4.5,8\n,5.5,5\n";
    huddle_data data;
    assert_ok(read_text(text, NULL, &data));
    assert_null(data.labels);
    assert_string_equal(data.row_names[0], "A \"a\"");
    assert_string_equal(data.row_names[2], "NA");
    assert_string_equal(data.row_names[3], "");
    assert_int_equal(column_of(&data, 0)->role, HUDDLE_COLUMN_NAMES);
    assert_string_equal(recorded,
                        "column 1 (country) names the rows: 4 distinct values in 4 rows; y = "
                        "\"country\" makes it the labels\n");
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.x = x, .n_x = 1}, &data));
    assert_null(data.labels);
    assert_string_equal(data.row_names[1], "B");
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = none, .n_y = 1}, &data));
    assert_string_equal(data.row_names[1], "B");
    huddle_data_free(&data);
    assert_ok(
        read_text("country,gdp\nA,1\nB,2\n", &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 2);
    assert_null(data.row_names);
    huddle_data_free(&data);
    assert_ok(read_text("class,gdp\nA,1\nB,2\n", NULL, &data)); /* whatever its name is */
    assert_null(data.labels);
    assert_string_equal(data.row_names[1], "B");
    assert_non_null(strstr(recorded, "warning: column 1 (class) names the rows: 2 distinct"));
    huddle_data_free(&data);
    assert_ok(read_text("class,gdp\nA,1\nB,2\n", &(huddle_read_options){.per_class = 1}, &data));
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
    assert_ok(read_text("class,gdp\nA,1\n", NULL, &data)); /* a new row for a model */
    assert_int_equal(data.n_classes, 1);
    huddle_data_free(&data);
    assert_ok(read_text("species,gdp,city\nA,1,u\nB,2,v\nC,2,u\n", NULL, &data));
    assert_string_equal(data.classes[1], "v");
    huddle_data_free(&data);
    assert_ok(read_text("country,gdp\nA,1\nB,2\n", &(huddle_read_options){.encode = true}, &data));
    assert_int_equal(data.points.d, 3);
    huddle_data_free(&data);
}

/* Nearly as many texts as rows are names too, and rows may lack one. */
static void few_texts_repeat(void **state) {
    (void)state;
    huddle_data data;
    static const struct {
        const char *texts; /* one per row */
        int32_t n_classes;
    } cases[] = {{"ABCDEFGHIJKLMNOPQRSS", 0},
                 {"ABCDEFGHIJ-LMNOPQRS-", 0},
                 {"ABCDDD", 0},
                 {"ABCCBA", 3},
                 {"ABCDA", 4},
                 {"A-C-E", 0},
                 {"ABABA", 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *text = grow(NULL, "city,a\n");
        for (int i = 0; cases[k].texts[i] != '\0'; i++)
            text = grow(text, "%.*s,%d.5\n", cases[k].texts[i] != '-', &cases[k].texts[i], i % 7);
        assert_ok(read_text(text, NULL, &data));
        assert_int_equal(data.n_classes, cases[k].n_classes);
        assert_int_equal(data.row_names != NULL, cases[k].n_classes == 0);
        huddle_data_free(&data);
    }
    assert_ok(read_text("city,a,b\nA,1,u\nB,2,v\nC,3,u\nD,4,v\nD,5,u\nD,6,v\n",
                        &(huddle_read_options){.encode = true}, &data)); /* categories */
    assert_int_equal(data.points.d, 7);
    huddle_data_free(&data);
}

/* As labels of another data set such texts would be as many classes as rows. */
static void names_are_not_read_as_labels(void **state) {
    (void)state;
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    assert_refused(huddle_labels_read(NULL, io_write_text("few.csv", "country,gdp\nA,1.5\nB,2\n"),
                                      &n, &labels, &n_classes, &classes),
                   HUDDLE_FORMAT,
                   "few.csv: column 1 (country) names the rows, and no other column");
    assert_ok(huddle_labels_read(NULL, io_write_text("few.csv", "A\nB\n"), &n, &labels, &n_classes,
                                 &classes)); /* a list of nothing else */
    assert_int_equal(n_classes, 2);
    huddle_free(labels);
    huddle_free(classes[0]);
    huddle_free(classes[1]);
    huddle_free(classes);
}

/* The names are those of the points: without dropped rows and classes that are left out. */
static void names_follow_their_rows(void **state) {
    (void)state;
    const char text[] = "name,a,kind\nr0,1,u\nr1,NA,v\nr2,3,v\nr3,4,u\nr4,5,v\n";
    huddle_data data;
    assert_ok(read_text(text, &(huddle_read_options){.missing = "drop"}, &data));
    assert_string_equal(data.row_names[1], "r2");
    assert_string_equal(data.row_names[3], "r4");
    assert_null(data.row_names[4]);
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.missing = "drop", .classes = "v"}, &data));
    assert_string_equal(data.row_names[0], "r2");
    assert_string_equal(data.row_names[1], "r4");
    assert_null(data.row_names[2]);
    huddle_data_free(&data);
    assert_ok(read_text("\"a\",\"b\"\n\"Mazda\",1.5,2\n\"Fiat\",3,4\n", NULL, &data)); /* R */
    assert_string_equal(data.row_names[1], "Fiat");
    assert_ok(huddle_data_write(NULL, &data, io_path("out.csv")));
    assert_text(io_path("out.csv"), "name,a,b\nMazda,1.5,2\nFiat,3,4\n");
    huddle_data_free(&data);
}

typedef struct request {
    const char *path;
    huddle_read_options options;
} request;

static huddle_status read_again(void *argument) {
    const request *r = argument;
    huddle_data data;
    huddle_status status = huddle_data_read(NULL, r->path, &r->options, &data);
    huddle_data_free(&data);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[300];
    const char *x[] = {"a"};
    request r = {path, {.missing = "drop", .classes = "v"}};
    const char text[] = "name,a,kind\rr0,1,u\rr1,NA,v\rr2,3,v\rr3,4,u\r\"r4\",5,v\r";
    snprintf(path, sizeof path, "%s", io_write_text("names.csv", text));
    test_each_allocation(read_again, &r);
    r.options = (huddle_read_options){.x = x, .n_x = 1, .missing = "drop"};
    test_each_allocation(read_again, &r);
    r.options = (huddle_read_options){0};
    snprintf(path, sizeof path, "%s",
             io_write_text("years.csv", add_rows(grow(NULL, "0,1,2,kind\n"), 9,
                                                 "%1$d.5,%1$d.25,%1$d.1,k\n", 0, 0)));
    test_each_allocation(read_again, &r);
    snprintf(path, sizeof path, "%s", io_write_text("units.csv", "a,b\nm,s\n1,2\n3,4\n"));
    test_each_allocation(read_again, &r);
    snprintf(path, sizeof path, "%s", io_write_text("given.csv", "sep=;\na\n1\n3\n"));
    test_each_allocation(read_again, &r);
    snprintf(path, sizeof path, "%s", io_write_text("open.csv", "a|b\n1|2|\n3|4|\n"));
    test_each_allocation(read_again, &r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_may_be_a_header),
        cmocka_unit_test(numbers_out_of_range_are_names),
        cmocka_unit_test(names_may_be_written_otherwise),
        cmocka_unit_test(numbers_may_be_a_row),
        cmocka_unit_test(years_may_be_names),
        cmocka_unit_test(one_year_may_be_a_name),
        cmocka_unit_test(a_header_can_be_forced),
        cmocka_unit_test(expected_names_make_a_header),
        cmocka_unit_test(a_line_of_units_is_passed),
        cmocka_unit_test(rows_may_end_with_a_separator),
        cmocka_unit_test(separators_are_found_or_given),
        cmocka_unit_test(lines_may_end_with_carriage_returns),
        cmocka_unit_test(texts_that_differ_are_names),
        cmocka_unit_test(few_texts_repeat),
        cmocka_unit_test(names_are_not_read_as_labels),
        cmocka_unit_test(names_follow_their_rows),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
