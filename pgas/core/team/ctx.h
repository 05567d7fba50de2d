/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctx.h - communication contexts (9.5): a team whose PE numbers a routine's `pe` means,
 * and options.  Among PEs that are mapped it has no state to order or complete; for far
 * ones it has a context of the transport.
 * Uses: team, net.  Used by: rma, check.
 */
#ifndef PGAS_CORE_CTX_H
#define PGAS_CORE_CTX_H

#include <pthread.h>
#include <stdbool.h>

#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

struct net_ctx;

/* Stays as it is from creation to destruction, but for net, so that threads may use
 * it without a lock. */
struct shmem_ctx {
    struct pool_item item;
    struct shmem_team *team; /* that it was made from; NULL once destroyed */
    shmem_team_t handle;     /* of that team */
    long options;            /* SHMEM_CTX_* */
    pthread_t owner;         /* the thread that made it, for SHMEM_CTX_PRIVATE */
    struct net_ctx *net;     /* NULL until it is first used with a far PE; see ctx_net */
};

/* The rest of ctx_world_pe: contexts of the user.  Ends the job with a sentence if pe is
 * no PE of the context's team, or ctx is SHMEM_CTX_INVALID. */
int ctx_world_pe_slow(shmem_ctx_t ctx, int pe, const char *fn);

/* World number of PE `pe` of the context's team. */
ALWAYS_INLINE int ctx_world_pe(shmem_ctx_t ctx, int pe, const char *fn)
{
    if (likely(ctx == SHMEM_CTX_DEFAULT))
        return pe;
    return ctx_world_pe_slow(ctx, pe, fn);
}

/* Is it a context that has been created and not destroyed, or the default one? */
bool ctx_alive(shmem_ctx_t ctx);

/* The team of a live context, and its handle. */
struct shmem_team *ctx_team(shmem_ctx_t ctx);
shmem_team_t ctx_handle(shmem_ctx_t ctx);

/* Its context of the transport; for jobs with far PEs alone. */
struct net_ctx *ctx_net(shmem_ctx_t ctx);
/* The same; NULL if it was never used with a far PE. */
struct net_ctx *ctx_net_used(shmem_ctx_t ctx);

/* Make a context for the team behind the handle.  0, or -1 (no memory, or
 * SHMEM_TEAM_INVALID): *ctx is SHMEM_CTX_INVALID then. */
int ctx_create(shmem_team_t team, long options, shmem_ctx_t *ctx, const char *fn);
void ctx_destroy(shmem_ctx_t ctx, const char *fn);

/* How many live contexts with SHMEM_CTX_PRIVATE has the team (NULL: all teams)? */
int ctx_private(const struct shmem_team *team);
/* Destroy all contexts of a team. */
void ctx_destroy_all(const struct shmem_team *team);

/* Destroy all contexts, while far PEs can still be reached. */
void ctx_close_all(void);

/* Free the memory of all contexts. */
void ctx_fini(void);

#endif
