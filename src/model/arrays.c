/* The arrays of a fit, by name. Views are borrowed: they are valid until the model is fitted again
 * or freed. Which arrays exist depends on the method; src/fit/fit.c lists them. */
#include "model/model.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

/* Views are cheap: they copy nothing, even if an engine keeps the array. */
static bool has_array(const huddle_model *model, const hd_fit_array *array) {
    return hd_fit_view(&model->fit, array).type != HUDDLE_ARRAY_NONE;
}

/* The list belongs to the model and is overwritten by the next call. */
const char *const *huddle_model_arrays(huddle_model *model) {
    static const char *const none[] = {NULL};
    int n_arrays = 0, count = 0;
    while (hd_fit_list_array(n_arrays) != NULL)
        n_arrays++;
    if (model->array_names == NULL)
        model->array_names = hd_alloc_zero(n_arrays + 1, sizeof *model->array_names);
    if (model->array_names == NULL)
        return none;
    for (int k = 0; k < n_arrays; k++)
        if (has_array(model, hd_fit_list_array(k)))
            model->array_names[count++] = hd_fit_list_array(k)->name;
    model->array_names[count] = NULL;
    return model->array_names;
}

/* "no array named 'x'; there are labels, centres". */
static huddle_status no_such_array(const huddle_model *model, const char *name) {
    char list[512] = "";
    const hd_fit_array *array;
    for (int k = 0; (array = hd_fit_list_array(k)) != NULL; k++) {
        if (!has_array(model, array))
            continue;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length == 0 ? "" : ", ", array->name);
    }
    return hd_fail(HUDDLE_INVALID, "no array named '%s'; there are %s", name,
                   list[0] == '\0' ? "none yet" : list);
}

/* An array that an engine keeps is copied to the host only here, when it is asked for. */
huddle_status huddle_model_array(const huddle_model *model, const char *name, huddle_array *view) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_array *array = hd_fit_find_array(name);
    *view = (huddle_array){0};
    if (array == NULL || !has_array(model, array))
        return no_such_array(model, name);
    TRY(hd_fit_fetch_array(&model->fit, array));
    if (model->all_rows != NULL && array->expansion != HD_FIT_KEEP)
        TRY(hd_model_rows_expand(&model->fit, model->all_rows, array, view));
    else
        *view = hd_fit_view(&model->fit, array);
done:
    return status;
}
