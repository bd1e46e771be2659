/* Any bytes as a model file: loading ends in a model that can predict and be saved, or in a
 * message. */
#include "base/memory.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    float value = 0;
    int32_t label;
    char *json = NULL, *copy = malloc(size);
    huddle_model *model;
    memcpy(copy, bytes, size); /* of its exact size, so that reading beyond it is seen */
    huddle_status status = hd_model_read(copy, (int64_t)size, &model);
    if (status != HUDDLE_OK && (huddle_last_error()[0] == '\0' || status == HUDDLE_INTERNAL))
        abort();
    if (status == HUDDLE_OK) {
        huddle_points one = {.n = 1, .d = 1, .stride = 1, .values = &value};
        huddle_array view;
        for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++)
            (void)huddle_model_array(model, *name, &view);
        (void)huddle_model_predict(NULL, model, &one, &label);
        (void)huddle_model_info_json(model, &json);
    }
    huddle_free(json);
    huddle_model_free(model);
    free(copy);
    return 0;
}
