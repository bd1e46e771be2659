/* The variables of a container that are stacked to become the points. */
#ifndef HUDDLE_SRC_IO_PARTS_H
#define HUDDLE_SRC_IO_PARTS_H

#include "io/container.h"

typedef struct hd_io_parts {
    hd_io_variable **items; /* owned by the container */
    int64_t count, capacity;
} hd_io_parts;

/* The variables that were chosen as points and labels. */
typedef struct hd_io_choice {
    hd_io_parts points, labels;
    bool label_files; /* the labels are in the files that options->y names */
} hd_io_choice;

/* Finds both; the names in the container and its format go to data. */
huddle_status hd_io_container_choose(const hd_io_request *request, hd_io_container *container,
                                     huddle_data *data, hd_io_choice *choice);
void hd_io_choice_free(hd_io_choice *choice);

/* The variable of that name, with or without a slash in front, or NULL. */
hd_io_variable *hd_io_container_find(const hd_io_container *container, const char *name);

/* Decides whether samples are columns: if options->transpose says so, or if there are as many
 * labels as columns and not as many as rows. n_labels is -1 without labels. HUDDLE_INVALID if the
 * parts cannot be stacked or the labels do not fit. */
huddle_status hd_io_parts_orient(hd_io_request *request, const hd_io_container *container,
                                 const hd_io_parts *parts, int64_t n_labels, bool *in_columns);

/* Reads the values of all parts: data->points, and data->exact if the options ask for it. */
huddle_status hd_io_parts_read(hd_io_request *request, hd_io_container *container,
                               const hd_io_parts *parts, bool in_columns, huddle_data *data);

/* Samples and features of a variable. */
int64_t hd_io_samples_in(const hd_io_variable *variable, bool in_columns);
int64_t hd_io_features_in(const hd_io_variable *variable, bool in_columns);

/* Calls visit() for all samples of a variable, or for some after the others if it is restricted to
 * some of its rows; `first` is the number of the first of them. */
typedef huddle_status (*hd_io_visit)(void *argument, const hd_io_samples *samples, int64_t first);
huddle_status hd_io_part_visit(hd_io_container *container, hd_io_variable *variable,
                               bool in_columns, hd_io_visit visit, void *argument);

/* Reads one variable into the rows of the points from first_row on: straight from the file where
 * its elements are those of the points, else through the intake, which converts and checks. */
huddle_status hd_io_part_fill(hd_io_request *request, hd_io_container *container,
                              hd_io_variable *variable, bool in_columns, hd_io_intake *intake,
                              int64_t first_row);

/* Leaves the values of a variable in its file, if the reader can do that and they are there as
 * points have them; else the points stay empty. */
huddle_status hd_io_part_map(hd_io_request *request, const hd_io_container *container,
                             const hd_io_variable *variable, bool in_columns,
                             huddle_points *points);

/* Height, width and pixel order: from an array of three dimensions, or from im_height, im_width and
 * im_order (1: pixels along rows, 2: down columns). Left at 0 if they do not fit the features. */
huddle_status hd_io_parts_image_size(hd_io_container *container, const hd_io_variable *points,
                                     bool in_columns, huddle_data *data);

#endif
