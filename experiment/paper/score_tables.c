/* The tables of ACC and NMI as CSV, Markdown and LaTeX, and for people. Numbers are in per cent. */
#include "experiment/failure.h"
#include "experiment/paper/paper.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One cell of a table, in per cent and rounded as shown, so that differences are those of the
 * numbers shown. */
typedef struct table_cell {
    double ours, mean, std; /* at the grid point that the labels choose */
    double by_default;      /* without labels */
    double published, published_std;
    char at[128]; /* that grid point */
} table_cell;

/* The name in records, and the heading of tables. */
typedef struct metric_text {
    const char *name, *title;
} metric_text;

static const metric_text metrics[] = {{"acc", "ACC"}, {"nmi", "NMI"}};

/* All differences are taken between numbers as shown (one decimal), so that a reader who subtracts
 * gets the same. */
static table_cell make_cell(const paper *p, const char *metric, int entry, int method, int data) {
    grid_result best = grid_oracle(&p->e, data, entry, metric);
    grid_result by_default = grid_oracle(&p->e, data, ENTRY_DEFAULT + method, metric);
    const paper_score *score = paper_number(metric, method, p->set[data]);
    table_cell cell = {shown_percent(best.best),
                       shown_percent(best.mean),
                       shown_percent(best.std),
                       shown_percent(by_default.best),
                       score->mean,
                       score->std,
                       ""};
    if (best.cell != NULL)
        cell_grid_text(&p->e, best.cell, cell.at, sizeof cell.at);
    return cell;
}

/* The largest of our numbers in a column, as shown. */
static double find_best(const paper *p, const char *metric, int data, bool by_default) {
    double best = -INFINITY;
    for (int m = 0; m < PAPER_METHODS; m++) {
        table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, data);
        best = fmax(best, by_default ? cell.by_default : cell.ours);
    }
    return best;
}

/* Methods rebuilt from a paper without its code are marked in every table. */
static const char *method_note(int method) {
    return experiment_is_reconstruction(paper_methods[method]) ? "reconstruction" : "";
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
            table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, i);
            fprintf(out, ",%.1f,%.1f,%.1f,%.1f,%+.1f,%.1f,", cell.ours, cell.mean, cell.std,
                    cell.published, cell.ours - cell.published, cell.by_default);
            if (m == PAPER_SSC)
                fprintf(out, "%.1f", make_cell(p, metric, ENTRY_PREPARED, m, i).ours);
        }
        fprintf(out, ",%s\n", method_note(m));
    }
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* Numbers are aligned to the right by the colon. */
static void write_heading(FILE *out, const paper *p, const char *first) {
    fprintf(out, "| %s |", first);
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " %s |", p->e.data[i].name);
    fputs("\n|---|", out);
    for (int i = 0; i < p->e.n_data; i++)
        fputs("---:|", out);
    fputc('\n', out);
}

/* Markdown has no footnotes in tables. */
static void write_name(FILE *out, int method) {
    fprintf(out, "| %s%s |", paper_methods[method],
            method_note(method)[0] == '\0' ? "" : " (reconstruction)");
}

static void write_number(FILE *out, double number, bool bold) {
    fprintf(out, bold ? " **%.1f**" : " %.1f", number);
}

/* A break inside a cell keeps the table narrow enough for eight data sets. */
static void write_oracle_table(FILE *out, const paper *p, const char *metric) {
    write_heading(out, p, "method");
    for (int m = 0; m < PAPER_METHODS; m++) {
        write_name(out, m);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, i);
            write_number(out, cell.ours, cell.ours == find_best(p, metric, i, false));
            fprintf(out, "<br>%.1f ± %.1f<br>paper %.1f (%+.1f) |", cell.mean, cell.std,
                    cell.published, cell.ours - cell.published);
        }
        fputc('\n', out);
    }
}

/* The defaults use no labels, so that these are the numbers to expect in practice. */
static void write_default_table(FILE *out, const paper *p, const char *metric) {
    write_heading(out, p, "method");
    for (int m = 0; m < PAPER_METHODS; m++) {
        write_name(out, m);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, i);
            write_number(out, cell.by_default, cell.by_default == find_best(p, metric, i, true));
            fprintf(out, "<br>paper %.1f (%+.1f) |", cell.published,
                    cell.by_default - cell.published);
        }
        fputc('\n', out);
    }
}

/* ssc with the best preparation, and the grid point it was found at. */
static void write_prepared_table(FILE *out, const paper *p, const char *metric) {
    write_heading(out, p, "method");
    fputs("| ssc |", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = make_cell(p, metric, ENTRY_PREPARED, PAPER_SSC, i);
        write_number(out, cell.ours, cell.ours >= cell.published);
        fprintf(out, "<br>%.1f ± %.1f<br>paper %.1f (%+.1f)<br>%s |", cell.mean, cell.std,
                cell.published, cell.ours - cell.published, cell.at);
    }
    fputc('\n', out);
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
    write_oracle_table(out, p, metric);
    fputs("\n## Defaults\n\nNo option is set and no label is used; only the number of clusters is "
          "known. The paper's numbers were tuned with the labels.\n\n",
          out);
    write_default_table(out, p, metric);
    fputs(
        "\n## ssc, the best over preparations and gamma\n\nThe labels also choose the preparation, "
        "and gamma from 0.1 n/c to 10,000 n/c. Bold: at least the paper's number.\n\n",
        out);
    write_prepared_table(out, p, metric);
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
    fprintf(out, "%s%s", paper_methods[m], method_note(m)[0] == '\0' ? "" : "$^\\dagger$");
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, i);
        bool best = cell.ours == find_best(p, metric, i, false);
        fprintf(out, best ? " & \\textbf{%.1f}" : " & %.1f", cell.ours);
        fprintf(out, " {\\scriptsize(%.1f $\\pm$ %.1f)}", cell.mean, cell.std);
    }
    fputs(" \\\\\n", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = make_cell(p, metric, ENTRY_GRID + m, m, i);
        fprintf(out, " & {\\scriptsize paper %.1f $\\pm$ %.1f, $%+.1f$}", cell.published,
                cell.published_std, cell.ours - cell.published);
    }
    fputs(" \\\\\n", out);
}

/* Additional rows for ssc: the default, or the best over preparations. */
static void write_latex_extra(FILE *out, const paper *p, const char *metric, bool prepared) {
    fputs(prepared ? "ssc, best over preparations" : "ssc, default (no labels)", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell =
            make_cell(p, metric, prepared ? ENTRY_PREPARED : ENTRY_GRID + PAPER_SSC, PAPER_SSC, i);
        double ours = prepared ? cell.ours : cell.by_default;
        fprintf(out, " & %.1f {\\scriptsize($%+.1f$)}", ours, ours - cell.published);
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
    fprintf(out, "}\n\\hline\n%s (\\%%)", strcmp(metric, "acc") == 0 ? "ACC" : "NMI");
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " & %s", p->e.data[i].name);
    fputs(" \\\\\n\\hline\n", out);
    for (int m = 0; m < PAPER_METHODS; m++)
        write_latex_row(out, p, metric, m);
    fputs("\\hline\n", out);
    write_latex_extra(out, p, metric, false);
    write_latex_extra(out, p, metric, true);
    fprintf(out, "\\hline\n\\multicolumn{%d}{l}{\\scriptsize $^\\dagger$ a reconstruction}\\\\\n",
            p->e.n_data + 1);
    fputs("\\end{tabular}\n", out);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* One writer per format, so that all tables have the same numbers from make_cell(). */
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
        TRY(write_table(p, metrics[k].name, "csv", write_csv));
        TRY(write_table(p, metrics[k].name, "md", write_markdown));
        TRY(write_table(p, metrics[k].name, "tex", write_latex));
    }
done:
    return status;
}

/* ---- tables for people ---------------------------------------------------------------------- */

/* One line of a table: our number and the difference from the publication, per data set. */
static void print_row(FILE *out, const paper *p, const char *metric, const char *name, int entry,
                      int method, bool by_default) {
    fprintf(out, "  %-26s", name);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = make_cell(p, metric, entry, method, i);
        double ours = by_default ? cell.by_default : cell.ours;
        fprintf(out, "  %5.1f (%+5.1f)", ours, ours - cell.published);
    }
    fputc('\n', out);
}

/* The same cells as in the files. */
static void print_table(FILE *out, const paper *p, const metric_text *metric) {
    fprintf(out, "%-28s", metric->title);
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, "  %13s", p->e.data[i].name);
    fputc('\n', out);
    for (int m = 0; m < PAPER_METHODS; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", paper_methods[m],
                 method_note(m)[0] == '\0' ? "" : " (reconstruction)");
        print_row(out, p, metric->name, name, ENTRY_GRID + m, m, false);
    }
    print_row(out, p, metric->name, "ssc, default, no labels", ENTRY_GRID + PAPER_SSC, PAPER_SSC,
              true);
    print_row(out, p, metric->name, "ssc, best preparation", ENTRY_PREPARED, PAPER_SSC, false);
    fputc('\n', out);
}

/* The short form for a terminal; the files have the deviations and grid points. */
void paper_print(const paper *p, FILE *out) {
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
        print_table(out, p, &metrics[k]);
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
