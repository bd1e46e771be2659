/* A model in a file: a zip archive of NPY arrays and model.json.
 *
 *     {"format": "huddle model", "version": 4, "method": "ssc", "options": {...}, "values": {...},
 *      "arrays": [...], "report": {...}}
 *
 * Options are texts as huddle_model_set_option() takes them, values the numbers of the fit by name
 * (src/fit/ has one walk for saving and loading), arrays the names of all other entries, so that
 * none can be missing unnoticed; "report" is the info of the fit. NumPy opens the arrays:
 * numpy.load(path)["labels"]. Every entry has a CRC-32, which is checked before its bytes are used.
 * Versions 1 and 2 were HDF5 files; version 3, of Huddle 0.2, had no refinement; version 5 has
 * several views. */
#include "model/model.h"

#include "archive/file.h"
#include "base/check.h"
#include "base/slabs.h"

#include <string.h>

/* Options that files of version 4 of Huddle 0.3 do not have; their defaults are what 0.3 did. */
static const char *const later_options[] = {
    "preset",     "delta",          "duplicates",   "shrink_delta", "shrink_start",
    "shrink_tol", "shrink_epsilon", "view_weights", "ridge",        "alternate",
    NULL};

/* Values of options that have another name since Huddle 0.3. */
static const struct {
    const char *option, *before, *now;
} renamed_values[] = {{"solver", "plain", "reweighted"}};

static const char format_name[] = "huddle model", json_name[] = "model.json";
enum {
    FORMAT_VERSION = 4,
    VIEWS_VERSION = 5, /* of several views, which Huddle 0.3 would take for one */
    PIECE = 1 << 24    /* bytes of rows of other processes that process 0 has at a time */
};

/* ---- saving -------------------------------------------------------------------------------- */

/* The options of the fit, not those set since: prediction uses the former. */
static void write_options(const huddle_model *model, hd_json_writer *json) {
    hd_json_set_object(json, "options");
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++) {
        char text[HUDDLE_OPTION_TEXT] = "";
        /* Cannot fail: the name comes from the same table. */
        (void)huddle_options_get(model->table, model->fitted_options, o->name, text, sizeof text);
        hd_json_set_string(json, o->name, text);
    }
    hd_json_close_object(json);
}

/* The names of all entries written so far; check_arrays() compares them with the archive. */
static void write_array_names(const hd_zip_writer *zip, hd_json_writer *json) {
    hd_json_set_array(json, "arrays");
    for (int64_t k = 0; k < zip->count; k++)
        hd_json_string(json, zip->entries[k].name);
    hd_json_close_array(json);
}

/* The info is parsed and written again, so that its layout is that of the file. */
static huddle_status write_info(const huddle_model *model, hd_json_writer *json) {
    huddle_status status = HUDDLE_OK;
    char *info = NULL;
    hd_json_document document = {0};
    TRY(huddle_model_info_json(model, &info));
    TRY(hd_json_parse(info, (int64_t)strlen(info), &document));
    hd_json_key(json, "report");
    hd_json_write(json, document.root);
done:
    hd_json_document_free(&document);
    huddle_free(info);
    return status;
}

/* Arrays are written as the walk reaches them, model.json last, because it lists them. Arrays are
 * stored without compression, so that they are loaded at the speed of the disk; model.json, which
 * is text, is deflated. If rows are distributed over processes (slab), all of them walk, and all
 * but process 0 without an archive: they only send their rows. */
static huddle_status write_model(const huddle_model *model, hd_walk_slab *slab,
                                 hd_zip_writer *zip) {
    huddle_status status = HUDDLE_OK;
    hd_json_writer json = hd_json_begin((hd_json_style){.indent = 1});
    hd_walk walk = {.mode = HD_WALK_SAVE, .slab = slab, .output = zip, .json = &json};
    char *text = NULL;
    hd_json_open_object(&json);
    hd_json_set_string(&json, "format", format_name);
    hd_json_set_integer(&json, "version",
                        model->fit.views.count > 0 ? VIEWS_VERSION : FORMAT_VERSION);
    hd_json_set_string(&json, "method", model->method->text.name);
    write_options(model, &json);
    hd_json_set_object(&json, "values");
    /* Saving only reads, but the walk is written once for all its modes. */
    hd_fit_walk(&walk, (hd_fit *)(uintptr_t)&model->fit);
    TRY(walk.status);
    if (zip == NULL)
        goto done;
    hd_json_close_object(&json);
    write_array_names(zip, &json);
    TRY(write_info(model, &json));
    hd_json_close_object(&json);
    TRY(hd_json_finish(&json, &text));
    TRY(hd_zip_add(zip, json_name, HD_ZIP_DEFLATED, text, (int64_t)strlen(text)));
done:
    hd_json_discard(&json);
    huddle_free(text);
    return status;
}

/* The only process, or process 0, closes the archive, and the latter only when all have agreed that
 * they sent all their rows: until then it is a temporary file, which hd_zip_close() removes after a
 * failure. */
static huddle_status save(const huddle_model *model, hd_walk_slab *slab, const char *path) {
    hd_zip_writer zip = {0};
    huddle_context *context = slab != NULL ? slab->context : NULL;
    bool writes = hd_slabs_rank(context) == 0;
    huddle_status status = writes ? hd_zip_create(path, &zip) : HUDDLE_OK;
    if (status == HUDDLE_OK)
        status = write_model(model, slab, writes ? &zip : NULL);
    status = hd_agree(context, status);
    return writes ? hd_zip_close(&zip, status) : status;
}

huddle_status huddle_model_save(const huddle_model *model, const char *path) {
    huddle_status status = hd_model_check_fitted(model);
    if (status == HUDDLE_OK && model->fit.rows.elsewhere > 0)
        status = hd_fail(HUDDLE_UNSUPPORTED,
                         "this model has a part of its rows only, those of one process, and cannot "
                         "be saved without the others");
    return status == HUDDLE_OK ? save(model, NULL, path) : status;
}

huddle_status hd_model_save_pieces(huddle_context *context, const huddle_model *model,
                                   const char *path, int64_t piece) {
    huddle_status status = HUDDLE_OK;
    hd_walk_slab slab = {.context = context, .piece = piece};
    bool distributed;
    TRY(hd_model_check_fitted(model));
    TRY(hd_model_is_distributed(context, model, &distributed));
    if (distributed)
        status = save(model, &slab, path);
    else if (hd_slabs_rank(context) == 0)
        status = huddle_model_save(model, path);
done:
    return hd_agree(context, status);
}

huddle_status huddle_model_save_distributed(huddle_context *context, const huddle_model *model,
                                            const char *path) {
    return hd_model_save_pieces(context, model, path, PIECE);
}

/* ---- loading ------------------------------------------------------------------------------- */

/* Other versions are refused by number instead of failing at the first value that differs. */
static huddle_status check_format(const hd_json_value *root) {
    const char *format = hd_json_get_string(root, "format", "");
    if (strcmp(format, format_name) != 0)
        return hd_fail(HUDDLE_FORMAT, "this is not a Huddle model");
    int64_t version = hd_json_get_integer(root, "version", 0);
    if (version != FORMAT_VERSION && version != VIEWS_VERSION)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "this model was written by another version of Huddle; fit it again");
    return HUDDLE_OK;
}

static bool is_later(const char *option) {
    for (int k = 0; later_options[k] != NULL; k++)
        if (strcmp(later_options[k], option) == 0)
            return true;
    return false;
}

static const char *current_value(const char *option, const char *text) {
    for (size_t k = 0; k < sizeof renamed_values / sizeof *renamed_values; k++)
        if (strcmp(renamed_values[k].option, option) == 0 &&
            strcmp(renamed_values[k].before, text) == 0)
            return renamed_values[k].now;
    return text;
}

/* Every option that Huddle 0.3 had must be stored: a default of this version may differ from that
 * of the version that wrote the file. Values are checked as if a user had set them. */
static huddle_status read_options(const hd_json_value *stored, huddle_model *model) {
    huddle_status status = HUDDLE_OK;
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++) {
        const char *text = hd_json_get_string(stored, o->name, NULL);
        if (text == NULL && is_later(o->name))
            continue;
        if (text == NULL)
            FAIL(HUDDLE_FORMAT, "the model file is damaged: option %s is missing", o->name);
        TRY(huddle_model_set_option(model, o->name, current_value(o->name, text)));
    }
    TRY(hd_model_copy_options(model, &model->fitted_options));
done:
    return status;
}

/* An absent array means NULL to the walk, so that an entry lost from the archive would otherwise
 * look like a result that the method does not have. */
static huddle_status check_arrays(const hd_zip *zip, const hd_json_value *names) {
    huddle_status status = HUDDLE_OK;
    if (names == NULL || names->type != HD_JSON_ARRAY)
        FAIL(HUDDLE_FORMAT, "the model file is damaged: the list of its arrays is missing");
    for (const hd_json_value *name = names->first; name != NULL; name = name->next)
        if (name->text == NULL || hd_zip_find(zip, name->text) == NULL)
            FAIL(HUDDLE_FORMAT, "the model file is damaged: %s is missing",
                 name->text != NULL ? name->text : "an array");
done:
    return status;
}

/* The info as text, in the layout of a fit's info. It is not interpreted. */
static huddle_status read_info(const hd_json_value *stored, char **info) {
    if (stored == NULL || stored->type != HD_JSON_OBJECT)
        return hd_fail(HUDDLE_FORMAT, "the model file is damaged: the report is missing");
    return hd_json_print(stored, (hd_json_style){.indent = 2, .digits = 15}, info);
}

/* Whether each process gets a part of the rows: if the method can label new points by training
 * rows of other processes. Fits of several processes do not merge equal rows; a file with merged
 * ones is of a single process, and its arrays do not have the rows of x. */
static bool can_divide(const huddle_context *context, const hd_json_value *root,
                       const huddle_model *model) {
    const hd_json_value *values = hd_json_get(root, "values");
    return hd_slabs_distributed(context) && model->method->distributes &&
           hd_json_get_integer(values, "nodes_n", -1) == 0 && hd_json_get(values, "views") == NULL;
}

/* The model is marked as fitted only after hd_fit_check(): nothing may use a fit whose sizes and
 * indices have not been checked. A CRC detects accidents, not a file that was made to do harm. */
static huddle_status read_model(huddle_context *context, const hd_zip *zip,
                                const hd_json_value *root, huddle_model *model) {
    huddle_status status = HUDDLE_OK;
    hd_walk_slab slab = {.context = context};
    hd_walk walk = {.mode = HD_WALK_LOAD,
                    .slab = can_divide(context, root, model) ? &slab : NULL,
                    .input = zip,
                    .values = hd_json_get(root, "values")};
    TRY(read_options(hd_json_get(root, "options"), model));
    TRY(check_arrays(zip, hd_json_get(root, "arrays")));
    hd_fit_walk(&walk, &model->fit);
    TRY(walk.status);
    TRY(read_info(hd_json_get(root, "report"), &model->info));
    TRY(hd_fit_check(&model->fit));
    /* Refined labels are predicted by options that methods without refinement do not have. */
    if (model->fit.refined.present && huddle_option_find(model->table, "refine") == NULL)
        TRY(hd_walk_misfit("refine_present", true));
    TRY(hd_model_check_info(model, hd_json_get(root, "report")));
    TRY(hd_model_rows_new(&model->fit, &model->all_rows));
    model->fitted = true;
done:
    return status;
}

/* Models of Huddle 0.1 are HDF5 files followed by a name, a version and a checksum. They are
 * recognised only to explain what to do. */
static bool is_old_model(const char *bytes, int64_t size) {
    static const char name[] = "huddle model v";
    enum { TRAILER_SIZE = 24, NAME_LENGTH = sizeof name - 1 };
    return size >= TRAILER_SIZE && memcmp(bytes + size - TRAILER_SIZE, name, NAME_LENGTH) == 0;
}

/* Every size in the archive is bounded by the bytes that are there, so that a small file cannot
 * cause a large allocation. */
huddle_status hd_model_read(huddle_context *context, const char *bytes, int64_t size,
                            huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    hd_zip zip = {0};
    hd_json_document document = {0};
    huddle_model *made = NULL;
    char *text = NULL;
    *model = NULL;
    if (is_old_model(bytes, size))
        FAIL(HUDDLE_UNSUPPORTED, "a model of Huddle 0.1 (HDF5); fit it again with this version");
    if (!hd_zip_is(bytes, size))
        FAIL(HUDDLE_FORMAT, "this is not a Huddle model");
    TRY(hd_zip_open_memory(bytes, size, &zip));
    const hd_zip_entry *entry = hd_zip_find(&zip, json_name);
    if (entry == NULL)
        FAIL(HUDDLE_FORMAT, "this is not a Huddle model: it contains no %s", json_name);
    TRY(hd_zip_read(&zip, entry, &text));
    TRY(hd_json_parse(text, entry->size, &document));
    TRY(check_format(document.root));
    /* An unknown method is refused here, before its options are read. */
    TRY(huddle_model_new(hd_json_get_string(document.root, "method", ""), &made));
    made->fit.texts = document.texts; /* to which info structs point */
    document.texts = NULL;
    TRY(read_model(context, &zip, document.root, made));
    *model = made;
    made = NULL;
done:
    huddle_model_free(made);
    hd_json_document_free(&document);
    huddle_free(text);
    hd_zip_free(&zip);
    return status;
}

/* The file is mapped while it is read; nothing of the model refers to it afterwards. */
huddle_status huddle_model_load_distributed(huddle_context *context, const char *path,
                                            huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    hd_file file = {0};
    *model = NULL;
    TRY(hd_file_open(path, &file));
    TRY(hd_model_read(context, file.text, file.size, model));
done:
    hd_file_close(&file);
    if (status != HUDDLE_OK)
        status = hd_fail_at(status, "%s", path);
    status = hd_agree(context, status);
    /* No process keeps a model that another could not load. */
    if (status != HUDDLE_OK) {
        huddle_model_free(*model);
        *model = NULL;
    }
    return status;
}

huddle_status huddle_model_load(const char *path, huddle_model **model) {
    return huddle_model_load_distributed(NULL, path, model);
}
