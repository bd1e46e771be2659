/* io: LIBSVM and MatrixMarket. */
#include "support/io.h"

static void sparse_texts_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(
        NULL, io_write_text("a.svm", "# made\n+1 1:2.5 3:-1e1 # c\n\n-1 qid:3 2:4\r\n1\n"), NULL,
        &data));
    assert_int_equal(data.points.n, 3);
    assert_int_equal(data.points.d, 3);
    assert_close(io_value(&data.points, 0, 2), -10, 0);
    assert_close(io_value(&data.points, 1, 1), 4, 0);
    assert_string_equal(data.classes[0], "-1");
    assert_int_equal(data.labels[2], 1);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(NULL, io_write_text("z.svm", "0 0:1 2:1\n1 1:1"), NULL, &data));
    assert_int_equal(data.points.d, 3); /* indices from 0 */
    assert_close(io_value(&data.points, 1, 1), 1, 0);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(
        NULL,
        io_write_text("a.mtx",
                      "%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 3\n1 1 5\n"
                      "3 1 7\n3 3 1"),
        NULL, &data));
    assert_close(io_value(&data.points, 0, 2), 7, 0);
    assert_close(io_value(&data.points, 2, 0), 7, 0);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(
        NULL, io_write_text("b.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
        NULL, &data));
    assert_close(io_value(&data.points, 0, 1), 3, 0);
    huddle_data_free(&data);
    static const char *const skew[] = {
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 5\n",
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n4\n0\n5\n"};
    for (int k = 0; k < 2; k++) {
        assert_ok(huddle_data_read(NULL, io_write_text("s.mtx", skew[k]), NULL, &data));
        assert_close(io_value(&data.points, 1, 0), 4, 0);
        assert_close(io_value(&data.points, 0, 1), -4, 0);
        assert_close(io_value(&data.points, 2, 1), 5, 0);
        assert_close(io_value(&data.points, 1, 2), -5, 0);
        huddle_data_free(&data);
    }
    assert_ok(huddle_data_read(
        NULL,
        io_write_text("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 3\n"),
        NULL, &data));
    assert_close(io_value(&data.points, 1, 2), 1, 0);
    huddle_data_free(&data);
}

static void faults_of_sparse_texts_are_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1 1:2\n1 3:1 2:1\n", "line 2: index 2 is out of order"},
        {"1 1:2\n1 3:x\n", "line 2: '3:x' is not index:value"},
        {"1 1:2\n1:3\n", "row 2 has no label"},
        {"1 1:2\n1 3:1e39\n", "row 2, column 3: 1e+39 is beyond single precision"},
        {"1 9999999999:2\n", "out of order or too large"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 2000000000\n1 1 1\n",
         "2000000000 entries are claimed"},
        {"%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n",
         "implausible"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n", "(4, 1) is outside"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n", "ends before all 2"},
        {"%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 1 1\n", "not supported"},
        {"%%MatrixMarket matrix coordinate real general\n3 x\n", "line 2: the sizes"},
        {"%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "entries are claimed"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        huddle_status status =
            huddle_data_read(NULL, io_write_text("sparse.txt", cases[k][0]), NULL, &data);
        assert_int_not_equal(status, HUDDLE_OK);
        if (strstr(huddle_last_error(), cases[k][1]) == NULL ||
            strstr(huddle_last_error(), "sparse.txt: ") == NULL)
            fail_msg("'%s' should say '%s'", huddle_last_error(), cases[k][1]);
    }
}

static huddle_status read_graph(void *argument) {
    huddle_csr graph;
    huddle_status status = huddle_csr_read(NULL, argument, &graph);
    if (status == HUDDLE_OK)
        huddle_csr_free(&graph);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", io_write_text("f.svm", "1 1:2 3:4\n2 2:1"));
    test_each_allocation(io_read_and_free, path);
    snprintf(path, sizeof path, "%s",
             io_write_text("f.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2"));
    test_each_allocation(io_read_and_free, path);
    test_each_allocation(read_graph, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_texts_are_read),
        cmocka_unit_test(faults_of_sparse_texts_are_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
