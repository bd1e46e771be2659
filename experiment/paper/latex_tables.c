/* The tables of ACC and NMI as LaTeX: one float for each block, with the captions of the paper.
 * Only commands of plain LaTeX, so that the file can be included anywhere. */
#include "experiment/paper/paper.h"

#include <math.h>
#include <string.h>

/* Widths as shares of the line: that of the data sets together; each has an equal part. */
static const double columns_width = 0.84;

/* Texts come from options, messages and names of files. */
static void write_plain(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (strchr("_%&#${}", *text) != NULL)
            fprintf(out, "\\%c", *text);
        else if (*text == '\\' || *text == '^' || *text == '~')
            fprintf(out, "\\char%d{}", *text);
        else if (strchr("<>|", *text) != NULL) /* other characters in the fonts of TeX */
            fprintf(out, "$%c$", *text);
        else if (*text == '\n' || *text == '\r') /* two would end the paragraph */
            fputc(' ', out);
        else
            fputc(*text, out);
    }
}

/* Lines of a cell are separated by \newline, which columns of a fixed width allow. \raggedright
 * changes the meaning of \\, so that rows end with \tabularnewline. */
static void write_cell(FILE *out, const table_cell *cell, bool bold) {
    fputs(" & \\raggedright ", out);
    if (cell->missing) {
        fputs("{\\tiny ", out);
        write_plain(out, cell->refusal != NULL ? cell->refusal : "--");
        fputc('}', out);
        return;
    }
    fprintf(out, bold ? "\\textbf{%.1f}" : "%.1f", cell->ours);
    if (cell->n_seeds > 1)
        fprintf(out, " $\\pm$ %.1f", cell->spread);
    fprintf(out, " {\\tiny \\newline starts %.1f $\\pm$ %.1f", cell->mean, cell->std);
    if (cell->at[0] != '\0') {
        fputs(" \\newline ", out);
        write_plain(out, cell->at);
    }
    if (cell->equal[0] != '\0') {
        fputs(" \\newline $=$ ", out);
        write_plain(out, cell->equal);
    }
    if (isfinite(cell->published))
        fprintf(out, " \\newline paper %.1f $\\pm$ %.1f ($%+.1f$)", cell->published,
                cell->published_std, cell->ours - cell->published);
    fputc('}', out);
}

static void write_rows(FILE *out, const paper *p, const char *metric, table_kind kind) {
    for (int m = paper_first_method(kind); m < paper_end_method(p, kind); m++) {
        const char *name = kind == BY_RELATED ? paper_related(m) : paper_methods[m];
        write_plain(out, name);
        fputs(experiment_is_reconstruction(name) ? "$^\\dagger$" : "", out);
        for (int i = 0; i < p->e.n_data; i++) {
            table_cell cell = paper_cell(p, metric, kind, m, i);
            write_cell(out, &cell, paper_is_bold(p, metric, kind, i, &cell));
        }
        fputs(" \\tabularnewline\n\\hline\n", out);
    }
}

/* The blocks have the number of the paper's table, in its place; LaTeX does not count them. What
 * the paper has no table of keeps the number that LaTeX gives. */
static void write_number(FILE *out, const char *metric, table_kind kind) {
    if (kind != BY_PREPARATION && kind != BY_RELATED)
        fprintf(out, "\\renewcommand{\\thetable}{%d}\\addtocounter{table}{-1}\n",
                paper_table_number(metric));
}

static void write_float(FILE *out, const paper *p, const char *metric, table_kind kind,
                        const char *title, const char *lead) {
    fputs("\\begin{table*}\n", out);
    write_number(out, metric, kind);
    fprintf(out, "\\caption{Performance comparison (%s\\%%), ", /* as in the paper */
            paper_metric_title(metric));
    write_plain(out, title);
    fputs(". ", out);
    write_plain(out, lead);
    fprintf(out,
            " Mean $\\pm$ standard deviation over the seeds; below it the single restarts, the "
            "grid point, and the paper's number with the difference. $=$: the same clusters with "
            "every seed. $^\\dagger$: a reconstruction.}\n"
            "\\centering\n\\footnotesize\n\\begin{tabular}{|l||*{%d}{p{%.3f\\textwidth}|}}\n\\hline"
            "\n",
            p->e.n_data, columns_width / p->e.n_data - 0.02);
    for (int i = 0; i < p->e.n_data; i++) {
        fputs(" & ", out);
        write_plain(out, p->e.data[i].name);
    }
    fputs(" \\tabularnewline\n\\hline\\hline\n", out);
    write_rows(out, p, metric, kind);
    fputs("\\end{tabular}\n\\end{table*}\n\n", out);
}

void paper_write_latex(FILE *out, const paper *p, const char *metric) {
    json_t *notes = paper_notes(&p->found), *text;
    size_t index;
    fprintf(out, "%% Table %d of the paper, %s. Needs no package.\n", paper_table_number(metric),
            paper_metric_title(metric));
    json_array_foreach(notes, index, text) {
        fputs("% ", out);
        paper_write_line(out, json_string_value(text), "");
        fputc('\n', out);
    }
    json_decref(notes);
    for (int b = 0; b < PAPER_BLOCKS; b++)
        write_float(out, p, metric, paper_blocks[b].kind, paper_blocks[b].title,
                    paper_blocks[b].lead);
    write_float(out, p, metric, BY_PREPARATION, "ssc over preparations and gamma",
                paper_prepared_lead);
    if (paper_end_method(p, BY_RELATED) > 0)
        write_float(out, p, metric, BY_RELATED, "related work", paper_related_lead);
}
