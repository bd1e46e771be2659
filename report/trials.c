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
        page_append(columns, json_pack("{s:s}", "label", label));
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

/* Lists of numbers of clusters that have the best first have runners-up. */
typedef enum list_order { PLAIN, BY_NUMBER, BEST_FIRST } list_order;

/* The scores of three or more numbers of clusters as charts. */
static void add_numbers(report_section *section, const report_run *run, const json_t *list,
                        bool ranked) {
    enum { MAX_RUNNERS_UP = 3 };
    json_t *others = json_array();
    for (size_t i = 0; ranked && i < json_array_size(list); i++) {
        json_t *number = json_object_get(json_array_get(list, i), "n_clusters");
        if (json_integer_value(number) != run->n_clusters &&
            json_array_size(others) < MAX_RUNNERS_UP)
            page_append(others, json_incref(number));
    }
    page_add(section, "numbers",
             json_pack("{s:o, s:i, s:o}", "list", json_deep_copy(list), "n_clusters",
                       run->n_clusters, "runners_up", others));
}

/* A single trial was no choice, and is not worth a section; two numbers are no curve. */
static void add_section(report_run *run, const json_t *list, list_order order, const json_t *chosen,
                        const char *id, const char *title, const char *lead) {
    if (json_array_size(list) < 2)
        return;
    report_section *section = page_section(run->page, id, title, lead);
    if (order != PLAIN && json_array_size(list) > 2)
        add_numbers(section, run, list, order == BEST_FIRST);
    page_add(section, "table", objects_table(list, chosen));
}

/* Two rules can have chosen the number of clusters; the members of the candidates show which. */
static void add_candidates(report_run *run, const json_t *n_clusters) {
    static const char by_gap[] =
        "Candidates for the number of clusters, best first: relative eigengaps of at least 0.8 "
        "from "
        "the largest number down, then the others by decreasing gap. Small components (a few "
        "points apart from all others) are clusters of their own, but are not taken as evidence "
        "for a number of clusters.";
    const json_t *choice = json_object_get(run->info, "choice");
    bool gaps = json_object_get(json_array_get(choice, 0), "relative_gap") != NULL;
    add_section(run, choice, BEST_FIRST, n_clusters, "choice", "Choice of the number of clusters",
                gaps ? by_gap : "Candidates for the number of clusters, best first.");
}

/* "3", "3 and 5", "3, 5 and 8" */
static void list_numbers(const json_t *numbers, char *text, size_t size) {
    size_t n = json_array_size(numbers), length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%lld",
                                   i == 0      ? ""
                                   : i + 1 < n ? ", "
                                               : " and ",
                                   (long long)json_integer_value(json_array_get(numbers, i)));
}

/* With n_clusters = auto the preparations were compared at several numbers of clusters, which the
 * text lists. */
static void add_preparations(report_run *run) {
    const json_t *prepare = json_object_get(run->info, "prepare");
    const json_t *clusters = json_object_get(prepare, "tried_clusters");
    char lead[512], numbers[128];
    list_numbers(clusters, numbers, sizeof numbers);
    snprintf(lead, sizeof lead,
             "The preparation was chosen without labels: the one whose clustering has the largest "
             "modularity on its own graph, %s%s clusters.",
             json_array_size(clusters) > 1 ? "averaged over " : "each with ", numbers);
    add_section(run, json_object_get(prepare, "tried"), PLAIN, json_object_get(prepare, "rule"),
                "prepare", "Preparations tried", lead);
}

/* Each table is left out if there was nothing to choose. */
void report_add_trials(report_run *run) {
    const json_t *n_clusters = json_object_get(run->info, "n_clusters");
    add_section(run, json_object_get(run->info, "range"), BY_NUMBER, n_clusters, "range",
                "Numbers of clusters tried",
                "One row per number of clusters, with scores that use no labels.");
    add_candidates(run, n_clusters);
    add_preparations(run);
}
