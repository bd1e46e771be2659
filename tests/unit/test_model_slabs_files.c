/* model: what may go wrong when processes (team.h) save and load a model. Damaged and crafted files
 * are refused by all with one status, no process needs the memory for all rows, and a failure
 * leaves the file that was there. */
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/team.h"
#include "model/model.h"
#include "support/support.h"
#include "unit/zip_files.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 120, D = 4, CLUSTERS = 3 };

static huddle_points clouds(int64_t n, int64_t d) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(3, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(4 * cos((double)(5 * (i % CLUSTERS) + j)) + hd_rng_normal(&rng));
    }
    return x;
}

static void save_one(const char *path, int64_t n, int64_t d) {
    huddle_points x = clouds(n, d);
    huddle_model *model;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_int_equal(model->fit.rows.nodes.n, 0);
    assert_ok(huddle_model_save(model, path));
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void write_whole(const char *path, const char *bytes, int64_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int64_t count_files(void) {
    DIR *directory = opendir(test_directory());
    int64_t count = 0;
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

/* ---- refused files ----------------------------------------------------------------------------
 */

typedef struct job {
    const char *from, *to; /* to: where the model is saved again; or NULL */
    bool kept[TEAM_MAX];   /* the member has a model although loading failed */
} job;

static huddle_status load_member(huddle_context *context, int rank, void *argument) {
    job *t = argument;
    huddle_model *model = NULL;
    huddle_status status = huddle_model_load_distributed(context, t->from, &model);
    t->kept[rank] = status != HUDDLE_OK && model != NULL;
    if (status == HUDDLE_OK && t->to != NULL)
        status = hd_model_save_pieces(context, model, t->to, 500);
    huddle_model_free(model);
    return status;
}

/* team_run() itself fails if the members do not return the same status. */
static huddle_status load_by(int members, const char *path) {
    job t = {.from = path};
    huddle_status status = team_run(members, &team_engine, load_member, &t);
    for (int r = 0; r < members; r++)
        assert_false(t.kept[r]);
    return status;
}

/* Where the content of an entry begins in the file. */
static int64_t begin_of(const hd_zip *zip, const hd_zip_entry *entry) {
    hd_zip_stream stream;
    assert_ok(hd_zip_stream_open(zip, entry, &stream));
    int64_t begin = stream.at - zip->bytes;
    hd_zip_stream_free(&stream);
    return begin;
}

/* One bit of every array in turn, in its header, at its beginning, in its middle and at its end:
 * whichever process reads it, all refuse the file. */
static void damaged_arrays_are_refused_by_all(void **state) {
    (void)state;
    const char *fine = test_path_of("fine.huddle"), *damaged = test_path_of("damaged.huddle");
    hd_zip zip;
    int64_t size, tried = 0;
    save_one(fine, N, D);
    char *bytes = test_read_file(fine, &size);
    assert_ok(zip_open(fine, &zip));
    for (int64_t k = 0; k < zip.count; k++) {
        const hd_zip_entry *entry = &zip.entries[k];
        hd_npy npy;
        if (strcmp(entry->name, "model.json") == 0)
            continue;
        assert_ok(hd_npy_peek(&zip, entry, &npy));
        int64_t begin = begin_of(&zip, entry);
        /* Byte 100 is one of the blanks that fill the header, whose text is still right. */
        int64_t places[] = {100, npy.offset, npy.offset + npy.bytes / 2, entry->size - 1};
        for (int p = 0; p < 4; p++, tried++) {
            if (npy.bytes == 0 && p > 0)
                continue;
            bytes[begin + places[p]] ^= 4;
            write_whole(damaged, bytes, size);
            for (int members = 1; members <= TEAM_MAX; members++)
                assert_refused(load_by(members, damaged), HUDDLE_FORMAT, "CRC-32");
            bytes[begin + places[p]] ^= 4;
        }
    }
    assert_true(tried > 60);
    write_whole(damaged, bytes, size / 2);
    assert_refused(load_by(3, damaged), HUDDLE_FORMAT, "damaged.huddle");
    assert_refused(load_by(3, test_path_of("missing.huddle")), HUDDLE_IO, "missing.huddle");
    zip_close(&zip);
    free(bytes);
}

/* A copy of the archive with entry `name` replaced, if it is not NULL, all stored or deflated. */
static void copy_archive(const hd_zip *zip, const char *path, hd_zip_method method,
                         const char *name, const char *bytes) {
    hd_zip_writer copy = {0};
    assert_ok(hd_zip_create(path, &copy));
    for (int64_t k = 0; k < zip->count; k++) {
        const hd_zip_entry *entry = &zip->entries[k];
        char *content;
        assert_ok(hd_zip_read(zip, entry, &content));
        bool other = name != NULL && strcmp(entry->name, name) == 0;
        assert_ok(hd_zip_add(&copy, entry->name, method, other ? bytes : content, entry->size));
        huddle_free(content);
    }
    assert_ok(hd_zip_close(&copy, HUDDLE_OK));
}

/* The elements of integer arrays of rows, with right checksums: loading is refused, or what is
 * loaded can be saved. */
static void crafted_indices_do_no_harm(void **state) {
    (void)state;
    static const int64_t wrong[] = {-2, 1, N, INT32_MAX};
    const char *fine = test_path_of("fine.huddle"), *crafted = test_path_of("crafted.huddle");
    const char *again = test_path_of("again.huddle");
    hd_zip zip;
    int64_t tried = 0, refused = 0;
    save_one(fine, N, D);
    assert_ok(zip_open(fine, &zip));
    for (int64_t k = 0; k < zip.count; k++) {
        const hd_zip_entry *entry = &zip.entries[k];
        hd_npy npy;
        char *bytes;
        if (strcmp(entry->name, "model.json") == 0)
            continue;
        assert_ok(hd_npy_peek(&zip, entry, &npy));
        if (npy.kind != 'i' || npy.count == 0)
            continue;
        assert_ok(hd_zip_read(&zip, entry, &bytes));
        for (int place = 0; place < 5; place++)
            for (int w = 0; w < 4; w++, tried++) {
                char *element = bytes + npy.offset + (npy.count - 1) * place / 4 * npy.width;
                int64_t before = 0;
                job t = {.from = crafted, .to = again};
                memcpy(&before, element, (size_t)npy.width);
                /* One entry too few is still ascending. */
                int64_t value = place == 4 && w == 1 ? before - 1 : wrong[w];
                memcpy(element, &value, (size_t)npy.width);
                copy_archive(&zip, crafted, HD_ZIP_STORED, entry->name, bytes);
                huddle_status status = team_run(1 + w, &team_engine, load_member, &t);
                refused += status != HUDDLE_OK;
                assert_true(status == HUDDLE_OK || status == HUDDLE_FORMAT ||
                            status == HUDDLE_INVALID);
                for (int r = 0; r <= w; r++)
                    assert_false(t.kept[r]);
                if (value != before && (strstr(entry->name, "_offsets") != NULL ||
                                        (strcmp(entry->name, "medoids.npy") == 0 && w != 1)))
                    assert_int_not_equal(status, HUDDLE_OK);
                memcpy(element, &before, (size_t)npy.width);
            }
        huddle_free(bytes);
    }
    assert_true(tried >= 100);
    assert_true(refused > tried / 2);
    zip_close(&zip);
}

/* Deflated entries are unpacked by every process, which keeps its own rows. */
static void deflated_arrays_are_loaded(void **state) {
    (void)state;
    const char *fine = test_path_of("fine.huddle"), *packed = test_path_of("packed.huddle");
    const char *again = test_path_of("again.huddle");
    hd_zip zip;
    int64_t size, found;
    save_one(fine, N, D);
    char *expected = test_read_file(fine, &size);
    assert_ok(zip_open(fine, &zip));
    copy_archive(&zip, packed, HD_ZIP_DEFLATED, NULL, NULL);
    for (int members = 1; members <= TEAM_MAX; members++) {
        job t = {.from = packed, .to = again};
        assert_ok(team_run(members, &team_engine, load_member, &t));
        char *bytes = test_read_file(again, &found);
        assert_int_equal(found, size);
        assert_memory_equal(bytes, expected, (size_t)size);
        free(bytes);
    }
    zip_close(&zip);
    free(expected);
    /* The last rows of the points, which only the last process keeps. */
    assert_ok(zip_open(packed, &zip));
    char *bytes = test_read_file(packed, &size);
    const hd_zip_entry *entry = hd_zip_find(&zip, "points.npy");
    bytes[begin_of(&zip, entry) + entry->packed - 20] ^= 1;
    zip_close(&zip);
    write_whole(packed, bytes, size);
    for (int members = 1; members <= TEAM_MAX; members++)
        assert_refused(load_by(members, packed), HUDDLE_FORMAT, "damaged");
    free(bytes);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

typedef struct memory_job {
    const char *from, *to;
    int64_t loaded, loading, saving; /* bytes of all members together, beyond those before */
} memory_job;

/* Counters are those of all members, which wait for each other before process 0 reads them. */
static huddle_status measure_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    memory_job *t = argument;
    huddle_model *model = NULL;
    int64_t before = 0;
    TRY(hd_agree(context, HUDDLE_OK));
    if (rank == 0) {
        before = hd_memory_live();
        (void)hd_memory_take_peak();
    }
    TRY(hd_agree(context, HUDDLE_OK));
    TRY(huddle_model_load_distributed(context, t->from, &model));
    TRY(hd_agree(context, HUDDLE_OK));
    if (rank == 0) {
        t->loaded = hd_memory_live() - before;
        t->loading = hd_memory_take_peak() - before;
    }
    TRY(hd_agree(context, HUDDLE_OK));
    TRY(hd_model_save_pieces(context, model, t->to, 1 << 12));
    TRY(hd_agree(context, HUDDLE_OK));
    if (rank == 0)
        t->saving = hd_memory_take_peak() - before - t->loaded;
    TRY(hd_agree(context, HUDDLE_OK));
done:
    huddle_model_free(model);
    return status;
}

/* All members together need what one process does, so that each needs its share; saving needs no
 * copy of the model. */
static void every_process_has_its_share(void **state) {
    (void)state;
    const char *large = test_path_of("large.huddle"), *again = test_path_of("again.huddle");
    huddle_model *model;
    save_one(large, 2400, 200);
    int64_t before = hd_memory_live();
    assert_ok(huddle_model_load(large, &model));
    int64_t whole = hd_memory_live() - before;
    huddle_model_free(model);
    assert_true(whole > 1 << 20);
    for (int members = 2; members <= TEAM_MAX; members++) {
        memory_job t = {.from = large, .to = again};
        assert_ok(team_run(members, &team_engine, measure_member, &t));
        assert_true(t.loaded < whole * 11 / 10);
        assert_true(t.loading < whole * 13 / 10);
        assert_true(t.saving < whole / 4);
    }
}

/* ---- failures ---------------------------------------------------------------------------------
 */

typedef struct failing_job {
    const char *from, *to;
    int64_t request; /* that fails while the model is saved, or loaded */
    bool loads;
} failing_job;

/* Which member makes the request depends on the order of the threads; all must return. */
static huddle_status failing_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    failing_job *t = argument;
    huddle_model *model = NULL;
    if (!t->loads)
        TRY(huddle_model_load_distributed(context, t->from, &model));
    TRY(hd_agree(context, HUDDLE_OK));
    if (rank == 0)
        (void)hd_memory_fail_at(t->request);
    TRY(hd_agree(context, HUDDLE_OK));
    status = t->loads ? huddle_model_load_distributed(context, t->from, &model)
                      : hd_model_save_pieces(context, model, t->to, 1 << 12);
done:
    huddle_model_free(model);
    return status;
}

/* A failure of any process is one of all; the file that was there stays, and nothing beside it. */
static void failures_leave_the_file(void **state) {
    (void)state;
    const char *fine = test_path_of("fine.huddle"), *kept = test_path_of("kept.huddle");
    save_one(fine, N, D);
    write_whole(kept, "before", 6);
    int64_t files = count_files(), live = hd_memory_live(), failed = 0, size;
    for (int loads = 0; loads < 2; loads++) {
        failing_job t = {.from = fine, .to = kept, .loads = loads == 1};
        for (t.request = 1; t.request < 100000; t.request += 1 + t.request / 8) {
            huddle_status status = team_run(3, &team_engine, failing_member, &t);
            (void)hd_memory_fail_at(0);
            assert_int_equal(count_files(), files);
            assert_int_equal(hd_memory_live(), live);
            if (status == HUDDLE_OK)
                break;
            failed++;
            assert_int_equal(status, HUDDLE_NO_MEMORY);
            char *bytes = test_read_file(kept, &size);
            assert_true(loads == 1 || (size == 6 && memcmp(bytes, "before", 6) == 0));
            free(bytes);
        }
        assert_true(t.request < 100000);
    }
    assert_true(failed > 20);
    /* What cannot be written is refused by all, too. */
    job t = {.from = fine, .to = test_path_of("no such folder/model.huddle")};
    assert_refused(team_run(3, &team_engine, load_member, &t), HUDDLE_IO, "no such folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_arrays_are_refused_by_all),
        cmocka_unit_test(crafted_indices_do_no_harm),
        cmocka_unit_test(deflated_arrays_are_loaded),
        cmocka_unit_test(every_process_has_its_share),
        cmocka_unit_test(failures_leave_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
