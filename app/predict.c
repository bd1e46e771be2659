/* huddle predict: labels for new points by a saved model. */
#include "fitting.h"
#include "output.h"
#include "talk.h"

#include <stdlib.h>

typedef struct prediction {
    const app_arguments *arguments;
    huddle_context *context;
    huddle_model *model;
    huddle_data data;
    int32_t *labels;
    double seconds;
} prediction;

static int predict(prediction *p) {
    const char *model = p->arguments->operands[0], *source = p->arguments->operands[1];
    huddle_status status = huddle_model_load(model, &p->model);
    if (status != HUDDLE_OK)
        return failed_call(status, model);
    int result = input_read(p->context, p->arguments, source, p->model, &p->data);
    if (result != EXIT_DONE)
        return result;
    double began = talk_seconds();
    p->labels = must(calloc((size_t)p->data.points.n + 1, sizeof *p->labels));
    status = huddle_model_predict(p->context, p->model, &p->data.points, p->labels);
    p->seconds = talk_seconds() - began;
    if (status != HUDDLE_OK)
        return failed_call(status, source);
    return talk_cancelled() ? failed("cancelled") : EXIT_DONE;
}

static int print_report(const prediction *p) {
    int64_t n = p->data.points.n;
    json_t *labels = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(labels, json_integer(p->labels[i]));
    json_t *report =
        json_pack("{s:o, s:o, s:s, s:I, s:I, s:f}", "file", text_json(p->data.name), "model",
                  text_json(p->arguments->operands[0]), "method", huddle_model_method(p->model),
                  "n", (json_int_t)n, "d", (json_int_t)p->data.points.d, "seconds", p->seconds);
    huddle_scores scores;
    huddle_status status = HUDDLE_OK;
    if (p->data.labels != NULL)
        status = huddle_metrics_scores(n, p->data.labels, p->labels, &scores);
    if (status == HUDDLE_OK && p->data.labels != NULL)
        json_object_set_new(report, "scores", scores_json(&scores));
    json_object_set_new(report, "labels", labels);
    input_add_json(&p->data, report);
    if (status == HUDDLE_OK)
        print_json(report);
    json_decref(report);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, p->data.name);
}

/* One a row of the file. */
static void print_labels(const prediction *p) {
    int64_t rows = 0;
    int32_t *labels = input_spread(&p->data, p->labels, p->data.points.n, &rows);
    for (int64_t i = 0; i < rows; i++)
        printf("%d\n", labels[i]);
    free(labels);
}

static int write_labels(const prediction *p) {
    const char *path = argument(p->arguments, "output");
    bool json = argument(p->arguments, "json") != NULL;
    if (path != NULL) {
        huddle_status status = input_write_labels(&p->data, path, p->data.points.n, p->labels);
        if (status != HUDDLE_OK)
            return failed_call(status, path);
    }
    talk_clear();
    if (json)
        return print_report(p);
    if (path == NULL)
        print_labels(p);
    return EXIT_DONE;
}

static int run_predict(const app_arguments *arguments) {
    prediction p = {.arguments = arguments};
    const char *path = argument(arguments, "output");
    int result = output_check_ending(path, "labels", label_endings);
    if (result == EXIT_DONE)
        result = output_check_apart(arguments, path);
    if (result == EXIT_DONE)
        result = output_check(path);
    if (result == EXIT_DONE)
        p.context = talk_begin(arguments, &result);
    if (result == EXIT_DONE)
        result = predict(&p);
    if (result == EXIT_DONE)
        result = write_labels(&p);
    free(p.labels);
    huddle_data_free(&p.data);
    huddle_model_free(p.model);
    talk_end(p.context);
    return result;
}

static const app_flag predict_flags[] = {
    {.name = "output",
     .letter = 'o',
     .kind = FLAG_FILE,
     .value = "FILE",
     .help = "write the labels there, as .npy, .csv or .txt; default: one a line on stdout"},
    {.name = "json", .kind = FLAG_SWITCH, .help = "print one JSON object"},
    {.name = "n-threads",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .help = "threads to compute with"},
    {0}};

static const flag_group predict_groups[] = {{"Options", predict_flags},
                                            {"Input", input_flags},
                                            {"Generators", seeded_flags},
                                            {"Other options", quiet_flags},
                                            {0}};

static const char *const predict_examples[] = {"huddle cluster old.csv -c 10 --save old.model",
                                               "huddle predict old.model new.csv -o new.txt", NULL};

const app_command predict_command = {
    .name = "predict",
    .operands = "MODEL DATA",
    .least = 2,
    .most = 2,
    .summary = "label new points by a saved model",
    .text = "MODEL is a file written by huddle cluster --save. The points must have as many "
            "features as those the model was fitted to.",
    .words = huddle_data_kinds,
    .groups = predict_groups,
    .examples = predict_examples,
    .run = run_predict};
