/* Data sets whose rows are distributed over processes (base/slabs.h): each process reads only its
 * own where the format allows it, otherwise process 0 reads the file and sends the others their
 * rows. All processes call these functions, and all return the same status. */
#ifndef HUDDLE_SRC_IO_ROWS_H
#define HUDDLE_SRC_IO_ROWS_H

#include "base/slabs.h"
#include "io/parts.h"

/* huddle_data_read() and huddle_labels_read() under slabs. request->rows has rank and count. */
huddle_status hd_io_rows_read(hd_io_request *request, const char *source, huddle_data *data);

/* Reads the labels of files, one after the other: those of this process's rows, and the classes of
 * all processes, as data without points. */
huddle_status hd_io_rows_labels(hd_io_request *request, const char *const *paths, int64_t count,
                                huddle_data *labels);

/* Appends those labels of a variable that belong to the rows. There are *begin labels before the
 * variable's, which are added to it. */
huddle_status hd_io_rows_append(hd_io_container *container, hd_io_variable *variable,
                                const hd_io_rows *rows, int64_t *begin, hd_io_labels *labels);

/* HUDDLE_INVALID, with the name of the file, unless all processes have the same values. */
huddle_status hd_io_rows_compare(huddle_context *context, const char *path, int64_t count,
                                 const double *values);

/* Maps the labels of this process's rows. Texts become numbers if all of all processes are. */
huddle_status hd_io_rows_map(huddle_context *context, hd_io_labels *raw, huddle_data *data);

/* Whether all these files are of a format whose rows processes can read by themselves, as process 0
 * finds. */
huddle_status hd_io_rows_divisible(hd_io_request *request, const char *const *paths, int64_t count,
                                   bool *divisible);

/* Calls work() on process 0 and, if that succeeds, on the others, or on all processes at the same
 * time. It must not communicate, and its failures get the name of the file. */
typedef huddle_status (*hd_io_work)(void *argument);
huddle_status hd_io_rows_in_turn(hd_io_request *request, hd_io_work work, void *argument);
huddle_status hd_io_rows_together(hd_io_request *request, hd_io_work work, void *argument);

/* Sends each process its rows of what process 0 has read, which may be labels alone, with no
 * features; `source` is that, for the log. `whole` is zero on the others. */
huddle_status hd_io_rows_send(const hd_io_request *request, const char *source,
                              const huddle_data *whole, huddle_data *data);

#endif
