/* The verdicts as Markdown, as JSON and as a section of the page. */
#include "experiment/paper/claims.h"

#include <stdlib.h>
#include <string.h>

const char *claim_word(int source, claim_verdict verdict) {
    static const char *const words[2][3] = {
        {"no numbers", "holds", "contradicted by its own tables"},
        {"not tested", "confirmed", "not reproduced"}};
    return words[source != CLAIM_PUBLISHED][verdict];
}

/* "not reproduced, 12 of 16", or the word alone where nothing was compared. */
static void format_verdict(int source, const claim_finding *found, char *text, size_t size) {
    const char *word = claim_word(source, claim_judge(found));
    if (found->n_checked == 0)
        snprintf(text, size, "%s", word);
    else
        snprintf(text, size, "%s, %d of %d", word, found->n_kept, found->n_checked);
}

static const char bold_text[] =
    "The paper sets every number of SSC in bold. It is not the largest of its column in";

/* ---- Markdown ------------------------------------------------------------------------------- */

static void write_markdown(FILE *out, const claim_list *list) {
    char text[128];
    fputs("# What the paper claims\n\nEvery verdict is computed from the numbers; counts are the "
          "comparisons that come out as claimed, of those made. One exception is enough for "
          "\"contradicted\" or \"not reproduced\". Numbers are in per cent.\n\n| | claim |",
          out);
    for (int s = 0; s < CLAIM_SOURCES; s++)
        fprintf(out, " %s |", claim_sources[s]);
    fputs("\n|---:|---|---|---|---|---|\n", out);
    for (int k = 0; k < CLAIM_LINES; k++) {
        fprintf(out, "| %d | %s |", k + 1, list->line[k].claim);
        for (int s = 0; s < CLAIM_SOURCES; s++) {
            format_verdict(s, &list->line[k].found[s], text, sizeof text);
            fprintf(out, " %s |", text);
        }
        fputc('\n', out);
    }
    fprintf(out, "\n%s: %s.\n\n## How each is checked, and the exceptions\n", bold_text,
            list->bold.exceptions);
    for (int k = 0; k < CLAIM_LINES; k++) {
        fprintf(out, "\n%d. %s: %s.\n", k + 1, list->line[k].claim, list->line[k].rule);
        for (int s = 0; s < CLAIM_SOURCES; s++)
            if (list->line[k].found[s].exceptions[0] != '\0')
                fprintf(out, "   * Exceptions, %s: %s.\n", claim_sources[s],
                        list->line[k].found[s].exceptions);
    }
}

huddle_status paper_write_claims(const paper *p) {
    huddle_status status = HUDDLE_OK;
    char *text = NULL;
    size_t size = 0;
    claim_list *list = claims_find(p);
    FILE *out = open_memstream(&text, &size);
    if (list != NULL && out != NULL)
        write_markdown(out, list);
    bool complete = list != NULL && out != NULL;
    if (out != NULL && fclose(out) != 0)
        complete = false;
    if (!complete)
        TRY(experiment_no_memory());
    TRY(experiment_write_file(&p->e, "claims.md", text, size));
done:
    free(text);
    free(list);
    return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *describe_finding(int source, const claim_finding *found) {
    return json_pack("{s:s, s:s, s:i, s:i, s:s}", "source", claim_sources[source], "verdict",
                     claim_word(source, claim_judge(found)), "as_claimed", found->n_kept,
                     "compared", found->n_checked, "exceptions", found->exceptions);
}

/* Names of data sets in exceptions come from paper_sets: always valid UTF-8. */
json_t *paper_claims(const paper *p) {
    claim_list *list = claims_find(p);
    if (list == NULL)
        return NULL;
    json_t *claims = json_array();
    for (int k = 0; k < CLAIM_LINES; k++) {
        const claim_line *line = &list->line[k];
        json_t *found = json_array();
        for (int s = 0; s < CLAIM_SOURCES; s++)
            page_append(found, describe_finding(s, &line->found[s]));
        page_append(claims, json_pack("{s:s, s:s, s:o}", "claim", line->claim, "rule", line->rule,
                                      "findings", found));
    }
    free(list);
    return claims;
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Exceptions are in the note, which appears on hovering; claims.md has them too. */
static json_t *make_row(const claim_line *line, int from, int to) {
    json_t *row = json_pack("[{s:s, s:s}]", "value", line->claim, "note", line->rule);
    for (int s = from; s < to; s++) {
        char text[128];
        const char *exceptions = line->found[s].exceptions;
        format_verdict(s, &line->found[s], text, sizeof text);
        page_append(row, json_pack("{s:s, s:b}", "value", text, "strong",
                                   claim_judge(&line->found[s]) == CLAIM_BROKEN));
        if (exceptions[0] != '\0')
            page_set(json_array_get(row, (size_t)(s - from) + 1), "note",
                     json_sprintf("Exceptions: %s", exceptions));
    }
    return row;
}

/* Lines `from` to `to`, ordered as in the paper. More than twelve rows would be folded by a table,
 * so that the observations on the tables, which every source has numbers for, and the claims about
 * the algorithm, of which the paper gives none, are two. */
static json_t *make_table(const claim_list *list, const char *caption, int from, int to) {
    int first = from < CLAIM_OBSERVATIONS ? CLAIM_PUBLISHED : CLAIM_LETTER;
    int end = from < CLAIM_OBSERVATIONS ? CLAIM_SOURCES : CLAIM_OURS + 1;
    json_t *columns = json_pack("[{s:s, s:s}]", "label", "claim", "type", "text");
    json_t *rows = json_array();
    for (int s = first; s < end; s++)
        page_append(columns, json_pack("{s:s}", "label", claim_sources[s]));
    for (int k = from; k < to; k++)
        page_append(rows, make_row(&list->line[k], first, end));
    return json_pack("{s:s, s:o, s:o}", "caption", caption, "columns", columns, "rows", rows);
}

void paper_add_claims(report_page *page, const paper *p) {
    static const char how[] =
        "Each verdict is computed from the numbers: comparisons that come out as claimed, of those "
        "made. One exception is enough for a claim to be contradicted or not reproduced. Hover "
        "over "
        "a claim for how it is checked and over a verdict for the exceptions; claims.md has both.";
    char lead[1024];
    claim_list *list = claims_find(p);
    lead[0] = '\0';
    append_text(lead, sizeof lead, "%s %s %s; here the largest number of each column is bold.", how,
                bold_text, list == NULL ? "" : list->bold.exceptions);
    report_section *section = page_section(page, "claims", "What the paper claims", lead);
    if (list == NULL) { /* reported by page_write() */
        page_append(section, NULL);
        return;
    }
    page_add(section, "table",
             make_table(list, "Observations on the tables", 0, CLAIM_OBSERVATIONS));
    page_add(section, "table",
             make_table(list, "gamma, convergence, outliers", CLAIM_OBSERVATIONS, CLAIM_LINES));
    free(list);
}
