/* MAT files: mat5.c reads version 5 (also 6 and 7), mat73.c version 7.3, which is HDF5. Here is
 * what MATLAB means in both: texts and sparse matrices. */
#ifndef HUDDLE_SRC_IO_MAT_H
#define HUDDLE_SRC_IO_MAT_H

#include "io/container.h"

/* HUDDLE_FORMAT if no variables were found. */
huddle_status hd_io_mat_check(const hd_io_container *container);

/* Marks a variable as one that is not read, unless refusal is NULL; it continues a sentence that
 * begins with the variable's name, and is static text. */
void hd_io_mat_refuse(hd_io_variable *variable, const char *refusal);

/* Why a variable of that MATLAB class ("string", "struct", ...) is not read; static text. */
const char *hd_io_mat_class_refusal(const char *class);

/* Structs inside structs are listed to this depth; cycles in damaged files end there. */
enum { HD_IO_MAT_MAX_DEPTH = 8 };

/* "PREFIX.NAME", or "NAME" if the prefix is empty, and a variable of that name. */
huddle_status hd_io_mat_join(const char *prefix, const char *name, int64_t length, char **joined);
huddle_status hd_io_mat_add(hd_io_container *container, const char *prefix, const char *name,
                            int64_t length, hd_io_variable **variable);

/* A matrix of characters, one column after the other. */
typedef struct hd_io_characters {
    const char *units;
    int32_t width; /* bytes of a unit: 1 (UTF-8), 2 (UTF-16) or 4 (UTF-32) */
    bool swapped;  /* the highest byte of a unit is the first */
    int64_t rows, length;
} hd_io_characters;

/* The character that begins at unit *k of a row, which is advanced past it. */
uint32_t hd_io_character_at(const hd_io_characters *characters, int64_t row, int64_t *k);

/* Adds a text for each row, as UTF-8 and without the blanks that pad it, to texts that have room
 * for them, and for 4 * length + 1 bytes for each at *to, which is advanced. */
void hd_io_characters_add(const hd_io_characters *characters, hd_io_labels *texts, char **to);

/* The same with room of their own. */
huddle_status hd_io_characters_texts(const hd_io_characters *characters, hd_io_labels *texts);

/* A sparse matrix as MATLAB holds it, compressed by columns: the row and value of each entry, and
 * cols + 1 offsets. There may be more rows and values than the last offset. The name is for error
 * messages. */
huddle_status hd_io_mat_sparse(const char *name, int64_t rows, int64_t cols,
                               const hd_io_array *offsets, const hd_io_array *positions,
                               const hd_io_array *values, huddle_csr *matrix);

#endif
