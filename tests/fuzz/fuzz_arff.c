#include "fuzz.h"

/* Dense files are tables, sparse ones containers. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const rules[] = {NULL, "drop", "mean", "median"};
    if (size < 2)
        return 0;
    huddle_read_options options = fuzz_options(bytes[0]);
    options.transpose = false;
    options.missing = rules[bytes[0] >> 6];
    options.encode = (bytes[0] & 1) != 0;
    hd_io_request request = {fuzz_context(), &options, "input", NULL};
    hd_file file = {"input", NULL, (int64_t)size - 1, -1};
    hd_io_container container = {.format = "arff", .file = &file};
    huddle_data data = {0};
    hd_io_labels labels = {0};
    char *copy = calloc(1, size - 1 + HD_FILE_PADDING); /* as every file has it */
    memcpy(copy, bytes + 1, size - 1);
    file.text = copy;
    if (hd_io_arff_sparse_is(&file)) {
        huddle_status status = hd_io_arff_open(&request, &file, &container);
        if (status == HUDDLE_OK)
            status = hd_io_container_read(&request, &container, &data);
        fuzz_check(status, &data);
    } else if (hd_io_arff_is(&file)) {
        fuzz_check(hd_io_csv_read(&request, &file, &data), &data);
        (void)hd_io_csv_labels(fuzz_context(), &file, false, &labels);
    }
    hd_io_labels_free(&labels);
    huddle_data_free(&data);
    hd_io_container_close(&container);
    free(copy);
    return 0;
}
