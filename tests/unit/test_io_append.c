/* io: columns that are added to a table, which otherwise remains as it was. */
#include "support/io.h"

#include <math.h>

static const int32_t labels[] = {7, -1, 0, 2};

static huddle_status append(const char *source, int64_t n) {
    huddle_new_column column = {.name = "cluster", .integers = labels};
    return huddle_columns_append(NULL, source, n, 1, &column, NULL, io_path("out.csv"));
}

/* Everything that a table may contain besides its values is kept. */
static void the_rest_of_a_table_remains(void **state) {
    (void)state;
    static const struct {
        const char *before, *after;
        int64_t n;
    } cases[] = {
        {"a,b\n1,2\n3,4\n", "a,b,cluster\n1,2,7\n3,4,-1\n", 2},
        /* quotes, line ends in quotes, CR LF, blanks, no line end at the end */
        {"a,\"b \"\"x\"\"\"\r\n 1,\"p\nq\"\r\n3.50 ,\"p,q\"",
         "a,\"b \"\"x\"\"\",cluster\r\n "
         "1,\"p\nq\",7\r\n3.50 ,\"p,q\",-1",
         2},
        /* mark, comments, blank lines */
        {"\xEF\xBB\xBF# by hand\n\na;b\n\n1;2\n\n3;4\n\n\n",
         "\xEF\xBB\xBF# by hand\n\na;b;cluster\n\n1;2;7\n\n3;4;-1\n\n\n", 2},
        {"a\tb\n1\t2\n", "a\tb\tcluster\n1\t2\t7\n", 1},
        {"1   2\n3   4  \n5   6\n7 8\n", "1   2 7\n3   4   -1\n5   6 0\n7 8 2\n", 4},
        /* no header */
        {"1,2\n3,4\n", "1,2,7\n3,4,-1\n", 2},
        /* row names; a header that ends with a separator */
        {"a,b\nr1,1,2\nr2,3,4\n", "a,b,cluster\nr1,1,2,7\nr2,3,4,-1\n", 2},
        {"a,b,\n1,2\n3,4\n", "a,b,cluster\n1,2,7\n3,4,-1\n", 2},
        /* names that exist */
        {"x,cluster\n1,2\n3,4\n", "x,cluster,cluster.1\n1,2,7\n3,4,-1\n", 2},
        {"cluster,cluster.1\n1,2\n3,4\n", "cluster,cluster.1,cluster.2\n1,2,7\n3,4,-1\n", 2},
        {"a\n5\n6\n", "a,cluster\n5,7\n6,-1\n", 2},
        /* a line of units; rows that end with a separator; a line that gives it; CR alone */
        {"a,b\nm,s\n\n1,2\n3,4\n", "a,b,cluster\nm,s,\n\n1,2,7\n3,4,-1\n", 2},
        {"a b\nm s\n1 2\n", "a b cluster\nm s NA\n1 2 7\n", 1},
        {"a,b\n1,2,\n3,4,\n", "a,b,,cluster\n1,2,,7\n3,4,,-1\n", 2},
        {"sep=|\na|b\n1|2\n", "sep=|\na|b|cluster\n1|2|7\n", 1},
        {"a,b\r1,2\r\"3\",4\r", "a,b,cluster\r1,2,7\r\"3\",4,-1\r", 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_ok(append(io_write_text("in.csv", cases[k].before), cases[k].n));
        assert_text(io_path("out.csv"), cases[k].after);
    }
    static const char packed[] = "a,b\n1,2\n";
    assert_ok(append(io_write_gzip("in.csv.gz", packed, strlen(packed)), 1));
    assert_text(io_path("out.csv"), "a,b,cluster\n1,2,7\n");
}

static void several_columns_are_added(void **state) {
    (void)state;
    const double reals[] = {0.25, NAN, 1e-9, 3};
    const huddle_new_column columns[] = {{.name = "cluster_2", .integers = labels},
                                         {.name = "a, b", .reals = reals}};
    assert_ok(huddle_columns_append(NULL, io_write_text("in.csv", "x\n1\n2\n"), 2, 2, columns, NULL,
                                    io_path("out.csv")));
    assert_text(io_path("out.csv"), "x,cluster_2,\"a, b\"\n1,7,0.25\n2,-1,\n");
    assert_ok(huddle_columns_append(NULL, io_write_text("in.txt", "1 2\n3 4\n"), 2, 2, columns,
                                    NULL, io_path("out.csv")));
    assert_text(io_path("out.csv"), "1 2 7 0.25\n3 4 -1 NA\n");
    assert_ok(huddle_columns_write(io_path("out.csv"), 4, 2, columns));
    assert_text(io_path("out.csv"), "cluster_2,\"a, b\"\n7,0.25\n-1,\n0,1e-09\n2,3\n");
}

/* Nothing is written if something is wrong. */
static void other_files_are_refused(void **state) {
    (void)state;
    const char *table = io_write_text("in.csv", "a,b\n1,2\n3,4\n");
    io_write_text("out.csv", "old");
    assert_refused(append(table, 1), HUDDLE_INVALID, "in.csv: 2 rows, but 1 values");
    assert_refused(append(table, 3), HUDDLE_INVALID, "in.csv: 2 rows, but 3 values");
    assert_refused(append(io_path("absent.csv"), 1), HUDDLE_IO, "absent.csv: cannot be opened");
    assert_ok(huddle_labels_write(io_path("in.npy"), 4, labels, NULL));
    assert_refused(append(io_path("in.npy"), 4), HUDDLE_UNSUPPORTED,
                   "in.npy: a column can be added to a table (CSV, TSV) only");
    assert_text(io_path("out.csv"), "old");
    huddle_new_column column = {.name = "cluster", .integers = labels};
    assert_refused(huddle_columns_append(NULL, table, 2, 1, &column, NULL, io_path("no/out.csv")),
                   HUDDLE_IO, "no/out.csv: cannot be written");
}

static huddle_status append_again(void *argument) {
    return append(argument, 2);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s", io_write_text("in.csv", "a,\"b\"\n1,2\n3,4\n"));
    test_each_allocation(append_again, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_of_a_table_remains),
        cmocka_unit_test(several_columns_are_added),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
