#include "arrays.h"

/* The containers own or view, and know no const. */
static void *readable(const void *pointer) {
    union {
        const void *in;
        void *out;
    } view = {pointer};
    return view.out;
}

huddle_points array_points(const huddle_array *array) {
    return (huddle_points){.n = array->rows,
                           .d = array->cols,
                           .stride = array->stride,
                           .values = readable(array->values)};
}

huddle_dense array_dense(const huddle_array *array) {
    return (huddle_dense){array->rows, array->cols, array->stride, readable(array->values)};
}

huddle_csr array_csr(const huddle_array *array) {
    return (huddle_csr){array->rows, array->cols, readable(array->offsets),
                        readable(array->columns), readable(array->values)};
}
