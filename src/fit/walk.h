/* One walk over the members of a part of a fit serves several purposes: it frees them, makes copies
 * of them, writes them to a model file, and reads them back. A part's walk is a list of calls
 *
 *     hd_walk_int(walk, "n", &rows->n);
 *     hd_walk_reals(walk, "eigenvalues", e->n_eigenvalues, &e->eigenvalues);
 *
 * in an order in which a length comes before the array that has it. A member with the name NULL is
 * freed and copied like the others but does not appear in files.
 *
 * Members whose names begin with hd_walk_row have an element, a row or a count for each row of the
 * fit. If those are distributed over processes (hd_walk_slab), all processes walk in step, a file
 * has the rows of all of them, and everything else is taken from process 0.
 *
 * In a model file an array is the entry NAME.npy of the zip archive, a number or a text is a member
 * of the object "values" in model.json. Names are unique within a model. */
#ifndef HUDDLE_SRC_FIT_WALK_H
#define HUDDLE_SRC_FIT_WALK_H

#include "archive/json.h"
#include "archive/npy.h"
#include "huddle/graph.h"
#include "huddle/prepare.h"

typedef enum hd_walk_mode { HD_WALK_FREE, HD_WALK_COPY, HD_WALK_SAVE, HD_WALK_LOAD } hd_walk_mode;

/* The rows of this process. Loading sets first, n and total when it comes to the number of rows. */
typedef struct hd_walk_slab {
    huddle_context *context;
    int64_t first, n, total;
    int64_t piece; /* saving: bytes that process 0 gets from the others at a time, about */
} hd_walk_slab;

/* After the first failure saving and loading skip the remaining members; copying sets them to NULL,
 * so that the copy can be freed. */
typedef struct hd_walk {
    hd_walk_mode mode;
    huddle_status status;
    const void *from;      /* copying: the original part, */
    const void *to;        /* and the copy, which begins as its bytes */
    hd_walk_slab *slab;    /* saving, loading: rows are distributed over processes; else NULL */
    hd_zip_writer *output; /* saving: the archive (NULL on processes but 0), */
    hd_json_writer *json;  /* and the open object "values" */
    const char *prefix;    /* of the names of all members; NULL: none */
    const hd_zip *input;   /* loading: the archive, */
    const hd_json_value *values; /* and the object; the fit keeps its texts */
} hd_walk;

/* Records a failure that names the member. */
void hd_walk_fail(hd_walk *walk, const char *name);

/* HUDDLE_FORMAT, for a member of that name and value. */
huddle_status hd_walk_misfit(const char *name, long long value);

/* ---- numbers and texts --------------------------------------------------------------------- */

void hd_walk_int(hd_walk *walk, const char *name, int64_t *value);
void hd_walk_int32(hd_walk *walk, const char *name, int32_t *value);
void hd_walk_bool(hd_walk *walk, const char *name, bool *value);

/* A number of which a file has the sum over the processes. Loading does not divide it. */
void hd_walk_sum(hd_walk *walk, const char *name, int64_t *value);

/* The number of rows of the fit, by which all others are divided when a file is loaded; and the
 * number of rows of an array, which is 0 or the same. */
void hd_walk_divide(hd_walk *walk, const char *name, int64_t *n);
void hd_walk_row_count(hd_walk *walk, const char *name, int64_t *n);
void hd_walk_real(hd_walk *walk, const char *name, double *value); /* NaN is null in files */
void hd_walk_stop(hd_walk *walk, const char *name, huddle_stop *value);

/* A text that is static, or that of the file. NULL is null. */
void hd_walk_text(hd_walk *walk, const char *name, const char **value);

/* A text that must be one of the choices, which end with NULL, or NULL. */
void hd_walk_choice(hd_walk *walk, const char *name, const char *const *choices,
                    const char **value);

/* The length of a list that has room for so many members; loading: none after a failure. */
void hd_walk_count(hd_walk *walk, const char *name, int32_t limit, int32_t *count);

/* ---- arrays, absent if NULL ---------------------------------------------------------------- */

void hd_walk_ints(hd_walk *walk, const char *name, int64_t length, int32_t **values);
void hd_walk_longs(hd_walk *walk, const char *name, int64_t length, int64_t **values);
void hd_walk_reals(hd_walk *walk, const char *name, int64_t length, double **values);

/* An array that a file must have unless its length is 0; `count` is the name of the length. */
void hd_walk_all_reals(hd_walk *walk, const char *count, const char *name, int64_t length,
                       double **values);

void hd_walk_row_ints(hd_walk *walk, const char *name, int64_t n, int32_t **values);
void hd_walk_row_reals(hd_walk *walk, const char *name, int64_t n, double **values);

/* rows x cols integers, both known. */
void hd_walk_int_matrix(hd_walk *walk, const char *name, int64_t rows, int64_t cols,
                        int32_t **values);
void hd_walk_row_int_matrix(hd_walk *walk, const char *name, int64_t n, int64_t cols,
                            int32_t **values);

/* The name of an array that files have only if one process has all rows; else NULL. */
const char *hd_walk_if_whole(const hd_walk *walk, const char *name);

/* For HD_WALK_COPY of structs without a walk of their own: a copy of the block, or NULL if there is
 * none or after a failure, so that the copied part can be freed. */
void *hd_walk_copy_block(hd_walk *walk, const void *from, int64_t count, size_t size);

/* Containers. What an engine keeps is fetched before it is written. */
void hd_walk_dense(hd_walk *walk, const char *name, huddle_dense *matrix);
void hd_walk_row_dense(hd_walk *walk, const char *name, huddle_dense *matrix);
void hd_walk_row_csr(hd_walk *walk, const char *name, huddle_csr *matrix);
void hd_walk_points(hd_walk *walk, const char *name, huddle_points *points);
void hd_walk_row_points(hd_walk *walk, const char *name, huddle_points *points);

/* ---- structs of the stages that several parts contain --------------------------------------- */

void hd_walk_distinct(hd_walk *walk, const char *name, huddle_distinct *distinct);
void hd_walk_rule(hd_walk *walk, const char *name, huddle_rule *rule);
void hd_walk_preparation(hd_walk *walk, const char *name, huddle_preparation *preparation);
void hd_walk_scale(hd_walk *walk, const char *name, huddle_scale *scale);

/* "PREFIX_PART", or NULL if prefix is. */
enum { HD_WALK_NAME = 96 };
const char *hd_walk_join(char name[HD_WALK_NAME], const char *prefix, const char *part);

#endif
