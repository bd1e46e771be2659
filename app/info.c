/* huddle info: what a file holds. */
#include "input.h"
#include "output.h"
#include "talk.h"
#include "text.h"

static json_t *info_json(const huddle_data *data) {
    json_t *names = json_array();
    for (int64_t i = 0; i < data->n_names; i++)
        json_array_append_new(names, text_json(data->names[i]));
    json_t *classes = data->labels == NULL ? json_null() : json_integer(data->n_classes);
    json_t *report = json_pack("{s:o, s:s, s:I, s:I, s:o, s:o}", "file", text_json(data->name),
                               "format", data->format, "n", (json_int_t)data->points.n, "d",
                               (json_int_t)data->points.d, "n_classes", classes, "names", names);
    if (data->height > 0)
        json_object_set_new(report, "image",
                            json_pack("{s:i, s:i}", "height", data->height, "width", data->width));
    if (data->points.offsets != NULL)
        json_object_set_new(report, "nonzeros",
                            json_integer((json_int_t)data->points.offsets[data->points.n]));
    return report;
}

static void print_classes(const huddle_data *data) {
    enum { MOST = 12 };
    if (data->labels == NULL) {
        printf("classes   none\n");
        return;
    }
    printf("classes   %d: ", data->n_classes);
    for (int32_t i = 0; i < data->n_classes && i < MOST; i++)
        printf("%s%s", i == 0 ? "" : " ", data->classes[i]);
    printf("%s\n", data->n_classes > MOST ? " ..." : "");
}

static void print_info(const huddle_data *data) {
    const huddle_points *points = &data->points;
    printf("file      %s\nformat    %s\npoints    %lld\nfeatures  %lld\n", data->name, data->format,
           (long long)points->n, (long long)points->d);
    if (points->offsets != NULL)
        printf("nonzeros  %lld\n", (long long)points->offsets[points->n]);
    print_classes(data);
    if (data->height > 0)
        printf("image     %d x %d\n", data->height, data->width);
    for (int64_t i = 0; i < data->n_names; i++)
        printf("%s%s%s", i == 0 ? "names     " : ", ", data->names[i],
               i + 1 == data->n_names ? "\n" : "");
}

static int run_info(const app_arguments *arguments) {
    int result = EXIT_DONE;
    huddle_data data = {0};
    huddle_context *context = talk_begin(arguments, &result);
    if (context == NULL)
        return result;
    result = input_read(context, arguments, arguments->operands[0], &data);
    talk_clear();
    if (result == EXIT_DONE && argument(arguments, "json") != NULL) {
        json_t *report = info_json(&data);
        print_json(report);
        json_decref(report);
    } else if (result == EXIT_DONE)
        print_info(&data);
    huddle_data_free(&data);
    talk_end(context);
    return result;
}

static const app_flag info_flags[] = {
    {.name = "json", .kind = FLAG_SWITCH, .help = "print JSON instead of text"}, {0}};

static const flag_group info_groups[] = {{"Options", info_flags},
                                         {"Input", input_flags},
                                         {"Generators", seeded_flags},
                                         {"Other options", quiet_flags},
                                         {0}};

static const char *const info_examples[] = {
    "huddle info faces.mat",
    "huddle info USPS.h5 --x train/data --x test/data --y train/target --y test/target", NULL};

const app_command info_command = {.name = "info",
                                  .operands = "DATA",
                                  .least = 1,
                                  .most = 1,
                                  .summary = "say what a file holds",
                                  .text = data_text,
                                  .words = huddle_data_kinds,
                                  .groups = info_groups,
                                  .examples = info_examples,
                                  .run = run_info};
