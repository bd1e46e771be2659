/* The tables of ACC and NMI as CSV and Markdown, with the grid point of every cell. Numbers are in
 * per cent. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV ------------------------------------------------------------------------------------ */

/* The kinds in the order of the file, by names that programs can rely on. */
static const struct {
    table_kind kind;
    const char *name;
} csv_blocks[] = {{BY_LETTER, "letter"},
                  {BY_ORACLE, "ours"},
                  {BY_DEFAULT, "default"},
                  {BY_PREPARATION, "prepared"},
                  {BY_RELATED, "related"}};

/* Nothing where there is no number. */
static void write_number(FILE *out, const char *format, double value) {
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, format, value);
}

/* Grid points contain commas and messages anything. */
static void write_text(FILE *out, const char *text) {
    fputc(',', out);
    experiment_write_field(out, text);
}

static void write_csv_cell(FILE *out, const paper *p, const char *metric, size_t block, int method,
                           int data) {
    table_kind kind = csv_blocks[block].kind;
    table_cell cell = paper_cell(p, metric, kind, method, data);
    const char *name = kind == BY_RELATED ? paper_related(method) : paper_methods[method];
    fprintf(out, "%s,%s,%s", csv_blocks[block].name, name, p->e.data[data].name);
    write_number(out, "%.1f", cell.ours);
    write_number(out, "%.1f", cell.n_seeds > 1 ? cell.spread : NAN);
    fprintf(out, ",%d", cell.n_seeds);
    write_number(out, "%.1f", cell.mean);
    write_number(out, "%.1f", cell.std);
    write_number(out, "%.1f", cell.published);
    write_number(out, "%.1f", cell.published_std);
    write_number(out, "%+.1f", cell.ours - cell.published);
    write_text(out, cell.at);
    write_text(out, cell.equal);
    write_text(out, cell.refusal != NULL                 ? cell.refusal
                    : experiment_is_reconstruction(name) ? "reconstruction"
                                                         : "");
    fputc('\n', out);
}

/* One line for each cell of the tables. */
static void write_csv(FILE *out, const paper *p, const char *metric) {
    fputs("block,method,data,score,seeds_std,seeds,starts_mean,starts_std,paper,paper_std,"
          "difference,at,equal_to,note\n",
          out);
    for (size_t b = 0; b < sizeof csv_blocks / sizeof *csv_blocks; b++)
        for (int m = paper_first_method(csv_blocks[b].kind);
             m < paper_end_method(p, csv_blocks[b].kind); m++)
            for (int i = 0; i < p->e.n_data; i++)
                write_csv_cell(out, p, metric, b, m, i);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* Numbers are aligned to the right by the colon. */
static void write_heading(FILE *out, const paper *p) {
    fputs("| method |", out);
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " %s |", p->e.data[i].name);
    fputs("\n|---|", out);
    for (int i = 0; i < p->e.n_data; i++)
        fputs("---:|", out);
    fputc('\n', out);
}

/* A break inside a cell keeps the table narrow enough for eight data sets. */
static void write_cell(FILE *out, const table_cell *cell, bool bold) {
    if (cell->missing) {
        fputc(' ', out);
        paper_write_line(out, cell->refusal != NULL ? cell->refusal : "-", "|");
        fputs(" |", out);
        return;
    }
    fprintf(out, bold ? " **%.1f**" : " %.1f", cell->ours);
    if (cell->n_seeds > 1)
        fprintf(out, " ± %.1f", cell->spread);
    fprintf(out, "<br>starts %.1f ± %.1f", cell->mean, cell->std);
    if (cell->at[0] != '\0')
        fprintf(out, "<br>%s", cell->at);
    if (cell->equal[0] != '\0')
        fprintf(out, "<br>= %s", cell->equal);
    if (isfinite(cell->published))
        fprintf(out, "<br>paper %.1f ± %.1f (%+.1f)", cell->published, cell->published_std,
                cell->ours - cell->published);
    fputs(" |", out);
}

static void write_rows(FILE *out, const paper *p, const char *metric, table_kind kind) {
    char title[128];
    write_heading(out, p);
    for (int m = paper_first_method(kind); m < paper_end_method(p, kind); m++) {
        fprintf(out, "| %s |", paper_title(kind, m, title, sizeof title));
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = paper_cell(p, metric, kind, m, i);
            write_cell(out, &cell, paper_is_bold(p, metric, kind, i, &cell));
        }
        fputc('\n', out);
    }
}

/* The numbers alone, so that the blocks can be compared at a glance. */
static void write_overview(FILE *out, const paper *p, const char *metric) {
    char title[128], number[32];
    write_heading(out, p);
    for (int m = 0; m < PAPER_METHODS; m++) {
        fprintf(out, "| %s |", paper_title(BY_ORACLE, m, title, sizeof title));
        for (int i = 0; i < p->e.n_data; i++) {
            for (int b = 0; b < PAPER_BLOCKS; b++) {
                table_cell cell = paper_cell(p, metric, paper_blocks[b].kind, m, i);
                fprintf(out, " %s /", paper_number_text(cell.ours, number, sizeof number));
            }
            fprintf(out, " %.1f |", paper_number(metric, m, p->set[i])->mean);
        }
        fputc('\n', out);
    }
}

static void write_notes(FILE *out, const paper *p) {
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    fputs("\n## Data\n\n", out);
    json_array_foreach(notes, index, text) {
        fputs("* ", out);
        paper_write_line(out, json_string_value(text), "|");
        fputc('\n', out);
    }
    json_decref(notes);
}

/* Each table is preceded by what the labels were used for, which decides how it may be read. */
static void write_markdown(FILE *out, const paper *p, const char *metric) {
    fprintf(out,
            "# Table %d. Performance comparison: %s, per cent\n\n"
            "Side by side: (a) to the letter / (b) with our choices / (c) defaults, no labels / "
            "the paper.\n\n",
            paper_table_number(metric),
            strcmp(metric, "acc") == 0 ? "accuracy (ACC)" : "normalised mutual information (NMI)");
    write_overview(out, p, metric);
    fputs("\nEach cell below: our result, which is that of the restart with the best objective, as "
          "mean ± sample standard deviation over the seeds; mean ± standard deviation of the "
          "single restarts; the grid point, or the preparation that a default has chosen with the "
          "first seed; a method that has found the same clusters with every "
          "seed, after \"=\"; the paper's number and the difference. Our best result is bold.\n",
          out);
    for (int b = 0; b < PAPER_BLOCKS; b++) {
        fprintf(out, "\n## Table %d %s\n\n%s\n\n", paper_table_number(metric),
                paper_blocks[b].title, paper_blocks[b].lead);
        write_rows(out, p, metric, paper_blocks[b].kind);
    }
    fprintf(out, "\n## ssc, the best over preparations and gamma\n\n%s\n\n", paper_prepared_lead);
    write_rows(out, p, metric, BY_PREPARATION);
    if (paper_end_method(p, BY_RELATED) > 0) {
        fprintf(out, "\n## Related work\n\n%s\n\n", paper_related_lead);
        write_rows(out, p, metric, BY_RELATED);
    }
    write_notes(out, p);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Writes one table in one format, in memory first: experiment_write_file() then replaces the file
 * as a whole. */
static huddle_status write_table(const paper *p, const char *metric, const char *ending,
                                 void (*write)(FILE *, const paper *, const char *)) {
    huddle_status status = HUDDLE_OK;
    char *text = NULL, name[32];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    TRY_POINTER(out);
    write(out, p, metric);
    /* A memory stream fails only for lack of memory. */
    if (fclose(out) != 0)
        TRY(experiment_no_memory());
    snprintf(name, sizeof name, "%s.%s", metric, ending);
    TRY(experiment_write_file(&p->e, name, text, size));
done:
    free(text);
    return status;
}

huddle_status paper_write_tables(const paper *p) {
    static const char *const metrics[] = {"acc", "nmi"};
    huddle_status status = HUDDLE_OK;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        TRY(write_table(p, metrics[k], "csv", write_csv));
        TRY(write_table(p, metrics[k], "md", write_markdown));
        TRY(write_table(p, metrics[k], "tex", paper_write_latex));
    }
done:
    return status;
}
