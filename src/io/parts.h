/* The variables of a container that are chosen as points and labels, and how they become data. */
#ifndef HUDDLE_SRC_IO_PARTS_H
#define HUDDLE_SRC_IO_PARTS_H

#include "io/container.h"

typedef struct hd_io_parts {
    hd_io_variable **items; /* owned by the container */
    int64_t count, capacity;
} hd_io_parts;

/* What is read of a container, and how far that is. */
typedef struct hd_io_chosen {
    hd_io_request *request;
    hd_io_container *container;
    huddle_data *data;
    hd_io_parts points; /* stacked */
    hd_io_parts labels;
    bool label_files;    /* the labels are in the files that options->y names */
    bool in_columns;     /* samples are columns */
    hd_io_intake intake; /* of the points */
} hd_io_chosen;

/* Chooses points and labels; the names in the container and its format go to the data. */
huddle_status hd_io_container_choose(hd_io_chosen *chosen);

/* Frees the lists and the intake. */
void hd_io_chosen_free(hd_io_chosen *chosen);

/* The variable of that name, with or without a slash in front, or NULL. */
hd_io_variable *hd_io_container_find(const hd_io_container *container, const char *name);

/* Decides whether samples are columns: if options->transpose says so, or if there are as many
 * labels as columns and not as many as rows. n_labels is -1 without labels. HUDDLE_INVALID if the
 * parts cannot be stacked or the labels do not fit. */
huddle_status hd_io_parts_orient(hd_io_chosen *chosen, int64_t n_labels);

/* Reads the values of all parts: data->points, and data->exact if the options ask for it. */
huddle_status hd_io_parts_read(hd_io_chosen *chosen);

/* Samples and features of a variable. */
int64_t hd_io_samples_in(const hd_io_variable *variable, bool in_columns);
int64_t hd_io_features_in(const hd_io_variable *variable, bool in_columns);

/* Makes n points of d features of dense parts. One whose values are in its file as points have them
 * stays there, if its reader can do that; others are read through chosen->intake. */
huddle_status hd_io_parts_fill(hd_io_chosen *chosen, int64_t n, int64_t d);

/* Reads the parts into the points of an intake: straight from the file where the elements are those
 * of the points, else by the intake, which converts and checks. */
huddle_status hd_io_parts_take(const hd_io_chosen *chosen, hd_io_intake *intake);

/* Height, width and pixel order: from an array of three dimensions, or from im_height, im_width and
 * im_order (1: pixels along rows, 2: down columns). Left at 0 if they do not fit the features. */
huddle_status hd_io_parts_image_size(const hd_io_chosen *chosen);

#endif
