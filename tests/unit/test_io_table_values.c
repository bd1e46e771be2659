/* io: values of tables: numbers as people write them, missing values, texts. */
#include "io/csv.h"
#include "support/table.h"

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
    assert_string_equal(recorded, "");
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
        const char *recorded;
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
        if (strstr(recorded, cases[k].recorded) == NULL ||
            (cases[k].recorded[0] == '\0' && recorded[0] != '\0'))
            fail_msg("case %zu: %s", k, recorded);
        huddle_data_free(&data);
    }
    huddle_data data;
    assert_refused(read_text("a;b\n1,5;1\n2,5;2\n3.5;3\n", NULL, &data), HUDDLE_FORMAT,
                   "line 4, column 1 (a): '3.5' is not a number with a decimal comma");
    assert_ok(read_text("a,b\n5 %,1\n7,2\n", NULL, &data));
    assert_non_null(strstr(recorded, "mixes values such as 5 %, read as 0.05, with 7, read as 7"));
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
        assert_non_null(strstr(recorded, "1 of 4 rows dropped because a value is missing: row 2"));
        huddle_data_free(&data);
        assert_ok(read_text(text, &(huddle_read_options){.missing = "mean"}, &data));
        assert_values(&data, 4, 2, (double[]){4, 2, 5, 5, 9, 4, 1, 9});
        assert_non_null(strstr(recorded, "1 missing value was filled in by the mean"));
        huddle_data_free(&data);
        assert_ok(read_text(text, &(huddle_read_options){.missing = "median"}, &data));
        assert_values(&data, 4, 2, (double[]){4, 2, 5, 4, 9, 4, 1, 9});
        huddle_data_free(&data);
    }
    huddle_data data;
    assert_refused(read_text("a\n1\n", &(huddle_read_options){.missing = "guess"}, &data),
                   HUDDLE_INVALID, "missing = guess: expected one of error|drop|mean|median");
    assert_refused(read_text("a,b\n1,\n,2\n", &(huddle_read_options){.missing = "drop"}, &data),
                   HUDDLE_FORMAT, "every row lacks a value");
}

static void missing_labels_can_only_be_dropped(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "a,label\n4,u\n5,\n7,v\n9,NA\n3,none\n8,u\n";
    assert_refused(read_text(text, NULL, &data), HUDDLE_FORMAT,
                   "line 3, column 2 (label): the label is missing; missing = \"drop\"");
    assert_refused(read_text(text, &(huddle_read_options){.missing = "mean"}, &data), HUDDLE_FORMAT,
                   "the label is missing");
    assert_ok(read_text(text, &(huddle_read_options){.missing = "drop"}, &data));
    assert_values(&data, 4, 1, (double[]){4, 7, 3, 8});
    assert_int_equal(data.n_classes, 3); /* none may be a class */
    huddle_data_free(&data);
}

static void texts_are_refused_with_the_columns_that_work(void **state) {
    (void)state;
    static const char text[] =
        "a,city,max temp,it's,kind\n1,P,4,5,u\n6,R,8,9,v\n3,P,5,6,u\n2,R,1,1,u\n";
    huddle_data data;
    assert_refused(
        read_text(text, &(huddle_read_options){.hints_as_flags = true}, &data), HUDDLE_FORMAT,
        "column 2 (city), column 5 (kind): text, not numbers; select the numeric columns "
        "with --x a --x 'max temp' --x 'it'\\''s', or use --encode for one-hot features");
    assert_refused(read_text(text, NULL, &data), HUDDLE_FORMAT,
                   "with x = [\"a\", \"max temp\", \"it's\"], or use encode = true for one-hot "
                   "features");
    const char *x[] = {"a", "max temp", "it's"};
    assert_ok(read_text(text, &(huddle_read_options){.x = x, .n_x = 3}, &data));
    assert_values(&data, 4, 3, (double[]){1, 4, 5, 6, 8, 9, 3, 5, 6, 2, 1, 1});
    huddle_data_free(&data);
    assert_refused(read_text("1,P,2,3,u\n4,R,2,1,v\n5,P,1,1,u\n",
                             &(huddle_read_options){.hints_as_flags = true}, &data),
                   HUDDLE_FORMAT, "with --x 1 --x 3-4, or");
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
    assert_string_equal(column_of(&data, 2)->reason, "encoded, 3 categories");
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
    assert_refused(read_text("a,c\n1,u\n2,\n4,u\n", &(huddle_read_options){.encode = true}, &data),
                   HUDDLE_FORMAT, "missing");
    assert_ok(read_text("a,c\n1,u\n2,\n4,v\n9,u\n",
                        &(huddle_read_options){.encode = true, .missing = "mean"}, &data));
    assert_values(&data, 4, 3, (double[]){1, s, 0, 2, 2 * s / 3, s / 3, 4, 0, s, 9, s, 0});
    huddle_data_free(&data);
}

static void encoded_texts_do_not_reveal_the_labels(void **state) {
    (void)state;
    huddle_data data;
    char *text = grow(NULL, "a,city,target\n");
    for (int i = 0; i < 30; i++)
        text = grow(text, "%d.5,c%d,%d\n", i % 7, i % 3, i % 3);
    assert_ok(read_text(text, &(huddle_read_options){.encode = true}, &data));
    assert_int_equal(data.points.d, 1);
    assert_non_null(strstr(recorded, "warning: column 2 (city) is ignored: it maps one to one"));
    huddle_data_free(&data);
    text = grow(NULL, "a,city\n");
    for (int i = 0; i < 300; i++)
        text = grow(text, "%d.5,c%d\n", i % 7, i % 101);
    assert_refused(read_text(text, &(huddle_read_options){.encode = true}, &data), HUDDLE_FORMAT,
                   "column 2 (city) has 101 categories");
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
    assert_non_null(strstr(recorded, "warning: column 1 (city): unseen categories 'S' (1 row)"));
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
    snprintf(
        path, sizeof path, "%s",
        io_write_text("faulty.csv", "id;a;city;label\n1;1,5;u;0\n2;2,5;v;0\n3;NA;u;1\n5;4;v;1\n"));
    test_each_allocation(read_once, path);
    test_each_allocation(expect_once, path);
    snprintf(path, sizeof path, "%s",
             io_write_text("faulty2.csv",
                           "id,a,b,label\n1,1,5,p\n2,1,NA,p\n3,1,7,p\n4,2,8,q\n5,2,8,q\n6,2,"
                           "9,q\n7,2,9,q\n"));
    test_each_allocation(drop_once, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(styled_numbers_are_read),
        cmocka_unit_test(decimal_commas_are_read),
        cmocka_unit_test(doubtful_commas_are_reported),
        cmocka_unit_test(late_commas_decide_for_all_rows),
        cmocka_unit_test(missing_values_are_named_dropped_or_filled),
        cmocka_unit_test(missing_labels_can_only_be_dropped),
        cmocka_unit_test(texts_are_refused_with_the_columns_that_work),
        cmocka_unit_test(texts_are_encoded),
        cmocka_unit_test(encoded_texts_do_not_reveal_the_labels),
        cmocka_unit_test(texts_have_a_header_if_it_comes_once),
        cmocka_unit_test(features_are_found_by_name_in_their_order),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
