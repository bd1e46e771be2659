/* Experiments with results made by hand, so that tables, pages and figures of them can be compared
 * with plain loops over the cells. Nothing is fitted. */
#ifndef HUDDLE_TESTS_UNIT_EXPERIMENT_RECORDS_H
#define HUDDLE_TESTS_UNIT_EXPERIMENT_RECORDS_H

#include "support/page_data.h"
#include "support/support.h"

#include "experiment/paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Scores in thousandths, so that one decimal of a per cent shows all of them. */
static inline double made_score(int cell, int salt) {
    return (300 + (cell * 37 + salt * 101) % 600) / 1000.0;
}

/* The record of cell `index`, as cell_fit.c makes them. No two cells have the same labels. */
static inline json_t *make_record(const experiment *e, int index) {
    static const char *const names[] = {"acc",      "acc_mean", "acc_std", "nmi",
                                        "nmi_mean", "nmi_std",  "ari",     "purity"};
    const experiment_cell *cell = &e->cells[index];
    json_t *record =
        json_pack("{s:s, s:s, s:f, s:f, s:f}", "key", cell->key, "prepare", "none", "cpu_seconds",
                  0.25, "seconds", 1.5, "gamma", strtod(text_of(cell->settings, "gamma"), NULL));
    for (int k = 0; k < 8; k++)
        json_object_set_new(record, names[k], json_real(made_score(index, k)));
    json_object_set_new(record, "labels", json_sprintf("of cell %d", index));
    return record;
}

static inline void make_records(experiment *e) {
    for (int i = 0; i < e->n_cells; i++)
        e->cells[i].record = make_record(e, i);
}

/* The mean of a number over the seeds of a grid point, by a plain loop. */
static inline double mean_of(const experiment *e, int data, int entry, int point,
                             const char *name) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        if (cell->data != data || cell->entry != entry || cell->point != point)
            continue;
        sum += json_number_value(json_object_get(cell->record, name));
        count++;
    }
    assert_true(count > 0);
    return sum / count;
}

/* The grid point with the largest mean. */
static inline int best_point(const experiment *e, int data, int entry, const char *name) {
    int best = 0;
    for (int p = 1; p < experiment_grid_size(e, entry); p++)
        if (mean_of(e, data, entry, p, name) > mean_of(e, data, entry, best, name))
            best = p;
    return best;
}

static inline double best_of(const experiment *e, int data, int entry, const char *name) {
    return mean_of(e, data, entry, best_point(e, data, entry, name), name);
}

/* A number in per cent, as tables show it. */
static inline double shown(double fraction) {
    return floor(1000 * fraction + 0.5) / 10;
}

static inline char *read_text(const char *folder, const char *name) {
    char path[512], *text = calloc(1, 4000000);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, 3999999, file)] = '\0';
    fclose(file);
    return text;
}

/* The JSON of a page; the caller releases it. */
static inline json_t *read_page_data(const char *folder) {
    char *text = read_text(folder, "index.html");
    json_t *data = parse_page(text);
    free(text);
    return data;
}

/* Block k of a section of the page. Borrowed. */
static inline const json_t *block_of(const json_t *data, const char *section, size_t k) {
    const json_t *sections = json_object_get(data, "sections");
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (strcmp(text_of(json_array_get(sections, i), "id"), section) == 0)
            return json_array_get(json_object_get(json_array_get(sections, i), "blocks"), k);
    return NULL;
}

static inline const json_t *item_of(const json_t *object, const char *name, size_t k) {
    return json_array_get(json_object_get(object, name), k);
}

/* A folder for results; the name is valid until the next call. */
static inline const char *new_folder(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

/* The published experiments on two data sets, ORL and USPS, in whose place generated points are;
 * with records, but without the traces. */
static inline void make_paper(paper *p, const char *output) {
    static const int sets[] = {2, 7};
    const paper_protocol protocol = {.n_init = 1, .n_seeds = 2, .related = true};
    *p = (paper){.e = {.output = output}, .set = {2, 7}};
    for (int k = 0; k < 2; k++)
        p->found.entry[sets[k]] = json_pack("{s:s, s:s, s:i}", "name", paper_sets[sets[k]].name,
                                            "source", "blobs", "n", 20 + k);
    assert_ok(experiment_open_plan(NULL, "paper", paper_plan(&p->found, &protocol), &p->e));
    assert_ok(experiment_list_cells(&p->e));
    make_records(&p->e);
}

#endif
