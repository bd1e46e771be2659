/* huddle cluster --report: the page of a clustering. */
#include "arrays.h"
#include "output.h"
#include "report_run.h"
#include "talk.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the page is made from. */
typedef struct cluster_page {
    report_run run;
    json_t *report; /* as --json prints it */
    json_t *page;
    huddle_confusion confusion;
    bool has_confusion;
    huddle_array f, g, w; /* of type HUDDLE_ARRAY_NONE if the method has none */
} cluster_page;

static huddle_array find_array(const fitting *fit, const char *name) {
    huddle_array array = {0};
    const char *const *names = huddle_model_arrays(fit->model);
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            (void)huddle_model_array(fit->model, name, &array);
    return array;
}

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- what was done ------------------------------------------------------------------------ */

static const char *method_title(const char *name) {
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        if (strcmp((*method)->name, name) == 0)
            return (*method)->title;
    return name;
}

static void add_summary(cluster_page *p) {
    json_t *section = page_section(p->page, "summary", "", NULL);
    const char *method = huddle_model_method(p->run.fit->model);
    page_add(section, "summary",
             json_pack("{s:O, s:s}", "report", p->report, "method_title", method_title(method)));
    json_t *warnings = json_object_get(p->report, "warnings");
    if (json_array_size(warnings) > 0)
        page_add(section, "warnings", json_pack("{s:O}", "warnings", warnings));
}

/* ---- clusters ----------------------------------------------------------------------------- */

/* Where the confusion table has this cluster, or -1. */
static int64_t column_of(const cluster_page *p, int32_t cluster) {
    for (int64_t j = 0; p->has_confusion && j < p->confusion.n_clusters; j++)
        if (p->confusion.clusters[j] == cluster)
            return j;
    return -1;
}

/* The most frequent class of a cluster. */
static void add_class(const cluster_page *p, int32_t cluster, json_t *row) {
    const huddle_confusion *table = &p->confusion;
    int64_t j = column_of(p, cluster), total = 0, best = 0;
    if (j < 0)
        return;
    for (int64_t i = 0; i < table->n_classes; i++) {
        int64_t count = table->counts[i * table->n_clusters + j];
        total += count;
        best = count > table->counts[best * table->n_clusters + j] ? i : best;
    }
    int64_t hits = table->counts[best * table->n_clusters + j];
    json_object_set_new(row, "class", text_json(p->run.fit->data.classes[table->classes[best]]));
    json_object_set_new(row, "share", page_real((double)hits / (double)total));
}

static void add_clusters(cluster_page *p) {
    json_t *rows = json_array(), *sizes = json_object_get(p->report, "sizes");
    json_t *medoids = json_object_get(p->report, "medoids");
    for (int32_t k = 0; k < p->run.n_clusters; k++) {
        json_t *row =
            json_pack("{s:i, s:O, s:O}", "cluster", k, "size", json_array_get(sizes, (size_t)k),
                      "medoid", json_array_get(medoids, (size_t)k));
        add_class(p, k, row);
        json_array_append_new(rows, row);
    }
    page_add(page_section(p->page, "clusters", "Clusters", NULL), "clusters",
             json_pack("{s:o, s:b, s:b, s:b}", "rows", rows, "classes", p->has_confusion, "images",
                       has_images(&p->run), "fused", p->g.type != HUDDLE_ARRAY_NONE));
}

/* Columns in the order of the classes they are mapped to, then those that are mapped to none. */
static int64_t *matched_order(const huddle_confusion *table) {
    int64_t count = 0, *order = must(calloc((size_t)table->n_clusters + 1, sizeof *order));
    for (int64_t i = 0; i <= table->n_classes; i++)
        for (int64_t j = 0; j < table->n_clusters; j++)
            if (table->match[j] == (i < table->n_classes ? i : -1))
                order[count++] = j;
    return order;
}

static void add_confusion(cluster_page *p) {
    enum { MOST = 120 };
    const huddle_confusion *table = &p->confusion;
    if (!p->has_confusion || table->n_classes > MOST || table->n_clusters > MOST)
        return;
    json_t *classes = json_array(), *clusters = json_array(), *rows = json_array();
    int64_t *order = matched_order(table);
    for (int64_t j = 0; j < table->n_clusters; j++)
        json_array_append_new(clusters, json_integer(table->clusters[order[j]]));
    for (int64_t i = 0; i < table->n_classes; i++) {
        json_t *row = json_array();
        json_array_append_new(classes, text_json(p->run.fit->data.classes[table->classes[i]]));
        for (int64_t j = 0; j < table->n_clusters; j++)
            json_array_append_new(
                row, json_integer((json_int_t)table->counts[i * table->n_clusters + order[j]]));
        json_array_append_new(rows, row);
    }
    free(order);
    page_add(
        page_section(p->page, "confusion", "Clusters against classes", NULL), "confusion",
        json_pack("{s:o, s:o, s:o}", "classes", classes, "clusters", clusters, "counts", rows));
}

static void add_sheet(cluster_page *p) {
    if (!has_images(&p->run))
        return;
    json_t *section = page_section(p->page, "images", "Images of each cluster", NULL);
    page_add(section, "sheet",
             sheet_json(&p->run, json_object_get(p->report, "medoids"),
                        p->has_confusion ? &p->confusion : NULL));
}

/* ---- pictures ----------------------------------------------------------------------------- */

static void append_view(json_t *views, json_t *view) {
    if (view != NULL)
        json_array_append_new(views, view);
    else
        note("the page lacks a view: %s", huddle_last_error());
}

static void add_views(cluster_page *p) {
    report_run *run = &p->run;
    json_t *views = json_array();
    huddle_array x = find_array(run->fit, "points");
    huddle_points prepared = array_points(&x);
    const huddle_points *given = fitting_points(run->fit);
    const json_t *rule = json_object_get(json_object_get(p->report, "prepare"), "rule");
    bool is_raw = json_is_string(rule) && strcmp(json_string_value(rule), "none") == 0;
    if (x.type == HUDDLE_ARRAY_F32)
        append_view(views, view_json(run, "X", is_raw ? "Points" : "Points, prepared", &prepared));
    else if (given != NULL)
        append_view(views, view_json(run, "X", "Points", given));
    if (p->f.type == HUDDLE_ARRAY_F64) {
        huddle_dense rows = array_dense(&p->f);
        append_view(views, dense_view_json(run, "F", "Spectral embedding", &rows));
    }
    if (p->g.type == HUDDLE_ARRAY_F64) {
        huddle_dense rows = array_dense(&p->g);
        append_view(views, dense_view_json(run, "G", "Shrunk embedding", &rows));
    }
    if (json_array_size(views) > 0)
        page_add(page_section(p->page, "views", "Views of the points", NULL), "views",
                 json_pack("{s:O}", "views", views));
    json_decref(views);
}

static json_t *history(const huddle_array *array) {
    json_t *values = json_array();
    const double *numbers = array->values;
    for (int64_t i = 0; i < array->rows; i++)
        json_array_append_new(values, page_real(numbers[i * array->stride]));
    return values;
}

static void add_convergence(cluster_page *p) {
    huddle_array objective = find_array(p->run.fit, "objective");
    huddle_array dual = find_array(p->run.fit, "dual");
    if (objective.type != HUDDLE_ARRAY_F64 || dual.type != HUDDLE_ARRAY_F64 || objective.rows < 2)
        return;
    page_add(page_section(p->page, "convergence", "Convergence of the shrinking", NULL),
             "convergence",
             json_pack("{s:o, s:o, s:o}", "objective", history(&objective), "dual", history(&dual),
                       "target", page_real(number(json_object_get(p->report, "options"), "gap"))));
}

static void add_spectrum(cluster_page *p) {
    const json_t *embed = json_object_get(p->report, "embed");
    json_t *values = json_object_get(embed, "eigenvalues");
    if (json_array_size(values) < 2)
        return;
    page_add(page_section(p->page, "spectrum", "Spectrum", NULL), "spectrum",
             json_pack("{s:O, s:O*, s:O*, s:i}", "eigenvalues", values, "relative_gaps",
                       json_object_get(embed, "relative_gaps"), "choice",
                       json_object_get(p->report, "choice"), "n_clusters", p->run.n_clusters));
}

/* ---- the path of gamma -------------------------------------------------------------------- */

/* Levels to follow; fewer where each takes long. */
enum { LEVELS = 24, FEW_LEVELS = 12, MANY_POINTS = 20000 };

/* Evenly spaced in log gamma between both ends, with the one used among them; the count. */
static int32_t page_gammas(double low, double high, double used, int32_t levels, double *gammas) {
    int32_t count = 0;
    bool placed = !(used > 0);
    if (used > 0) {
        low = fmin(low, used);
        high = fmax(high, used);
    }
    for (int32_t i = 0; i < levels; i++) {
        double gamma = low * pow(high / low, (double)i / (levels - 1));
        if (!placed && gamma >= used * (1 - 1e-9)) {
            gammas[count++] = used;
            placed = true;
            if (gamma <= used * (1 + 1e-9))
                continue;
        }
        gammas[count++] = gamma;
    }
    return count;
}

static huddle_status follow_path(const cluster_page *p, double used, huddle_path *path) {
    const fitting *fit = p->run.fit;
    huddle_dense f = array_dense(&p->f);
    huddle_csr w = array_csr(&p->w);
    huddle_path_options options = huddle_path_defaults();
    const json_t *loss = json_object_get(json_object_get(p->report, "shrink"), "loss");
    double gammas[LEVELS + 1], low = 0, high = 0, mean = (double)f.rows / (double)f.cols;
    if (json_is_string(loss))
        options.shrink.loss = json_string_value(loss);
    options.shrink.gap = 1e-3; /* enough for a picture */
    options.shrink.n_clusters = p->run.n_clusters;
    options.keep_shrunk = true;
    huddle_status status =
        huddle_shrink_ends(fit->context, &f, &w, options.shrink.loss, &low, &high);
    if (status != HUDDLE_OK || !(high > 0) || !isfinite(low))
        return status;
    high = fmin(high, 1e3 * mean);
    low = low > 0 ? fmin(low, high / 10) : 1e-4 * high;
    options.n_gamma =
        page_gammas(low, high, used, f.rows > MANY_POINTS ? FEW_LEVELS : LEVELS, gammas);
    options.gammas = gammas;
    return huddle_shrink_path(fit->context, &f, &w, &options, path);
}

/* Keeping G of every level must not take the memory of the machine. */
static bool path_fits(const cluster_page *p) {
    const double most = 1e9;
    return (double)p->f.rows * (double)p->f.cols * (LEVELS + 1) * sizeof(double) < most;
}

static int add_path(cluster_page *p) {
    static const char lead[] =
        "Shrinking has one parameter, gamma. Below gamma_fit no point moves at all; as gamma "
        "grows, "
        "points of G flow together and fuse into groups; from the collapse on, each component of "
        "the graph is a single point.";
    double used = number(json_object_get(p->report, "shrink"), "gamma");
    if (p->f.type != HUDDLE_ARRAY_F64 || p->w.type != HUDDLE_ARRAY_CSR)
        return EXIT_DONE;
    if (!path_fits(p)) {
        note("the page shows no path of gamma: too large to keep");
        return EXIT_DONE;
    }
    huddle_path path = {0};
    huddle_status status = follow_path(p, used, &path);
    json_t *block = NULL;
    if (status == HUDDLE_OK && path.n_levels > 1)
        block = path_json(&p->run, &path, used, "gamma of this run");
    if (block != NULL)
        page_add(page_section(p->page, "path", "The path of gamma", lead), "path", block);
    huddle_path_free(&path);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, p->run.fit->source);
}

/* ---- tables of what was tried -------------------------------------------------------------- */

/* An array of objects with the same members as a table; the row that begins with `chosen` is
 * marked. */
static json_t *objects_table(json_t *list, const json_t *chosen) {
    int marked = -1;
    json_t *columns = json_array(), *rows = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(json_array_get(list, 0), name, value) {
        char label[64];
        snprintf(label, sizeof label, "%s", strcmp(name, "n_clusters") == 0 ? "clusters" : name);
        for (char *c = label; (c = strchr(c, '_')) != NULL;)
            *c = ' ';
        json_array_append_new(columns, json_pack("{s:s}", "label", label));
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = json_array();
        json_object_foreach(json_array_get(list, i), name, value) {
            json_array_append(row, value);
        }
        if (json_equal(json_array_get(row, 0), chosen))
            marked = (int)i;
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o, s:o, s:i}", "columns", columns, "rows", rows, "marked", marked);
}

static void add_trials(cluster_page *p, json_t *list, const json_t *chosen, const char *id,
                       const char *title, const char *lead) {
    if (json_array_size(list) > 1)
        page_add(page_section(p->page, id, title, lead), "table", objects_table(list, chosen));
}

static void add_candidates(cluster_page *p, const json_t *n_clusters) {
    static const char by_gap[] =
        "Candidates for the number of clusters, best first: clear relative eigengaps (0.8 and "
        "more) from the largest number down, then the others by their gap. Specks are groups of a "
        "few points away from all others: clusters of their own, but no evidence for a number.";
    json_t *choice = json_object_get(p->report, "choice");
    bool gaps = json_object_get(json_array_get(choice, 0), "relative_gap") != NULL;
    add_trials(p, choice, n_clusters, "choice", "Choice of the number",
               gaps ? by_gap : "Candidates for the number of clusters, best first.");
}

static void add_preparations(cluster_page *p) {
    const json_t *prepare = json_object_get(p->report, "prepare");
    const json_t *clusters = json_object_get(prepare, "tried_clusters");
    size_t n = json_array_size(clusters);
    char lead[512] = "The preparation was chosen without labels: the one whose clustering has the "
                     "largest modularity on its own graph, ";
    append_text(lead, sizeof lead, "%s", n > 1 ? "the mean over " : "all judged at ");
    for (size_t i = 0; i < n; i++)
        append_text(lead, sizeof lead, "%s%lld",
                    i == 0      ? ""
                    : i + 1 < n ? ", "
                                : " and ",
                    (long long)json_integer_value(json_array_get(clusters, i)));
    append_text(lead, sizeof lead, " clusters.");
    add_trials(p, json_object_get(prepare, "tried"), json_object_get(prepare, "rule"), "prepare",
               "Preparations tried", lead);
}

static void add_choices(cluster_page *p) {
    const json_t *n_clusters = json_object_get(p->report, "n_clusters");
    add_trials(p, json_object_get(p->report, "range"), n_clusters, "range",
               "Numbers of clusters tried",
               "Each row is a clustering into so many clusters, judged without labels.");
    add_candidates(p, n_clusters);
    add_preparations(p);
}

/* ---- the page ----------------------------------------------------------------------------- */

static int find_confusion(cluster_page *p) {
    const huddle_data *data = &p->run.fit->data;
    if (data->labels == NULL)
        return EXIT_DONE;
    huddle_status status =
        huddle_metrics_confusion(p->run.n, data->labels, p->run.labels, &p->confusion);
    p->has_confusion = status == HUDDLE_OK;
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, p->run.fit->source);
}

static int fill_page(cluster_page *p) {
    int result = find_confusion(p);
    if (result != EXIT_DONE)
        return result;
    page_share(p->page, "points", points_json(&p->run));
    add_summary(p);
    add_clusters(p);
    add_views(p);
    result = add_path(p);
    add_sheet(p);
    add_confusion(p);
    add_spectrum(p);
    add_convergence(p);
    add_choices(p);
    add_repeat(p->page, p->run.fit, p->report);
    return result;
}

int report_cluster(const fitting *fit, const char *file) {
    cluster_page p = {.run = {.fit = fit}, .report = fitting_report(fit)};
    if (p.report == NULL)
        return EXIT_FAILED;
    p.run.labels = huddle_model_labels(fit->model, &p.run.n);
    p.run.n_clusters = (int32_t)json_integer_value(json_object_get(p.report, "n_clusters"));
    p.f = find_array(fit, "embedding");
    p.g = find_array(fit, "shrunk");
    p.w = find_array(fit, "shrink_graph");
    p.page = page_new(fit->source, "clustering");
    run_sample(&p.run);
    int result = fill_page(&p);
    if (result == EXIT_DONE)
        result = talk_cancelled() ? failed("cancelled") : page_write(p.page, file);
    if (p.has_confusion)
        huddle_confusion_free(&p.confusion);
    run_free(&p.run);
    json_decref(p.page);
    json_decref(p.report);
    return result;
}
