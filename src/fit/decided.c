/* What was decided about the points without asking the user, and why: whether x is a table of
 * columns in different units (a member of the prepared points), and whether the labels are those of
 * the graph or of K-means (a member of the refinement). */
#include "fit/fit.h"

#include "base/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

/* Tables of the texts, so that no others can be loaded. */
static const char *const kinds[] = {"units", "categories", NULL};
static const char *const reasons[] = {"cut", "stability", "divergence", "commute", NULL};

void hd_fit_walk_table(hd_walk *walk, hd_fit_table *table) {
    hd_walk_choice(walk, "table_kind", kinds, &table->kind);
    hd_walk_int(walk, "table_n_columns", &table->n_columns);
    hd_walk_int(walk, "table_n_categories", &table->n_categories);
    hd_walk_real(walk, "table_n_effective", &table->n_effective);
    hd_walk_bool(walk, "table_is_scaled", &table->is_scaled);
}

/* Of the scores only those that are shown. */
void hd_fit_walk_decision(hd_walk *walk, hd_fit_decision *decision) {
    hd_walk_choice(walk, "decision_reason", reasons, &decision->reason);
    hd_walk_real(walk, "decision_kmeans_divergence", &decision->kmeans.divergence);
    hd_walk_real(walk, "decision_kmeans_ncut", &decision->kmeans.ncut);
    hd_walk_real(walk, "decision_graph_divergence", &decision->graph.divergence);
    hd_walk_real(walk, "decision_graph_ncut", &decision->graph.ncut);
    hd_walk_real(walk, "decision_kmeans_stability", &decision->stability[HD_FIT_KMEANS]);
    hd_walk_real(walk, "decision_graph_stability", &decision->stability[HD_FIT_GRAPH]);
    hd_walk_real(walk, "decision_commute_stability", &decision->stability[HD_FIT_COMMUTE]);
    hd_walk_real(walk, "decision_seconds", &decision->seconds);
}

/* Labels other than those of the graph come from a decision. */
static bool reason_fits(const hd_fit_refined *refined) {
    const char *reason = refined->decision.reason;
    if (!refined->present)
        return reason == NULL;
    if (strcmp(refined->from, "graph") == 0)
        return reason == NULL || strcmp(reason, "commute") != 0;
    return reason != NULL &&
           (strcmp(refined->from, "commute") == 0) == (strcmp(reason, "commute") == 0);
}

huddle_status hd_fit_decision_fits(const hd_fit *fit) {
    const char *reason = fit->refined.decision.reason;
    if (reason_fits(&fit->refined))
        return HUDDLE_OK;
    return hd_fail(
        HUDDLE_FORMAT,
        "the model file is damaged: decision_reason = %s does not agree with the rest of it",
        reason != NULL ? reason : "null");
}

/* ---- text ---------------------------------------------------------------------------------- */

/* A text that grows in a place of fixed size. */
typedef struct sentence {
    char *text;
    size_t size, used;
} sentence;

__attribute__((format(printf, 2, 3))) static void add(sentence *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(s->text + s->used, s->size - s->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        s->used += (size_t)length < s->size - s->used ? (size_t)length : s->size - s->used - 1;
}

/* Two numbers with two decimals, or with as many more as distinguish them. */
static void add_pair(sentence *s, const char *name, double a, double b) {
    int digits = 2;
    for (double unit = 100; digits < 4 && a != b && round(a * unit) == round(b * unit); unit *= 10)
        digits++;
    add(s, " (%s%.*f, %.*f)", name, digits, a, digits, b);
}

static void describe_table(const hd_fit_table *table, sentence *s) {
    long long columns = (long long)table->n_columns, categories = (long long)table->n_categories;
    if (strcmp(table->kind, "units") == 0)
        add(s, "%lld columns of different units", columns);
    else
        add(s, "%lld of %lld columns are categories", categories, columns);
    if (table->is_scaled)
        add(s, ": standardised and limited to 2 standard deviations");
}

static void describe_choice(const hd_fit_refined *refined, sentence *s) {
    const hd_fit_decision *d = &refined->decision;
    double kmeans = d->stability[HD_FIT_KMEANS], graph = d->stability[HD_FIT_GRAPH];
    if (strcmp(d->reason, "cut") == 0 && d->graph.ncut == 0) {
        add(s, "the graph has no edges between its clusters: its labels are used");
    } else if (strcmp(d->reason, "cut") == 0) {
        add(s, "the labels of the graph are clearly better than those of K-means");
        add_pair(s, "normalised cut ", d->graph.ncut, d->kmeans.ncut);
    } else if (strcmp(d->reason, "commute") == 0) {
        add(s, "neither K-means nor the graph is stable");
        add_pair(s, "", kmeans, graph);
        add(s, ": the labels of commute rows (%.2f) are used", d->stability[HD_FIT_COMMUTE]);
    } else if (strcmp(d->reason, "divergence") == 0) {
        add(s, "K-means has the larger divergence on the graph");
        add_pair(s, "J ", d->kmeans.divergence, d->graph.divergence);
        add(s, " and is about as stable");
        add_pair(s, "", kmeans, graph);
        add(s, ": its labels are used");
    } else if (strcmp(refined->from, "kmeans") == 0) {
        add(s, "K-means is more stable than the graph");
        add_pair(s, "", kmeans, graph);
        add(s, ": its labels are used");
    } else {
        add(s, "K-means is not more stable than the graph");
        add_pair(s, "", kmeans, graph);
        add(s, ": the labels of the graph are used");
    }
}

void hd_fit_describe_decision(const hd_fit *fit, char *text, size_t size) {
    sentence s = {text, size, 0};
    const hd_fit_table *table = &fit->prepared.table;
    bool chosen = fit->refined.present && fit->refined.decision.reason != NULL;
    text[0] = '\0';
    /* A table that changed nothing is not mentioned. */
    if (table->kind != NULL && (table->is_scaled || chosen))
        describe_table(table, &s);
    if (chosen) {
        add(&s, "%s", s.used > 0 ? "; " : "");
        describe_choice(&fit->refined, &s);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

void hd_fit_write_table(const hd_fit_table *table, hd_json_writer *json) {
    if (!table->is_scaled)
        return;
    hd_json_set_object(json, "table");
    hd_json_set_string(json, "kind", table->kind);
    hd_json_set_integer(json, "n_columns", table->n_columns);
    hd_json_set_integer(json, "n_categories", table->n_categories);
    hd_json_set_real(json, "n_effective", table->n_effective);
    hd_json_close_object(json);
}

void hd_fit_write_decision(const hd_fit_decision *decision, hd_json_writer *json) {
    static const char *const names[] = {
        [HD_FIT_KMEANS] = "kmeans", [HD_FIT_GRAPH] = "graph", [HD_FIT_COMMUTE] = "commute"};
    const huddle_graph_scores *scores[] = {&decision->kmeans, &decision->graph};
    if (decision->reason == NULL)
        return;
    hd_json_set_object(json, "decision");
    hd_json_set_string(json, "reason", decision->reason);
    for (int k = 0; k < HD_FIT_LABELLINGS; k++) {
        hd_json_set_object(json, names[k]);
        if (k != HD_FIT_COMMUTE) {
            hd_json_set_real(json, "divergence", scores[k]->divergence);
            hd_json_set_real(json, "ncut", scores[k]->ncut);
        }
        hd_json_set_real(json, "stability", decision->stability[k]);
        hd_json_close_object(json);
    }
    hd_json_set_real(json, "seconds", decision->seconds);
    hd_json_close_object(json);
}
