/* The two tables, as CSV, Markdown and LaTeX, and on stdout. Numbers in per cent. */
#include "paper.h"
#include "talk.h"
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SSC = PAPER_METHODS - 1 };

/* One cell of a table. */
typedef struct table_cell {
    bool there;
    double ours, mean, std; /* at the point the oracle chose, in per cent */
    double fallback;        /* the default, without labels */
    double published, spread;
    char at[128];
} table_cell;

typedef struct metric_text {
    const char *name, *title;
} metric_text;

static const metric_text metrics[] = {{"acc", "ACC"}, {"nmi", "NMI"}};

static table_cell cell_of(const paper *p, const char *metric, int entry, int method, int data) {
    grid_result best = grid_oracle(&p->e, data, entry, metric);
    grid_result fallback = grid_oracle(&p->e, data, ENTRY_DEFAULT + method, metric);
    const paper_score *score = paper_number(metric, method, p->set[data]);
    table_cell cell = {best.cell != NULL,
                       shown_percent(best.best),
                       shown_percent(best.mean),
                       shown_percent(best.std),
                       shown_percent(fallback.best),
                       score->mean,
                       score->std,
                       ""};
    if (best.cell != NULL)
        cell_grid_text(&p->e, best.cell, cell.at, sizeof cell.at);
    return cell;
}

/* The largest of ours in a column, as printed. */
static double column_best(const paper *p, const char *metric, int data, bool by_default) {
    double best = -INFINITY;
    for (int m = 0; m < PAPER_METHODS; m++) {
        table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, data);
        best = fmax(best, by_default ? cell.fallback : cell.ours);
    }
    return best;
}

static const char *note_of(int method) {
    return strcmp(paper_methods[method], "spls") == 0 ? "reconstruction" : "";
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void put_csv(FILE *out, const paper *p, const char *metric) {
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
            table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, i);
            fprintf(out, ",%.1f,%.1f,%.1f,%.1f,%+.1f,%.1f,", cell.ours, cell.mean, cell.std,
                    cell.published, cell.ours - cell.published, cell.fallback);
            if (m == SSC)
                fprintf(out, "%.1f", cell_of(p, metric, ENTRY_PREPARED, m, i).ours);
        }
        fprintf(out, ",%s\n", note_of(m));
    }
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void put_heading(FILE *out, const paper *p, const char *first) {
    fprintf(out, "| %s |", first);
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " %s |", p->e.data[i].name);
    fputs("\n|---|", out);
    for (int i = 0; i < p->e.n_data; i++)
        fputs("---:|", out);
    fputc('\n', out);
}

static void put_name(FILE *out, int method) {
    fprintf(out, "| %s%s |", paper_methods[method],
            note_of(method)[0] == '\0' ? "" : " (reconstruction)");
}

static void put_number(FILE *out, double number, bool bold) {
    fprintf(out, bold ? " **%.1f**" : " %.1f", number);
}

static void put_oracle_table(FILE *out, const paper *p, const char *metric) {
    put_heading(out, p, "method");
    for (int m = 0; m < PAPER_METHODS; m++) {
        put_name(out, m);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, i);
            put_number(out, cell.ours, cell.ours == column_best(p, metric, i, false));
            fprintf(out, "<br>%.1f ± %.1f<br>paper %.1f (%+.1f) |", cell.mean, cell.std,
                    cell.published, cell.ours - cell.published);
        }
        fputc('\n', out);
    }
}

static void put_default_table(FILE *out, const paper *p, const char *metric) {
    put_heading(out, p, "method");
    for (int m = 0; m < PAPER_METHODS; m++) {
        put_name(out, m);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, i);
            put_number(out, cell.fallback, cell.fallback == column_best(p, metric, i, true));
            fprintf(out, "<br>paper %.1f (%+.1f) |", cell.published,
                    cell.fallback - cell.published);
        }
        fputc('\n', out);
    }
}

static void put_prepared_table(FILE *out, const paper *p, const char *metric) {
    put_heading(out, p, "method");
    fputs("| ssc |", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = cell_of(p, metric, ENTRY_PREPARED, SSC, i);
        put_number(out, cell.ours, cell.ours >= cell.published);
        fprintf(out, "<br>%.1f ± %.1f<br>paper %.1f (%+.1f)<br>%s |", cell.mean, cell.std,
                cell.published, cell.ours - cell.published, cell.at);
    }
    fputc('\n', out);
}

static void put_markdown(FILE *out, const paper *p, const char *metric) {
    fprintf(out,
            "# %s, per cent\n\n## The published protocol\n\n"
            "Each cell: ours, the restart of least inertia at the grid point that the labels "
            "choose; mean ± spread over the single starts there (lda-kmeans ends with one start); "
            "the paper's number and the difference. The best of ours is bold.\n\n",
            strcmp(metric, "acc") == 0 ? "Accuracy (ACC)" : "Normalised mutual information (NMI)");
    put_oracle_table(out, p, metric);
    fputs("\n## Defaults\n\nNo option set: no labels used, the number of clusters known. Beside it "
          "the "
          "paper's number, which was tuned with the labels.\n\n",
          out);
    put_default_table(out, p, metric);
    fputs(
        "\n## ssc, the best over preparations and gamma\n\nThe labels choose the preparation too, "
        "and gamma from 0.1 n/c to 10,000 n/c. Bold: at least the paper's number.\n\n",
        out);
    put_prepared_table(out, p, metric);
    json_t *notes = paper_notes(p), *text;
    size_t index;
    fputs("\n## Data\n\n", out);
    json_array_foreach(notes, index, text) {
        fprintf(out, "* %s\n", json_string_value(text));
    }
    json_decref(notes);
}

/* ---- LaTeX ---------------------------------------------------------------------------------- */

static void put_latex_row(FILE *out, const paper *p, const char *metric, int m) {
    fprintf(out, "%s%s", paper_methods[m], note_of(m)[0] == '\0' ? "" : "$^\\dagger$");
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, i);
        bool best = cell.ours == column_best(p, metric, i, false);
        fprintf(out, best ? " & \\textbf{%.1f}" : " & %.1f", cell.ours);
        fprintf(out, " {\\scriptsize(%.1f $\\pm$ %.1f)}", cell.mean, cell.std);
    }
    fputs(" \\\\\n", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = cell_of(p, metric, ENTRY_GRID + m, m, i);
        fprintf(out, " & {\\scriptsize paper %.1f $\\pm$ %.1f, $%+.1f$}", cell.published,
                cell.spread, cell.ours - cell.published);
    }
    fputs(" \\\\\n", out);
}

static void put_latex_extra(FILE *out, const paper *p, const char *metric, bool prepared) {
    fputs(prepared ? "ssc, best over preparations" : "ssc, default (no labels)", out);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = cell_of(p, metric, prepared ? ENTRY_PREPARED : ENTRY_GRID + SSC, SSC, i);
        double ours = prepared ? cell.ours : cell.fallback;
        fprintf(out, " & %.1f {\\scriptsize($%+.1f$)}", ours, ours - cell.published);
    }
    fputs(" \\\\\n", out);
}

static void put_latex(FILE *out, const paper *p, const char *metric) {
    fputs("% Needs no package. Ours, mean and spread over single starts; below, the paper's number "
          "and the difference.\n\\begin{tabular}{l",
          out);
    for (int i = 0; i < p->e.n_data; i++)
        fputc('r', out);
    fprintf(out, "}\n\\hline\n%s (\\%%)", strcmp(metric, "acc") == 0 ? "ACC" : "NMI");
    for (int i = 0; i < p->e.n_data; i++)
        fprintf(out, " & %s", p->e.data[i].name);
    fputs(" \\\\\n\\hline\n", out);
    for (int m = 0; m < PAPER_METHODS; m++)
        put_latex_row(out, p, metric, m);
    fputs("\\hline\n", out);
    put_latex_extra(out, p, metric, false);
    put_latex_extra(out, p, metric, true);
    fprintf(out, "\\hline\n\\multicolumn{%d}{l}{\\scriptsize $^\\dagger$ a reconstruction}\\\\\n",
            p->e.n_data + 1);
    fputs("\\end{tabular}\n", out);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int write_table(const paper *p, const char *metric, const char *ending,
                       void (*put)(FILE *out, const paper *p, const char *metric)) {
    char name[16], *text = NULL;
    size_t size = 0;
    FILE *out = must(open_memstream(&text, &size));
    put(out, p, metric);
    fclose(out);
    snprintf(name, sizeof name, "%s.%s", metric, ending);
    char *path = output_path(&p->e, name);
    huddle_status status = huddle_file_write(path, text, size);
    int result = status == HUDDLE_OK ? EXIT_DONE : failed_call(status, path);
    free(path);
    free(text);
    return result;
}

int paper_tables(const paper *p) {
    int result = EXIT_DONE;
    for (size_t k = 0; k < 2 && result == EXIT_DONE; k++) {
        result = write_table(p, metrics[k].name, "csv", put_csv);
        if (result == EXIT_DONE)
            result = write_table(p, metrics[k].name, "md", put_markdown);
        if (result == EXIT_DONE)
            result = write_table(p, metrics[k].name, "tex", put_latex);
    }
    return result;
}

/* ---- stdout --------------------------------------------------------------------------------- */

static void print_row(const paper *p, const char *metric, const char *name, int entry, int method,
                      bool by_default) {
    printf("  %-26s", name);
    for (int i = 0; i < p->e.n_data; i++) {
        table_cell cell = cell_of(p, metric, entry, method, i);
        double ours = by_default ? cell.fallback : cell.ours;
        printf("  %5.1f (%+5.1f)", ours, ours - cell.published);
    }
    printf("\n");
}

void paper_print(const paper *p) {
    json_t *notes = paper_notes(p), *text;
    size_t index;
    for (size_t k = 0; k < 2; k++) {
        printf("%-28s", metrics[k].title);
        for (int i = 0; i < p->e.n_data; i++)
            printf("  %13s", p->e.data[i].name);
        printf("\n");
        for (int m = 0; m < PAPER_METHODS; m++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", paper_methods[m],
                     note_of(m)[0] == '\0' ? "" : " (reconstruction)");
            print_row(p, metrics[k].name, name, ENTRY_GRID + m, m, false);
        }
        print_row(p, metrics[k].name, "ssc, default, no labels", ENTRY_GRID + SSC, SSC, true);
        print_row(p, metrics[k].name, "ssc, best preparation", ENTRY_PREPARED, SSC, false);
        printf("\n");
    }
    printf("Per cent; in brackets the difference from the paper's number. But for the default, the "
           "labels chose the grid point, as in the paper.\n\n");
    json_array_foreach(notes, index, text) {
        printf("%s\n", json_string_value(text));
    }
    json_decref(notes);
    printf("%d cells: %d computed in %.1f s, %d found; tables, figures and the page are in %s\n",
           p->e.n_cells, p->e.n_computed, p->e.seconds, p->e.n_found, p->e.output);
}
