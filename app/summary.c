/* The summary of a fit: `cluster` without --json. It is printed from the same JSON object that
 * --json prints, so that both always agree; members that a method does not have are absent,
 * and their lines with them. */
#include "cli/text.h"
#include "fitting.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

/* The column at which the text after each label begins. */
enum { INDENT = 13 };

static void print_label(const char *name) {
    printf("  %-*s", INDENT - 2, name);
}

/* Nothing if there is no text: the member is absent. */
static void print_fact(const char *name, const char *text) {
    if (text[0] == '\0')
        return;
    print_label(name);
    print_wrapped(text, INDENT);
}

/* d is 0 if only a graph or an embedding was given. */
static void print_title(const json_t *info) {
    double n = number_of(info, "n"), d = number_of(info, "d");
    printf("%s: %.0f point%s", text_of(info, "file"), n, plural((int64_t)n));
    if (d > 0)
        printf(", %.0f feature%s", d, plural((int64_t)d));
    if (json_object_get(info, "n_classes") != NULL)
        printf(", %.0f class%s", number_of(info, "n_classes"),
               number_of(info, "n_classes") == 1 ? "" : "es");
    printf("\n\n");
}

/* Points that were not prepared need no mention. */
static void print_method(const json_t *info) {
    double c = number_of(info, "n_clusters");
    const char *rule = text_of(json_object_get(info, "prepare"), "rule");
    print_label("method");
    printf("%s, %.0f cluster%s", text_of(info, "method"), c, plural((int64_t)c));
    if (rule[0] != '\0' && strcmp(rule, "none") != 0)
        printf(", preparation %s", rule);
    printf("\n");
}

/* The rules that choose the number of clusters: what they are called, the member of a candidate
 * that they compare, and the digits it is shown with. */
typedef struct number_rule {
    const char *name, *text, *score;
    int digits;
} number_rule;

static const number_rule number_rules[] = {
    {"eigengap", "by the relative eigengap", "relative_gap", 2},
    {"modularity", "the smallest with nearly the largest modularity", "modularity", 3},
    {"alignment", "by the alignment of the eigenvectors", "alignment", 4},
    {"bic", "by the Bayesian information criterion", "bic", 1}};

static const number_rule *find_rule(const json_t *info) {
    for (size_t k = 0; k < sizeof number_rules / sizeof *number_rules; k++)
        if (strcmp(text_of(info, "chosen_by"), number_rules[k].name) == 0)
            return &number_rules[k];
    return &number_rules[0];
}

/* How the number of clusters was chosen, and the next best numbers. The first entry of
 * "choice" is the best. */
static void print_choice(const json_t *info) {
    char text[512];
    const json_t *choice = json_object_get(info, "choice"), *best = json_array_get(choice, 0);
    if (best == NULL)
        return;
    const number_rule *rule = find_rule(info);
    const char *score = rule->score;
    int digits = rule->digits;
    double small = number_of(best, "small_components"), stability = number_of(best, "stability");
    snprintf(text, sizeof text, "%.0f, %s (%.*f)", number_of(best, "n_clusters"), rule->text,
             digits, number_of(best, score));
    if (stability > 0) /* not NaN: it was measured */
        append_text(text, sizeof text, ", stability %.2f", stability);
    if (small > 0)
        append_text(text, sizeof text, ", including %.0f small component%s", small,
                    plural((int64_t)small));
    for (size_t i = 1; i < json_array_size(choice); i++) {
        const json_t *other = json_array_get(choice, i);
        append_text(text, sizeof text, "%s %.0f (%.*f)", i == 1 ? "; next" : ",",
                    number_of(other, "n_clusters"), digits, number_of(other, score));
    }
    print_fact("clusters", text);
}

/* Which column contains the labels and why: "species, ...; 3 classes (sets -c 3)". Labels that are
 * not a column of a table, but of a container, of another file or of digits, are mentioned if they
 * determined -c. */
static void print_labels(const json_t *info) {
    char text[512] = "";
    double classes = number_of(info, "n_classes");
    bool is_column = json_object_get(info, "label_column") != NULL;
    size_t i;
    json_t *column;
    json_array_foreach(json_object_get(info, "columns"), i, column) {
        if (strcmp(text_of(column, "role"), "label") == 0 && text_of(column, "reason")[0] != '\0')
            snprintf(text, sizeof text, "%.200s, %s", text_of(info, "label_column"),
                     text_of(column, "reason"));
    }
    if (strcmp(text_of(info, "n_clusters_from"), "classes") == 0 && is_column == (text[0] != '\0'))
        append_text(text, sizeof text, "%s%.0f class%s (sets -c %.0f)", is_column ? "; " : "",
                    classes, classes == 1 ? "" : "es", classes);
    print_fact("labels", text);
}

/* The columns of a table that have this role, with the reason: encoded features, or columns that
 * were ignored automatically. Wide tables may have thousands, so only the first are listed. */
static void print_columns(const json_t *info, const char *role) {
    enum { MAX_COLUMNS = 12 };
    size_t i, count = 0;
    json_t *column;
    json_array_foreach(json_object_get(info, "columns"), i, column) {
        char name[256], text[512];
        snprintf(name, sizeof name, "%.200s", text_of(column, "name"));
        if (name[0] == '\0')
            snprintf(name, sizeof name, "column %zu", i + 1);
        const char *reason = text_of(column, "reason");
        /* Among the features only those that were encoded have a reason. */
        if (strcmp(text_of(column, "role"), role) != 0 || reason[0] == '\0' ||
            count++ >= MAX_COLUMNS)
            continue;
        snprintf(text, sizeof text, "%s: %s", name, reason);
        print_fact(role, text);
    }
    if (count > MAX_COLUMNS) {
        print_label(role);
        printf("%zu more columns\n", count - MAX_COLUMNS);
    }
}

/* Four decimals: scores of 10,000 points differ in the fourth. */
static void print_scores(const json_t *scores) {
    const char *name, *separator = "";
    json_t *value;
    if (scores == NULL)
        return;
    print_label("scores");
    json_object_foreach((json_t *)(uintptr_t)scores, name, value) {
        printf("%s%s %.4f", separator, name, json_number_value(value));
        separator = "  ";
    }
    printf("\n");
}

/* More than 200 clusters are not worth a screen of numbers; --json has them all. */
static void print_sizes(const json_t *sizes) {
    char text[4096] = "";
    size_t n = json_array_size(sizes);
    for (size_t i = 0; i < n && i < 200; i++)
        append_text(text, sizeof text, "%s%lld", i == 0 ? "" : " ",
                    (long long)json_integer_value(json_array_get(sizes, i)));
    if (n > 200)
        append_text(text, sizeof text, " ...");
    print_fact("sizes", text);
}

/* Printed only if some points are equal: the members are absent otherwise. Preparation
 * (rounding, projection) may make more of them equal. */
static void print_distinct(const json_t *info) {
    double n = number_of(info, "n"), distinct = number_of(info, "n_distinct");
    double vertices = number_of(json_object_get(info, "graph"), "vertices");
    if (isnan(distinct) && isnan(vertices))
        return;
    distinct = isnan(distinct) ? n : distinct;
    print_label("distinct");
    printf("%.0f of %.0f points", distinct, n);
    if (vertices < distinct)
        printf(", %.0f after preparation", vertices);
    printf("; duplicates have the same label\n");
}

/* The features, preparation and weight of each view. */
static void print_views(const json_t *views) {
    char text[2048] = "";
    size_t v;
    json_t *view;
    json_array_foreach((json_t *)(uintptr_t)views, v, view) {
        const char *rule = text_of(json_object_get(view, "prepare"), "rule");
        append_text(text, sizeof text, "%s%.0f feature%s", v == 0 ? "" : "; ", number_of(view, "d"),
                    plural((int64_t)number_of(view, "d")));
        if (rule[0] != '\0' && strcmp(rule, "none") != 0)
            append_text(text, sizeof text, ", %s", rule);
        append_text(text, sizeof text, ", weight %.3f", number_of(view, "weight"));
    }
    print_fact("views", text);
}

/* Recall is the share of true neighbours found, with its confidence interval; not shown if the
 * search was exact. */
static void print_graph(const json_t *graph) {
    if (graph == NULL)
        return;
    double components = number_of(graph, "components"), bridges = number_of(graph, "bridges");
    double recall = number_of(graph, "recall");
    print_label("graph");
    printf("%.0f edges, %.0f component%s", number_of(graph, "edges"), components,
           plural((int64_t)components));
    if (bridges > 0)
        printf(" after adding %.0f bridge%s", bridges, plural((int64_t)bridges));
    /* An estimate of exactly 1 still has an interval, and is not the same as an exact search. */
    if (number_of(graph, "recall_low") < 1)
        printf(", approximate neighbours: recall %.4f (%.4f to %.4f)", recall,
               number_of(graph, "recall_low"), number_of(graph, "recall_high"));
    printf("\n");
}

/* The form of the covariances decides what clusters are found, and is chosen by default. */
static void print_mixture(const json_t *mixture) {
    if (mixture == NULL)
        return;
    print_label("mixture");
    printf("%s covariances, log-likelihood %.6g, BIC %.6g\n", text_of(mixture, "covariance"),
           number_of(mixture, "log_likelihood"), number_of(mixture, "bic"));
}

/* The reason for stopping comes first: it distinguishes a converged result from one that was
 * cut off. */
static void print_embedding(const json_t *embed) {
    if (embed == NULL)
        return;
    print_label("embedding");
    /* Every column is the vector of a component: no solver ran. */
    if (strcmp(text_of(embed, "solver"), "components") == 0)
        printf("closed form");
    else
        printf("%s", text_of(embed, "stop"));
    if (number_of(embed, "residual") > 0)
        printf(", residual %.1e", number_of(embed, "residual"));
    if (!isnan(number_of(embed, "gap")))
        printf(", eigengap %.3g", number_of(embed, "gap"));
    printf("\n");
}

/* A bound in per cent with two digits, rounded up so that it remains a bound. The factor just
 * below 1 keeps a value that is already a multiple of the unit from being rounded up by an
 * error in its last bit. */
static double percent_at_most(double share) {
    double unit = pow(10, floor(log10(100 * share)) - 1);
    return ceil(100 * share / unit * (1 - 1e-12)) * unit;
}

/* The certificate is about the shrink step, never about the clusters: the duality gap bounds
 * how far its objective is from the optimum. If the guard has discarded the step, the labels
 * do not even come from it. */
static void print_certificate(const json_t *shrink, bool refined) {
    double gap = number_of(shrink, "gap");
    print_label("");
    if (gap <= 1e-12)
        printf("the shrink step is certified optimal\n");
    else if (gap >= 1)
        printf("no useful bound for the shrink step (%s)\n", text_of(shrink, "stop"));
    else
        printf("the shrink step is certified within %.2g %% of its optimum (%s)\n",
               percent_at_most(gap), text_of(shrink, "stop"));
    if (!json_is_true(json_object_get(shrink, "guarded")))
        return;
    print_label("");
    printf("discarded by the guard: %s come from the embedding\n",
           refined ? "the labels before refinement" : "labels");
}

static void print_shrink(const json_t *info) {
    const json_t *shrink = json_object_get(info, "shrink");
    if (shrink == NULL)
        return;
    double groups = number_of(shrink, "groups");
    print_label("shrink");
    printf("gamma %.4g, %.0f group%s, objective %.6g\n", number_of(shrink, "gamma"), groups,
           plural((int64_t)groups), number_of(shrink, "objective"));
    print_certificate(shrink, json_object_get(json_object_get(info, "refine"), "from") != NULL);
}

/* Which start gave the labels, and how many differ from those of the method. Where the labels
 * were not refined although that is the default, the reason. */
static void print_refinement(const json_t *info) {
    char text[512];
    const json_t *refine = json_object_get(info, "refine");
    if (refine == NULL)
        return;
    const char *skipped = text_of(refine, "skipped");
    if (skipped[0] != '\0') {
        print_label("refined");
        printf("no: %s\n", skipped);
        return;
    }
    if (strcmp(text_of(refine, "from"), "graph") == 0)
        snprintf(text, sizeof text, "from start %s (%zu tried)", text_of(refine, "start"),
                 json_array_size(json_object_get(refine, "trials")));
    else
        snprintf(text, sizeof text, "replaced by K-means on %s",
                 strcmp(text_of(refine, "from"), "kmeans") == 0 ? "the points" : "commute rows");
    append_text(text, sizeof text, "; %.0f of %.0f labels changed", number_of(refine, "n_changed"),
                number_of(info, "n"));
    if (json_object_get(info, "shrink") != NULL)
        append_text(text, sizeof text, "; the certificate is about the shrink step");
    print_fact("refined", text);
}

/* What the fit was expected to need and what the process had at most; absent for small fits. */
static void print_memory(const json_t *info) {
    enum { SMALL = 100 << 20 };
    const json_t *memory = json_object_get(info, "memory");
    double predicted = number_of(memory, "predicted"), limit = number_of(memory, "limit");
    char text[512], number[32];
    size_t i;
    json_t *economy;
    if (!(predicted >= SMALL) && json_array_size(json_object_get(memory, "leaner")) == 0)
        return;
    huddle_format_bytes((int64_t)predicted, number, sizeof number);
    snprintf(text, sizeof text, "%s predicted (%s)", number, text_of(memory, "stage"));
    if (limit > 0) {
        huddle_format_bytes((int64_t)limit, number, sizeof number);
        append_text(text, sizeof text, ", %s available", number);
    }
    huddle_format_bytes((int64_t)number_of(info, "peak_bytes"), number, sizeof number);
    append_text(text, sizeof text, ", %s used", number);
    json_array_foreach(json_object_get(memory, "leaner"), i, economy)
        append_text(text, sizeof text, "; %s", json_string_value(economy));
    print_fact("memory", text);
}

/* The stages in the order in which they ran, the total last. Stages that would be shown as 0.00 are
 * left out; --json has them. */
static void print_seconds(const json_t *seconds) {
    enum { WIDTH = 100 };
    char text[64];
    const char *stage;
    json_t *value;
    int column = INDENT;
    print_label("seconds");
    json_object_foreach((json_t *)(uintptr_t)seconds, stage, value) {
        if (json_number_value(value) < .005 && strcmp(stage, "total") != 0)
            continue;
        int length = snprintf(text, sizeof text, "%s %.2f", stage, json_number_value(value));
        bool wraps = column > INDENT && column + 2 + length > WIDTH;
        printf("%s%*s%s", wraps ? "\n" : "", wraps ? INDENT : column > INDENT ? 2 : 0, "", text);
        column = (wraps ? INDENT : column + 2) + length;
    }
    printf("\n");
}

/* The columns of the table of a range, in this order: those that its rows have. */
static const char *const range_columns[] = {"inertia",    "silhouette", "ncut",      "relative_gap",
                                            "modularity", "divergence", "stability", "bic"};

/* A line of the table, or its titles if `chosen` is NAN. */
static void print_range_line(const json_t *trial, double chosen) {
    double n_clusters = number_of(trial, "n_clusters");
    if (isnan(chosen))
        printf("\n  %9s", "clusters");
    else
        printf("%c %9.0f", n_clusters == chosen ? '*' : ' ', n_clusters);
    for (size_t j = 0; j < sizeof range_columns / sizeof *range_columns; j++) {
        const char *name = range_columns[j];
        double value = number_of(trial, name);
        if (json_object_get(trial, name) == NULL)
            continue;
        if (isnan(chosen))
            printf(" %12s", strcmp(name, "relative_gap") == 0 ? "relative gap" : name);
        else if (isnan(value))
            printf(" %12s", "-");
        else
            printf(" %12.5g", value);
    }
    printf("\n");
}

/* One line per number of clusters of a range, a star at the one chosen; "-" for a score that does
 * not apply. With n_clusters = auto the next best numbers have been shown already. */
static void print_range(const json_t *info) {
    const json_t *range = json_object_get(info, "range");
    size_t n = json_array_size(range);
    if (n == 0 || json_object_get(info, "choice") != NULL)
        return;
    print_range_line(json_array_get(range, 0), NAN);
    for (size_t i = 0; i < n; i++)
        print_range_line(json_array_get(range, i), number_of(info, "n_clusters"));
    if (strcmp(text_of(info, "chosen_by"), "modularity") == 0)
        printf("  * the smallest number with nearly the largest modularity; no relative gap is "
               "clear (0.8 or more)\n");
    else if (strcmp(text_of(info, "chosen_by"), "bic") == 0)
        printf("  * the smallest BIC\n");
    else if (json_object_get(info, "embed") != NULL)
        printf("  * the largest number with a clear relative gap (0.8 or more), else the largest "
               "gap\n");
}

/* Last before the table, where they are noticed. */
static void print_warnings(const json_t *warnings) {
    for (size_t i = 0; i < json_array_size(warnings); i++)
        print_fact("warning", json_string_value(json_array_get(warnings, i)));
}

/* From what the user asked for (columns, method) through the result to its diagnostics; the
 * table of a range comes last because it may be long. */
void print_summary(const json_t *info) {
    print_title(info);
    print_labels(info);
    print_columns(info, "feature");
    print_columns(info, "row names");
    print_columns(info, "ignored");
    print_method(info);
    print_choice(info);
    print_scores(json_object_get(info, "scores"));
    print_sizes(json_object_get(info, "sizes"));
    print_distinct(info);
    print_views(json_object_get(info, "views"));
    print_graph(json_object_get(info, "graph"));
    print_embedding(json_object_get(info, "embed"));
    print_mixture(json_object_get(info, "mixture"));
    print_shrink(info);
    print_refinement(info);
    print_fact("decision", text_of(info, "decision"));
    print_memory(info);
    print_seconds(json_object_get(info, "seconds"));
    print_warnings(json_object_get(info, "warnings"));
    print_range(info);
}
