/* The cells of the tables of ACC and NMI, and the tables for people. Numbers are in per cent. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const paper_block paper_blocks[PAPER_BLOCKS] = {
    {BY_LETTER, "(a) to the letter",
     "The published grid as the paper has it: points as they are, one delta for all weights of a "
     "graph (that of the points chosen from three, but for spls and lda-sc), eigenvectors as they "
     "are, no snapping, bridges or refinement, no merging in sc and ssc, ssc by the published "
     "iteration from a random start, K-means from random rows. The labels "
     "choose the grid point."},
    {BY_ORACLE, "(b) with our choices",
     "The same grid, also without preparation and refinement, but with self-tuned weights, rows of "
     "norm 1, equal points merged, components joined where that helps, a certified solver with "
     "snapping, and K-means from k-means++. The labels choose the grid point."},
    {BY_DEFAULT, "(c) defaults, no labels",
     "No option is set and no label is used; only the number of clusters is known. Preparation of "
     "the points and refinement of the labels on the graph are part of the defaults of sc, llc and "
     "ssc: what ssc gains is not due to the shrinking alone. The paper's numbers were tuned with "
     "the labels."},
};

const char paper_prepared_lead[] =
    "With our choices. The labels also choose the preparation, and gamma from 0.1 n/c to 10,000 "
    "n/c; one seed. Bold: at least the paper's number.";
const char paper_related_lead[] =
    "Related work, not in the published experiments: no option is set and no label is used.";

const char *paper_metric_title(const char *metric) {
    return strcmp(metric, "acc") == 0 ? "ACC" : "NMI";
}

int paper_table_number(const char *metric) {
    return strcmp(metric, "acc") == 0 ? 1 : 2;
}

int paper_first_method(table_kind kind) {
    return kind == BY_PREPARATION ? PAPER_SSC : 0;
}

/* Related work may not have been run. */
int paper_end_method(const paper *p, table_kind kind) {
    return kind == BY_RELATED ? experiment_entry_count(&p->e) - ENTRY_RELATED : PAPER_METHODS;
}

/* Methods rebuilt from a paper without its code are marked in every table. */
const char *paper_title(table_kind kind, int method, char *text, size_t size) {
    const char *name = kind == BY_RELATED ? paper_related(method) : paper_methods[method];
    snprintf(text, size, "%s%s", name,
             experiment_is_reconstruction(name) ? " (reconstruction)" : "");
    return text;
}

static int find_entry(table_kind kind, int method) {
    switch (kind) {
    case BY_LETTER:
        return ENTRY_LETTER + method;
    case BY_DEFAULT:
        return ENTRY_DEFAULT + method;
    case BY_PREPARATION:
        return ENTRY_PREPARED;
    case BY_RELATED:
        return ENTRY_RELATED + method;
    case BY_ORACLE:
        break;
    }
    return ENTRY_GRID + method;
}

/* The method before this one that has found the same clusters with every seed. All points of sc are
 * tried, since shrinking may change nothing at a point that is not its best. */
static void find_equal(const paper *p, const char *metric, table_kind kind, int method, int data,
                       table_cell *cell) {
    enum { SC = 1 };
    const experiment *e = &p->e;
    int own = find_entry(kind, method), point = grid_oracle(e, data, own, metric).cell->point,
        other = find_entry(kind, SC);
    for (int k = 0; method > SC && k < experiment_grid_size(e, other); k++) {
        grid_result at = grid_point(e, data, other, k, metric);
        char text[128] = "";
        if (at.cell == NULL || !grid_equal(e, data, (int[]){own, other}, (int[]){point, k}))
            continue;
        cell_grid_text(e, at.cell, text, sizeof text);
        snprintf(cell->equal, sizeof cell->equal, "sc%s%s", text[0] == '\0' ? "" : " at ", text);
        return;
    }
    for (int m = 0; m < method; m++) {
        other = find_entry(kind, m);
        grid_result at = grid_oracle(e, data, other, metric);
        if (at.cell == NULL ||
            !grid_equal(e, data, (int[]){own, other}, (int[]){point, at.cell->point}))
            continue;
        snprintf(cell->equal, sizeof cell->equal, "%s", paper_methods[m]);
        return;
    }
}

/* What the default has chosen is what the others have in their grids. */
static void describe_point(const paper *p, table_kind kind, const experiment_cell *from,
                           table_cell *cell) {
    const char *rule = text_of(from->record, "prepare");
    cell_grid_text(&p->e, from, cell->at, sizeof cell->at);
    if ((kind == BY_DEFAULT || kind == BY_RELATED) && rule[0] != '\0' && strcmp(rule, "none") != 0)
        snprintf(cell->at, sizeof cell->at, "prepare %s", rule);
}

table_cell paper_cell(const paper *p, const char *metric, table_kind kind, int method, int data) {
    int entry = find_entry(kind, method);
    grid_result best = grid_oracle(&p->e, data, entry, metric);
    table_cell cell = {.missing = best.cell == NULL,
                       .ours = shown_percent(best.best),
                       .spread = shown_percent(best.spread),
                       .n_seeds = best.n_seeds,
                       .mean = shown_percent(best.mean),
                       .std = shown_percent(best.std),
                       .published = NAN,
                       .published_std = NAN,
                       .refusal = grid_refusal(&p->e, data, entry)};
    if (kind != BY_RELATED) {
        const paper_score *score = paper_number(metric, method, p->set[data]);
        cell.published = score->mean;
        cell.published_std = score->std;
    }
    if (cell.missing) {
        cell.ours = cell.spread = cell.mean = cell.std = NAN;
        return cell;
    }
    describe_point(p, kind, best.cell, &cell);
    if (kind != BY_RELATED && kind != BY_PREPARATION)
        find_equal(p, metric, kind, method, data, &cell);
    return cell;
}

/* Of the numbers as shown, so that two that read the same are both marked. */
static double find_best(const paper *p, const char *metric, table_kind kind, int data) {
    double best = -INFINITY;
    for (int m = paper_first_method(kind); m < paper_end_method(p, kind); m++) {
        grid_result result = grid_oracle(&p->e, data, find_entry(kind, m), metric);
        best = result.cell == NULL ? best : fmax(best, shown_percent(result.best));
    }
    return best;
}

bool paper_is_bold(const paper *p, const char *metric, table_kind kind, int data,
                   const table_cell *cell) {
    if (cell->missing)
        return false;
    return kind == BY_PREPARATION ? cell->ours >= cell->published
                                  : cell->ours == find_best(p, metric, kind, data);
}

/* ---- gamma ---------------------------------------------------------------------------------- */

int paper_read_gammas(const paper *p, int data, int entry, const char *metric, int most,
                      double *gamma, double *score) {
    int size = entry < 0 ? 0 : experiment_grid_size(&p->e, entry), n = 0;
    for (int k = 0; k < size; k++) {
        grid_result at = grid_point(&p->e, data, entry, k, metric);
        int j = 0;
        if (at.cell == NULL)
            continue;
        double own = number_of(at.cell->record, "gamma");
        while (j < n && gamma[j] != own)
            j++;
        if (j == most)
            continue;
        score[j] = j < n ? fmax(score[j], at.best) : at.best;
        gamma[j] = own;
        n = j < n ? n : n + 1;
    }
    return n;
}

/* ---- text ----------------------------------------------------------------------------------- */

void paper_write_line(FILE *out, const char *text, const char *escaped) {
    for (; *text != '\0'; text++) {
        if (strchr(escaped, *text) != NULL)
            fputc('\\', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
}

const char *paper_number_text(double value, char *text, size_t size) {
    snprintf(text, size, "%.1f", value);
    return isfinite(value) ? text : "-";
}

/* ---- for people ----------------------------------------------------------------------------- */

static void print_number(FILE *out, double value, const char *separator) {
    char text[32];
    fprintf(out, "%5s%s", paper_number_text(value, text, sizeof text), separator);
}

/* The three blocks and the paper's number. */
static void print_row(FILE *out, const paper *p, const char *metric, int method) {
    char title[128];
    fprintf(out, "  %-26s", paper_title(BY_ORACLE, method, title, sizeof title));
    for (int i = 0; i < p->e.n_data; i++) {
        fputs("  ", out);
        for (int b = 0; b < PAPER_BLOCKS; b++)
            print_number(out, paper_cell(p, metric, paper_blocks[b].kind, method, i).ours, " ");
        print_number(out, paper_number(metric, method, p->set[i])->mean, "");
    }
    fputc('\n', out);
}

/* A row of one number for each data set, below that of the others which it belongs to: (b) for what
 * the labels have chosen, (c) for defaults. */
static void print_single(FILE *out, const paper *p, const char *metric, table_kind kind,
                         int method) {
    char title[128];
    int before = kind == BY_PREPARATION ? 6 : 12, after = 12 - before;
    fprintf(out, "  %-26s",
            kind == BY_PREPARATION ? "ssc, best preparation"
                                   : paper_title(kind, method, title, sizeof title));
    for (int i = 0; i < p->e.n_data; i++) {
        fprintf(out, "  %*s", before, "");
        print_number(out, paper_cell(p, metric, kind, method, i).ours, "");
        fprintf(out, "%*s", after + 6, "");
    }
    fputc('\n', out);
}

static void print_table(FILE *out, const paper *p, const char *metric) {
    fprintf(out, "Table %d, %-19s", paper_table_number(metric), paper_metric_title(metric));
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, "  %-23s", p->e.data[i].name);
    fprintf(out, "\n  %-26s", "");
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, "  %5s %5s %5s %5s", "(a)", "(b)", "(c)", "paper");
    fputc('\n', out);
    for (int m = 0; m < PAPER_METHODS; m++)
        print_row(out, p, metric, m);
    print_single(out, p, metric, BY_PREPARATION, PAPER_SSC);
    for (int k = 0; k < paper_end_method(p, BY_RELATED); k++)
        print_single(out, p, metric, BY_RELATED, k);
    fputc('\n', out);
}

/* The short form for a terminal; the files have the deviations and grid points. */
void paper_print(const paper *p, FILE *out) {
    static const char *const metrics[] = {"acc", "nmi"};
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
        print_table(out, p, metrics[k]);
    fputs("In per cent: (a) to the letter and (b) with our choices, at the grid point that the "
          "labels choose, as in the paper; (c) defaults, no labels.\n\n",
          out);
    json_array_foreach(notes, index, text) {
        fprintf(out, "%s\n", json_string_value(text));
    }
    json_decref(notes);
    fprintf(out, "%d cells: %d computed in %.1f s, %d found", p->e.n_cells, p->e.n_computed,
            p->e.seconds, p->e.n_found);
    if (p->e.n_refused > 0)
        fprintf(out, ", %d refused", p->e.n_refused);
    fprintf(out, "; tables, figures and the page are in %s\n", p->e.output);
}
