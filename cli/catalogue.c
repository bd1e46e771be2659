#include "cli/catalogue.h"

#include "cli/messages.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* Bits of a 64-bit word are enough for the methods of a build. */
enum { MAX_METHODS = 63 };

/* Built once, on first use: most commands need it only for --help or an unknown option. */
static struct {
    catalogue_of_methods made;
    huddle_model **models; /* own the tables */
} store;

void option_flag(const char *name, char *flag, size_t size) {
    snprintf(flag, size, "%s", name);
    for (char *c = flag; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
}

void preset_flags(const huddle_preset *preset, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const huddle_setting *s = preset->settings; s->option != NULL && used < size; s++) {
        char flag[64];
        option_flag(s->option, flag, sizeof flag);
        used += (size_t)snprintf(text + used, size - used, "%s--%s %s", used > 0 ? " " : "", flag,
                                 s->value);
    }
}

/* The only option that is needed often enough for a letter; the other letters are of flags. */
char option_letter(const char *name) {
    return strcmp(name, "n_clusters") == 0 ? 'c' : '\0';
}

/* The tables of options belong to models, so one model of each method is kept as long as the
 * catalogue. A failure here is lack of memory, and ends the program. */
static void load_methods(void) {
    catalogue_of_methods *made = &store.made;
    made->methods = huddle_methods();
    made->names = method_names();
    while (made->names[made->n_methods] != NULL)
        made->n_methods++;
    size_t n = (size_t)made->n_methods;
    store.models = check_allocation(calloc(n + 1, sizeof *store.models));
    made->tables = check_allocation(calloc(n + 1, sizeof *made->tables));
    for (int i = 0; i < made->n_methods; i++) {
        if (huddle_model_new(made->names[i], &store.models[i]) != HUDDLE_OK)
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
    if (entry->methods == ((uint64_t)1 << store.made.n_methods) - 1)
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

const catalogue_option *catalogue_next(const catalogue_option *last, const char *methods) {
    static const catalogue_option none = {0};
    if (methods == NULL)
        return &none;
    const catalogue_option *from = last == NULL ? catalogue()->options : last + 1;
    for (; from->name != NULL; from++)
        for (int i = 0; i < store.made.n_methods; i++)
            if ((from->methods >> i & 1) &&
                (strcmp(methods, "*") == 0 || strcmp(methods, store.made.names[i]) == 0))
                return from;
    return from;
}

void catalogue_free(void) {
    for (int i = 0; i < store.made.n_methods; i++)
        huddle_model_free(store.models[i]);
    free(store.models);
    free(store.made.tables);
    free(store.made.options);
    memset(&store, 0, sizeof store);
}

/* Not from catalogue(): a list of names needs no models. */
const char *const *method_names(void) {
    static const char *names[MAX_METHODS + 1];
    const huddle_method_text *const *methods = huddle_methods();
    for (int i = 0; i < MAX_METHODS && methods[i] != NULL; i++)
        names[i] = methods[i]->name;
    return names;
}

const char *option_value(const huddle_option *option) {
    static const char *const values[] = {
        [HUDDLE_OPTION_INT] = "N",     [HUDDLE_OPTION_RANGE] = "N",
        [HUDDLE_OPTION_SEED] = "N",    [HUDDLE_OPTION_REAL] = "NUMBER",
        [HUDDLE_OPTION_BOOL] = "BOOL", [HUDDLE_OPTION_CHOICE] = "NAME",
        [HUDDLE_OPTION_RULE] = "NAME", [HUDDLE_OPTION_NUMBERS] = "NUMBERS"};
    return values[option->type];
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

void option_owners(const catalogue_option *entry, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < store.made.n_methods; i++)
        if (entry->methods >> i & 1)
            append_text(text, size, "%s%s", text[0] == '\0' ? "" : ", ", store.made.names[i]);
}
