/* huddle score: how well labels agree with known classes. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "labels.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

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
    for (int64_t i = 0; i <= table->n_classes; i++)
        for (int64_t j = 0; j < table->n_clusters; j++)
            if (table->match[j] == (i < table->n_classes ? i : -1))
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

/* ---- rows --------------------------------------------------------------------------------- */

/* Rows without a cluster are left out: they are no cluster. */
typedef struct scored_rows {
    int64_t total; /* in the files */
    int64_t *rows; /* those that are scored; NULL: all */
} scored_rows;

static int leave_out(const char *source, labelling *truth, labelling *labels, scored_rows *scored) {
    scored->total = labels->n;
    int64_t n = labelling_rows(labels, &scored->rows);
    if (n == 0)
        return failed("%s: no row has a cluster: every label is -1", source);
    if (scored->rows == NULL)
        return EXIT_DONE;
    labelling_keep(truth, n, scored->rows);
    labelling_keep(labels, n, scored->rows);
    return EXIT_DONE;
}

/* ---- on a graph --------------------------------------------------------------------------- */

/* Scores that need no classes: those of the classes themselves show whether the graph agrees with
 * them. */
typedef struct graph_pair {
    bool present;
    huddle_graph_scores truth, labels;
} graph_pair;

/* The edges between the rows that are scored, in place. new_row[i] is negative for the others. */
static void restrict_graph(huddle_csr *graph, int64_t n, const int64_t *rows) {
    int64_t *new_row = check_allocation(calloc((size_t)graph->rows + 1, sizeof *new_row));
    int64_t kept = 0;
    for (int64_t i = 0; i < graph->rows; i++)
        new_row[i] = -1;
    for (int64_t k = 0; k < n; k++)
        new_row[rows[k]] = k;
    for (int64_t k = 0, end; k < n; k++) {
        end = graph->offsets[rows[k] + 1];
        for (int64_t e = graph->offsets[rows[k]]; e < end; e++)
            if (new_row[graph->columns[e]] >= 0) {
                graph->columns[kept] = (int32_t)new_row[graph->columns[e]];
                graph->values[kept++] = graph->values[e];
            }
        graph->offsets[k] = kept;
    }
    /* Each row's end was written over its beginning, which is needed no more. */
    for (int64_t k = n; k > 0; k--)
        graph->offsets[k] = graph->offsets[k - 1];
    graph->offsets[0] = 0;
    graph->rows = graph->cols = n;
    free(new_row);
}

/* A graph of all rows, or of those that are scored: huddle writes that of the rows it has
 * clustered. */
static int score_on_graph(huddle_context *context, const char *path, const labelling *truth,
                          const labelling *labels, const scored_rows *scored, graph_pair *pair) {
    huddle_csr graph = {0};
    int result = EXIT_DONE;
    huddle_status status = input_read_graph(context, path, &graph);
    if (status == HUDDLE_OK && graph.rows != labels->n && graph.rows != scored->total)
        result = failed("%s: %lld rows, but there are %lld labels", path, (long long)graph.rows,
                        (long long)labels->n);
    if (status == HUDDLE_OK && result == EXIT_DONE && graph.cols == graph.rows &&
        graph.rows != labels->n)
        restrict_graph(&graph, labels->n, scored->rows);
    if (status == HUDDLE_OK && result == EXIT_DONE)
        status = huddle_metrics_graph_scores(context, &graph, truth->labels, &pair->truth);
    if (status == HUDDLE_OK && result == EXIT_DONE)
        status = huddle_metrics_graph_scores(context, &graph, labels->labels, &pair->labels);
    huddle_csr_free(&graph);
    pair->present = true;
    return status == HUDDLE_OK ? result : call_result(status, path);
}

static void print_graph_scores(const graph_pair *pair) {
    const huddle_graph_scores *t = &pair->truth, *l = &pair->labels;
    const struct {
        const char *name;
        double truth, labels;
    } rows[] = {{"map equation", t->map, l->map},
                {"divergence", t->divergence, l->divergence},
                {"information", t->information, l->information},
                {"modularity", t->modularity, l->modularity},
                {"ncut", t->ncut, l->ncut}};
    printf("\n%-12s  %9s  %9s\n", "on the graph", "truth", "labels");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%-12s  %9.4f  %9.4f\n", rows[i].name, rows[i].truth, rows[i].labels);
}

/* ---- the command -------------------------------------------------------------------------- */

static int compare_labels(const cli_arguments *arguments, const labelling *truth,
                          const labelling *labels, const scored_rows *scored,
                          const graph_pair *pair) {
    int64_t left_out = scored->total - labels->n;
    const char *source = arguments->operands[1];
    huddle_scores scores;
    huddle_confusion table = {0};
    huddle_status status =
        huddle_metrics_scores(NULL, truth->n, truth->labels, labels->labels, &scores);
    if (status == HUDDLE_OK)
        status = huddle_metrics_confusion(NULL, truth->n, truth->labels, labels->labels, &table);
    if (status != HUDDLE_OK)
        return call_result(status, source);
    if (argument(arguments, "json") != NULL) {
        json_t *info = json_pack("{s:I, s:I, s:o, s:o}", "n", (json_int_t)truth->n, "left_out",
                                 (json_int_t)left_out, "scores", scores_json(&scores), "confusion",
                                 confusion_json(truth, labels, &table));
        if (pair->present)
            json_object_set_new(info, "graph",
                                json_pack("{s:o, s:o}", "truth", graph_scores_json(&pair->truth),
                                          "labels", graph_scores_json(&pair->labels)));
        print_json(info);
    } else {
        print_scores(&scores);
        if (left_out > 0)
            printf("\nleft out: %lld of %lld rows, which have the label -1\n", (long long)left_out,
                   (long long)scored->total);
        if (pair->present)
            print_graph_scores(pair);
        print_confusion(truth, labels, &table);
    }
    huddle_confusion_free(&table);
    return EXIT_DONE;
}

/* TRUTH and LABELS are read in the same way, and the scores except purity are symmetric in
 * them. */
static int run_score(const cli_arguments *arguments) {
    labelling truth = {0}, labels = {0};
    scored_rows scored = {0};
    graph_pair pair = {0};
    const char *graph = argument(arguments, "graph");
    huddle_context *context = NULL;
    int result = session_begin(arguments, &context);
    STEP(streams_read_input());
    STEP(labelling_read(context, arguments->operands[0], false, &truth));
    STEP(labelling_read(context, arguments->operands[1], true, &labels));
    /* The i-th labels of both files belong to the same point; nothing else connects them. */
    if (result == EXIT_DONE && truth.n != labels.n)
        result = failed("%s: %lld labels, but %s has %lld", arguments->operands[1],
                        (long long)labels.n, arguments->operands[0], (long long)truth.n);
    STEP(leave_out(arguments->operands[1], &truth, &labels, &scored));
    if (result == EXIT_DONE && graph != NULL)
        result = score_on_graph(context, graph, &truth, &labels, &scored, &pair);
    clear_progress();
    STEP(compare_labels(arguments, &truth, &labels, &scored, &pair));
    labelling_free(&truth);
    labelling_free(&labels);
    free(scored.rows);
    session_end(context);
    return result;
}

static const cli_flag score_flags[] = {
    {"graph", 0, FLAG_FILE, "FILE",
     "also print scores of both on this graph (SciPy's .npz, MatrixMarket, MAT), which need no "
     "classes; of one that is not symmetric, (A + A')/2 is used, with a warning",
     .reads = true},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object"},
    {0}};

const cli_command score_command = {
    .name = "score",
    .operands = "TRUTH LABELS",
    .min_operands = 2,
    .max_operands = 2,
    .reads = true,
    .words = huddle_data_kinds,
    .summary = "compare labels with known classes",
    .text =
        "TRUTH and LABELS are files of labels, one per row: numbers or words, in any format that "
        "huddle reads. The labels of a data set, such as digits, are accepted as well. Prints the "
        "accuracy under the best one-to-one map of clusters to classes, the normalised mutual "
        "information, the adjusted Rand index, the purity, and the table of counts with the "
        "matched clusters on its diagonal. Of a table the column of labels is found as for the "
        "other commands; in LABELS, the column cluster that --append added last is preferred. Rows "
        "with the label -1 in LABELS, whose other labels are 0 and larger numbers, have no "
        "cluster, such as those of --missing drop, and are left out; in TRUTH -1 is a class.",
    .groups = {{"Options", score_flags}, {"Other options", quiet_flags}},
    .examples = {"huddle cluster faces.csv -o labels.csv", "huddle score faces.csv labels.csv",
                 "huddle cluster digits -m sc -q -o - | huddle score digits -"},
    .run = run_score};
