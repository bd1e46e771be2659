/* The tables of ACC and NMI as CSV, Markdown and LaTeX, and for people. Numbers are in per cent. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const metrics[] = {"acc", "nmi"};

const char *paper_metric_title(const char *metric) {
    return strcmp(metric, "acc") == 0 ? "ACC" : "NMI";
}

int paper_first_method(table_kind kind) {
    return kind == BY_PREPARATION ? PAPER_SSC : 0;
}

table_cell paper_cell(const paper *p, const char *metric, table_kind kind, int method, int data) {
    int entry = kind == BY_ORACLE    ? ENTRY_GRID + method
                : kind == BY_DEFAULT ? ENTRY_DEFAULT + method
                                     : ENTRY_PREPARED;
    grid_result best = grid_oracle(&p->e, data, entry, metric);
    const paper_score *score = paper_number(metric, method, p->set[data]);
    table_cell cell = {best.cell == NULL,
                       shown_percent(best.best),
                       shown_percent(best.mean),
                       shown_percent(best.std),
                       score->mean,
                       score->std,
                       ""};
    if (best.cell != NULL)
        cell_grid_text(&p->e, best.cell, cell.at, sizeof cell.at);
    return cell;
}

/* Of the numbers as shown, so that two that read the same are both marked. */
double paper_best(const paper *p, const char *metric, table_kind kind, int data) {
    double best = -INFINITY;
    for (int m = paper_first_method(kind); m < PAPER_METHODS; m++)
        best = fmax(best, paper_cell(p, metric, kind, m, data).ours);
    return best;
}

/* Methods rebuilt from a paper without its code are marked in every table. */
static bool is_marked(int method) {
    return experiment_is_reconstruction(paper_methods[method]);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* One row per method; for each data set seven columns. The last one, with preparations, exists for
 * ssc only. */
static void write_csv(FILE *out, const paper *p, const char *metric) {
    static const char *const columns[] = {"",         "_mean",    "_std", "_paper", "_difference",
                                          "_default", "_prepared"};
    fputs("method", out);
    for (int i = 0; i < p->e.n_data; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            fprintf(out, ",%s%s", p->e.data[i].name, columns[k]);
    fputs(",note\n", out);
    for (int m = 0; m < PAPER_METHODS; m++) {
        fputs(paper_methods[m], out);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = paper_cell(p, metric, BY_ORACLE, m, i);
            fprintf(out, ",%.1f,%.1f,%.1f,%.1f,%+.1f,%.1f,", cell.ours, cell.mean, cell.std,
                    cell.published, cell.ours - cell.published,
                    paper_cell(p, metric, BY_DEFAULT, m, i).ours);
            if (m == PAPER_SSC)
                fprintf(out, "%.1f", paper_cell(p, metric, BY_PREPARATION, m, i).ours);
        }
        fprintf(out, ",%s\n", is_marked(m) ? "reconstruction" : "");
    }
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

/* A break inside a cell keeps the table narrow enough for eight data sets. Bold is the best of a
 * column, or what reaches the paper's number where ssc is alone. */
static void write_rows(FILE *out, const paper *p, const char *metric, table_kind kind) {
    char title[128];
    bool alone = kind == BY_PREPARATION;
    write_heading(out, p);
    for (int m = paper_first_method(kind); m < PAPER_METHODS; m++) {
        fprintf(out, "| %s |", experiment_title(&p->e, ENTRY_GRID + m, title, sizeof title));
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = paper_cell(p, metric, kind, m, i);
            bool bold =
                alone ? cell.ours >= cell.published : cell.ours == paper_best(p, metric, kind, i);
            fprintf(out, bold ? " **%.1f**" : " %.1f", cell.ours);
            if (kind != BY_DEFAULT)
                fprintf(out, "<br>%.1f ± %.1f", cell.mean, cell.std);
            fprintf(out, "<br>paper %.1f (%+.1f)%s%s |", cell.published, cell.ours - cell.published,
                    alone ? "<br>" : "", alone ? cell.at : "");
        }
        fputc('\n', out);
    }
}

/* Each table is preceded by what the labels were used for, which decides how it may be read. */
static void write_markdown(FILE *out, const paper *p, const char *metric) {
    fprintf(out,
            "# %s, per cent\n\n## The published protocol\n\n"
            "Each cell: our result, which is the restart with the smallest inertia at the grid "
            "point that the labels choose; mean ± standard deviation over the single restarts at "
            "that point (lda-kmeans has only one); the paper's number and the difference. Our best "
            "result is bold.\n\n",
            strcmp(metric, "acc") == 0 ? "Accuracy (ACC)" : "Normalised mutual information (NMI)");
    write_rows(out, p, metric, BY_ORACLE);
    fputs("\n## Defaults\n\nNo option is set and no label is used; only the number of clusters is "
          "known. The paper's numbers were tuned with the labels.\n\n",
          out);
    write_rows(out, p, metric, BY_DEFAULT);
    fputs(
        "\n## ssc, the best over preparations and gamma\n\nThe labels also choose the preparation, "
        "and gamma from 0.1 n/c to 10,000 n/c. Bold: at least the paper's number.\n\n",
        out);
    write_rows(out, p, metric, BY_PREPARATION);
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    fputs("\n## Data\n\n", out);
    json_array_foreach(notes, index, text) {
        fprintf(out, "* %s\n", json_string_value(text));
    }
    json_decref(notes);
}

/* ---- LaTeX ---------------------------------------------------------------------------------- */

/* Two lines per method: ours, and below it the published number. Only commands of plain LaTeX, so
 * that the table can be included anywhere. */
static void write_latex_row(FILE *out, const paper *p, const char *metric, int m) {
    fprintf(out, "%s%s", paper_methods[m], is_marked(m) ? "$^\\dagger$" : "");
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = paper_cell(p, metric, BY_ORACLE, m, i);
        bool best = cell.ours == paper_best(p, metric, BY_ORACLE, i);
        fprintf(out, best ? " & \\textbf{%.1f}" : " & %.1f", cell.ours);
        fprintf(out, " {\\scriptsize(%.1f $\\pm$ %.1f)}", cell.mean, cell.std);
    }
    fputs(" \\\\\n", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = paper_cell(p, metric, BY_ORACLE, m, i);
        fprintf(out, " & {\\scriptsize paper %.1f $\\pm$ %.1f, $%+.1f$}", cell.published,
                cell.published_std, cell.ours - cell.published);
    }
    fputs(" \\\\\n", out);
}

/* Additional rows for ssc: the default, or the best over preparations. */
static void write_latex_extra(FILE *out, const paper *p, const char *metric, table_kind kind) {
    fputs(kind == BY_PREPARATION ? "ssc, best over preparations" : "ssc, default (no labels)", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = paper_cell(p, metric, kind, PAPER_SSC, i);
        fprintf(out, " & %.1f {\\scriptsize($%+.1f$)}", cell.ours, cell.ours - cell.published);
    }
    fputs(" \\\\\n", out);
}

/* A tabular without packages, to be pasted into a paper. */
static void write_latex(FILE *out, const paper *p, const char *metric) {
    fputs("% Needs no package. Our result, mean and standard deviation over single restarts; "
          "below it the paper's number and the difference.\n\\begin{tabular}{l",
          out);
    for (int i = 0; i < p->e.n_data; i++)
        fputc('r', out);
    fprintf(out, "}\n\\hline\n%s (\\%%)", paper_metric_title(metric));
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " & %s", p->e.data[i].name);
    fputs(" \\\\\n\\hline\n", out);
    for (int m = 0; m < PAPER_METHODS; m++)
        write_latex_row(out, p, metric, m);
    fputs("\\hline\n", out);
    write_latex_extra(out, p, metric, BY_DEFAULT);
    write_latex_extra(out, p, metric, BY_PREPARATION);
    fprintf(out, "\\hline\n\\multicolumn{%d}{l}{\\scriptsize $^\\dagger$ a reconstruction}\\\\\n",
            p->e.n_data + 1);
    fputs("\\end{tabular}\n", out);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* One writer per format, so that all tables have the same numbers from paper_cell(). */
static huddle_status write_table(const paper *p, const char *metric, const char *ending,
                                 void (*write)(FILE *out, const paper *p, const char *metric)) {
    huddle_status status = HUDDLE_OK;
    char name[16], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    TRY_POINTER(out);
    write(out, p, metric);
    if (fclose(out) != 0)
        TRY(experiment_no_memory());
    snprintf(name, sizeof name, "%s.%s", metric, ending);
    TRY(experiment_write_file(&p->e, name, text, size));
done:
    free(text);
    return status;
}

/* acc.csv, acc.md, acc.tex, and the same for nmi. */
huddle_status paper_write_tables(const paper *p) {
    huddle_status status = HUDDLE_OK;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        TRY(write_table(p, metrics[k], "csv", write_csv));
        TRY(write_table(p, metrics[k], "md", write_markdown));
        TRY(write_table(p, metrics[k], "tex", write_latex));
    }
done:
    return status;
}

/* ---- tables for people ---------------------------------------------------------------------- */

/* One line of a table: our number and the difference from the publication, per data set. */
static void print_row(FILE *out, const paper *p, const char *metric, const char *name,
                      table_kind kind, int method) {
    fprintf(out, "  %-26s", name);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = paper_cell(p, metric, kind, method, i);
        fprintf(out, "  %5.1f (%+5.1f)", cell.ours, cell.ours - cell.published);
    }
    fputc('\n', out);
}

static void print_table(FILE *out, const paper *p, const char *metric) {
    char title[128];
    fprintf(out, "%-28s", paper_metric_title(metric));
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, "  %13s", p->e.data[i].name);
    fputc('\n', out);
    for (int m = 0; m < PAPER_METHODS; m++)
        print_row(out, p, metric, experiment_title(&p->e, ENTRY_GRID + m, title, sizeof title),
                  BY_ORACLE, m);
    print_row(out, p, metric, "ssc, default, no labels", BY_DEFAULT, PAPER_SSC);
    print_row(out, p, metric, "ssc, best preparation", BY_PREPARATION, PAPER_SSC);
    fputc('\n', out);
}

/* The short form for a terminal; the files have the deviations and grid points. */
void paper_print(const paper *p, FILE *out) {
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
        print_table(out, p, metrics[k]);
    fputs("In per cent, with the difference from the paper's number in parentheses. Except for the "
          "default, the labels chose the grid point, as in the paper.\n\n",
          out);
    json_array_foreach(notes, index, text) {
        fprintf(out, "%s\n", json_string_value(text));
    }
    json_decref(notes);
    fprintf(out,
            "%d cells: %d computed in %.1f s, %d found; tables, figures and the page are in %s\n",
            p->e.n_cells, p->e.n_computed, p->e.seconds, p->e.n_found, p->e.output);
}
