/* io: the layout of CSV files, and which columns are features and labels. */
#include "support/io.h"

#include <math.h>

static void tables_of_every_layout_are_read(void **state) {
    (void)state;
    static const char *const texts[] = {"1,2.5\n3,4\n",
                                        "1,2.5\n3,4",
                                        "1;2.5\r\n3;4\r\n",
                                        "1\t2.5\n3\t4\n",
                                        "  1   2.5\n3 4  \n",
                                        "a,b\n1,2.5\n3,4\n",
                                        "\357\273\277a,b\n1,2.5\n3,4\n",
                                        "\n# made by\n1,2.5\n\n3,4\n\n",
                                        "\"1\",\"2.5\"\n\"3\",4\n",
                                        "a b\n1 2.5\n3 4\n",
                                        "1, 2.5\n3 ,4\n",
                                        "\"a,x\",\"b\n\"\"q\"\"\"\n1,2.5\n3,4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        huddle_data data;
        assert_ok(io_read_text(texts[i], NULL, &data));
        io_assert_floats(&data, 2, 2, (float[]){1, 2.5f, 3, 4});
        assert_null(data.labels);
        assert_int_equal(data.n_classes, 0);
        huddle_data_free(&data);
    }
}

static void headers_name_the_features(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_text("\"a, x\",\"b \"\"q\"\"\",Class\n1,2,u\n3,4,v\n5,6,v\n", NULL, &data));
    assert_string_equal(data.features[0], "a, x");
    assert_string_equal(data.features[1], "b \"q\"");
    assert_string_equal(data.classes[1], "v");
    assert_string_equal(data.format, "csv");
    huddle_data_free(&data);
}

static void labels_are_found_by_name_or_by_being_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *first, *last;
        bool numeric;
    } cases[] = {
        {"a,b,y\n1,2,7\n3,4,-7\n", "-7", "7", true},
        {"x,y,LABEL\n1,2,7\n3,4,8\n", "7", "8", true},
        {"1,2,u\n3,4,v\n1,2,u\n", "u", "v", false},
        {"u,1,2\nv,3,4\nu,1,2\n", "u", "v", false},
        {"a,kind,b\n1,\"v, w\",2\n3,\"q \"\"z\"\"\",4\n1,\"v, w\",2\n", "q \"z\"", "v, w", false},
        {"a,gnd,b\n1,2.0,2\n3,10,4\n", "2", "10", true},
        {"0,1,species\n1,2,setosa\n3,4,virginica\n1,2,setosa\n", "setosa", "virginica", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        huddle_data data;
        assert_ok(io_read_text(cases[i].text, NULL, &data));
        io_assert_floats(&data, cases[i].numeric ? 2 : 3, 2, (float[]){1, 2, 3, 4, 1, 2});
        assert_int_equal(data.n_classes, 2);
        assert_string_equal(data.classes[0], cases[i].first);
        assert_string_equal(data.classes[1], cases[i].last);
        assert_int_equal(data.classes_numeric, cases[i].numeric);
        huddle_data_free(&data);
    }
}

/* A column named y with fractions is a coordinate. */
static void fractions_are_no_labels(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_text("x,y\n1,2.5\n3,4\n", NULL, &data));
    io_assert_floats(&data, 2, 2, (float[]){1, 2.5f, 3, 4});
    huddle_data_free(&data);
}

static void columns_are_chosen_by_name_and_position(void **state) {
    (void)state;
    static const char text[] = "a,b,c,label\n1,2,3,0\n4,5,6,1\n";
    const char *x[] = {"c", "1"}, *range[] = {"2-3"}, *y[] = {"b"}, *none[] = {"none"};
    huddle_data data;
    assert_ok(io_read_text(text, &(huddle_read_options){.x = x, .n_x = 2}, &data));
    io_assert_floats(&data, 2, 2, (float[]){3, 1, 6, 4});
    assert_string_equal(data.features[0], "c");
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
    assert_ok(io_read_text(text, &(huddle_read_options){.x = range, .n_x = 1}, &data));
    io_assert_floats(&data, 2, 2, (float[]){2, 3, 5, 6});
    huddle_data_free(&data);
    assert_ok(io_read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    io_assert_floats(&data, 2, 3, (float[]){1, 3, 0, 4, 6, 1});
    assert_string_equal(data.classes[0], "2");
    huddle_data_free(&data);
    assert_ok(io_read_text(text, &(huddle_read_options){.y = none, .n_y = 1}, &data));
    io_assert_floats(&data, 2, 3, (float[]){1, 2, 3, 4, 5, 6});
    assert_null(data.labels);
    huddle_data_free(&data);
}

static void faults_of_tables_are_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "table.csv: the file is empty"},
        {"\n \n", "table.csv: the file contains only blank lines"},
        {"a,b\n", "table.csv: the file contains a header but no rows"},
        {"a,age\n1,2\n3,\n", "table.csv: line 3, column 2 (age): the value is missing"},
        {"1,2\n3,NA\n5,6\n", "table.csv: line 2, column 2: the value is missing"},
        {"1\n\n2\n", "table.csv: line 2, column 1: the value is missing"},
        {"1,2\n3,4,5\n", "table.csv: line 2 has 3 columns, but line 1 has 2"},
        {"a,b\n1,2\n\n3\n", "table.csv: line 4 has 1 column, but line 1 has 2"},
        {"a,b\n1,2\n3,4x\n", "table.csv: line 3, column 2 (b): '4x' is not a number"},
        {"1,2\n3,nan\n", "table.csv: line 2, column 2: the value is missing; missing = \"drop"},
        {"1,2\n3,inf\n", "table.csv: line 2, column 2: 'inf' is not a number"},
        {"1,2\n3,1e39\n", "table.csv: line 2, column 2: 1e+39 is beyond single precision"},
        {"1,2,\"u\n3,4,v\n", "table.csv: line 1: a quote is not closed"},
        {"\"a\nb\",c\n1,2\n3,z4\n", "table.csv: line 4, column 2 (c): 'z4' is not a number"},
        {"a,b,c\n1,u,v\n5,w,x\n3,u,x\n",
         "table.csv: column 2 (b), column 3 (c): text, not numbers; "
         "select the numeric columns with x = [\"a\"], or use"},
        {"label\n1\n2\n", "table.csv: no column is left for the features"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        huddle_data data;
        huddle_status status = io_read_text(cases[i][0], NULL, &data);
        assert_true(status == HUDDLE_FORMAT || status == HUDDLE_INVALID);
        const char *message = huddle_last_error() + strlen(test_directory()) + 1;
        assert_memory_equal(message, cases[i][1], strlen(cases[i][1]));
        assert_null(data.points.values);
    }
    const char *q[] = {"q"};
    huddle_data data;
    assert_refused(io_read_text("a,b\n1,2\n", &(huddle_read_options){.x = q, .n_x = 1}, &data),
                   HUDDLE_INVALID, "no column 'q'; it has a, b");
}

/* Large enough for many pieces; quotes, blank lines and long lines fall across their borders. */
static void pieces_are_joined_without_seams(void **state) {
    (void)state;
    enum { N = 60000 };
    const char *path = io_path("large.csv");
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    for (int quoted = 0; quoted < 2; quoted++) {
        FILE *file = fopen(path, "w");
        for (int i = 0; i < N; i++)
            fprintf(file,
                    quoted && i % 3 == 0 ? "%d,%.17g,0.25,\"a\n,%d\"\n%s" : "%d,%.17g,0.25,b%d\n%s",
                    i + 7, i / 3.0, i % 5, i % 1000 == 0 ? "\n" : "");
        fclose(file);
        huddle_data one, many;
        assert_ok(huddle_context_set_threads(context, 1));
        assert_ok(huddle_data_read(context, path, NULL, &one));
        assert_ok(huddle_context_set_threads(context, 4));
        assert_ok(huddle_data_read(context, path, NULL, &many));
        assert_int_equal(one.points.n, N);
        assert_int_equal(one.n_classes, quoted ? 10 : 5);
        for (int i = 0; i < N; i++) {
            assert_true(one.points.values[3 * i] == (float)(i + 7));
            assert_true(one.points.values[3 * i + 1] == (float)(i / 3.0));
        }
        assert_memory_equal(one.points.values, many.points.values, sizeof(float) * 3 * N);
        assert_memory_equal(one.labels, many.labels, sizeof(int32_t) * N);
        huddle_data_free(&one);
        huddle_data_free(&many);
    }
    huddle_context_free(context);
}

static void columns_far_from_zero_are_shifted(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_text("1000000000.25,1\n1000000000.5,2\n1000000001,3\n", NULL, &data));
    assert_non_null(data.points.shift);
    double expected[] = {1000000000.25, 1000000000.5, 1000000001};
    for (int i = 0; i < 3; i++)
        assert_close((double)data.points.values[2 * i] + data.points.shift[0], expected[i], 1e-16);
    const char *path = io_path("shifted.npy");
    assert_ok(huddle_points_write_npy(path, &data.points));
    huddle_dense back;
    assert_ok(huddle_dense_read(NULL, path, &back));
    assert_close(back.values[0], 1000000000.25, 1e-16);
    huddle_dense_free(&back);
    huddle_data_free(&data);
}

static void compressed_tables_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(NULL,
                               io_write_gzip("packed.csv.gz", "a,b,label\n1,2,7\n3,4,8\n",
                                             strlen("a,b,label\n1,2,7\n3,4,8\n")),
                               NULL, &data));
    io_assert_floats(&data, 2, 2, (float[]){1, 2, 3, 4});
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.n_names, 3);
    huddle_data_free(&data);
    /* A size at the end that lies is not believed. */
    char lie[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\xff\xff\xff\xff";
    assert_refused(huddle_data_read(NULL, io_write("lie.csv.gz", lie, 20), NULL, &data),
                   HUDDLE_FORMAT, "gzip");
}

static void texts_that_differ_are_names(void **state) {
    (void)state;
    char text[2000] = "width,name\n";
    huddle_data data;
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,n%d\n", i, i % 30);
    assert_ok(io_read_text(text, NULL, &data));
    assert_null(data.labels);
    assert_int_equal(data.points.d, 1);
    huddle_data_free(&data);
    const char *y[] = {"name"};
    assert_ok(io_read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 30);
    huddle_data_free(&data);
}

static void coordinates_are_no_labels(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_text("x,y\n1,2\n3,4\n", NULL, &data));
    assert_null(data.labels);
    io_assert_floats(&data, 2, 2, (float[]){1, 2, 3, 4});
    huddle_data_free(&data);
    assert_ok(io_read_text("x,w,y\n1,2,0\n3,4,1\n", NULL, &data));
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_every_layout_are_read),
        cmocka_unit_test(headers_name_the_features),
        cmocka_unit_test(labels_are_found_by_name_or_by_being_texts),
        cmocka_unit_test(fractions_are_no_labels),
        cmocka_unit_test(columns_are_chosen_by_name_and_position),
        cmocka_unit_test(faults_of_tables_are_named),
        cmocka_unit_test(pieces_are_joined_without_seams),
        cmocka_unit_test(columns_far_from_zero_are_shifted),
        cmocka_unit_test(compressed_tables_are_read),
        cmocka_unit_test(texts_that_differ_are_names),
        cmocka_unit_test(coordinates_are_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
