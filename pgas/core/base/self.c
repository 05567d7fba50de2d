/* SPDX-License-Identifier: BSD-3-Clause */
/* self.c - the runtime instance of this process, and the state of each thread. */
#include "config.h"

#include <stdlib.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/core_state.h"

#ifdef PGAS_INSTANCES
#define PGAS_SELF static const struct pgas pgas_initial
#define CORE_SELF static const struct core_state core_initial
#else
#define PGAS_SELF struct pgas pgas_self
#define CORE_SELF struct core_state core_self
#endif

PGAS_SELF = {
    .checks = 1, /* before shmem_init almost every routine is an error */
    .checked = 1,
    .guarded = 1,
    .node_fd = -1,
    .heap_fd = -1,
    .data_fd = -1,
    .heap_lock = PTHREAD_MUTEX_INITIALIZER,
    .peer_lock = PTHREAD_MUTEX_INITIALIZER,
};

CORE_SELF = {
    .boot.joined = BOOT_JOINED_ENV "=",
    .boot.events_lock = PTHREAD_MUTEX_INITIALIZER,
    .fork.lock = PTHREAD_MUTEX_INITIALIZER,
    .fork.done_pipe = {-1, -1},
    .block.list_lock = PTHREAD_MUTEX_INITIALIZER,
    .net.watch.lock = PTHREAD_MUTEX_INITIALIZER,
    .net.watch.distance = 1,
    .slot.lock = PTHREAD_MUTEX_INITIALIZER,
    .team.pool = POOL_OF(struct shmem_team),
    .ctx.pool = POOL_OF(struct shmem_ctx),
    .ctx.net_lock = PTHREAD_MUTEX_INITIALIZER,
    .ft.lock = PTHREAD_MUTEX_INITIALIZER,
};

_Thread_local struct pgas_thread pgas_thread = {.routine = "a collective routine"};

#ifdef PGAS_INSTANCES

struct pgas *pgas_instance_new(struct coll_state *coll)
{
    struct pgas *g = malloc(sizeof *g);
    struct core_state *core = aligned_alloc(_Alignof(struct core_state), sizeof *core);

    if (g == NULL || core == NULL)
        abort();
    *g = pgas_initial;
    *core = core_initial;
    g->core = core;
    g->coll = coll;
    return g;
}

void pgas_instance_free(struct pgas *g)
{
    free(g->core);
    free(g);
}

#endif
