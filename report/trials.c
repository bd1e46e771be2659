/* Tables and charts of what was tried: numbers of clusters and preparations. */
#include "report/run.h"

#include <stdio.h>
#include <string.h>

/* An array of objects with the same members as a table; the row whose first cell equals
 * `chosen` is marked. The members of the first object are the columns, so new members of the
 * model's information appear in the page by themselves. */
static json_t *objects_table(const json_t *list, const json_t *chosen) {
    int marked = -1;
    json_t *columns = json_array(), *rows = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(json_array_get(list, 0), name, value) {
        char label[64];
        snprintf(label, sizeof label, "%s", strcmp(name, "n_clusters") == 0 ? "clusters" : name);
        /* relative_gap is shown as "relative gap". */
        for (char *c = label; (c = strchr(c, '_')) != NULL;)
            *c = ' ';
        page_append(columns, json_pack("{s:o}", "label", page_text(label)));
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = json_array();
        json_object_foreach(json_array_get(list, i), name, value) {
            page_append(row, json_incref(value));
        }
        if (json_equal(json_array_get(row, 0), chosen))
            marked = (int)i;
        page_append(rows, row);
    }
    return json_pack("{s:o, s:o, s:i}", "columns", columns, "rows", rows, "marked", marked);
}

/* The scores of all numbers of clusters that were tried as charts, with the next best candidates.
 * Two numbers are no curve. */
static void add_numbers(report_section *section, const report_run *run) {
    enum { MAX_RUNNERS_UP = 3 };
    const json_t *choice = json_object_get(run->info, "choice");
    const json_t *range = json_object_get(run->info, "range");
    const json_t *list = json_array_size(range) > 0 ? range : choice;
    if (json_array_size(list) < 3)
        return;
    json_t *others = json_array();
    for (size_t i = 0; i < json_array_size(choice); i++) {
        json_t *number = json_object_get(json_array_get(choice, i), "n_clusters");
        if (json_integer_value(number) != run->n_clusters &&
            json_array_size(others) < MAX_RUNNERS_UP)
            page_append(others, json_incref(number));
    }
    page_add(section, "numbers",
             json_pack("{s:o, s:i, s:o}", "list", json_deep_copy(list), "n_clusters",
                       run->n_clusters, "runners_up", others));
}

/* A single trial was no choice, and is not worth a section. */
static bool is_choice(const json_t *list) {
    return json_array_size(list) > 1;
}

/* What the order of the candidates means depends on the rule that chose the number. */
static const char *explain_choice(const report_run *run) {
    static const char by_gap[] =
        "Candidates for the number of clusters, best first: relative eigengaps of at least 0.8 "
        "from the largest number down, then the others by decreasing gap. Small components (a few "
        "points apart from all others) are clusters of their own, but are not taken as evidence "
        "for a number of clusters.";
    static const char by_modularity[] =
        "The relative eigengaps do not decide, so the number was chosen by the modularity Q of "
        "refined labels: the smallest number with nearly the largest Q. It is a suggestion; the "
        "next best numbers are worth a look.";
    const json_t *best = json_array_get(json_object_get(run->info, "choice"), 0);
    if (strcmp(text_of(run->info, "chosen_by"), "modularity") == 0)
        return by_modularity;
    return json_object_get(best, "relative_gap") != NULL
               ? by_gap
               : "Candidates for the number of clusters, best first.";
}

/* The charts are shown once: with the candidates if there are any. */
static void add_counts(report_run *run) {
    const json_t *n_clusters = json_object_get(run->info, "n_clusters");
    const json_t *choice = json_object_get(run->info, "choice");
    const json_t *range = json_object_get(run->info, "range");
    if (is_choice(choice)) {
        report_section *section = page_section(
            run->page, "choice", "Choice of the number of clusters", explain_choice(run));
        add_numbers(section, run);
        page_add(section, "table", objects_table(choice, n_clusters));
    }
    if (is_choice(range)) {
        report_section *section =
            page_section(run->page, "range", "Numbers of clusters tried",
                         "One row per number of clusters, with scores that use no labels.");
        if (!is_choice(choice))
            add_numbers(section, run);
        page_add(section, "table", objects_table(range, n_clusters));
    }
}

/* "3", "3 and 5", "3, 5 and 8" */
static void list_numbers(const json_t *numbers, char *text, size_t size) {
    size_t n = json_array_size(numbers);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        append_text(text, size, "%s%lld",
                    i == 0      ? ""
                    : i + 1 < n ? ", "
                                : " and ",
                    (long long)json_integer_value(json_array_get(numbers, i)));
}

/* By which score the preparations were compared, and at which numbers of clusters: all of a range,
 * or those that were likely. */
static void explain_preparations(const json_t *prepare, char *text, size_t size) {
    const json_t *clusters = json_object_get(prepare, "tried_clusters");
    const char *score = text_of(prepare, "score");
    const char *how = json_array_size(clusters) > 1 ? "averaged over " : "each with ";
    const char *what = "clustering has the largest modularity";
    char numbers[128];
    list_numbers(clusters, numbers, sizeof numbers);
    if (strcmp(score, "divergence") == 0)
        what = "refined clustering has the largest divergence J";
    else if (strcmp(score, "largest modularity") == 0) {
        what = "refined clusterings reach the largest modularity Q";
        how = "with anything from ";
        snprintf(
            numbers, sizeof numbers, "%lld to %lld",
            (long long)json_integer_value(json_array_get(clusters, 0)),
            (long long)json_integer_value(json_array_get(clusters, json_array_size(clusters) - 1)));
    }
    snprintf(text, size,
             "The preparation was chosen without labels: the one whose %s on its own graph, %s%s "
             "clusters.",
             what, how, numbers);
}

static void add_preparations(report_run *run) {
    const json_t *prepare = json_object_get(run->info, "prepare");
    const json_t *tried = json_object_get(prepare, "tried");
    char lead[512];
    if (!is_choice(tried))
        return;
    explain_preparations(prepare, lead, sizeof lead);
    page_add(page_section(run->page, "prepare", "Preparations tried", lead), "table",
             objects_table(tried, json_object_get(prepare, "rule")));
}

/* Each table is left out if there was nothing to choose. */
void report_add_trials(report_run *run) {
    add_counts(run);
    add_preparations(run);
}
