/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_life.c - rows of set-up, exit and query (9.1), threads (9.2), memory (9.3) and
 * team queries (9.4).  Uses: core/init, core/peer, mem, team, barrier.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/barrier.h"
#include "pgas/coll/mem.h"
#include "pgas/coll/team.h"
#include "pgas/core/init.h"
#include "pgas/core/log.h"
#include "pgas/core/nodeseg.h"
#include "pgas/core/peer.h"
#include "pgas/rma/api.h"

static void take_down(bool exiting)
{
    nodeseg_stage(NODE_STAGE_FINALIZE);
    fence_full(); /* the puts of this PE are done before it says that it leaves */
    nodeseg_leave(team_world_epoch());
    init_down(exiting);
}

static void finalize(void)
{
    peer_check(pgas_self.me, "shmem_finalize");
    if (init_last())
        take_down(false);
}

static void finalize_at_exit(void)
{
    take_down(true);
}

static int start(int requested)
{
    if (!init_up(requested))
        return pgas_self.thread_level;
    team_init();
    init_at_exit(finalize_at_exit);
    return pgas_self.thread_level;
}

API(void, shmem_init, (void))
{
    start(SHMEM_THREAD_SINGLE);
}

API(int, shmem_init_thread, (int requested, int *provided))
{
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        log_warn("shmem_init_thread: argument 'requested' = %d, but it must be one of "
                 "SHMEM_THREAD_SINGLE..SHMEM_THREAD_MULTIPLE (%d..%d)",
                 requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
        return -1;
    }
    *provided = start(requested);
    return 0;
}

API(void, shmem_finalize, (void))
{
    finalize();
}

API(void, shmem_query_initialized, (int *initialized))
{
    *initialized = pgas_self.life == LIFE_UP;
}

API(void, shmem_query_thread, (int *provided))
{
    *provided = pgas_self.thread_level;
}

API(void, shmem_global_exit, (int status))
{
    init_abort(status);
}

API(int, shmem_my_pe, (void))
{
    peer_check(pgas_self.me, "shmem_my_pe");
    return pgas_self.me;
}

API(int, shmem_n_pes, (void))
{
    peer_check(pgas_self.me, "shmem_n_pes");
    return (int)pgas_self.npes;
}

API(int, shmem_pe_accessible, (int pe))
{
    return (uint32_t)pe < pgas_self.npes && pgas_self.peer[pe].node != NULL;
}

API(int, shmem_addr_accessible, (const void *addr, int pe))
{
    return peer_find(addr, 1, pe) != NULL;
}

API(void *, shmem_ptr, (const void *dest, int pe))
{
    return peer_find(dest, 1, pe);
}

API(void, shmem_info_get_version, (int *major, int *minor))
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

API(void, shmem_info_get_name, (char *name))
{
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}

API(void *, shmem_malloc, (size_t size))
{
    return mem_take(size, sizeof(void *), "shmem_malloc");
}

API(void *, shmem_malloc_with_hints, (size_t size, long hints))
{
    (void)hints; /* all symmetric memory is fit for atomics and signals */
    return mem_take(size, sizeof(void *), "shmem_malloc_with_hints");
}

API(void *, shmem_calloc, (size_t count, size_t size))
{
    return mem_take_zeroed(count, size, "shmem_calloc");
}

API(void *, shmem_align, (size_t alignment, size_t size))
{
    return mem_take(size, alignment, "shmem_align");
}

API(void *, shmem_realloc, (void *ptr, size_t size))
{
    return mem_resize(ptr, size, "shmem_realloc");
}

API(void, shmem_free, (void *ptr))
{
    mem_give(ptr, "shmem_free");
}

API(int, shmem_team_my_pe, (shmem_team_t team))
{
    return team == SHMEM_TEAM_INVALID ? -1 : team_of(team, "shmem_team_my_pe")->me;
}

API(int, shmem_team_n_pes, (shmem_team_t team))
{
    return team == SHMEM_TEAM_INVALID ? -1 : team_of(team, "shmem_team_n_pes")->npes;
}
