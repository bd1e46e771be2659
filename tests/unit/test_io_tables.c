/* io: which columns of a table are row numbers, labels and dates. */
#include "io/csv.h"
#include "support/table.h"

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
        assert_int_equal(strstr(recorded, "row numbers") != NULL, cases[k].left_out);
        assert_int_equal(column_of(&data, cases[k].at)->role,
                         cases[k].left_out ? HUDDLE_COLUMN_IGNORED : HUDDLE_COLUMN_FEATURE);
        double shift = data.points.shift != NULL ? data.points.shift[0] : 0;
        if (cases[k].left_out)
            assert_close((double)data.points.values[2] + shift, 1.5, 0);
        huddle_data_free(&data);
        const char *all[] = {"1-3"};
        assert_ok(read_text(text, &(huddle_read_options){.x = all, .n_x = 1}, &data));
        assert_int_equal(data.points.d, 3); /* x brings it back */
        assert_string_equal(recorded, "");
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

static void the_only_features_are_kept_even_if_they_count_rows(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("x,label\n1,a\n2,b\n3,a\n4,b\n", NULL, &data));
    assert_values(&data, 4, 1, (double[]){1, 2, 3, 4});
    huddle_data_free(&data);
}

/* R writes no name above the names of rows; Kaggle's tables have a comma too many. */
static void headers_may_lack_one_name(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("\"a\",\"b\"\n\"Mazda\",1.5,2\n\"Fiat\",3,4\n", NULL, &data));
    assert_values(&data, 2, 2, (double[]){1.5, 2, 3, 4});
    assert_string_equal(data.features[0], "a");
    assert_non_null(strstr(recorded, "column 1 names the rows: the header has no name for it"));
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

static void columns_that_reveal_the_labels_are_left_out(void **state) {
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
    assert_non_null(strstr(recorded, "warning: column 2 (target) is ignored: it maps one to one"));
    assert_non_null(strstr(recorded, "warning: column 3 (code) is ignored: it maps one to one"));
    assert_int_equal(column_of(&data, 4)->role, HUDDLE_COLUMN_LABEL);
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = target, .n_y = 1}, &data));
    assert_int_equal(data.points.d, 3); /* of texts too */
    assert_int_equal(column_of(&data, 4)->role, HUDDLE_COLUMN_IGNORED);
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
    assert_string_equal(column_of(&data, 2)->reason, "a conventional name for labels");
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
    assert_int_equal(column_of(&data, 0)->role, HUDDLE_COLUMN_NAMES);
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
    assert_non_null(strstr(recorded, "column 1 (day) is ignored: dates"));
    huddle_data_free(&data);
    assert_refused(read_text(text, &(huddle_read_options){.x = x, .n_x = 1}, &data), HUDDLE_FORMAT,
                   "'2024-01-01' is a date");
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 7); /* unless they are asked for */
    huddle_data_free(&data);
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
    assert_int_equal(column_of(&data, 2)->role, HUDDLE_COLUMN_IGNORED);
    assert_non_null(strstr(recorded,
                           "warning: column 3 (target) is ignored: 30 different numbers in "
                           "30 rows are too many for labels; y = \"target\" makes"));
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 30);
    huddle_data_free(&data);
    assert_ok(read_text(numbered("a,b,target\n", 2, same), NULL, &data));
    assert_int_equal(data.n_classes, 3);
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_numbers_are_left_out),
        cmocka_unit_test(row_numbers_are_found_in_large_files),
        cmocka_unit_test(the_only_features_are_kept_even_if_they_count_rows),
        cmocka_unit_test(headers_may_lack_one_name),
        cmocka_unit_test(columns_that_reveal_the_labels_are_left_out),
        cmocka_unit_test(labels_are_explained),
        cmocka_unit_test(dates_are_recognised),
        cmocka_unit_test(dates_in_eight_digits_need_a_name),
        cmocka_unit_test(dates_never_become_classes),
        cmocka_unit_test(numbers_that_differ_in_every_row_are_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
