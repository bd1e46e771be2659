/* Containers whose arrays an engine keeps in its own memory: fetched at the first use on the host.
 */
#include "matrix/resident.h"

#include <stdint.h>

/* Fetching adds the host arrays but does not change the values that the container represents; the
 * cast allows inputs to be const everywhere. */
huddle_status hd_resident_fetch(huddle_resident *resident, bool on_host, const void *container) {
    if (resident == NULL || on_host)
        return HUDDLE_OK;
    return resident->fetch(resident, (void *)(uintptr_t)container);
}

void hd_resident_drop(huddle_resident **resident) {
    if (*resident != NULL)
        (*resident)->free(*resident);
    *resident = NULL;
}

huddle_status huddle_points_fetch(const huddle_points *points) {
    return hd_resident_fetch(points->resident, points->values != NULL, points);
}

huddle_status huddle_dense_fetch(const huddle_dense *matrix) {
    return hd_resident_fetch(matrix->resident, matrix->values != NULL, matrix);
}

huddle_status huddle_csr_fetch(const huddle_csr *matrix) {
    return hd_resident_fetch(matrix->resident, matrix->offsets != NULL, matrix);
}
