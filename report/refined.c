/* The section about the refinement of the labels on the graph: which start the labels come from,
 * and the scores of all. */
#include "report/run.h"

#include <stdio.h>
#include <string.h>

/* The columns of the table: members of a trial, with the letters of docs/method.md. */
static const struct {
    const char *member, *label, *title;
} columns[] = {
    {"name", "start", "where the moves began"},
    {"map", "L", "two-level map equation, the smaller the better"},
    {"divergence", "J",
     "divergence of the share of weight inside clusters from that of a random graph, the larger "
     "the better"},
    {"information", "MI",
     "mutual information of the clusters of the two ends of an edge, the larger the better"},
    {"modularity", "Q", "modularity, the larger the better"},
    {"ncut", "ncut", "normalised cut, the smaller the better"},
    {"n_sweeps", "sweeps", "passes over all vertices"},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Names of starts in words; a name that is not listed is shown as it is. */
const char *report_start_text(const char *name) {
    static const char *const texts[][2] = {
        {"shrunk", "K-means on the shrunk embedding G"},
        {"embedding", "K-means on the embedding F"},
        {"rotation", "the rotated eigenvectors"},
        {"commute", "K-means on commute rows"},
        {"sum", "merging of single points"},
        {"levels1", "merging in levels, resolution 1"},
        {"levels2", "merging in levels, resolution 2"},
        {"levelsT", "merging in levels, resolution of the partition"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    return name;
}

static json_t *trial_row(const json_t *trial) {
    json_t *row = json_array();
    page_append(row, json_string(report_start_text(text_of(trial, "name"))));
    for (size_t j = 1; j < N_COLUMNS; j++)
        page_append(row, page_real(number_of(trial, columns[j].member)));
    page_append(row, json_string(json_is_true(json_object_get(trial, "allowed")) ? "yes" : "no"));
    return row;
}

/* One row per start, the best marked. */
static json_t *trials_table(const json_t *trials, const char *best) {
    json_t *heads = json_array(), *rows = json_array();
    int marked = -1;
    for (size_t j = 0; j < N_COLUMNS; j++)
        page_append(heads,
                    json_pack("{s:s, s:s}", "label", columns[j].label, "title", columns[j].title));
    page_append(heads, json_pack("{s:s, s:s}", "label", "allowed", "title",
                                 "may take the place of the method's own labels"));
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        if (marked < 0 && best != NULL && strcmp(text_of(trial, "name"), best) == 0)
            marked = (int)i;
        page_append(rows, trial_row(trial));
    }
    return json_pack("{s:o, s:o, s:i, s:s}", "columns", heads, "rows", rows, "marked", marked,
                     "caption",
                     "The first start is the method's own labels. Another one may take its place "
                     "only if it lowers L clearly and cuts hardly more.");
}

/* Whether other labels took the place of the refined ones. */
static bool is_replaced(const char *from) {
    return from[0] != '\0' && strcmp(from, "graph") != 0;
}

/* Where the labels come from in the end: for tables, K-means may have been found better than the
 * graph. */
static void describe_source(const report_run *run, const json_t *refine, char *text, size_t size) {
    const char *from = text_of(refine, "from");
    double changed = number_of(refine, "n_changed");
    if (is_replaced(from))
        snprintf(text, size,
                 "The labels come from K-means on %s, not from any of the refined starts.",
                 strcmp(from, "kmeans") == 0 ? "the points" : "commute rows");
    else
        snprintf(text, size,
                 "The labels come from %s; %.0f of %lld differ from those of the method itself.%s",
                 report_start_text(text_of(refine, "start")), changed > 0 ? changed : 0,
                 (long long)run->n,
                 run->shrunk.type == HUDDLE_ARRAY_NONE
                     ? ""
                     : " The certificate is about the shrink step, not about these labels.");
}

/* Nothing if the method did not refine. */
void report_add_refinement(report_run *run) {
    const json_t *refine = json_object_get(run->info, "refine");
    const json_t *trials = json_object_get(refine, "trials");
    char source[384], lead[768];
    if (json_array_size(trials) == 0)
        return;
    describe_source(run, refine, source, sizeof source);
    snprintf(lead, sizeof lead,
             "Single points were moved to the clusters of their neighbours in the graph while that "
             "lowered the map equation, from each of the starts below. %s",
             source);
    page_add(page_section(run->page, "refinement", "Refinement on the graph", lead), "table",
             trials_table(trials,
                          is_replaced(text_of(refine, "from")) ? NULL : text_of(refine, "start")));
}
