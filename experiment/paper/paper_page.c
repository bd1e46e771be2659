/* The page of the published experiments. */
#include "experiment/paper/claims.h"

#include <math.h>

static json_t *make_columns(const paper *p) {
    json_t *columns = json_pack("[{s:s}]", "label", "method");
    for (int i = 0; i < p->e.n_data; i++)
        page_append(columns, json_pack("{s:s}", "label", p->e.data[i].name));
    return columns;
}

/* What a number rests on, in one line. */
static json_t *describe_cell(const table_cell *cell) {
    char seeds[64] = "", published[64] = "";
    if (cell->n_seeds > 1)
        snprintf(seeds, sizeof seeds, "± %.1f over %d seeds; ", cell->spread, cell->n_seeds);
    if (isfinite(cell->published))
        snprintf(published, sizeof published, "; paper %.1f ± %.1f (%+.1f)", cell->published,
                 cell->published_std, cell->ours - cell->published);
    return json_sprintf("%ssingle starts %.1f ± %.1f%s%s%s%s%s", seeds, cell->mean, cell->std,
                        published, cell->at[0] == '\0' ? "" : "; at ", cell->at,
                        cell->equal[0] == '\0' ? "" : "; = ", cell->equal);
}

/* Only the number is shown, so that the four tables fit beside each other; the rest is in its note,
 * which appears on hovering. */
static json_t *make_cell(const paper *p, const char *metric, table_kind kind, int method,
                         int data) {
    table_cell cell = paper_cell(p, metric, kind, method, data);
    if (cell.missing && cell.refusal != NULL)
        return json_pack("{s:n, s:s, s:o}", "value", "text", "refused", "note",
                         page_text(cell.refusal));
    if (cell.missing)
        return json_null();
    return json_pack("{s:f, s:o, s:o, s:b}", "value", cell.ours, "text",
                     json_sprintf("%.1f", cell.ours), "note", describe_cell(&cell), "strong",
                     paper_is_bold(p, metric, kind, data, &cell));
}

static json_t *make_rows(const paper *p, const char *metric, table_kind kind) {
    json_t *rows = json_array();
    for (int m = paper_first_method(kind); m < paper_end_method(p, kind); m++) {
        char title[128];
        json_t *row = json_pack("[s]", paper_title(kind, m, title, sizeof title));
        for (int i = 0; i < p->e.n_data; i++)
            page_append(row, make_cell(p, metric, kind, m, i));
        page_append(rows, row);
    }
    return rows;
}

/* The publication's number; the best of a data set is bold, as in our tables, which the paper's own
 * bold numbers not always are. */
static json_t *published_cell(const paper *p, const char *metric, int method, int data) {
    const paper_score *score = paper_number(metric, method, p->set[data]);
    double best = -1;
    for (int m = 0; m < PAPER_METHODS; m++)
        best = fmax(best, paper_number(metric, m, p->set[data])->mean);
    return json_pack("{s:f, s:o, s:b}", "value", score->mean, "text",
                     json_sprintf("%.1f±%.1f", score->mean, score->std), "strong",
                     score->mean == best);
}

static json_t *published_rows(const paper *p, const char *metric) {
    json_t *rows = json_array();
    for (int m = 0; m < PAPER_METHODS; m++) {
        json_t *row = json_pack("[s]", paper_methods[m]);
        for (int i = 0; i < p->e.n_data; i++)
            page_append(row, published_cell(p, metric, m, i));
        page_append(rows, row);
    }
    return rows;
}

static json_t *make_table(const paper *p, const char *title, json_t *rows) {
    return json_pack("{s:s, s:o, s:o}", "title", title, "columns", make_columns(p), "rows", rows);
}

/* The three blocks of a metric and the published table. Below them what each block is: the tables
 * are too narrow for it. */
static void add_blocks(report_page *page, const paper *p, const char *metric) {
    static const char how[] =
        "In per cent; the best of a column is bold. Hover over a number for the deviation over the "
        "seeds, the single restarts, the paper's number and the difference, the grid point, and "
        "the method that has found the same clusters.";
    char title[64], lead[2048] = "";
    json_t *tables = json_array();
    snprintf(title, sizeof title, "Table %d: %s", paper_table_number(metric),
             paper_metric_title(metric));
    bool is_first = paper_table_number(metric) == 1;
    append_text(lead, sizeof lead, "%s", is_first ? how : "As Table 1.");
    for (int b = 0; b < PAPER_BLOCKS; b++) {
        if (is_first)
            append_text(lead, sizeof lead, " %s: %s", paper_blocks[b].title, paper_blocks[b].lead);
        page_append(tables, make_table(p, paper_blocks[b].title,
                                       make_rows(p, metric, paper_blocks[b].kind)));
    }
    page_append(tables, make_table(p, "the paper", published_rows(p, metric)));
    page_add(page_section(page, metric, title, lead), "beside",
             json_pack("{s:o}", "tables", tables));
}

/* Both metrics of what has no counterpart in the paper. */
static void add_others(report_page *page, const paper *p, table_kind kind, const char *id,
                       const char *title, const char *lead) {
    page_add(page_section(page, id, title, lead), "beside",
             json_pack("{s:[o, o]}", "tables", make_table(p, "ACC", make_rows(p, "acc", kind)),
                       make_table(p, "NMI", make_rows(p, "nmi", kind))));
}

/* On how many data sets ssc reaches the published result, by the numbers as shown. */
static json_t *count_reached(const paper *p, const char *metric, int entry) {
    int count = 0;
    for (int i = 0; i < p->e.n_data; i++) {
        double ours = shown_percent(grid_oracle(&p->e, i, entry, metric).best);
        count += ours >= paper_number(metric, PAPER_SSC, p->set[i])->mean;
    }
    return json_sprintf("%d of %d", count, p->e.n_data);
}

/* Three counts that answer the question of the page: is the paper's result reached, and what does
 * that take? */
static void add_summary(report_page *page, const paper *p) {
    report_section *section = page_section(page, "summary", "", NULL);
    page_add(section, "facts",
             json_pack("{s:[{s:o, s:s, s:s}, {s:o, s:s, s:s}, {s:o, s:s, s:s}]}", "facts", "value",
                       count_reached(p, "acc", ENTRY_DEFAULT + PAPER_SSC), "label",
                       "data sets on which the default of ssc reaches the paper's ACC", "note",
                       "no labels used", "value", count_reached(p, "acc", ENTRY_PREPARED), "label",
                       "with preparation and gamma chosen by the labels, ACC", "note",
                       "needs the labels", "value", count_reached(p, "nmi", ENTRY_PREPARED),
                       "label", "the same, NMI", "note", "needs the labels"));
}

static void add_notes(report_page *page, const paper *p) {
    json_t *rows = json_array();
    for (int s = 0; s < PAPER_SETS; s++) {
        char note[PAPER_NOTE_SIZE];
        if (paper_note(&p->found, s, note, sizeof note))
            page_append(rows, json_pack("[s, o]", paper_sets[s].name, page_text(note)));
    }
    page_add(
        page_section(
            page, "data", "Data",
            "The data sets that were found, how they were changed, and those that are missing."),
        "table",
        json_pack("{s:[{s:s}, {s:s, s:s}], s:o}", "columns", "label", "data", "label", "note",
                  "type", "text", "rows", rows));
}

/* The SVG is embedded as text; its ids were made unique by figure_render(). */
static void add_figures(report_page *page, char *const svg[2]) {
    static const char gamma[] =
        "Thick lines with circles are the five values of the published grid, to the letter with "
        "the "
        "best delta of each; thin dashed ones are our finer grid. Below the mark \"fit\" no point "
        "moves; above \"collapse\" all points of a "
        "component of the graph coincide. Two values of the published grid lie where gamma has no "
        "effect.";
    static const char convergence[] =
        "The objective of the shrinking, over unordered pairs: above as it is, at gamma = 1 and to "
        "the letter as in the paper; below it relative to the lower bound of the optimum that the "
        "default solver certifies, and the same at n/c with our graphs. Dashed: every step, from "
        "a random start, of the iteration that the paper derives and of the algorithm that it "
        "lists, whose first steps may lie above the panel; solid: the best so far of the default, "
        "from the embedding.";
    page_add(page_section(page, "gamma", "Figure 1: gamma", gamma), "figure",
             json_pack("{s:s, s:s}", "svg", svg[0], "caption", ""));
    page_add(page_section(page, "convergence", "Figure 2: convergence", convergence), "figure",
             json_pack("{s:s, s:s}", "svg", svg[1], "caption", ""));
}

/* Our claim first, then the tables it rests on, then figures and data, and at the end every
 * single cell. */
huddle_status paper_write_page(const paper *p, char *const svg[2], const char *file) {
    report_page *page =
        page_new("The published experiments, repeated",
                 "nine methods over the published grids, to the letter and with our choices, and "
                 "their defaults, which use no labels");
    add_summary(page, p);
    add_blocks(page, p, "acc");
    add_blocks(page, p, "nmi");
    add_others(page, p, BY_PREPARATION, "prepared", "ssc over preparations and gamma",
               paper_prepared_lead);
    if (paper_end_method(p, BY_RELATED) > 0)
        add_others(page, p, BY_RELATED, "related", "Related work", paper_related_lead);
    paper_add_claims(page, p);
    add_figures(page, svg);
    add_notes(page, p);
    add_oracle_section(page, &p->e);
    add_cells_section(page, &p->e);
    return experiment_finish_page(&p->e, page, file);
}
