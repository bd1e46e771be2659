/* Which process gets which row of a graph: PT-Scotch, in a context of its own that makes the same
 * partition in every run. (PETSc's MatPartitioning calls it too, but without such a context.) */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <stdio.h> /* scotch.h needs FILE */

#include <ptscotch.h>

static const double imbalance = 0.02; /* how much more than its share a process may get */

/* Below this many rows for each process, the partition costs more than it saves. */
static const int64_t min_rows_per_process = 64;

/* The graph in the form of PT-Scotch, n + 1 offsets and the ends of the edges: without loops, which
 * it refuses. */
static huddle_status copy_pattern(int64_t n, int64_t first, const int64_t *offsets,
                                  const int32_t *columns, SCOTCH_Num **at, SCOTCH_Num **to) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    if (offsets[n] > SCOTCH_NUMMAX)
        FAIL(HUDDLE_UNSUPPORTED, "%lld edges on one process, more than 2^31: use more processes",
             (long long)offsets[n]);
    ALLOC(*at, n + 1);
    ALLOC(*to, offsets[n]);
    for (int64_t i = 0; i < n; i++) {
        (*at)[i] = (SCOTCH_Num)count;
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++)
            if (columns[e] != first + i)
                (*to)[count++] = columns[e];
    }
    (*at)[n] = (SCOTCH_Num)count;
done:
    return status;
}

static huddle_status failed(const char *what) {
    return hd_fail(HUDDLE_NUMERIC, "the partition of the graph failed: PT-Scotch cannot %s", what);
}

/* The random numbers begin anew, and threads, whose order would matter, are not used. */
static huddle_status run_scotch(hd_mpi *m, int64_t n, SCOTCH_Num *at, SCOTCH_Num *to,
                                int32_t *owner) {
    huddle_status status = HUDDLE_OK;
    SCOTCH_Context context;
    SCOTCH_Dgraph graph, bound;
    SCOTCH_Strat strategy;
    SCOTCH_contextInit(&context);
    SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    SCOTCH_contextThreadSpawn(&context, 1, NULL);
    SCOTCH_contextRandomSeed(&context, 1);
    SCOTCH_contextRandomReset(&context);
    SCOTCH_dgraphInit(&graph, m->comm);
    SCOTCH_dgraphInit(&bound, m->comm);
    SCOTCH_stratInit(&strategy);
    if (SCOTCH_dgraphBuild(&graph, 0, (SCOTCH_Num)n, (SCOTCH_Num)n, at, at + 1, NULL, NULL, at[n],
                           at[n], to, NULL, NULL) != 0)
        status = failed("take the graph");
    else if (SCOTCH_stratDgraphMapBuild(&strategy, SCOTCH_STRATSPEED, m->count, m->count,
                                        imbalance) != 0)
        status = failed("choose a strategy");
    else if (SCOTCH_contextBindDgraph(&context, &graph, &bound) != 0)
        status = failed("use its context");
    else if (SCOTCH_dgraphPart(&bound, m->count, &strategy, owner) != 0)
        status = failed("divide the graph");
    SCOTCH_stratExit(&strategy);
    SCOTCH_dgraphExit(&bound);
    SCOTCH_dgraphExit(&graph);
    SCOTCH_contextExit(&context);
    return status;
}

huddle_status hd_mpi_partition(void *state, int64_t n, const int64_t *offsets,
                               const int32_t *columns, int32_t *owner) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    int64_t first, total;
    SCOTCH_Num *at = NULL, *to = NULL;
    TRY(hd_mpi_locate(m, n, &first, &total));
    for (int64_t i = 0; i < n; i++)
        owner[i] = m->rank;
    if (m->count == 1 || total < min_rows_per_process * m->count)
        goto done;
    TRY(copy_pattern(n, first, offsets, columns, &at, &to));
    TRY(hd_mpi_enter(m, HD_MPI_PARTITION, 0));
    TRY(run_scotch(m, n, at, to, owner));
done:
    FREE(at, to);
    return hd_mpi_leave(m, status);
}
