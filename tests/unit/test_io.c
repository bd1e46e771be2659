/* io: numbers in text, CSV, selecting, outputs, labels, generators. */
#include "base/memory.h"
#include "base/rng.h"
#include "huddle/io.h"
#include "io/number.h"
#include "support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char *path_of(const char *name) {
    static char path[16][256];
    static int next;
    char *p = path[next++ % 16];
    snprintf(p, sizeof path[0], "%s/%s", test_directory(), name);
    return p;
}

static const char *put_bytes(const char *name, const void *bytes, size_t size) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *put(const char *name, const char *text) {
    return put_bytes(name, text, strlen(text));
}

/* Reads text as a CSV file; the caller frees data. */
static huddle_status read_text(const char *text, const huddle_read_options *options,
                               huddle_data *data) {
    return huddle_data_read(NULL, put("table.csv", text), options, data);
}

static void assert_values(const huddle_data *data, int64_t n, int64_t d, const float *values) {
    assert_int_equal(data->points.n, n);
    assert_int_equal(data->points.d, d);
    for (int64_t i = 0; i < n * d; i++)
        assert_close(data->points.values[i], values[i], 0);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void assert_number(const char *text) {
    char line[1200] = {0};
    double value = -1;
    snprintf(line, sizeof line, "%s\n", text);
    assert_ptr_equal(hd_io_number(line, &value), line + strlen(text));
    double fast = -1;
    assert_ptr_equal(hd_io_number_at(line, true, &fast), line + strlen(text));
    assert_memory_equal(&fast, &value, sizeof fast);
    double expected = strtod(text, NULL);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("%s is read as %.17g, not %.17g", text, value, expected);
}

static void numbers_are_read_exactly(void **state) {
    (void)state;
    static const char *const hard[] = {"0",
                                       "-0",
                                       "+1",
                                       ".5",
                                       "5.",
                                       "-1e-5",
                                       "1E+22",
                                       "1e23",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "123456789012345678",
                                       "18446744073709551615",
                                       "99999999999999999999",
                                       "0.1000000000000000055511151231257827",
                                       "2.2250738585072011e-308",
                                       "4.9e-324",
                                       "1.7976931348623157e308",
                                       "1e400",
                                       "1e-400",
                                       "1e99999999999",
                                       "8.41e21",
                                       "6929495644600919.5",
                                       "3.518437208883201171875e13",
                                       "0.000000000000000000000000000000000000001",
                                       "00000000000000000000000000000000001.5"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        assert_number(hard[i]);
    hd_rng rng = hd_rng_stream(3, 0);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = hd_rng_bits(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2 == 0)
            value = ldexp((double)(bits >> 11), (int)(bits % 120) - 110);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, "%.*e", (int)(bits % 19), value);
        assert_number(text);
        snprintf(text, sizeof text, "%.17g", value);
        assert_number(text);
    }
}

static void halves_between_doubles_round_to_even(void **state) {
    (void)state;
    hd_rng rng = hd_rng_stream(4, 0);
    for (int i = 0; i < 20000; i++) {
        /* An odd number of 54 bits lies half way between two doubles; 18 digits hold it. */
        uint64_t half = (uint64_t)1 << 53 | hd_rng_bits(&rng) >> 11 | 1;
        char text[64];
        snprintf(text, sizeof text, "%llu", (unsigned long long)half);
        assert_number(text);
        snprintf(text, sizeof text, "%llu.000001", (unsigned long long)half);
        assert_number(text);
        snprintf(text, sizeof text, "%llu5e-1", (unsigned long long)half / 2);
        assert_number(text);
    }
}

static void what_is_no_number_is_left_alone(void **state) {
    (void)state;
    static const char *const words[] = {"\n", "-\n", ".\n", "e5\n", "nan\n", "inf\n", "+.e1\n"};
    double value;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_ptr_equal(hd_io_number(words[i], &value), words[i]);
    const char *half = "12e\n";
    assert_ptr_equal(hd_io_number(half, &value), half + 2);
}

static void floats_are_written_short_and_read_back(void **state) {
    (void)state;
    char text[40];
    assert_int_equal(hd_io_number_write((double)0.1f, false, text), 3);
    assert_memory_equal(text, "0.1", 3);
    assert_int_equal(hd_io_number_write(-12, false, text), 3);
    hd_rng rng = hd_rng_stream(5, 0);
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)hd_rng_bits(&rng);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2 == 0)
            value = (float)hd_rng_normal(&rng);
        if (!isfinite(value))
            continue;
        int length = hd_io_number_write((double)value, false, text);
        assert_in_range(length, 1, 31);
        text[length] = '\n';
        double back = 0;
        assert_ptr_equal(hd_io_number(text, &back), text + length);
        assert_true((float)back == value);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void tables_of_every_dress_are_read(void **state) {
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
        assert_ok(read_text(texts[i], NULL, &data));
        assert_values(&data, 2, 2, (float[]){1, 2.5f, 3, 4});
        assert_null(data.labels);
        assert_int_equal(data.n_classes, 0);
        huddle_data_free(&data);
    }
}

static void headers_name_the_features(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("\"a, x\",\"b \"\"q\"\"\",Class\n1,2,u\n3,4,v\n", NULL, &data));
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
        {"1,2,u\n3,4,v\n", "u", "v", false},
        {"u,1,2\nv,3,4\n", "u", "v", false},
        {"a,kind,b\n1,\"v, w\",2\n3,\"q \"\"z\"\"\",4\n", "q \"z\"", "v, w", false},
        {"a,gnd,b\n1,2.0,2\n3,10,4\n", "2", "10", true},
        {"0,1,species\n1,2,setosa\n3,4,virginica\n", "setosa", "virginica", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        huddle_data data;
        assert_ok(read_text(cases[i].text, NULL, &data));
        assert_values(&data, 2, 2, (float[]){1, 2, 3, 4});
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
    assert_ok(read_text("x,y\n1,2.5\n3,4\n", NULL, &data));
    assert_values(&data, 2, 2, (float[]){1, 2.5f, 3, 4});
    huddle_data_free(&data);
}

static void columns_are_chosen_by_name_and_position(void **state) {
    (void)state;
    static const char text[] = "a,b,c,label\n1,2,3,0\n4,5,6,1\n";
    const char *x[] = {"c", "1"}, *range[] = {"2-3"}, *y[] = {"b"}, *none[] = {"none"};
    huddle_data data;
    assert_ok(read_text(text, &(huddle_read_options){.x = x, .n_x = 2}, &data));
    assert_values(&data, 2, 2, (float[]){3, 1, 6, 4});
    assert_string_equal(data.features[0], "c");
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.x = range, .n_x = 1}, &data));
    assert_values(&data, 2, 2, (float[]){2, 3, 5, 6});
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_values(&data, 2, 3, (float[]){1, 3, 0, 4, 6, 1});
    assert_string_equal(data.classes[0], "2");
    huddle_data_free(&data);
    assert_ok(read_text(text, &(huddle_read_options){.y = none, .n_y = 1}, &data));
    assert_values(&data, 2, 3, (float[]){1, 2, 3, 4, 5, 6});
    assert_null(data.labels);
    huddle_data_free(&data);
}

static void faults_of_tables_are_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "table.csv: the file is empty"},
        {"\n \n", "table.csv: the file holds nothing but blank lines"},
        {"a,b\n", "table.csv: the file holds a header but no rows"},
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
        {"a,b,c\n1,u,v\n2,w,x\n", "table.csv: column 2 (b), column 3 (c): texts, not numbers; "
                                  "choose the columns with numbers by x = [\"a\"], or"},
        {"label\n1\n2\n", "table.csv: no column is left for the features"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        huddle_data data;
        huddle_status status = read_text(cases[i][0], NULL, &data);
        assert_true(status == HUDDLE_FORMAT || status == HUDDLE_INVALID);
        const char *said = huddle_last_error() + strlen(test_directory()) + 1;
        assert_memory_equal(said, cases[i][1], strlen(cases[i][1]));
        assert_null(data.points.values);
    }
    const char *q[] = {"q"};
    huddle_data data;
    assert_refused(read_text("a,b\n1,2\n", &(huddle_read_options){.x = q, .n_x = 1}, &data),
                   HUDDLE_INVALID, "no column 'q'; it has a, b");
}

/* Large enough for many pieces; quotes, blank lines and long lines fall across their borders. */
static void pieces_are_joined_without_seams(void **state) {
    (void)state;
    enum { N = 60000 };
    const char *path = path_of("large.csv");
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
    assert_ok(read_text("1000000000.25,1\n1000000000.5,2\n1000000001,3\n", NULL, &data));
    assert_non_null(data.points.shift);
    double expected[] = {1000000000.25, 1000000000.5, 1000000001};
    for (int i = 0; i < 3; i++)
        assert_close((double)data.points.values[2 * i] + data.points.shift[0], expected[i], 1e-16);
    const char *path = path_of("shifted.npy");
    assert_ok(huddle_points_write_npy(path, &data.points));
    huddle_dense back;
    assert_ok(huddle_dense_read(NULL, path, &back));
    assert_close(back.values[0], 1000000000.25, 1e-16);
    huddle_dense_free(&back);
    huddle_data_free(&data);
}

/* ---- labels --------------------------------------------------------------------------------- */

static void labels_are_mapped_by_value(void **state) {
    (void)state;
    static const struct {
        const char *text, *first;
        int32_t expected[4];
    } cases[] = {
        {"10\n9\n10\n-1\n", "-1", {2, 1, 2, 0}},
        {"b\na\nb\nab\n", "a", {2, 0, 2, 1}},
        {"label\n1.0\n2\n1\n3e0\n", "1", {0, 1, 0, 2}},
        {"id,label\n1,b\n2,a\n3,b\n4,c\n", "a", {1, 0, 1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t n;
        int32_t *labels, n_classes;
        char **classes;
        assert_ok(huddle_labels_read(NULL, put("labels.txt", cases[i].text), &n, &labels,
                                     &n_classes, &classes));
        assert_int_equal(n, 4);
        assert_int_equal(n_classes, 3);
        assert_memory_equal(labels, cases[i].expected, sizeof cases[i].expected);
        assert_string_equal(classes[0], cases[i].first);
        for (int k = 0; k < n_classes; k++)
            huddle_free(classes[k]);
        huddle_free(classes);
        huddle_free(labels);
    }
}

static void labels_are_written_and_read_back(void **state) {
    (void)state;
    const int32_t values[] = {0, 2, 1, 2};
    const char *const texts[] = {"11", "12", "13"};
    static const char *const names[] = {"l.csv", "l.txt", "l.npy"};
    for (int k = 0; k < 3; k++) {
        int64_t n;
        int32_t *labels, n_classes;
        char **classes;
        assert_ok(huddle_labels_write(path_of(names[k]), 4, values, texts));
        assert_ok(huddle_labels_read(NULL, path_of(names[k]), &n, &labels, &n_classes, &classes));
        assert_int_equal(n, 4);
        assert_memory_equal(labels, values, sizeof values);
        assert_string_equal(classes[2], k < 2 ? "13" : "2");
        for (int c = 0; c < n_classes; c++)
            huddle_free(classes[c]);
        huddle_free(classes);
        huddle_free(labels);
    }
}

static void labels_may_stand_in_another_file(void **state) {
    (void)state;
    huddle_data data;
    const char *y[] = {put("apart.txt", "u\nv\nu\n")};
    huddle_read_options options = {.y = y, .n_y = 1};
    assert_ok(read_text("1,2\n3,4\n5,6\n", &options, &data));
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.labels[2], 0);
    huddle_data_free(&data);
    assert_refused(read_text("1,2\n3,4\n", &options, &data), HUDDLE_INVALID,
                   "apart.txt: there are 3 labels for 2 samples");
    put("apart.txt", "");
    assert_refused(read_text("1,2\n3,4\n", &options, &data), HUDDLE_FORMAT,
                   "apart.txt: the file is empty");
    assert_memory_equal(huddle_last_error(), y[0], strlen(y[0]));
}

/* ---- selecting ------------------------------------------------------------------------------ */

static void classes_are_selected(void **state) {
    (void)state;
    static const char text[] = "x,label\n0,-1\n1,2\n2,3\n3,-1\n4,3\n5,10\n6,3\n";
    huddle_data data;
    assert_ok(read_text(text, &(huddle_read_options){.classes = "-1,3-9", .per_class = 2}, &data));
    assert_values(&data, 4, 1, (float[]){0, 2, 3, 4});
    assert_int_equal(data.n_classes, 2);
    assert_memory_equal(data.labels, ((int32_t[]){0, 1, 0, 1}), 16);
    assert_string_equal(data.classes[1], "3");
    huddle_data_free(&data);
    assert_refused(read_text(text, &(huddle_read_options){.classes = "4"}, &data), HUDDLE_INVALID,
                   "no class 4; they run from -1 to 10");
    assert_refused(read_text("1,2\n3,4\n", &(huddle_read_options){.per_class = 3}, &data),
                   HUDDLE_INVALID, "no labels");
    assert_ok(read_text("1,u-v\n2,w\n", &(huddle_read_options){.classes = "u-v"}, &data));
    assert_int_equal(data.n_classes, 1);
    huddle_data_free(&data);
}

/* ---- generators and digits ------------------------------------------------------------------ */

/* The share of points whose five nearest neighbours are all of their own class. */
static double purity(const huddle_data *data) {
    int64_t n = data->points.n, d = data->points.d, pure = 0;
    for (int64_t i = 0; i < n; i++) {
        double nearest[6];
        int same[6], count = 0;
        for (int64_t j = 0; j < n; j++) {
            double distance = 0;
            for (int64_t k = 0; k < d; k++) {
                double gap =
                    (double)(data->points.values[i * d + k] - data->points.values[j * d + k]);
                distance += gap * gap;
            }
            int at = count < 6 ? count++ : 6;
            for (; at > 0 && nearest[at - 1] > distance; at--)
                if (at < 6) {
                    nearest[at] = nearest[at - 1];
                    same[at] = same[at - 1];
                }
            if (at < 6) {
                nearest[at] = distance;
                same[at] = data->labels[i] == data->labels[j];
            }
        }
        pure += same[0] & same[1] & same[2] & same[3] & same[4] & same[5];
    }
    return (double)pure / (double)n;
}

static void generated_classes_are_apart(void **state) {
    (void)state;
    static const int32_t classes[] = {10, 2, 3, 3, 5, 4};
    const char *const *kinds = huddle_data_kinds();
    assert_string_equal(kinds[0], "digits");
    for (int k = 1; kinds[k] != NULL; k++)
        for (int64_t n = 500; n <= 1500; n += 500) {
            huddle_data data;
            huddle_read_options options = {.n = n, .noise = HUDDLE_AUTO, .seed = (uint64_t)n};
            assert_ok(huddle_data_read(NULL, kinds[k], &options, &data));
            assert_int_equal(data.points.n, n);
            assert_int_equal(data.n_classes, classes[k]);
            if (purity(&data) < 1)
                fail_msg("%s, n = %lld: purity %g", kinds[k], (long long)n, purity(&data));
            huddle_data_free(&data);
        }
}

static void generators_depend_on_the_seed_only(void **state) {
    (void)state;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 3));
    huddle_read_options options = {.n = 20000, .noise = 0.1, .seed = 9};
    huddle_data a, b, c;
    assert_ok(huddle_data_read(NULL, "moons", &options, &a));
    assert_ok(huddle_data_read(context, "moons", &options, &b));
    options.seed = 10;
    assert_ok(huddle_data_read(context, "moons", &options, &c));
    assert_memory_equal(a.points.values, b.points.values, sizeof(float) * 40000);
    assert_memory_not_equal(a.points.values, c.points.values, sizeof(float) * 40000);
    huddle_data_free(&a);
    huddle_data_free(&b);
    huddle_data_free(&c);
    options.noise = -2;
    assert_refused(huddle_data_read(NULL, "moons", &options, &a), HUDDLE_INVALID,
                   "moons: noise = -2 is outside");
    options = (huddle_read_options){.n = -5};
    assert_refused(huddle_data_read(NULL, "blobs", &options, &a), HUDDLE_INVALID, "n = -5");
    huddle_context_free(context);
}

static void digits_are_embedded(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(NULL, "digits", NULL, &data));
    assert_int_equal(data.points.n, 1797);
    assert_int_equal(data.points.d, 64);
    assert_int_equal(data.n_classes, 10);
    assert_int_equal(data.height, 8);
    double sum = 0;
    for (int i = 0; i < 1797 * 64; i++)
        sum += (double)data.points.values[i];
    assert_close(sum, 561718, 0);
    huddle_data_free(&data);
}

/* ---- outputs -------------------------------------------------------------------------------- */

static int entries(const char *folder) {
    int count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static int stop_at_once(void *user, const char *stage, double done, double total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void outputs_appear_whole_or_not_at_all(void **state) {
    (void)state;
    const char *folder = path_of("outputs");
    char path[300], link[300];
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/a.csv", folder);
    assert_ok(huddle_file_write(path, "old", 3));
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    huddle_data data;
    assert_ok(huddle_data_read(NULL, "moons", NULL, &data));
    huddle_context_set_progress(context, stop_at_once, NULL);
    assert_refused(huddle_data_write(context, &data, path), HUDDLE_CANCELLED, "");
    assert_int_equal(entries(folder), 1);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 3);
    /* A link stays a link; what it points to is replaced, with its permissions kept. */
    snprintf(link, sizeof link, "%s/b.csv", folder);
    assert_int_equal(symlink("a.csv", link), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(huddle_data_write(NULL, &data, link));
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_true(about.st_size > 1000);
    assert_int_equal(entries(folder), 2);
    assert_refused(huddle_data_write(NULL, &data, folder), HUDDLE_INVALID, "must end in");
    assert_refused(huddle_file_write(folder, "x", 1), HUDDLE_IO, "it is a directory");
    assert_refused(huddle_data_write(NULL, &data, "/nowhere/x.csv"), HUDDLE_IO,
                   "/nowhere/x.csv: cannot be written: No such file");
    assert_ok(huddle_file_write("/dev/null", "x", 1));
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    huddle_data_free(&data);
    huddle_context_free(context);
}

static void full_discs_are_reported(void **state) {
    (void)state;
    huddle_data data;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_ok(huddle_data_read(NULL, "moons", NULL, &data));
    const char *link = path_of("full.csv");
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_refused(huddle_data_write(NULL, &data, link), HUDDLE_IO,
                   "full.csv: cannot be written: No space left on device");
    huddle_data_free(&data);
}

/* ---- memory --------------------------------------------------------------------------------- */

static huddle_status read_and_write(void *argument) {
    huddle_data data;
    (void)argument;
    huddle_status status = huddle_data_read(NULL, path_of("faulty.csv"),
                                            &(huddle_read_options){.per_class = 1}, &data);
    if (status == HUDDLE_OK)
        status = huddle_data_write(NULL, &data, path_of("faulty.tsv"));
    huddle_data_free(&data);
    return status;
}

static huddle_status generate(void *argument) {
    huddle_data data;
    huddle_status status = huddle_data_read(NULL, argument, NULL, &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static huddle_status read_labels(void *argument) {
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    huddle_status status = huddle_labels_read(NULL, argument, &n, &labels, &n_classes, &classes);
    for (int k = 0; k < n_classes; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
    huddle_free(labels);
    return status;
}

/* Packs text by gzip into a file. */
static const char *put_packed(const char *name, const char *text) {
    const char *path = path_of(name);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static void packed_tables_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(NULL, put_packed("packed.csv.gz", "a,b,label\n1,2,u\n3,4,v\n"), NULL,
                               &data));
    assert_values(&data, 2, 2, (float[]){1, 2, 3, 4});
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.n_names, 3);
    huddle_data_free(&data);
    /* A size at the end that lies is not believed. */
    char lie[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\xff\xff\xff\xff";
    assert_refused(huddle_data_read(NULL, put_bytes("lie.csv.gz", lie, 20), NULL, &data),
                   HUDDLE_FORMAT, "gzip");
}

static void texts_that_differ_are_names(void **state) {
    (void)state;
    char text[2000] = "width,name\n";
    huddle_data data;
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,n%d\n", i, i % 30);
    assert_ok(read_text(text, NULL, &data));
    assert_null(data.labels);
    assert_int_equal(data.points.d, 1);
    huddle_data_free(&data);
    const char *y[] = {"name"};
    assert_ok(read_text(text, &(huddle_read_options){.y = y, .n_y = 1}, &data));
    assert_int_equal(data.n_classes, 30);
    huddle_data_free(&data);
}

static void coordinates_are_no_labels(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_text("x,y\n1,2\n3,4\n", NULL, &data));
    assert_null(data.labels);
    assert_values(&data, 2, 2, (float[]){1, 2, 3, 4});
    huddle_data_free(&data);
    assert_ok(read_text("x,w,y\n1,2,0\n3,4,1\n", NULL, &data));
    assert_int_equal(data.n_classes, 2);
    huddle_data_free(&data);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char digits[] = "digits", moons[] = "moons";
    put("faulty.csv", "a,\"b\",label\n1e9,2,u\n1000000001,3,v\n");
    char path[300];
    snprintf(path, sizeof path, "%s", path_of("faulty.csv"));
    test_each_allocation(read_labels, path);
    snprintf(path, sizeof path, "%s", put_packed("faulty.csv.gz", "a,b,label\n1,2,u\n3,4,v\n"));
    test_each_allocation(generate, path);
    test_each_allocation(generate, digits);
    test_each_allocation(generate, moons);
    test_each_allocation(read_and_write, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_exactly),
        cmocka_unit_test(halves_between_doubles_round_to_even),
        cmocka_unit_test(what_is_no_number_is_left_alone),
        cmocka_unit_test(floats_are_written_short_and_read_back),
        cmocka_unit_test(tables_of_every_dress_are_read),
        cmocka_unit_test(headers_name_the_features),
        cmocka_unit_test(labels_are_found_by_name_or_by_being_texts),
        cmocka_unit_test(fractions_are_no_labels),
        cmocka_unit_test(columns_are_chosen_by_name_and_position),
        cmocka_unit_test(faults_of_tables_are_named),
        cmocka_unit_test(pieces_are_joined_without_seams),
        cmocka_unit_test(columns_far_from_zero_are_shifted),
        cmocka_unit_test(labels_are_mapped_by_value),
        cmocka_unit_test(labels_are_written_and_read_back),
        cmocka_unit_test(labels_may_stand_in_another_file),
        cmocka_unit_test(classes_are_selected),
        cmocka_unit_test(generated_classes_are_apart),
        cmocka_unit_test(generators_depend_on_the_seed_only),
        cmocka_unit_test(digits_are_embedded),
        cmocka_unit_test(outputs_appear_whole_or_not_at_all),
        cmocka_unit_test(full_discs_are_reported),
        cmocka_unit_test(packed_tables_are_read),
        cmocka_unit_test(texts_that_differ_are_names),
        cmocka_unit_test(coordinates_are_no_labels),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
