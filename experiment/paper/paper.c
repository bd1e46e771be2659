#include "experiment/paper/paper.h"

#include "experiment/paper/claims.h"
#include "experiment/paper/paper_figures.h"

#include <stdlib.h>
#include <string.h>

/* The published experiments are an ordinary experiment with a generated plan. p->set maps the data
 * sets of the plan, which are those that were found, to those of the paper. */
huddle_status paper_run(huddle_context *context, const paper_protocol *protocol, paper *p) {
    int n_data = 0;
    for (int s = 0; s < PAPER_SETS; s++)
        if (p->found.entry[s] != NULL)
            p->set[n_data++] = s;
    return experiment_run_plan(context, "paper", paper_plan(&p->found, protocol), &p->e);
}

/* The plan, to be read or to be run again by huddle experiment. */
static huddle_status write_plan(const paper *p) {
    char *text = json_dumps(p->e.plan, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    huddle_status status =
        experiment_write_file(&p->e, "plan.json", text, text == NULL ? 0 : strlen(text));
    free(text);
    return status;
}

/* figureN.svg, .pdf and .png. The SVG is returned for the page, which embeds it. */
static huddle_status write_figure(const paper *p, const figure *f, char **svg) {
    static const struct {
        figure_format format;
        const char *ending;
    } files[] = {{FIGURE_SVG, "svg"}, {FIGURE_PDF, "pdf"}, {FIGURE_PNG, "png"}};
    huddle_status status = HUDDLE_OK;
    char name[32], *bytes = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s.%s", f->name, files[i].ending);
        status = figure_render(f, files[i].format, &bytes, &size);
        if (status != HUDDLE_OK)
            return set_error(status, "%s: the figure cannot be drawn (%s)", name,
                             huddle_status_name(status));
        TRY(experiment_write_file(&p->e, name, bytes, size));
        if (files[i].format == FIGURE_SVG) {
            *svg = bytes;
            bytes = NULL;
        }
        free(bytes);
        bytes = NULL;
    }
done:
    free(bytes);
    return status;
}

/* Both figures are drawn even if writing the first one fails, so that both can be freed. */
static huddle_status write_figures(const paper *p, char *svg[2]) {
    figure gamma, convergence;
    paper_draw_gamma(p, &gamma);
    paper_draw_convergence(p, &convergence);
    huddle_status status = write_figure(p, &gamma, &svg[0]);
    if (status == HUDDLE_OK)
        status = write_figure(p, &convergence, &svg[1]);
    figure_free(&gamma);
    figure_free(&convergence);
    return status;
}

/* Raw results first: they exist even if a later output fails. */
huddle_status paper_write(const paper *p, const char *page) {
    huddle_status status = HUDDLE_OK;
    char *svg[2] = {NULL, NULL};
    TRY(write_plan(p));
    TRY(experiment_write_csv(&p->e));
    TRY(paper_write_tables(p));
    TRY(paper_write_claims(p));
    TRY(write_figures(p, svg));
    TRY(paper_write_page(p, svg, page));
done:
    free(svg[0]);
    free(svg[1]);
    return status;
}
