/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode_departed.c - the last PE finalizes while the others wait for it in a
 * collective over several nodes: the job must end with a message that names that PE.
 *   internode_departed reduce|rooted|broadcast|collect|alltoall|mismatch [elements]
 * With mismatch it calls a barrier before it finalizes, where the others call an alltoall
 * that begins with a barrier: they wait for its blocks.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/algorithms/reduce.h"
#include "pgas/datatype/op/op.h"
#include "tests/api/multi/check.h"

enum { MOST = 1 << 17, LATE_US = 30000 };
static long *from, *to;

static void sum_to_first(size_t n)
{
    const struct op_fns *sum = op_find(OP_SUM, OP_SINT, sizeof(long));

    CHECK_EQ(reduce_to(team_of(SHMEM_TEAM_WORLD, "internode_departed"), 0, to, from, n,
                       sizeof(long), sum, "reduce_to"),
             0);
}

static void collective(const char *what, size_t n)
{
    int last = shmem_n_pes() - 1;

    if (strcmp(what, "reduce") == 0)
        CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, n), 0);
    else if (strcmp(what, "rooted") == 0)
        sum_to_first(n);
    else if (strcmp(what, "broadcast") == 0)
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, n, last), 0);
    else if (strcmp(what, "collect") == 0)
        CHECK_EQ(shmem_long_collect(SHMEM_TEAM_WORLD, to, from, n), 0);
    else
        CHECK_EQ(shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, n), 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

    shmem_init();
    CHECK(n * (size_t)shmem_n_pes() <= MOST);
    from = check_alloc(MOST * sizeof *from);
    to = check_alloc(MOST * sizeof *to);
    collective(what, n);
    check_sleep_us(LATE_US); /* the others may sleep in the second one by now */
    if (shmem_my_pe() != shmem_n_pes() - 1)
        collective(what, n);
    else if (strcmp(what, "mismatch") == 0)
        shmem_sync_all();
    shmem_finalize();
    return 0;
}
