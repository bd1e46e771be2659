/* io: labels, selecting classes, generators, outputs. */
#include "base/memory.h"
#include "support/io.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

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
        assert_ok(huddle_labels_read(NULL, io_write_text("labels.txt", cases[i].text), &n, &labels,
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
        assert_ok(huddle_labels_write(io_path(names[k]), 4, values, texts));
        assert_ok(huddle_labels_read(NULL, io_path(names[k]), &n, &labels, &n_classes, &classes));
        assert_int_equal(n, 4);
        assert_memory_equal(labels, values, sizeof values);
        assert_string_equal(classes[2], k < 2 ? "13" : "2");
        for (int c = 0; c < n_classes; c++)
            huddle_free(classes[c]);
        huddle_free(classes);
        huddle_free(labels);
    }
}

/* A header is needed to recognise a first line of text. */
static void labels_have_a_header_in_csv(void **state) {
    (void)state;
    const int32_t values[] = {1, 0, 1};
    const char *const texts[] = {"cat", "dog"};
    assert_ok(huddle_labels_write(io_path("l.csv"), 3, values, texts));
    assert_text(io_path("l.csv"), "cluster\ndog\ncat\ndog\n");
    assert_ok(huddle_labels_write(io_path("l.txt"), 3, values, texts));
    assert_text(io_path("l.txt"), "dog\ncat\ndog\n");
    for (int k = 0; k < 2; k++) {
        int64_t n;
        int32_t *labels, n_classes;
        char **classes;
        assert_ok(huddle_labels_read(NULL, io_path(k == 0 ? "l.csv" : "l.txt"), &n, &labels,
                                     &n_classes, &classes));
        assert_int_equal(n, 3);
        assert_int_equal(n_classes, 2);
        assert_memory_equal(labels, values, sizeof values);
        for (int c = 0; c < n_classes; c++)
            huddle_free(classes[c]);
        huddle_free(classes);
        huddle_free(labels);
    }
}

static void labels_may_be_in_another_file(void **state) {
    (void)state;
    huddle_data data;
    const char *y[] = {io_write_text("apart.txt", "u\nv\nu\n")};
    huddle_read_options options = {.y = y, .n_y = 1};
    assert_ok(io_read_text("1,2\n3,4\n5,6\n", &options, &data));
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.labels[2], 0);
    huddle_data_free(&data);
    assert_refused(io_read_text("1,2\n3,4\n", &options, &data), HUDDLE_INVALID,
                   "apart.txt: there are 3 labels for 2 samples");
    io_write_text("apart.txt", "");
    assert_refused(io_read_text("1,2\n3,4\n", &options, &data), HUDDLE_FORMAT,
                   "apart.txt: the file is empty");
    assert_memory_equal(huddle_last_error(), y[0], strlen(y[0]));
}

static void classes_are_selected(void **state) {
    (void)state;
    static const char text[] = "x,label\n0,-1\n1,2\n2,3\n3,-1\n4,3\n5,10\n6,3\n";
    huddle_data data;
    assert_ok(
        io_read_text(text, &(huddle_read_options){.classes = "-1,3-9", .per_class = 2}, &data));
    io_assert_floats(&data, 4, 1, (float[]){0, 2, 3, 4});
    assert_int_equal(data.n_classes, 2);
    assert_memory_equal(data.labels, ((int32_t[]){0, 1, 0, 1}), 16);
    assert_string_equal(data.classes[1], "3");
    huddle_data_free(&data);
    assert_refused(io_read_text(text, &(huddle_read_options){.classes = "4"}, &data),
                   HUDDLE_INVALID, "no class 4; they run from -1 to 10");
    assert_refused(io_read_text("1,2\n3,4\n", &(huddle_read_options){.per_class = 3}, &data),
                   HUDDLE_INVALID, "no labels");
    for (int k = 0; k < 2; k++)
        assert_refused(
            io_read_text(text, &(huddle_read_options){.draw = true, .classes = k == 0 ? NULL : "3"},
                         &data),
            HUDDLE_INVALID, "draw needs per_class");
    assert_ok(io_read_text("1,u-v\n2,w\n", &(huddle_read_options){.classes = "u-v"}, &data));
    assert_int_equal(data.n_classes, 1);
    huddle_data_free(&data);
}

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
    static const int32_t classes[] = {10, 2, 3, 3, 5, 3, 4};
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
    const char *folder = io_path("outputs");
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
    const char *link = io_path("full.csv");
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_refused(huddle_data_write(NULL, &data, link), HUDDLE_IO,
                   "full.csv: cannot be written: No space left on device");
    huddle_data_free(&data);
}

static huddle_status read_and_write(void *argument) {
    huddle_data data;
    (void)argument;
    huddle_status status = huddle_data_read(NULL, io_path("faulty.csv"),
                                            &(huddle_read_options){.per_class = 1}, &data);
    if (status == HUDDLE_OK)
        status = huddle_data_write(NULL, &data, io_path("faulty.tsv"));
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

static void every_allocation_may_fail(void **state) {
    (void)state;
    char digits[] = "digits", moons[] = "moons";
    io_write_text("faulty.csv", "a,\"b\",label\n1e9,2,u\n1000000001,3,v\n");
    char path[300];
    snprintf(path, sizeof path, "%s", io_path("faulty.csv"));
    test_each_allocation(read_labels, path);
    snprintf(path, sizeof path, "%s",
             io_write_gzip("faulty.csv.gz", "a,b,label\n1,2,u\n3,4,v\n",
                           strlen("a,b,label\n1,2,u\n3,4,v\n")));
    test_each_allocation(io_read_and_free, path);
    test_each_allocation(io_read_and_free, digits);
    test_each_allocation(io_read_and_free, moons);
    test_each_allocation(read_and_write, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_mapped_by_value),
        cmocka_unit_test(labels_are_written_and_read_back),
        cmocka_unit_test(labels_have_a_header_in_csv),
        cmocka_unit_test(labels_may_be_in_another_file),
        cmocka_unit_test(classes_are_selected),
        cmocka_unit_test(generated_classes_are_apart),
        cmocka_unit_test(generators_depend_on_the_seed_only),
        cmocka_unit_test(digits_are_embedded),
        cmocka_unit_test(outputs_appear_whole_or_not_at_all),
        cmocka_unit_test(full_discs_are_reported),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
