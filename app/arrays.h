/* Arrays inside a model as the library's own containers: views that are only read. */
#ifndef HUDDLE_APP_ARRAYS_H
#define HUDDLE_APP_ARRAYS_H

#include <huddle/model.h>

huddle_points array_points(const huddle_array *array);
huddle_dense array_dense(const huddle_array *array);
huddle_csr array_csr(const huddle_array *array);

#endif
