/* Arrays inside a model as the library's containers: views that must only be read. */
#ifndef HUDDLE_REPORT_ARRAYS_H
#define HUDDLE_REPORT_ARRAYS_H

#include <huddle/model.h>

/* The containers both own and view arrays, so their pointers are not const. */
static inline void *array_pointer(const void *pointer) {
    union {
        const void *in;
        void *out;
    } view = {pointer};
    return view.out;
}

static inline huddle_points array_points(const huddle_array *array) {
    return (huddle_points){.n = array->rows,
                           .d = array->cols,
                           .stride = array->stride,
                           .values = (float *)array_pointer(array->values)};
}

static inline huddle_dense array_dense(const huddle_array *array) {
    return (huddle_dense){array->rows, array->cols, array->stride,
                          (double *)array_pointer(array->values)};
}

static inline huddle_csr array_csr(const huddle_array *array) {
    return (huddle_csr){array->rows, array->cols, (int64_t *)array_pointer(array->offsets),
                        (int32_t *)array_pointer(array->columns),
                        (double *)array_pointer(array->values)};
}

#endif
