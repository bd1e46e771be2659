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
    hd_request request = {NULL, &options, "input"};
    hd_file file = {"input", NULL, (int64_t)size - 1, -1};
    huddle_data data = {0};
    huddle_dense matrix = {0};
    hd_labels labels = {0};
    char *copy = calloc(1, size - 1 + HD_FILE_PADDING); /* as every file has it */
    memcpy(copy, bytes + 1, size - 1);
    file.text = copy;
    fuzz_check(hd_csv_read(&request, &file, &data), &data);
    (void)hd_csv_labels(NULL, &file, &labels);
    (void)hd_csv_dense(NULL, &file, &matrix);
    huddle_data_free(&data);
    huddle_dense_free(&matrix);
    hd_labels_free(&labels);
    free(copy);
    return 0;
}
