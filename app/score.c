/* huddle score: how well labels agree with known classes. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* Labels 0 .. n_classes - 1 and the texts that the file has for them. */
typedef struct labelling {
    int64_t n;
    int32_t *labels;
    int32_t n_classes;
    char **classes;
} labelling;

/* classes is NULL only if reading failed early. */
static void labelling_free(labelling *l) {
    for (int32_t i = 0; i < l->n_classes && l->classes != NULL; i++)
        huddle_free(l->classes[i]);
    huddle_free(l->classes);
    huddle_free(l->labels);
}

/* The labels of a generator or a built-in data set. Ownership moves: the members are cleared
 * before the rest is freed. */
static huddle_status take_labels(huddle_context *context, const char *kind, labelling *l) {
    huddle_data data;
    huddle_status status = huddle_data_read(context, kind, NULL, &data);
    if (status != HUDDLE_OK)
        return status;
    *l = (labelling){data.points.n, data.labels, data.n_classes, data.classes};
    data.labels = NULL;
    data.classes = NULL;
    data.n_classes = 0;
    huddle_data_free(&data);
    return HUDDLE_OK;
}

/* The names of generators win over files, as for every command that reads data. */
static int read_labelling(huddle_context *context, const char *source, labelling *l) {
    huddle_status status;
    for (const char *const *kind = huddle_data_kinds(); *kind != NULL; kind++)
        if (strcmp(source, *kind) == 0) {
            status = take_labels(context, source, l);
            return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, source);
        }
    status = huddle_labels_read(context, source, &l->n, &l->labels, &l->n_classes, &l->classes);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, source);
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* `labels` selects and orders the names: the confusion table has its own order. */
static json_t *names_json(const labelling *l, int64_t n, const int32_t *labels) {
    json_t *names = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(names, text_json(l->classes != NULL ? l->classes[labels[i]] : ""));
    return names;
}

/* match[j] is the class that cluster j is mapped to by the accuracy, null if there are more
 * clusters than classes. */
static json_t *confusion_json(const labelling *truth, const labelling *labels,
                              const huddle_confusion *table) {
    json_t *counts = json_array();
    for (int64_t i = 0; i < table->n_classes; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < table->n_clusters; j++)
            json_array_append_new(
                row, json_integer((json_int_t)table->counts[i * table->n_clusters + j]));
        json_array_append_new(counts, row);
    }
    json_t *match = json_array();
    for (int64_t j = 0; j < table->n_clusters; j++)
        json_array_append_new(match,
                              table->match[j] < 0 ? json_null() : json_integer(table->match[j]));
    return json_pack("{s:o, s:o, s:o, s:o}", "classes",
                     names_json(truth, table->n_classes, table->classes), "clusters",
                     names_json(labels, table->n_clusters, table->clusters), "counts", counts,
                     "match", match);
}

/* ---- text --------------------------------------------------------------------------------- */

/* Columns in the order of the classes they are matched to, the others last, so that the
 * matched counts are on the diagonal. */
static int64_t *column_order(const huddle_confusion *table) {
    int64_t *order = check_allocation(calloc((size_t)table->n_clusters + 1, sizeof *order)),
            filled = 0;
    for (int64_t i = 0; i < table->n_classes; i++)
        for (int64_t j = 0; j < table->n_clusters; j++)
            if (table->match[j] == i)
                order[filled++] = j;
    for (int64_t j = 0; j < table->n_clusters; j++)
        if (table->match[j] < 0)
            order[filled++] = j;
    return order;
}

/* In columns of the terminal: printf() would count bytes. */
static int class_width(const labelling *l, int min_width) {
    int width = min_width;
    for (int32_t i = 0; i < l->n_classes; i++)
        width = text_width(l->classes[i]) > width ? text_width(l->classes[i]) : width;
    return width;
}

/* Columns are as wide as the longest name or count, measured in columns of the terminal, not in
 * bytes. */
static void print_confusion(const labelling *truth, const labelling *labels,
                            const huddle_confusion *table) {
    char count[32];
    int64_t largest = 0;
    for (int64_t i = 0; i < table->n_classes * table->n_clusters; i++)
        largest = table->counts[i] > largest ? table->counts[i] : largest;
    int digits = snprintf(count, sizeof count, "%lld", (long long)largest);
    /* 5: the width of "class". */
    int left = class_width(truth, 5), width = class_width(labels, digits);
    int64_t *order = column_order(table);
    printf("\n%-*s  cluster\n%-*s", left, "", left, "class");
    for (int64_t j = 0; j < table->n_clusters; j++) {
        const char *name = labels->classes[table->clusters[order[j]]];
        printf("  %*s%s", width - text_width(name), "", name);
    }
    printf("\n");
    for (int64_t i = 0; i < table->n_classes; i++) {
        const char *name = truth->classes[table->classes[i]];
        printf("%s%*s", name, left - text_width(name), "");
        for (int64_t j = 0; j < table->n_clusters; j++) {
            int64_t cell = table->counts[i * table->n_clusters + order[j]];
            snprintf(count, sizeof count, "%lld", (long long)cell);
            /* Zeros as dots, so that the diagonal stands out. */
            printf("  %*s", width, cell == 0 ? "." : count);
        }
        printf("\n");
    }
    free(order);
}

/* Four decimals, as in the literature. */
static void print_scores(const huddle_scores *scores) {
    printf("acc     %.4f\nnmi     %.4f\nari     %.4f\npurity  %.4f\n", scores->acc, scores->nmi,
           scores->ari, scores->purity);
}

/* ---- the command -------------------------------------------------------------------------- */

/* Scores and table come from the same labels; the context is not needed for either. */
static int compare_labels(const cli_arguments *arguments, const labelling *truth,
                          const labelling *labels) {
    const char *source = arguments->operands[1];
    huddle_scores scores;
    huddle_confusion table = {0};
    /* The i-th labels of both files belong to the same point; nothing else connects them. */
    if (truth->n != labels->n)
        return failed("%s: %lld labels, but %s has %lld", source, (long long)labels->n,
                      arguments->operands[0], (long long)truth->n);
    huddle_status status =
        huddle_metrics_scores(NULL, truth->n, truth->labels, labels->labels, &scores);
    if (status == HUDDLE_OK)
        status = huddle_metrics_confusion(NULL, truth->n, truth->labels, labels->labels, &table);
    if (status != HUDDLE_OK)
        return failed_call(status, source);
    if (argument(arguments, "json") != NULL) {
        json_t *report =
            json_pack("{s:I, s:o, s:o}", "n", (json_int_t)truth->n, "scores", scores_json(&scores),
                      "confusion", confusion_json(truth, labels, &table));
        print_json(report);
        json_decref(report);
    } else {
        print_scores(&scores);
        print_confusion(truth, labels, &table);
    }
    huddle_confusion_free(&table);
    return EXIT_DONE;
}

/* TRUTH and LABELS are read in the same way, and the scores except purity are symmetric in
 * them. */
static int run_score(const cli_arguments *arguments) {
    int result = EXIT_DONE;
    labelling truth = {0}, labels = {0};
    huddle_context *context = session_begin(arguments, &result);
    if (context == NULL)
        return result;
    result = read_labelling(context, arguments->operands[0], &truth);
    if (result == EXIT_DONE)
        result = read_labelling(context, arguments->operands[1], &labels);
    clear_progress();
    if (result == EXIT_DONE)
        result = compare_labels(arguments, &truth, &labels);
    labelling_free(&truth);
    labelling_free(&labels);
    session_end(context);
    return result;
}

static const cli_flag score_flags[] = {
    {.name = "json", .kind = FLAG_SWITCH, .help = "print one JSON object"}, {0}};

static const flag_group score_groups[] = {
    {"Options", score_flags}, {"Other options", quiet_flags}, {0}};

static const char *const score_examples[] = {"huddle cluster faces.csv -o labels.csv",
                                             "huddle score faces.csv labels.csv", NULL};

const cli_command score_command = {
    .name = "score",
    .operands = "TRUTH LABELS",
    .min_operands = 2,
    .max_operands = 2,
    .words = huddle_data_kinds,
    .summary = "compare labels with known classes",
    .text =
        "TRUTH and LABELS are files of labels, one per row: numbers or words, in any format that "
        "huddle "
        "reads. The labels of a data set, such as digits, are accepted as well. Prints the "
        "accuracy "
        "under the best one-to-one map of clusters to classes, the normalised mutual information, "
        "the "
        "adjusted Rand index, the purity, and the table of counts with the matched clusters on its "
        "diagonal.",
    .groups = score_groups,
    .examples = score_examples,
    .run = run_score};
