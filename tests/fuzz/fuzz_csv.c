#include "fuzz.h"
#include "io/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2)
        return 0;
    huddle_read_options options = fuzz_options(bytes[0]);
    static const char *const rules[] = {NULL, "drop", "mean", "median"};
    options.transpose = false;
    options.missing = rules[bytes[0] >> 6]; /* classes are selected later, and not here */
    options.encode = (bytes[0] & 1) != 0;
    options.hints_as_flags = (bytes[0] & 32) != 0;
    static const char *const headers[] = {NULL, "yes", "no", "auto"};
    options.header = headers[bytes[0] >> 3 & 3];
    hd_io_request request = {fuzz_context(), &options, "input"};
    hd_file file = {"input", NULL, (int64_t)size - 1, -1};
    huddle_data data = {0};
    huddle_dense matrix = {0};
    hd_io_labels labels = {0};
    char *copy = calloc(1, size - 1 + HD_FILE_PADDING); /* as every file has it */
    memcpy(copy, bytes + 1, size - 1);
    file.text = copy;
    fuzz_check(hd_io_csv_read(&request, &file, &data), &data);
    (void)hd_io_csv_labels(fuzz_context(), &file, false, &labels);
    (void)hd_io_csv_dense(fuzz_context(), &file, &matrix);
    huddle_data_free(&data);
    huddle_dense_free(&matrix);
    hd_io_labels_free(&labels);
    free(copy);
    return 0;
}
