#include "cli/synonyms.h"

#include <stdio.h>
#include <string.h>

typedef struct synonym {
    const char *other, *own;
} synonym;

/* Names of scikit-learn, which the Python package uses. */
static const synonym accepted[] = {{"random-state", "seed"}, {"n-jobs", "n-threads"}};

/* A name may have several meanings; the first that a command has is suggested. */
static const synonym suggested[] = {{"k", "n-clusters"},
                                    {"clusters", "n-clusters"},
                                    {"num-clusters", "n-clusters"},
                                    {"n-components", "n-clusters"},
                                    {"knn", "n-neighbors"},
                                    {"neighbors", "n-neighbors"},
                                    {"neighbours", "n-neighbors"},
                                    {"algorithm", "method"},
                                    {"affinity", "weights"},
                                    {"scale", "prepare"},
                                    {"normalize", "prepare"},
                                    {"standardize", "prepare"},
                                    {"threads", "n-threads"},
                                    {"jobs", "n-threads"},
                                    {"cores", "n-threads"},
                                    {"workers", "n-threads"},
                                    {"out", "output"},
                                    {"outfile", "output"},
                                    {"model", "save"},
                                    {"label", "y"},
                                    {"labels", "y"},
                                    {"target", "y"},
                                    {"truth", "y"},
                                    {"features", "x"},
                                    {"columns", "x"},
                                    {"na", "missing"},
                                    {"one-hot", "encode"},
                                    {"samples", "n"},
                                    {"n-samples", "n"},
                                    {"html", "report"},
                                    {"plot", "report"},
                                    {"silent", "quiet"},
                                    {"debug", "verbose"}};

static const struct {
    char letter;
    const char *own;
} letters[] = {{'k', "n-clusters"}, {'K', "n-clusters"}, {'n', "n-clusters"}, {'n', "n"},
               {'s', "seed"},       {'t', "n-threads"},  {'p', "n-threads"},  {'a', "method"},
               {'x', "x"},          {'y', "y"},          {'r', "report"},     {'l', "y"}};

enum {
    ACCEPTED = sizeof accepted / sizeof *accepted,
    SUGGESTED = sizeof suggested / sizeof *suggested,
    LETTERS = sizeof letters / sizeof *letters
};

void flag_name(const char *word, size_t length, char *name, size_t size) {
    snprintf(name, size, "%.*s", (int)length, word);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
    for (size_t i = 0; i < ACCEPTED; i++)
        if (strcmp(name, accepted[i].other) == 0)
            snprintf(name, size, "%s", accepted[i].own);
}

const char *name_synonym(const char *name, int k) {
    for (size_t i = 0; i < SUGGESTED; i++)
        if (strcmp(name, suggested[i].other) == 0 && k-- == 0)
            return suggested[i].own;
    return NULL;
}

const char *letter_synonym(char letter, int k) {
    for (size_t i = 0; i < LETTERS; i++)
        if (letters[i].letter == letter && k-- == 0)
            return letters[i].own;
    return NULL;
}
