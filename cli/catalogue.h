/* The options of all methods, merged: an option that several methods have with the same meaning is
 * one entry. */
#ifndef HUDDLE_CLI_CATALOGUE_H
#define HUDDLE_CLI_CATALOGUE_H

#include <huddle/model.h>

#include <stdint.h>
#include <stdio.h>

typedef enum option_rank { OF_EVERY_METHOD, OF_DEFAULT_METHOD, OF_OTHER_METHODS } option_rank;

typedef struct catalogue_option {
    const char *name;            /* n_clusters */
    char flag[40];               /* n-clusters */
    char letter;                 /* 'c', or 0 */
    const huddle_option *option; /* of the first method that has it, the default method first */
    uint64_t methods;            /* bit i: method i has it */
    option_rank rank;
} catalogue_option;

typedef struct catalogue_of_methods {
    int n_methods;
    const huddle_method_text *const *methods;
    const huddle_option **tables; /* of each method */
    const char *const *names;     /* of each method; ends with NULL */
    catalogue_option *options;    /* by rank; ends with a NULL name */
} catalogue_of_methods;

/* Built by the first call. Ends the program with a message if that fails. */
const catalogue_of_methods *catalogue(void);
void catalogue_free(void);

/* The names of all methods; ends with NULL. */
const char *const *method_names(void);

/* The option after `last`, or the first one if that is NULL, that belongs to `methods` (a method,
 * "*" for all, or NULL for none), or the end of the list. */
const catalogue_option *catalogue_next(const catalogue_option *last, const char *methods);

/* Loops over the options of `methods`. */
#define FOR_EACH_OPTION(option, methods)                                                           \
    for (const catalogue_option *option = catalogue_next(NULL, methods); option->name != NULL;     \
         option = catalogue_next(option, methods))

/* The flag of an option (n-clusters for n_clusters), and its letter or 0. */
void option_flag(const char *name, char *flag, size_t size);

/* The flags that a preset stands for: "--prepare none --rows sym ...". */
void preset_flags(const huddle_preset *preset, char *text, size_t size);
char option_letter(const char *name);

/* The placeholder of an option's value in --help: N, NUMBER, BOOL, NAME. */
const char *option_value(const huddle_option *option);

/* The default as --help shows it: "5", or "unit; kmeans: none" if methods differ. */
void option_default(const catalogue_option *option, char *text, size_t size);

/* The names of the methods that have the option: "sc, ssc". */
void option_owners(const catalogue_option *option, char *text, size_t size);

#endif
