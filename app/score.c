/* huddle score: how well labels agree with known classes. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* Two files of labels and what is found about them. Rows without a cluster are left out: they are
 * no cluster. Scores on a graph need no classes: those of the classes themselves show whether the
 * graph agrees with them. */
typedef struct scoring {
    const cli_arguments *arguments;
    huddle_context *context;
    huddle_data truth, labels;
    int64_t total; /* rows in the files */
    int64_t *rows; /* those that are scored; NULL: all */
    const char *graph;
    huddle_graph_scores truth_on_graph, labels_on_graph;
    huddle_scores scores;
    huddle_confusion table;
} scoring;

/* ---- JSON --------------------------------------------------------------------------------- */

/* `labels` selects and orders the names: the confusion table has its own order. */
static json_t *names_json(const huddle_data *l, int64_t n, const int32_t *labels) {
    json_t *names = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(names, text_json(l->classes != NULL ? l->classes[labels[i]] : ""));
    return names;
}

/* match[j] is the class that cluster j is mapped to by the accuracy, null if there are more
 * clusters than classes. */
static json_t *confusion_json(const scoring *s) {
    const huddle_confusion *table = &s->table;
    json_t *counts = json_array(), *match = json_array();
    for (int64_t i = 0; i < table->n_classes; i++)
        json_array_append_new(
            counts, integers_json(table->n_clusters, table->counts + i * table->n_clusters));
    for (int64_t j = 0; j < table->n_clusters; j++)
        json_array_append_new(match,
                              table->match[j] < 0 ? json_null() : json_integer(table->match[j]));
    return json_pack("{s:o, s:o, s:o, s:o}", "classes",
                     names_json(&s->truth, table->n_classes, table->classes), "clusters",
                     names_json(&s->labels, table->n_clusters, table->clusters), "counts", counts,
                     "match", match);
}

static json_t *score_json(const scoring *s) {
    json_t *on_graph = NULL;
    if (s->graph != NULL)
        on_graph = json_pack("{s:o, s:o}", "truth", graph_scores_json(&s->truth_on_graph), "labels",
                             graph_scores_json(&s->labels_on_graph));
    return json_pack("{s:I, s:I, s:o, s:o, s:o*}", "n", (json_int_t)s->truth.points.n, "left_out",
                     (json_int_t)(s->total - s->labels.points.n), "scores", scores_json(&s->scores),
                     "confusion", confusion_json(s), "graph", on_graph);
}

/* ---- text --------------------------------------------------------------------------------- */

/* In columns of the terminal: printf() would count bytes. */
static int class_width(const huddle_data *l, int min_width) {
    int width = min_width;
    for (int32_t i = 0; i < l->n_classes; i++)
        width = text_width(l->classes[i]) > width ? text_width(l->classes[i]) : width;
    return width;
}

static void print_confusion(const scoring *s) {
    const huddle_data *truth = &s->truth, *labels = &s->labels;
    const huddle_confusion *table = &s->table;
    char count[32];
    int64_t largest = 0;
    for (int64_t i = 0; i < table->n_classes * table->n_clusters; i++)
        largest = table->counts[i] > largest ? table->counts[i] : largest;
    int digits = snprintf(count, sizeof count, "%lld", (long long)largest);
    /* 5: the width of "class". */
    int left = class_width(truth, 5), width = class_width(labels, digits);
    int64_t *order = check_allocation(matched_order(table));
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

static void print_graph_scores(const scoring *s) {
    const huddle_graph_scores *t = &s->truth_on_graph, *l = &s->labels_on_graph;
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

/* Four decimals, as in the literature. */
static void print_scores(const scoring *s) {
    const huddle_scores *scores = &s->scores;
    printf("acc     %.4f\nnmi     %.4f\nari     %.4f\npurity  %.4f\n", scores->acc, scores->nmi,
           scores->ari, scores->purity);
    if (s->total > s->labels.points.n)
        printf("\nleft out: %lld of %lld rows, which have the label -1\n",
               (long long)(s->total - s->labels.points.n), (long long)s->total);
    if (s->graph != NULL)
        print_graph_scores(s);
    print_confusion(s);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Rows that have no cluster have the label -1 in the files that huddle writes, and in those of
 * other programs. Returns the number of the others and their rows, in an array that is freed by
 * free(), or all rows and NULL if there are none without a cluster: -1 means that only if the other
 * labels, if there are any, are 0 and larger numbers, and is a class of its own in files of -1 and
 * 1. Classes are sorted, numbers by value. */
static int64_t clustered_rows(const huddle_data *l, int64_t **rows) {
    int64_t count = 0;
    *rows = NULL;
    if (l->n_classes < 1 || strcmp(l->classes[0], "-1") != 0 ||
        (l->n_classes > 1 && strcmp(l->classes[1], "0") != 0))
        return l->points.n;
    *rows = check_allocation(calloc((size_t)l->points.n, sizeof **rows));
    for (int64_t i = 0; i < l->points.n; i++)
        if (l->labels[i] != 0)
            (*rows)[count++] = i;
    return count;
}

/* Keeps the labels of these rows only, in place: a row never moves down. */
static void keep_rows(huddle_data *l, int64_t n, const int64_t *rows) {
    for (int64_t i = 0; i < n; i++)
        l->labels[i] = l->labels[rows[i]];
    l->points.n = n;
}

/* TRUTH and LABELS are read in the same way, and the scores except purity are symmetric in them.
 * The i-th labels of both files belong to the same point; nothing else connects them. */
static int read_labels(scoring *s) {
    const char *const *files = s->arguments->operands;
    huddle_data *truth = &s->truth, *labels = &s->labels;
    int result = input_read_labels(s->context, files[0], false, truth);
    STEP(input_read_labels(s->context, files[1], true, labels));
    if (result != EXIT_DONE)
        return result;
    if (truth->points.n != labels->points.n)
        return failed("%s: %lld labels, but %s has %lld", files[1], (long long)labels->points.n,
                      files[0], (long long)truth->points.n);
    s->total = labels->points.n;
    int64_t n = clustered_rows(labels, &s->rows);
    if (n == 0)
        return failed("%s: no row has a cluster: every label is -1", files[1]);
    if (s->rows != NULL) {
        keep_rows(truth, n, s->rows);
        keep_rows(labels, n, s->rows);
    }
    return EXIT_DONE;
}

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
static int score_on_graph(scoring *s) {
    huddle_csr graph = {0};
    int64_t n = s->labels.points.n;
    int result = call_result(input_read_graph(s->context, s->graph, &graph), s->graph);
    if (result == EXIT_DONE && graph.rows != n && graph.rows != s->total)
        result = failed("%s: %lld rows, but there are %lld labels", s->graph, (long long)graph.rows,
                        (long long)n);
    if (result == EXIT_DONE && graph.cols == graph.rows && graph.rows != n)
        restrict_graph(&graph, n, s->rows);
    STEP(call_result(
        huddle_metrics_graph_scores(s->context, &graph, s->truth.labels, &s->truth_on_graph),
        s->graph));
    STEP(call_result(
        huddle_metrics_graph_scores(s->context, &graph, s->labels.labels, &s->labels_on_graph),
        s->graph));
    huddle_csr_free(&graph);
    return result;
}

/* ---- the command -------------------------------------------------------------------------- */

static int score_labels(scoring *s) {
    const int32_t *truth = s->truth.labels, *labels = s->labels.labels;
    huddle_status status =
        huddle_metrics_scores(NULL, s->truth.points.n, truth, labels, &s->scores);
    if (status == HUDDLE_OK)
        status = huddle_metrics_confusion(NULL, s->truth.points.n, truth, labels, &s->table);
    return call_result(status, s->arguments->operands[1]);
}

static int run_score(const cli_arguments *arguments) {
    scoring s = {.arguments = arguments, .graph = argument(arguments, "graph")};
    int result = session_begin(arguments, &s.context);
    STEP(streams_read_input());
    STEP(read_labels(&s));
    if (s.graph != NULL)
        STEP(score_on_graph(&s));
    clear_progress();
    STEP(score_labels(&s));
    if (result == EXIT_DONE && argument(arguments, "json") != NULL)
        print_json(score_json(&s));
    else if (result == EXIT_DONE)
        print_scores(&s);
    huddle_confusion_free(&s.table);
    huddle_data_free(&s.truth);
    huddle_data_free(&s.labels);
    free(s.rows);
    session_end(s.context);
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
    {"score", "TRUTH LABELS", 2, 2, "compare labels with known classes", run_score},
    .reads = true,
    .words = huddle_data_kinds,
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
                 "huddle cluster digits -m sc -q -o - | huddle score digits -"}};
