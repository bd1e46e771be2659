/* Reductions, exchanges and the ring. Sums are added in the order of the processes, so that all get
 * the same bits; MPI's own sums may be added in any order. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <string.h>

enum { FEW_VALUES = 4096 }; /* values that every process sums up itself: latency outweighs size */
static const int64_t largest_message = 1LL << 30; /* counts of MPI are ints */

void hd_mpi_place(const void *state, int32_t *rank, int32_t *count) {
    const hd_mpi *m = state;
    *rank = m->rank;
    *count = m->count;
}

huddle_status hd_mpi_layout(hd_mpi *m, int64_t n, int64_t *offsets) {
    huddle_status status = hd_mpi_enter(m, HD_MPI_LOCATE, 0);
    if (status != HUDDLE_OK)
        return status;
    offsets[0] = 0;
    MPI_Allgather(&n, 1, MPI_INT64_T, offsets + 1, 1, MPI_INT64_T, m->comm);
    for (int32_t r = 0; r < m->count; r++)
        offsets[r + 1] += offsets[r];
    return status;
}

huddle_status hd_mpi_locate(void *state, int64_t n, int64_t *first, int64_t *total) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    int64_t *offsets = NULL;
    *first = *total = 0;
    ALLOC(offsets, m->count + 1);
    TRY(hd_mpi_layout(m, n, offsets));
    *first = offsets[m->rank];
    *total = offsets[m->count];
done:
    huddle_free(offsets);
    return hd_mpi_leave(m, status);
}

/* ---- reductions ---------------------------------------------------------------------------- */

static void combine(hd_reduction operation, int64_t count, const double *values, double *into) {
    for (int64_t k = 0; k < count; k++) {
        double value = values[k];
        if (operation == HD_REDUCE_SUM)
            into[k] += value;
        else if (operation == HD_REDUCE_MIN ? value < into[k] : value > into[k])
            into[k] = value;
    }
}

/* Every process gets the values of all and combines them itself: one message. */
static void reduce_few(hd_mpi *m, hd_reduction operation, int count, double *values,
                       double *buffer) {
    MPI_Allgather(values, count, MPI_DOUBLE, buffer, count, MPI_DOUBLE, m->comm);
    memcpy(values, buffer, (size_t)count * sizeof *values);
    for (int32_t r = 1; r < m->count; r++)
        combine(operation, count, buffer + (int64_t)r * count, values);
}

/* Each process combines its share of the values, and all get the results: less to send and to add.
 * `part` values for each process, the last may have fewer; buffer has space for `part` values of
 * every process. */
static void reduce_many(hd_mpi *m, hd_reduction operation, int64_t count, double *values,
                        double *buffer, int *sizes, int *displs) {
    int64_t part = (count + m->count - 1) / m->count, own = 0;
    for (int32_t r = 0; r < m->count; r++) {
        int64_t begin = r * part < count ? r * part : count;
        displs[r] = (int)begin;
        sizes[r] = (int)(begin + part < count ? part : count - begin);
    }
    own = sizes[m->rank];
    int *from_sizes = sizes + m->count, *from_displs = displs + m->count;
    for (int32_t r = 0; r < m->count; r++) {
        from_sizes[r] = (int)own;
        from_displs[r] = (int)(r * own);
    }
    MPI_Alltoallv(values, sizes, displs, MPI_DOUBLE, buffer, from_sizes, from_displs, MPI_DOUBLE,
                  m->comm);
    for (int32_t r = 1; r < m->count; r++)
        combine(operation, own, buffer + r * own, buffer);
    MPI_Allgatherv(buffer, (int)own, MPI_DOUBLE, values, sizes, displs, MPI_DOUBLE, m->comm);
}

huddle_status hd_mpi_reduce(void *state, hd_reduction operation, int64_t count, double *values) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    const int64_t most = 1LL << 27; /* values at a time */
    int64_t largest = count < most ? count : most;
    double *buffer = NULL;
    int *sizes = NULL, *displs = NULL;
    if (m->count == 1)
        return status;
    ALLOC(buffer, largest <= FEW_VALUES ? largest * m->count : largest + m->count);
    ALLOC(sizes, 2 * m->count);
    ALLOC(displs, 2 * m->count);
    TRY(hd_mpi_enter(m, HD_MPI_REDUCE, count));
    for (int64_t begin = 0; begin < count; begin += most) {
        int64_t some = count - begin < most ? count - begin : most;
        if (some <= FEW_VALUES)
            reduce_few(m, operation, (int)some, values + begin, buffer);
        else
            reduce_many(m, operation, some, values + begin, buffer, sizes, displs);
    }
done:
    FREE(buffer, sizes, displs);
    return hd_mpi_leave(m, status);
}

/* ---- messages of any size ------------------------------------------------------------------ */

/* Requests that are waited for together. */
typedef struct requests {
    MPI_Request *items;
    int count;
} requests;

static int count_messages(int64_t size) {
    return (int)((size + largest_message - 1) / largest_message);
}

static void start_receive(hd_mpi *m, requests *q, int from, void *bytes, int64_t size) {
    for (int64_t at = 0; at < size; at += largest_message)
        MPI_Irecv((char *)bytes + at,
                  (int)(size - at < largest_message ? size - at : largest_message), MPI_BYTE, from,
                  0, m->comm, &q->items[q->count++]);
}

static void start_send(hd_mpi *m, requests *q, int to, const void *bytes, int64_t size) {
    for (int64_t at = 0; at < size; at += largest_message)
        MPI_Isend((const char *)bytes + at,
                  (int)(size - at < largest_message ? size - at : largest_message), MPI_BYTE, to, 0,
                  m->comm, &q->items[q->count++]);
}

/* ---- exchange ------------------------------------------------------------------------------ */

/* All receives are started before the sends; what a process sends itself is copied. */
static huddle_status move_bytes(hd_mpi *m, const int64_t *sizes, const char *send,
                                const int64_t *received_sizes, char *received) {
    huddle_status status = HUDDLE_OK;
    requests q = {0};
    int64_t n_messages = 0;
    const char *own = send;
    for (int32_t r = 0; r < m->count; r++)
        n_messages += count_messages(sizes[r]) + count_messages(received_sizes[r]);
    ALLOC(q.items, n_messages);
    TRY(hd_mpi_enter(m, HD_MPI_EXCHANGE, 1));
    for (int32_t r = 0; r < m->rank; r++)
        own += sizes[r];
    for (int32_t r = 0; r < m->count; received += received_sizes[r], r++) {
        if (r != m->rank)
            start_receive(m, &q, r, received, received_sizes[r]);
        else if (sizes[r] > 0)
            memcpy(received, own, (size_t)sizes[r]);
    }
    for (int32_t r = 0; r < m->count; send += sizes[r], r++)
        if (r != m->rank)
            start_send(m, &q, r, send, sizes[r]);
    MPI_Waitall(q.count, q.items, MPI_STATUSES_IGNORE);
done:
    huddle_free(q.items);
    return hd_mpi_leave(m, status);
}

huddle_status hd_mpi_exchange(void *state, const int64_t *sizes, const void *send,
                              int64_t *received_sizes, void **received) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    int64_t total = 0;
    char *bytes = NULL;
    *received = NULL;
    TRY(hd_mpi_enter(m, HD_MPI_EXCHANGE, 0));
    MPI_Alltoall(sizes, 1, MPI_INT64_T, received_sizes, 1, MPI_INT64_T, m->comm);
    for (int32_t r = 0; r < m->count; r++)
        total += received_sizes[r];
    ALLOC(bytes, total);
    TRY(move_bytes(m, sizes, send, received_sizes, bytes));
    *received = bytes;
    bytes = NULL;
done:
    huddle_free(bytes);
    return hd_mpi_leave(m, status);
}

/* ---- the ring ------------------------------------------------------------------------------ */

huddle_status hd_mpi_start_pass(void *state, const void *send, int64_t size, void *received,
                                int64_t received_size, void **result) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    requests *q = NULL;
    *result = NULL;
    ALLOC_ZERO(q, 1);
    ALLOC(q->items, count_messages(size) + count_messages(received_size));
    TRY(hd_mpi_enter(m, HD_MPI_PASS, 0));
    start_receive(m, q, (m->rank + m->count - 1) % m->count, received, received_size);
    start_send(m, q, (m->rank + 1) % m->count, send, size);
    *result = q;
    q = NULL;
done:
    if (q != NULL)
        FREE(q->items, q);
    return hd_mpi_leave(m, status);
}

/* Not collective: every process that started a pass finishes it, also after a failure. */
huddle_status hd_mpi_finish_pass(void *pass) {
    requests *q = pass;
    MPI_Waitall(q->count, q->items, MPI_STATUSES_IGNORE);
    FREE(q->items, q);
    return HUDDLE_OK;
}
