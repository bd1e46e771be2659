/* The page of the published experiments. */
#include "experiment/paper/claims.h"

#include <math.h>

static json_t *make_columns(const paper *p) {
    json_t *columns = json_pack("[{s:s}]", "label", "method");
    for (int i = 0; i < p->e.n_data; i++)
        page_append(columns, json_pack("{s:s}", "label", p->e.data[i].name));
    return columns;
}

/* A cell is sorted by its number and shows the difference from the publication; the rest is in its
 * note, which appears on hovering. */
static json_t *make_cell(const paper *p, const char *metric, table_kind kind, int method,
                         int data) {
    table_cell cell = paper_cell(p, metric, kind, method, data);
    if (cell.missing)
        return json_null();
    return json_pack("{s:f, s:o, s:o, s:b}", "value", cell.ours, "text",
                     json_sprintf("%.1f (%+.1f)", cell.ours, cell.ours - cell.published), "note",
                     json_sprintf("single starts %.1f ± %.1f; paper %.1f ± %.1f%s%s", cell.mean,
                                  cell.std, cell.published, cell.published_std,
                                  cell.at[0] == '\0' ? "" : "; at ", cell.at),
                     "strong", cell.ours == paper_best(p, metric, kind, data));
}

static json_t *make_row(const paper *p, const char *metric, table_kind kind, int method) {
    char title[128];
    json_t *row =
        json_pack("[s]", experiment_title(&p->e, ENTRY_GRID + method, title, sizeof title));
    for (int i = 0; i < p->e.n_data; i++)
        page_append(row, make_cell(p, metric, kind, method, i));
    return row;
}

/* The publication's number, with the standard deviation in its note; the best of a data set is
 * bold, as in our table. */
static json_t *published_cell(const paper *p, const char *metric, int method, int data) {
    const paper_score *score = paper_number(metric, method, p->set[data]);
    double best = -1;
    for (int m = 0; m < PAPER_METHODS; m++)
        best = fmax(best, paper_number(metric, m, p->set[data])->mean);
    return json_pack(
        "{s:f, s:o, s:o, s:b}", "value", score->mean, "text", json_sprintf("%.1f", score->mean),
        "note", json_sprintf("± %.1f over restarts", score->std), "strong", score->mean == best);
}

static json_t *published_rows(const paper *p, const char *metric, int first) {
    json_t *rows = json_array();
    for (int m = first; m < PAPER_METHODS; m++) {
        json_t *row = json_pack("[s]", paper_methods[m]);
        for (int i = 0; i < p->e.n_data; i++)
            page_append(row, published_cell(p, metric, m, i));
        page_append(rows, row);
    }
    return rows;
}

/* One of the three tables of a metric, beside the published one; its lead states what the labels
 * were used for. */
static void add_table(report_page *page, const paper *p, const char *metric, table_kind kind) {
    static const char *const leads[] = {
        ("The restart with the smallest inertia at the grid point that the labels choose, as in "
         "the paper. In per cent, with the difference from the paper's number in parentheses. "
         "Hover over a number for the single restarts and the grid point."),
        ("No option is set and no label is used; only the number of clusters is known. sc, llc and "
         "ssc refine their labels on the graph. The paper's numbers were tuned with the labels."),
        "The labels also choose the preparation, and gamma between 0.1 n/c and 10,000 n/c."};
    static const char *const titles[] = {"published protocol", "defaults",
                                         "ssc over preparations and gamma"};
    char id[16], title[64];
    int first = paper_first_method(kind);
    json_t *rows = json_array();
    snprintf(id, sizeof id, "%s%d", metric, (int)kind);
    snprintf(title, sizeof title, "%s, %s", paper_metric_title(metric), titles[kind]);
    for (int m = first; m < PAPER_METHODS; m++)
        page_append(rows, make_row(p, metric, kind, m));
    page_add(page_section(page, id, title, leads[kind]), "beside",
             json_pack("{s:[{s:s, s:o, s:o}, {s:s, s:o, s:o}]}", "tables", "title", "Huddle",
                       "columns", make_columns(p), "rows", rows, "title", "Paper", "columns",
                       make_columns(p), "rows", published_rows(p, metric, first)));
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
        "Thick lines with circles are the five values of the published grid, thin dashed ones our "
        "finer grid. Below the mark \"fit\" no point moves; above \"collapse\" all points of a "
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
                 "nine methods over the published grids, and their defaults, which use no labels");
    add_summary(page, p);
    for (int kind = BY_ORACLE; kind <= BY_PREPARATION; kind++) {
        add_table(page, p, "acc", (table_kind)kind);
        add_table(page, p, "nmi", (table_kind)kind);
    }
    paper_add_claims(page, p);
    add_figures(page, svg);
    add_notes(page, p);
    add_oracle_section(page, &p->e);
    add_cells_section(page, &p->e);
    return experiment_finish_page(&p->e, page, file);
}
