/* Sections of a clustering that show its numbers: summary, clusters, confusion table, spectrum and
 * convergence. */
#include "report/run.h"

#include <stdlib.h>

/* ---- summary ------------------------------------------------------------------------------ */

/* Consumed by blocks.warnings of report/page/30-blocks.js. */
void report_add_warnings(const report_run *run, report_section *section) {
    json_t *warnings = json_object_get(run->info, "warnings");
    if (json_array_size(warnings) > 0)
        page_add(section, "warnings", json_pack("{s:O}", "warnings", warnings));
}

/* The page's first section, without a title. blocks.summary (60-cluster.js) chooses the facts
 * to show from the whole info, so that the choice can change without this library. */
void report_add_summary(report_run *run) {
    report_section *section = page_section(run->page, "summary", "", NULL);
    const char *start = text_of(json_object_get(run->info, "refine"), "start");
    json_t *block =
        json_pack("{s:O, s:s}", "report", run->info, "method_title", report_method_title(run));
    if (start[0] != '\0')
        page_set(block, "start", json_string(report_start_text(start)));
    page_add(section, "summary", block);
    report_add_warnings(run, section);
}

/* ---- clusters ----------------------------------------------------------------------------- */

int64_t report_main_class(const report_run *run, int32_t cluster, int64_t *hits, int64_t *total) {
    const huddle_confusion *table = &run->confusion;
    int64_t j = 0, best = 0;
    *hits = *total = 0;
    while (j < table->n_clusters && table->clusters[j] != cluster)
        j++;
    if (j == table->n_clusters)
        return -1;
    for (int64_t i = 0; i < table->n_classes; i++) {
        int64_t count = table->counts[i * table->n_clusters + j];
        *total += count;
        best = count > table->counts[best * table->n_clusters + j] ? i : best;
    }
    *hits = table->counts[best * table->n_clusters + j];
    return best;
}

/* Adds the most frequent class of a cluster, by name and number, and its share. A cluster without
 * points has neither. */
static void add_main_class(const report_run *run, int32_t cluster, json_t *row) {
    int64_t hits = 0, total = 0, best = report_main_class(run, cluster, &hits, &total);
    if (best < 0)
        return;
    int32_t class = run->confusion.classes[best];
    page_set(row, "class", report_class_name(run, class));
    page_set(row, "class_number", json_integer(class));
    page_set(row, "share", page_real((double)hits / (double)total));
}

/* One row per cluster for blocks.clusters (60-cluster.js). The three booleans decide about the
 * columns of the table and the wording of its caption. */
void report_add_clusters(report_run *run) {
    json_t *rows = json_array(), *sizes = json_object_get(run->info, "sizes");
    json_t *medoids = json_object_get(run->info, "medoids");
    for (int32_t k = 0; k < run->n_clusters; k++) {
        json_t *medoid = json_array_get(medoids, (size_t)k);
        json_t *row =
            json_pack("{s:i, s:O, s:o}", "cluster", k, "size", json_array_get(sizes, (size_t)k),
                      "medoid", medoid == NULL ? json_null() : json_incref(medoid));
        add_main_class(run, k, row);
        page_append(rows, row);
    }
    page_add(page_section(run->page, "clusters", "Clusters", NULL), "clusters",
             json_pack("{s:o, s:b, s:b, s:b}", "rows", rows, "classes",
                       run->confusion.n_classes > 0, "images", report_has_images(run), "fused",
                       run->shrunk.type != HUDDLE_ARRAY_NONE));
}

/* ---- confusion ---------------------------------------------------------------------------- */

/* counts[i][j]: points of class i in cluster `clusters[j]`. blocks.confusion shades each cell
 * by its share of the row. */
static json_t *confusion_json(const report_run *run) {
    const huddle_confusion *table = &run->confusion;
    int64_t *order = matched_order(table);
    if (order == NULL)
        return NULL;
    json_t *classes = json_array(), *clusters = json_array(), *rows = json_array();
    for (int64_t j = 0; j < table->n_clusters; j++)
        page_append(clusters, json_integer(table->clusters[order[j]]));
    for (int64_t i = 0; i < table->n_classes; i++) {
        json_t *row = json_array();
        page_append(classes, report_class_name(run, table->classes[i]));
        for (int64_t j = 0; j < table->n_clusters; j++)
            page_append(row,
                        json_integer((json_int_t)table->counts[i * table->n_clusters + order[j]]));
        page_append(rows, row);
    }
    free(order);
    return json_pack("{s:o, s:o, s:o}", "classes", classes, "clusters", clusters, "counts", rows);
}

/* Needs classes; without them the table is empty. */
void report_add_confusion(report_run *run) {
    enum { MAX_SIDE = 120 }; /* a larger table cannot be read */
    const huddle_confusion *table = &run->confusion;
    if (table->n_classes > 0 && table->n_classes <= MAX_SIDE && table->n_clusters <= MAX_SIDE)
        page_add(page_section(run->page, "confusion", "Clusters and classes", NULL), "confusion",
                 confusion_json(run));
}

/* ---- embedding and shrinking -------------------------------------------------------------- */

/* O* leaves a member out if it is NULL: gaps and candidates exist only if the number of
 * clusters was chosen automatically. */
void report_add_spectrum(report_run *run) {
    const json_t *embed = json_object_get(run->info, "embed");
    json_t *values = json_object_get(embed, "eigenvalues");
    if (json_array_size(values) < 2)
        return;
    page_add(page_section(run->page, "spectrum", "Spectrum", NULL), "spectrum",
             json_pack("{s:O, s:O*, s:O*, s:O*, s:i}", "eigenvalues", values, "relative_gaps",
                       json_object_get(embed, "relative_gaps"), "choice",
                       json_object_get(run->info, "choice"), "chosen_by",
                       json_object_get(run->info, "chosen_by"), "n_clusters", run->n_clusters));
}

/* The page derives the gap from objective and dual and draws the target as a line. Two
 * iterations are needed for a line. */
void report_add_convergence(report_run *run) {
    huddle_array objective = report_array(run, "objective"), dual = report_array(run, "dual");
    if (objective.type != HUDDLE_ARRAY_F64 || dual.type != HUDDLE_ARRAY_F64 || objective.rows < 2)
        return;
    double target = number_of(json_object_get(run->info, "options"), "gap");
    page_add(page_section(run->page, "convergence", "Convergence of the shrink step", NULL),
             "convergence",
             json_pack("{s:o, s:o, s:o}", "objective", page_reals(&objective), "dual",
                       page_reals(&dual), "target", page_real(target)));
}
