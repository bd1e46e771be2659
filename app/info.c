/* huddle info: describes a data file. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "session.h"
#include "streams.h"

#include <string.h>

/* Counts that do not apply are null or absent: "image" and "nonzeros" exist only for images
 * and sparse data. */
static json_t *info_json(const huddle_data *data) {
    const int64_t *offsets = data->points.offsets;
    json_t *classes = data->labels == NULL ? json_null() : json_integer(data->n_classes);
    json_t *image = NULL;
    if (data->height > 0)
        image = json_pack("{s:i, s:i, s:i, s:b}", "height", data->height, "width", data->width,
                          "channels", data->channels, "column_major", data->column_major);
    json_t *info = json_pack(
        "{s:o, s:s, s:I, s:I, s:o, s:o, s:o*, s:o*}", "file", text_json(data->name), "format",
        data->format, "n", (json_int_t)data->points.n, "d", (json_int_t)data->points.d, "n_classes",
        classes, "names", texts_json(data->n_names, data->names), "image", image, "nonzeros",
        offsets == NULL ? NULL : json_integer((json_int_t)offsets[data->points.n]));
    input_add_names_json(data, info);
    input_add_json(data, info);
    return info;
}

static void print_fact(const char *title, const char *text) {
    printf("%-10s", title);
    print_wrapped(text, 10);
}

/* The first few names suffice to recognise the classes. */
static void print_classes(const huddle_data *data) {
    enum { MAX_SHOWN = 12 };
    if (data->labels == NULL) {
        printf("classes   none\n");
        return;
    }
    printf("classes   %d: ", data->n_classes);
    for (int32_t i = 0; i < data->n_classes && i < MAX_SHOWN; i++)
        printf("%s%s", i == 0 ? "" : " ", data->classes[i]);
    printf("%s\n", data->n_classes > MAX_SHOWN ? " ..." : "");
}

/* Where the labels come from, and that huddle cluster would use their number as -c. */
static void print_labels(const huddle_data *data) {
    char text[512] = "";
    const huddle_column *label = input_column(data, HUDDLE_COLUMN_LABEL);
    if (data->labels == NULL)
        return;
    if (label != NULL) {
        input_column_name(data, label, text, 256);
        append_text(text, sizeof text, ", %s; ", label->reason);
    }
    append_text(text, sizeof text, "%d class%s (cluster sets -c %d)", data->n_classes,
                data->n_classes == 1 ? "" : "es", data->n_classes);
    print_fact("labels", text);
}

/* One line per column of that role that has a reason: among the features only encoded ones
 * have. */
static void print_role(const huddle_data *data, huddle_column_role role, const char *title) {
    enum { MAX_SHOWN = 12 };
    char text[512];
    int64_t count = 0;
    for (int64_t c = 0; c < data->n_columns; c++) {
        const huddle_column *column = &data->columns[c];
        if (column->role != role || column->reason == NULL || count++ >= MAX_SHOWN)
            continue;
        input_column_name(data, column, text, 256);
        append_text(text, sizeof text, ": %s", column->reason);
        print_fact(title, text);
    }
    if (count > MAX_SHOWN)
        printf("%-10s%lld more columns\n", title, (long long)(count - MAX_SHOWN));
}

static char printable(char c) {
    return (unsigned char)c < ' ' || c == 127 ? ' ' : c;
}

/* Not cut within a character of UTF-8. */
static void append_name(char *text, size_t size, const char *name) {
    enum { LONGEST = 60 };
    size_t used = strlen(text), length = strlen(name) < LONGEST ? strlen(name) : LONGEST;
    while (length > 0 && (name[length] & 0xC0) == 0x80)
        length--;
    for (size_t k = 0; k < length && used + 1 < size; k++)
        text[used++] = printable(name[k]);
    text[used] = '\0';
}

static void print_row_names(const huddle_data *data) {
    enum { MAX_SHOWN = 6 };
    char text[512] = "";
    if (data->row_names == NULL)
        return;
    for (int64_t i = 0; i < data->points.n && i < MAX_SHOWN; i++) {
        append_text(text, sizeof text, "%s", i == 0 ? "" : ", ");
        append_name(text, sizeof text, data->row_names[i]);
    }
    append_text(text, sizeof text, "%s", data->points.n > MAX_SHOWN ? ", ..." : "");
    print_fact("rows", text);
}

static void print_columns(const huddle_data *data) {
    print_labels(data);
    print_role(data, HUDDLE_COLUMN_FEATURE, "feature");
    print_role(data, HUDDLE_COLUMN_NAMES, "row names");
    print_row_names(data);
    print_role(data, HUDDLE_COLUMN_IGNORED, "ignored");
    if (data->n_dropped > 0)
        printf("dropped   %lld row%s with missing values\n", (long long)data->n_dropped,
               plural(data->n_dropped));
}

/* Prints a name of a list that is broken into lines of PAGE_WIDTH columns. Widths are counted
 * in characters, not bytes. */
static void print_name(const char *name, bool first, bool last, int *column) {
    int width = text_width(name) + 2;
    if (first)
        *column = printf("names     ");
    else if (*column + width > PAGE_WIDTH)
        *column = printf("\n          ") - 1;
    *column += width;
    for (; *name != '\0'; name++)
        putchar(printable(*name));
    printf("%s", last ? "\n" : ", ");
}

static void print_info(const huddle_data *data) {
    const huddle_points *points = &data->points;
    int column = 0;
    printf("file      %s\nformat    %s\npoints    %lld\nfeatures  %lld\n", data->name, data->format,
           (long long)points->n, (long long)points->d);
    if (points->offsets != NULL)
        printf("nonzeros  %lld\n", (long long)points->offsets[points->n]);
    print_classes(data);
    print_columns(data);
    if (data->height > 0)
        printf("image     %d x %d%s%s\n", data->height, data->width,
               data->channels == 3 ? " x 3" : "",
               data->column_major ? ", pixels down columns" : "");
    for (int64_t i = 0; i < data->n_names; i++)
        print_name(data->names[i], i == 0, i + 1 == data->n_names, &column);
}

/* ---- containers without a conventional name ------------------------------------------------- */

/* The same members as info_json(), null where they are unknown, so that scripts need not
 * distinguish the two. */
static json_t *listing_json(const char *source, const huddle_listing *listing) {
    json_t *shapes = json_array();
    for (int64_t i = 0; i < listing->count; i++) {
        json_t *shape = json_array();
        for (int k = 0; k < 4 && listing->dims[i][k] > 0; k++)
            json_array_append_new(shape, json_integer((json_int_t)listing->dims[i][k]));
        json_array_append_new(shapes, shape);
    }
    return json_pack("{s:o, s:s, s:n, s:n, s:n, s:o, s:o}", "file", text_json(source), "format",
                     listing->format, "n", "d", "n_classes", "names",
                     texts_json(listing->count, listing->names), "shapes", shapes);
}

/* The reason is a message of the library, which begins with the file's name and ends with
 * advice for its API; both are removed. */
static void print_listing(const char *source, char *reason, const huddle_listing *listing) {
    size_t own = strlen(source);
    int column = 0;
    if (strncmp(reason, source, own) == 0 && strncmp(reason + own, ": ", 2) == 0)
        reason += own + 2;
    reason[strcspn(reason, ";")] = '\0'; /* the advice that follows is replaced by that below */
    printf("file      %s\nformat    %s\n", source, listing->format);
    print_fact("points", reason);
    printf("select    --x NAME for the points, --y NAME for the labels; repeat to concatenate "
           "parts\n");
    for (int64_t i = 0; i < listing->count; i++) {
        char name[512];
        snprintf(name, sizeof name, "%.400s", listing->names[i]);
        for (int k = 0; k < 4 && listing->dims[i][k] > 0; k++)
            append_text(name, sizeof name, "%s%lld", k == 0 ? " (" : " x ",
                        (long long)listing->dims[i][k]);
        append_text(name, sizeof name, "%s", listing->dims[i][0] > 0 ? ")" : "");
        print_name(name, i == 0, i + 1 == listing->count, &column);
    }
}

/* Reports that a file cannot be read. If the only reason is that no array of a container has a
 * conventional name, its arrays are listed instead, to choose from: that is what a user of
 * `info` wants to know. huddle_data_list() overwrites the last error, so it is copied first. */
static int report_failure(huddle_context *context, const cli_arguments *arguments,
                          huddle_status status) {
    const char *source = arguments->operands[0];
    char reason[1024];
    huddle_listing listing = {0};
    snprintf(reason, sizeof reason, "%s", huddle_last_error());
    bool choose = status == HUDDLE_INVALID && argument(arguments, "x") == NULL &&
                  huddle_data_list(context, source, &listing) == HUDDLE_OK && listing.count > 1 &&
                  !listing.has_points;
    if (!choose) {
        huddle_listing_free(&listing);
        return status == HUDDLE_CANCELLED ? failed("cancelled") : failed("%s", reason);
    }
    if (argument(arguments, "json") != NULL)
        print_json(listing_json(source, &listing));
    else
        print_listing(source, reason, &listing);
    huddle_listing_free(&listing);
    return EXIT_DONE;
}

/* ---- formats ------------------------------------------------------------------------------- */

/* The library's table as it is; "present" is false for formats that need a library this build
 * lacks. */
static json_t *formats_json(void) {
    json_t *array = json_array();
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s?, s:b, s:b, s:s?, s:b}", "name",
                                               f->name, "title", f->title, "endings", f->endings,
                                               "write_endings", f->write_endings, "dense", f->dense,
                                               "sparse", f->sparse, "library", f->library,
                                               "present", f->present));
    return array;
}

/* One line per format. Formats that this build does not support are listed too, marked, so
 * that the user learns which library is missing. */
static int print_formats(bool json) {
    if (json) {
        print_json(formats_json());
        return EXIT_DONE;
    }
    printf("%-13s %-11s %-14s %s\n", "format", "access", "values", "files");
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++) {
        const char *values = f->dense && f->sparse ? "dense, sparse"
                             : f->dense            ? "dense"
                                                   : "sparse";
        printf("%-13s %-11s %-14s %s (%s)", f->name,
               f->write_endings != NULL ? "read, write" : "read", values, f->endings, f->title);
        if (f->library != NULL)
            printf("; %s %s", f->present ? "uses" : "not available: this build has no", f->library);
        printf("\n");
    }
    for (const huddle_packing *p = huddle_packings(); p->name != NULL; p++)
        printf("%-13s %-26s %s (%s); %s %s\n", "compressed", "read", p->ending, p->name,
               p->present ? "uses" : "not available: this build has no", p->library);
    return EXIT_DONE;
}

/* Without a file, --formats still has something to report. */
static int run_info(const cli_arguments *arguments) {
    if (argument(arguments, "formats") != NULL)
        return print_formats(argument(arguments, "json") != NULL);
    if (arguments->n_operands == 0)
        return usage_error("info: missing DATA or --formats");
    huddle_data data = {0};
    huddle_status status = HUDDLE_OK;
    huddle_context *context = NULL;
    int result = session_begin(arguments, &context);
    STEP(streams_read_input());
    /* The status is needed: a container in which nothing is selected is described, not refused. */
    STEP(input_try(context, arguments, arguments->operands[0], NULL, &data, &status));
    clear_progress();
    if (status != HUDDLE_OK)
        STEP(report_failure(context, arguments, status));
    else if (result == EXIT_DONE && argument(arguments, "json") != NULL)
        print_json(info_json(&data));
    else if (result == EXIT_DONE)
        print_info(&data);
    huddle_data_free(&data);
    session_end(context);
    return result;
}

static const cli_flag info_flags[] = {
    {"formats", 0, FLAG_SWITCH, NULL, "list the file formats of this build instead"},
    {"json", 0, FLAG_SWITCH, NULL, "print JSON instead of text"},
    {0}};

/* The same input flags as `cluster`, so that a command line can be tried with `info` first. */
const cli_command info_command = {
    {"info", "DATA", 0, 1, "describe a data set", run_info},
    .reads = true,
    .text = data_text,
    .words = huddle_data_kinds,
    .groups = {{"Options", info_flags},
               {"Input", input_flags},
               {"Generators", seeded_flags},
               {"Other options", quiet_flags}},
    .examples = {
        "huddle info faces.mat", "zcat table.csv.gz | head -1000 | huddle info -",
        "huddle info USPS.h5 --x train/data --x test/data --y train/target --y test/target"}};
