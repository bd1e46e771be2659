/* Reading results: numbers of records, points of grids, the oracle. */
#include "experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number with six digits, any other text as it is: 13.333333333333334 would not fit a table. */
static void shorten_value(const char *text, char *out, size_t size) {
    char *end;
    double number = strtod(text, &end);
    if (end != text && *end == '\0')
        snprintf(out, size, "%.6g", number);
    else
        snprintf(out, size, "%s", text);
}

/* Only what the grid varies is shown; the rest is the same for all cells of the entry. */
void cell_grid_text(const experiment *e, const experiment_cell *cell, char *text, size_t size) {
    const json_t *entry = experiment_entry(e, cell->entry);
    const char *name;
    json_t *values;
    char value[64];
    text[0] = '\0';
    json_object_foreach(json_object_get(entry, "grid"), name, values) {
        shorten_value(text_of(cell->settings, name), value, sizeof value);
        append_text(text, size, "%s%s %s", text[0] == '\0' ? "" : ", ", name, value);
    }
}

/* The averages over the seeds. Cells without a result are left out, of the count too; the cell
 * returned is that of the first seed, for its settings. */
grid_result grid_point(const experiment *e, int data, int entry, int point, const char *metric) {
    grid_result result = {.cell = NULL};
    char mean[32], std[32];
    double squares = 0, first = 0;
    int count = 0;
    /* Records contain the score of the best restart ("acc") and moments over all ("acc_mean",
     * "acc_std"). */
    snprintf(mean, sizeof mean, "%s_mean", metric);
    snprintf(std, sizeof std, "%s_std", metric);
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        if (cell->data != data || cell->entry != entry || cell->point != point ||
            !isfinite(number_of(cell->record, metric)))
            continue;
        result.cell = result.cell == NULL ? cell : result.cell;
        double score = number_of(cell->record, metric);
        first = count == 0 ? score : first; /* equal scores have no spread at all */
        squares += (score - first) * (score - first);
        result.best += score;
        result.mean += number_of(cell->record, mean);
        result.std += number_of(cell->record, std);
        count++;
    }
    result.n_seeds = count;
    if (count > 1) {
        double sum = result.best - count * first;
        result.spread = sqrt(fmax(squares - sum * sum / count, 0) / (count - 1));
    }
    result.best /= count > 0 ? count : 1;
    result.mean /= count > 0 ? count : 1;
    result.std /= count > 0 ? count : 1;
    return result;
}

/* Labels are numbered by first member, so that equal clusters have equal digests. */
bool grid_equal(const experiment *e, int data, const int entries[2], const int points[2]) {
    int n_equal = 0;
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *a = &e->cells[i];
        if (a->data != data || a->entry != entries[0] || a->point != points[0])
            continue;
        for (int j = 0; j < e->n_cells; j++) {
            const experiment_cell *b = &e->cells[j];
            if (b->data != data || b->entry != entries[1] || b->point != points[1] ||
                b->seed != a->seed)
                continue;
            const char *labels = text_of(a->record, "labels");
            if (labels[0] == '\0' || strcmp(labels, text_of(b->record, "labels")) != 0)
                return false;
            n_equal++;
        }
    }
    return n_equal > 0;
}

const char *grid_refusal(const experiment *e, int data, int entry) {
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].data == data && e->cells[i].entry == entry && e->cells[i].refusal != NULL)
            return e->cells[i].refusal;
    return NULL;
}

/* Of equal points the first is kept, so that the result does not depend on rounding in a later
 * one. */
grid_result grid_oracle(const experiment *e, int data, int entry, const char *metric) {
    grid_result best = {.cell = NULL};
    for (int p = 0; p < experiment_grid_size(e, entry); p++) {
        grid_result point = grid_point(e, data, entry, p, metric);
        if (point.cell != NULL && (best.cell == NULL || point.best > best.best))
            best = point;
    }
    return best;
}
