/* io: numbers in text, and all their digits in files. */
#include "base/rng.h"
#include "io/number.h"
#include "support/io.h"

#include <math.h>

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

static void ties_between_doubles_round_to_even(void **state) {
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

static void other_texts_are_not_numbers(void **state) {
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

static void assert_written(double value, bool as_double, const char *expected) {
    char text[40];
    int length = hd_io_number_write(value, as_double, text);
    text[length] = '\0';
    assert_string_equal(text, expected);
}

/* The digits are those of Python's repr(). */
static void doubles_are_written_short_and_read_back(void **state) {
    (void)state;
    char text[40];
    assert_written(0.1, true, "0.1");
    assert_written(0.1 + 0.2, true, "0.30000000000000004");
    assert_written(1600003600.25, true, "1600003600.25");
    assert_written(-1600003600, true, "-1600003600");
    assert_written(0x1p53, true, "9007199254740992");
    assert_written(1e22, true, "1e+22");
    assert_written(1.0 / 3, true, "0.3333333333333333");
    assert_written(5e-324, true, "4.94065645841247e-324");
    assert_written((double)1e-7f, false, "1e-07");
    assert_written((double)1.6e9f, false, "1600000000");
    hd_rng rng = hd_rng_stream(6, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = hd_rng_bits(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2 == 0)
            value = hd_rng_normal(&rng) * (i % 4 == 0 ? 1 : 1e9);
        if (!isfinite(value))
            continue;
        int length = hd_io_number_write(value, true, text);
        assert_in_range(length, 1, 31);
        text[length] = '\n';
        double back = 0;
        assert_ptr_equal(hd_io_number(text, &back), text + length);
        assert_true(back == value);
    }
}

/* In every format that dense points have: numbers that float does not contain. */
static void exact_values_are_written_and_read_back(void **state) {
    (void)state;
    enum { N = 30, D = 3 };
    static const char *const names[] = {"exact.csv", "exact.npy", "exact.npz", "exact.mat",
                                        "exact.svm"};
    huddle_data data = {0};
    hd_rng rng = hd_rng_stream(4, 0);
    assert_ok(huddle_points_new(N, D, &data.points));
    data.exact = malloc(N * D * sizeof *data.exact);
    for (int e = 0; e < N * D; e++) {
        data.exact[e] = 1e6 + hd_rng_normal(&rng);
        data.points.values[e] = (float)data.exact[e];
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        huddle_data back;
        huddle_read_options options = {.exact = true};
        assert_ok(huddle_data_write(NULL, &data, io_path(names[k])));
        assert_ok(huddle_data_read(NULL, io_path(names[k]), &options, &back));
        assert_true(back.points.n == N && back.points.d == D && back.exact != NULL);
        assert_memory_equal(back.exact, data.exact, N * D * sizeof *data.exact);
        huddle_data_free(&back);
    }
    free(data.exact);
    data.exact = NULL;
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_exactly),
        cmocka_unit_test(ties_between_doubles_round_to_even),
        cmocka_unit_test(other_texts_are_not_numbers),
        cmocka_unit_test(floats_are_written_short_and_read_back),
        cmocka_unit_test(doubles_are_written_short_and_read_back),
        cmocka_unit_test(exact_values_are_written_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
