/* base: counters of memory, amounts of memory as text, what the machine has, and stages. */
#include "base/check.h"
#include "base/context.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/stages.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void arrays_are_counted(void **state) {
    (void)state;
    enum { MB = 1 << 20 };
    int64_t before = hd_memory_live(), capacity = 0;
    char *grown = NULL;
    (void)hd_memory_take_peak();
    void *a = hd_alloc(3, MB), *b = hd_alloc_zero(2, MB);
    assert_in_range(hd_memory_live() - before, 5 * MB, 5 * MB + 65536);
    huddle_free(a);
    assert_in_range(hd_memory_live() - before, 2 * MB, 2 * MB + 65536);
    assert_in_range(hd_memory_take_peak() - before, 5 * MB, 5 * MB + 65536);
    /* The peak begins anew with what is in use. */
    assert_in_range(hd_memory_take_peak() - before, 2 * MB, 2 * MB + 65536);
    huddle_free(b);
    assert_true(hd_grow(&grown, &capacity, MB, 1));
    assert_true(hd_grow(&grown, &capacity, 3 * MB, 1));
    huddle_free(grown);
    assert_int_equal(hd_memory_live(), before);
    a = hd_alloc(1, MB);
    b = hd_alloc(1, MB);
    FREE(a, NULL, b);
    assert_int_equal(hd_memory_live(), before);
}

static void amounts_are_read_and_written(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"1", 1},
                {"4096", 4096},
                {"500M", (int64_t)500 << 20},
                {"4G", (int64_t)4 << 30},
                {"4g", (int64_t)4 << 30},
                {"1.5 GB", (int64_t)3 << 29},
                {"2KiB", 2048},
                {"2T", (int64_t)2 << 40},
                {"10b", 10}};
    static const char *const bad[] = {"",     "G",    "-4G",  "0",    "4X",  "4GBB", "4 G B", "nan",
                                      "infG", "1e30", "4,5G", "0x10", "+1G", " 4G",  "4i"};
    int64_t bytes = 0;
    char text[32];
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        assert_ok(huddle_parse_bytes(good[k].text, &bytes));
        assert_int_equal(bytes, good[k].bytes);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_refused(huddle_parse_bytes(bad[k], &bytes), HUDDLE_INVALID, "memory = ");
    huddle_format_bytes((int64_t)1023 << 20, text, sizeof text);
    assert_string_equal(text, "0.999 GB");
    huddle_format_bytes(((int64_t)15 << 30) + ((int64_t)3 << 30) / 10, text, sizeof text);
    assert_string_equal(text, "15.3 GB");
    huddle_format_bytes(999, text, sizeof text);
    assert_string_equal(text, "999 B");
    huddle_format_bytes((int64_t)1 << 52, text, sizeof text);
    assert_string_equal(text, "4.1e+03 TB");
}

/* Writes a file of a folder that looks like the root of a machine. */
static void put(const char *root, const char *name, const char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void limits_of_the_machine_are_found(void **state) {
    (void)state;
    char root[512];
    snprintf(root, sizeof root, "%s/machine", test_directory());
    (void)mkdir(root, 0777);
    int64_t limited = hd_machine_hard_limit(root); /* of the test itself, if it runs with one */
    if (limited < INT64_MAX)
        skip();
    assert_true(hd_machine_available(root) == INT64_MAX);
    put(root, "proc/meminfo", "MemTotal: 24000 kB\nMemAvailable:   16000 kB\nSwapFree: 9 kB\n");
    assert_int_equal(hd_machine_available(root), 16000 * 1024);
    assert_true(hd_machine_hard_limit(root) == INT64_MAX);
    /* Version 2: the group has no limit of its own, its parent has. Cached files can be dropped. */
    put(root, "proc/self/cgroup", "0::/a/b\n");
    put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(root, "sys/fs/cgroup/a/b/memory.current", "100\n");
    put(root, "sys/fs/cgroup/a/memory.max", "1000000\n");
    put(root, "sys/fs/cgroup/a/memory.current", "400000\n");
    put(root, "sys/fs/cgroup/a/memory.stat", "anon 3\ninactive_file 100000\nslab 5\n");
    assert_int_equal(hd_machine_hard_limit(root), 700000);
    assert_int_equal(hd_machine_available(root), 700000);
    /* Of several limits the smallest counts. */
    put(root, "sys/fs/cgroup/a/b/memory.max", "150000\n");
    assert_int_equal(hd_machine_hard_limit(root), 149900);
    put(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_true(hd_machine_cpus(root) == INT64_MAX);
    put(root, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_int_equal(hd_machine_cpus(root), 2);
    /* Version 1 beside it; in a container its files are those of the root. */
    put(root, "proc/self/cgroup", "9:cpu,memory:/docker/x\n0::/\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n");
    put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "600000\n");
    assert_int_equal(hd_machine_available(root), 0);
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(hd_machine_available(root), 16000 * 1024);
    put(root, "proc/self/status", "VmSize: 9 kB\nRssAnon:\t 77 kB\n");
    assert_int_equal(hd_machine_private(root), 77 * 1024);
    assert_true(hd_machine_private("") > 0 && hd_machine_peak() >= hd_machine_private(""));
}

static void times_of_stages_add_up(void **state) {
    (void)state;
    huddle_context *context;
    hd_stages stages;
    assert_ok(huddle_context_new(&context));
    assert_int_equal(hd_stage_enter(context, HD_STAGE_GRAPH), HD_STAGE_OTHER); /* not timed */
    double begin = hd_seconds();
    hd_stages_begin(&stages);
    context->stages = &stages;
    hd_stage outer = hd_stage_enter(context, HD_STAGE_REFINE);
    hd_stage inner = hd_stage_enter(context, HD_STAGE_KMEANS);
    void *array = hd_alloc(1, 1 << 20);
    double entered = hd_seconds(), spent;
    do
        spent = hd_seconds() - entered;
    while (spent < .01);
    hd_stage_leave(context, inner);
    assert_int_equal(stages.current, HD_STAGE_REFINE);
    hd_stage_leave(context, outer);
    huddle_free(array);
    hd_stages_update(&stages);
    double total = hd_seconds() - begin, sum = 0;
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        sum += stages.seconds[k];
    assert_true(stages.seconds[HD_STAGE_KMEANS] == 0 && stages.seconds[HD_STAGE_REFINE] >= spent);
    assert_true(sum >= spent && sum <= total + 1e-9);
    assert_true(stages.peak[HD_STAGE_REFINE] - stages.live >= 1 << 20);
    /* A stage that is entered again goes on counting. */
    double before = stages.seconds[HD_STAGE_REFINE];
    outer = hd_stage_enter(context, HD_STAGE_REFINE);
    hd_stage_leave(context, outer);
    assert_true(stages.seconds[HD_STAGE_REFINE] >= before);
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_counted),
        cmocka_unit_test(amounts_are_read_and_written),
        cmocka_unit_test(limits_of_the_machine_are_found),
        cmocka_unit_test(times_of_stages_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
