#include "cli/catalogue.h"

#include "cli/messages.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* Built once, on first use: most commands need it only for --help or an unknown option. */
static struct {
    catalogue_of_methods made;
    huddle_model **models; /* own the tables */
    const char **short_names;
} store;

/* n_clusters in C, Python and JSON is --n-clusters on the command line. */
void option_flag(const char *name, char *flag, size_t size) {
    snprintf(flag, size, "%s", name);
    for (char *c = flag; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
}

/* The only option that is needed often enough for a letter; the other letters are of flags. */
char option_letter(const char *name) {
    return strcmp(name, "n_clusters") == 0 ? 'c' : '\0';
}

static int count_bits(uint64_t bits) {
    int count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* The tables of options belong to models, so one model of each method is kept as long as the
 * catalogue. A failure here is lack of memory, and ends the program. */
static void load_methods(void) {
    catalogue_of_methods *made = &store.made;
    made->methods = huddle_methods();
    while (made->methods[made->n_methods] != NULL)
        made->n_methods++;
    size_t n = (size_t)made->n_methods;
    store.models = check_allocation(calloc(n + 1, sizeof *store.models));
    made->tables = check_allocation(calloc(n + 1, sizeof *made->tables));
    made->names = check_allocation(calloc(n + 1, sizeof *made->names));
    for (int i = 0; i < made->n_methods; i++) {
        made->names[i] = made->methods[i]->name;
        huddle_status status = huddle_model_new(made->names[i], &store.models[i]);
        if (status != HUDDLE_OK)
            exit(failed("%s", huddle_last_error()));
        made->tables[i] = huddle_model_options(store.models[i]);
    }
}

/* The entry for an option of this name and meaning, or the empty one after the last. Two
 * methods mean the same if they have the same help text. */
static catalogue_option *find_option(catalogue_option *options, const huddle_option *row) {
    for (; options->name != NULL; options++)
        if (strcmp(options->name, row->name) == 0 && strcmp(options->option->help, row->help) == 0)
            break;
    return options;
}

/* Bits of a 64-bit word are enough for the methods of a build. */
static void add_table(int method) {
    for (const huddle_option *row = store.made.tables[method]; row->type != HUDDLE_OPTION_END;
         row++) {
        catalogue_option *entry = find_option(store.made.options, row);
        if (entry->name == NULL) {
            entry->name = row->name;
            entry->option = row;
            entry->letter = option_letter(row->name);
            option_flag(row->name, entry->flag, sizeof entry->flag);
        }
        entry->methods |= (uint64_t)1 << method;
    }
}

/* Options of every method come first in --help, then those of the default method, then the
 * rest. */
static option_rank rank_of(const catalogue_option *entry) {
    if (count_bits(entry->methods) == store.made.n_methods)
        return OF_EVERY_METHOD;
    for (int i = 0; i < store.made.n_methods; i++)
        if ((entry->methods >> i & 1) && strcmp(store.made.names[i], huddle_default_method()) == 0)
            return OF_DEFAULT_METHOD;
    return OF_OTHER_METHODS;
}

/* By rank, within a rank in the order of the tables: insertion sort, because it is stable. */
static void sort_options(catalogue_option *options) {
    for (int i = 0; options[i].name != NULL; i++) {
        catalogue_option moving = options[i];
        int place = i;
        moving.rank = rank_of(&moving);
        for (; place > 0 && options[place - 1].rank > moving.rank; place--)
            options[place] = options[place - 1];
        options[place] = moving;
    }
}

/* The default method's table is added first, so that an entry's help and default are those of
 * the default method where it has the option; adding it again changes nothing. */
const catalogue_of_methods *catalogue(void) {
    if (store.models != NULL)
        return &store.made;
    load_methods();
    /* The number of entries is at most that of all rows of all tables. */
    size_t rows = 1;
    for (int i = 0; i < store.made.n_methods; i++)
        for (const huddle_option *row = store.made.tables[i]; row->type != HUDDLE_OPTION_END; row++)
            rows++;
    store.made.options = check_allocation(calloc(rows, sizeof *store.made.options));
    for (int i = 0; i < store.made.n_methods; i++)
        if (strcmp(store.made.names[i], huddle_default_method()) == 0)
            add_table(i);
    for (int i = 0; i < store.made.n_methods; i++)
        add_table(i);
    sort_options(store.made.options);
    return &store.made;
}

/* "*" accepts the options of all methods. */
const catalogue_option *catalogue_next(const catalogue_option *from, const char *methods) {
    for (; from->name != NULL; from++)
        for (int i = 0; i < store.made.n_methods; i++)
            if ((from->methods >> i & 1) &&
                (strcmp(methods, "*") == 0 || strcmp(methods, store.made.names[i]) == 0))
                return from;
    return from;
}

/* NULL is a command without options of methods: the loop ends at once. */
const catalogue_option *catalogue_first(const char *methods) {
    static const catalogue_option none = {0};
    return methods == NULL ? &none : catalogue_next(catalogue()->options, methods);
}

void catalogue_free(void) {
    for (int i = 0; i < store.made.n_methods; i++)
        huddle_model_free(store.models[i]);
    free(store.models);
    free(store.short_names);
    free(store.made.tables);
    free(store.made.names);
    free(store.made.options);
    memset(&store, 0, sizeof store);
}

/* Cached for the life of the process, since completions and --help ask several times. */
const char *const *method_names(void) {
    /* Not from catalogue(): a list of names needs no models. */
    const huddle_method_text *const *methods = huddle_methods();
    size_t n = 0;
    if (store.short_names != NULL)
        return store.short_names;
    while (methods[n] != NULL)
        n++;
    store.short_names = check_allocation(calloc(n + 1, sizeof *store.short_names));
    for (size_t i = 0; i < n; i++)
        store.short_names[i] = methods[i]->name;
    return store.short_names;
}

/* By type; choices follow in the help itself. */
const char *option_value(const huddle_option *option) {
    switch (option->type) {
    case HUDDLE_OPTION_INT:
    case HUDDLE_OPTION_RANGE:
    case HUDDLE_OPTION_SEED:
        return "N";
    case HUDDLE_OPTION_REAL:
        return "NUMBER";
    case HUDDLE_OPTION_BOOL:
        return "BOOL";
    case HUDDLE_OPTION_CHOICE:
    case HUDDLE_OPTION_RULE:
        return "NAME";
    case HUDDLE_OPTION_END:
        break;
    }
    return "";
}

/* Methods may have different defaults for the same option; the first is that of the default method.
 */
void option_default(const catalogue_option *entry, char *text, size_t size) {
    /* The tool replaces the library's default where it knows the number of classes. */
    if (strcmp(entry->name, "n_clusters") == 0) {
        snprintf(text, size, "the number of classes if the data have labels, else auto");
        return;
    }
    snprintf(text, size, "%s", entry->option->default_text);
    for (int i = 0; i < store.made.n_methods; i++) {
        const huddle_option *own = huddle_option_find(store.made.tables[i], entry->name);
        if (own != NULL && (entry->methods >> i & 1) &&
            strcmp(own->default_text, entry->option->default_text) != 0)
            append_text(text, size, "; %s: %s", store.made.names[i], own->default_text);
    }
}

/* For options that only some methods have. */
void option_owners(const catalogue_option *entry, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < store.made.n_methods; i++)
        if (entry->methods >> i & 1)
            append_text(text, size, "%s%s", text[0] == '\0' ? "" : ", ", store.made.names[i]);
}
