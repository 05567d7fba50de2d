/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_state.c - see coll_state.h. */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/shared/shared_int.h"
#include "pgas/coll/sync/internode.h"

#ifdef PGAS_INSTANCES
#define COLL_SELF static const struct coll_state coll_initial
#else
#define COLL_SELF struct coll_state coll_self
#endif

COLL_SELF = {
    .active.lock = PTHREAD_MUTEX_INITIALIZER,
    .nb.lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
    .shared = POOL_OF(struct shmemx_shared),
    .allgather_max = INTERNODE_BUFFER,
};

#ifdef PGAS_INSTANCES

struct coll_state *coll_state_new(void)
{
    struct coll_state *state = malloc(sizeof *state);

    if (state == NULL)
        abort();
    *state = coll_initial;
    return state;
}

#endif
