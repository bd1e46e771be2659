/* Huddle, base: definitions that all other headers use.
 *
 *   status    a call returns a huddle_status; huddle_last_error() returns the message of the last
 *             failure of the calling thread
 *   context   threads, log, progress, cancelling and the engine of a computation
 *   options   each option is described once, in a table; defaults, checks, flags, JSON and
 *             documentation are derived from it
 *
 * Conventions of the whole library. Parameters come in the order context, inputs, options,
 * outputs, info. NULL for a context or options selects the defaults; an unwanted info may be NULL.
 * Inputs are neither kept nor changed. What a function returns in a struct is freed by the
 * _free function of that struct; a plain pointer it returns is freed by huddle_free(). The library
 * does not print, exit, abort or use a global random generator. How a solve ended (converged, limit
 * reached) is data in its info struct, not an error.
 */
#ifndef HUDDLE_BASE_H
#define HUDDLE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of every function: C's linkage in C++ too, and visible outside the library. */
#ifdef __cplusplus
#define HUDDLE_LINKAGE extern "C"
#else
#define HUDDLE_LINKAGE
#endif
#if defined(__GNUC__)
#define HUDDLE_API HUDDLE_LINKAGE __attribute__((visibility("default")))
#else
#define HUDDLE_API HUDDLE_LINKAGE
#endif

/* ---- status ------------------------------------------------------------------------------ */

typedef enum huddle_status {
    HUDDLE_OK = 0,
    HUDDLE_INVALID,     /* an argument or an option has an invalid value */
    HUDDLE_NO_MEMORY,   /* an allocation failed */
    HUDDLE_IO,          /* the system could not open, read or write a file */
    HUDDLE_FORMAT,      /* a file is damaged, or not of the format it should be */
    HUDDLE_UNSUPPORTED, /* valid, but not possible in this build */
    HUDDLE_NUMERIC,     /* overflow, a singular matrix, an eigensolver that failed */
    HUDDLE_CANCELLED,   /* the caller asked to stop */
    HUDDLE_INTERNAL     /* a bug in Huddle; please report it */
} huddle_status;

/* The name of a status, such as "invalid". */
HUDDLE_API const char *huddle_status_name(huddle_status status);

/* The message of this thread's most recent failure; "" if there was none. Valid until the thread's
 * next failing call. */
HUDDLE_API const char *huddle_last_error(void);

/* Sets this thread's huddle_last_error() to a copy of the message and returns the status: for
 * libraries built on this one that report failures in the same way. */
HUDDLE_API huddle_status huddle_set_error(huddle_status status, const char *message);

/* The version of the library, for example "1.2.3": HUDDLE_VERSION when it was built. */
HUDDLE_API const char *huddle_version(void);

/* Frees a plain pointer that the library returned; NULL is allowed. */
HUDDLE_API void huddle_free(void *pointer);

/* How an iteration ended. */
typedef enum huddle_stop {
    HUDDLE_STOP_CONVERGED = 0, /* the tolerance was met */
    HUDDLE_STOP_EXACT,         /* solved in closed form */
    HUDDLE_STOP_MAX_ITER,      /* the iteration limit was reached */
    HUDDLE_STOP_STALLED,       /* no further progress in this arithmetic */
    HUDDLE_STOP_ROUNDING       /* not met: the tolerance is below the rounding of the input */
} huddle_stop;

/* "converged", "exact", "max_iter", "stalled" or "rounding". */
HUDDLE_API const char *huddle_stop_name(huddle_stop stop);

/* ---- context ----------------------------------------------------------------------------- */

/* Threads, log, progress and engine of a computation. With a NULL context, a call computes on the
 * calling thread and the CPU, logs nothing and cannot be cancelled. Several threads may use one
 * context at the same time: the first gets its worker threads, the others compute on their own
 * thread. */
typedef struct huddle_context huddle_context;

typedef enum huddle_log_level { HUDDLE_LOG_WARNING, HUDDLE_LOG_INFO } huddle_log_level;

/* The kind of a warning, for programs; the text is for people. */
typedef enum huddle_warning_code {
    HUDDLE_WARNING_NONE = 0,         /* not a warning */
    HUDDLE_WARNING_NOT_CONVERGED,    /* an iteration ended before it reached its tolerance */
    HUDDLE_WARNING_NOT_VERIFIED,     /* eigenvectors may be missing from the embedding */
    HUDDLE_WARNING_FEW_DISTINCT,     /* fewer distinct rows than clusters */
    HUDDLE_WARNING_SMALL_EIGENGAP,   /* the embedding depends on an arbitrary choice */
    HUDDLE_WARNING_COMPONENTS,       /* the graph has more components than clusters */
    HUDDLE_WARNING_OPTION_CLIPPED,   /* an option was reduced to what the data allow */
    HUDDLE_WARNING_DOMINANT_FEATURE, /* a few features have nearly all the variance */
    HUDDLE_WARNING_GUARDED,          /* the labels are those of the embedding, not of the shrink */
    HUDDLE_WARNING_LOW_RECALL,       /* an approximate search missed more neighbours than allowed */
    HUDDLE_WARNING_INPUT,            /* values or samples were interpreted, replaced or ignored */
    HUDDLE_WARNING_OUTPUT,           /* a file format cannot contain everything */
    HUDDLE_WARNING_SINGULAR          /* too few rows for the covariance of a component */
} huddle_warning_code;

/* "not_converged", "not_verified", ...; "none". */
HUDDLE_API const char *huddle_warning_name(huddle_warning_code code);

/* Called with one line of text, without a line feed; code is HUDDLE_WARNING_NONE unless level is
 * HUDDLE_LOG_WARNING. May be called from any thread that computes with the context, but never from
 * two at once. */
typedef void (*huddle_log_function)(void *user, huddle_log_level level, huddle_warning_code code,
                                    const char *text);

/* Called about ten times per second while `done` of `total` units of the named stage are finished,
 * on the thread that called the library. Return non-zero to cancel. */
typedef int (*huddle_progress_function)(void *user, const char *stage, double done, double total);

/* Creates a context with as many threads as the CPU affinity and the cgroup allow. */
HUDDLE_API huddle_status huddle_context_new(huddle_context **context);
HUDDLE_API void huddle_context_free(huddle_context *context);

/* n_threads 1 .. 1024, or HUDDLE_AUTO. Results do not depend on it. */
HUDDLE_API huddle_status huddle_context_set_threads(huddle_context *context, int32_t n_threads);
HUDDLE_API int32_t huddle_context_threads(const huddle_context *context);

/* The memory that a fit may use, in bytes, with what the process has already; HUDDLE_AUTO, the
 * default: what the system has available within the limits of the process and of its control
 * group. The memory of a fit is predicted before it begins. If it is too much, the fit uses leaner
 * algorithms and says so in the log; if that is not enough, it fails with HUDDLE_NO_MEMORY before
 * it has computed anything. */
HUDDLE_API huddle_status huddle_context_set_memory(huddle_context *context, int64_t bytes);
HUDDLE_API int64_t huddle_context_memory(const huddle_context *context);

HUDDLE_API void huddle_context_set_log(huddle_context *context, huddle_log_function function,
                                       void *user);
HUDDLE_API void huddle_context_set_progress(huddle_context *context,
                                            huddle_progress_function function, void *user);

/* Reports progress to the context's function, and returns HUDDLE_CANCELLED once the context is
 * cancelled: for libraries built on this one. A NULL context is never cancelled. */
HUDDLE_API huddle_status huddle_context_progress(huddle_context *context, const char *stage,
                                                 double done, double total);

/* Makes computations with this context return HUDDLE_CANCELLED soon; may be called from another
 * thread or a signal handler. huddle_context_resume() allows new computations. */
HUDDLE_API void huddle_context_cancel(huddle_context *context);
HUDDLE_API void huddle_context_resume(huddle_context *context);

/* A compute engine (backend). */
typedef struct huddle_engine_text {
    const char *name;    /* "cpu" */
    const char *summary; /* a phrase, no full stop */
} huddle_engine_text;

/* The engines of this build; ends with NULL. The first is "cpu". */
HUDDLE_API const huddle_engine_text *const *huddle_engines(void);

/* Selects the engine: its name, with options after a colon if the engine takes any
 * ("NAME:OPTIONS"). HUDDLE_UNSUPPORTED if this build has no such engine, or what the engine
 * returns if it cannot start; the context then keeps the engine it has. */
HUDDLE_API huddle_status huddle_context_set_engine(huddle_context *context, const char *name);

/* The text that selected the context's engine, "NAME" or "NAME:OPTIONS": for a second context with
 * the same engine. Valid until another engine is selected. */
HUDDLE_API const char *huddle_context_engine(const huddle_context *context);

/* ---- several processes --------------------------------------------------------------------- */

/* Under an engine that distributes rows over processes (mpi), every process calls the library with
 * its own consecutive rows, all make the same calls in the same order, and every call returns the
 * same status everywhere. Labels and other results per row are those of the own rows. Without such
 * an engine there is one process, number 0. */
HUDDLE_API int32_t huddle_context_process(const huddle_context *context);
HUDDLE_API int32_t huddle_context_processes(const huddle_context *context);

/* The status of the first process that failed, with its message, or HUDDLE_OK if none did: for what
 * a program does itself between two calls of the library. */
HUDDLE_API huddle_status huddle_context_agree(huddle_context *context, huddle_status status);

/* Copies `size` bytes of process `from` to all others; size must be the same everywhere. */
HUDDLE_API huddle_status huddle_context_share(huddle_context *context, int32_t from, int64_t size,
                                              void *bytes);

/* The bytes of all processes, one after the other, on process 0, where *all is freed by
 * huddle_free(); NULL on the others. sizes, if not NULL, gets the bytes of each process. */
HUDDLE_API huddle_status huddle_context_gather(huddle_context *context, int64_t size,
                                               const void *bytes, int64_t *sizes, void **all);

/* Between set_alone(context, true) and set_alone(context, false) this process takes the rows it is
 * given for all rows, computes on the CPU and does not communicate: for data that all have. Returns
 * whether the engine distributes rows, also over one process; if not, nothing changes. */
HUDDLE_API bool huddle_context_set_alone(huddle_context *context, bool alone);

/* ---- options ----------------------------------------------------------------------------- */

/* The value of a numeric option that is set to "auto". */
#define HUDDLE_AUTO (-1)

typedef enum huddle_option_type {
    HUDDLE_OPTION_END = 0, /* the end of a table */
    HUDDLE_OPTION_INT,     /* int32_t */
    HUDDLE_OPTION_SEED,    /* uint64_t */
    HUDDLE_OPTION_REAL,    /* double */
    HUDDLE_OPTION_BOOL,    /* bool, written true or false */
    HUDDLE_OPTION_CHOICE,  /* const char *, one of `choices` */
    HUDDLE_OPTION_RULE,    /* huddle_rule, one of `choices`, those ending in ":R" with a number */
    HUDDLE_OPTION_RANGE,   /* huddle_range, written 7 or 2-20 */
    HUDDLE_OPTION_NUMBERS  /* huddle_numbers, one of `choices`, or numbers written 2,1,0.5 */
} huddle_option_type;

/* A choice, some of which have a number: "unit" is {"unit", 0}, "pca:40" is {"pca:R", 40}. */
typedef struct huddle_rule {
    const char *name; /* as in `choices`; static text */
    int32_t r;
} huddle_rule;

/* All integers from first to last. */
typedef struct huddle_range {
    int32_t first, last;
} huddle_range;

/* Some numbers, or a word in their place. */
enum { HUDDLE_MAX_NUMBERS = 16 };
typedef struct huddle_numbers {
    const char *name; /* as in `choices`; static text; NULL: the values count */
    int32_t count;
    double values[HUDDLE_MAX_NUMBERS];
} huddle_numbers;

/* A buffer of this size has room for the text of any value of an option. */
enum { HUDDLE_OPTION_TEXT = 512 };

/* One option of an options struct. A table is an array of these that ends with {0}. */
typedef struct huddle_option {
    const char *name; /* n_clusters; the tool's flag is --n-clusters */
    huddle_option_type type;
    size_t offset;              /* of the value in the options struct */
    const char *default_text;   /* the default, as text */
    double min, max;            /* bounds of INT, REAL, RANGE, NUMBERS and of a RULE's number */
    bool allows_auto;           /* INT, REAL, RANGE: "auto" is a value, stored as HUDDLE_AUTO */
    const char *const *choices; /* CHOICE, RULE, NUMBERS: ends with NULL */
    const char *help;           /* a phrase, no full stop */
} huddle_option;

/* Sets every option of the table to its default. */
HUDDLE_API void huddle_options_default(const huddle_option *table, void *options);

/* Sets one option from text. HUDDLE_INVALID, with the name, the value and what is allowed, if there
 * is no such option or it cannot have that value; options is then unchanged. */
HUDDLE_API huddle_status huddle_options_set(const huddle_option *table, void *options,
                                            const char *name, const char *text);

/* Writes the value of one option as text that huddle_options_set() reads. */
HUDDLE_API huddle_status huddle_options_get(const huddle_option *table, const void *options,
                                            const char *name, char *text, size_t size);

/* Checks that every value is within its bounds, as huddle_options_set() would. */
HUDDLE_API huddle_status huddle_options_check(const huddle_option *table, const void *options);

/* Describes the values of an option: "integer >= 1", "auto or number >= 0", "number in [1e-12, 1]",
 * "none|unit|pca:R". */
HUDDLE_API void huddle_option_allowed(const huddle_option *option, char *text, size_t size);

/* The entry of that name, or NULL. */
HUDDLE_API const huddle_option *huddle_option_find(const huddle_option *table, const char *name);

/* ---- files ------------------------------------------------------------------------------- */

/* Writes a file completely or not at all: under a temporary name beside it, renamed at the end. An
 * existing file keeps its mode, but belongs to the user who replaces it. A symbolic link is kept,
 * and the file that it leads to is replaced or created. */
HUDDLE_API huddle_status huddle_file_write(const char *path, const void *bytes, size_t size);

/* The path of the file that writing to `path` replaces or creates: absolute and without links if
 * its folder exists. To be freed by huddle_free(). HUDDLE_IO if links form a circle or may not be
 * followed. */
HUDDLE_API huddle_status huddle_file_target(const char *path, char **target);

/* True if both paths are one file, whatever their spelling and links: of two outputs one would
 * overwrite the other. Files that do not exist yet are compared too; devices and pipes, which can
 * be written twice, are not. */
HUDDLE_API bool huddle_file_same(const char *a, const char *b);

/* Removes the temporary files of all outputs that are being written: for the handler of a signal
 * that ends the process. Async-signal-safe; nothing else of the library may be called afterwards.
 */
HUDDLE_API void huddle_file_abandon_all(void);

/* ---- text -------------------------------------------------------------------------------- */

/* Writes a number with the fewest of 6, 9, 12, 15, 16 or 17 digits that round-trip. A buffer of 32
 * bytes is large enough. */
HUDDLE_API void huddle_format_real(double number, char *text, size_t size);

/* An amount of memory: a number, which may have decimals, and a unit: B (or none), K, M, G or T,
 * powers of 1024, each also followed by B or iB, in any case. HUDDLE_INVALID if it is none, 0 or
 * too large. */
HUDDLE_API huddle_status huddle_parse_bytes(const char *text, int64_t *bytes);

/* Writes an amount of memory in those units with three digits: "15.3 GB". */
HUDDLE_API void huddle_format_bytes(int64_t bytes, char *text, size_t size);

/* Spelling suggestions. Call it for every candidate, starting with *distance =
 * HUDDLE_SUGGEST_DISTANCE and *nearest = NULL: afterwards *nearest is the candidate with the
 * smallest edit distance, or NULL if none is close. An edit inserts, deletes or changes a letter,
 * or swaps two adjacent ones; a prefix of three or more letters also matches. */
enum { HUDDLE_SUGGEST_DISTANCE = 3 };
HUDDLE_API void huddle_suggest_name(const char *word, const char *candidate, int *distance,
                                    const char **nearest);

#endif
