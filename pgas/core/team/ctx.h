/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctx.h - communication contexts (section 9.5 of the specification): options, and the
 * team to which PE arguments refer.  Operations on local PEs need no state in the
 * context; those on remote PEs use a transport context.
 * Uses: team, net.  Used by: rma, check.
 */
#ifndef PGAS_CORE_CTX_H
#define PGAS_CORE_CTX_H

#include <pthread.h>
#include <stdbool.h>

#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

struct net_ctx;

/* Immutable between creation and destruction, except for net; read without a lock. */
struct shmem_ctx {
    struct pool_item item;
    struct shmem_team *team; /* NULL after destruction */
    uint32_t direct_pes;     /* npes if PE i of the team is world PE i for each i, else 0;
                                0 after destruction */
    shmem_team_t handle;     /* of that team */
    long options;            /* SHMEM_CTX_* */
    pthread_t owner;         /* creating thread, for SHMEM_CTX_PRIVATE */
    struct net_ctx *net;     /* NULL before the first use with a remote PE; see ctx_net */
};

/* Slow path of ctx_world_pe, for contexts of other teams.  Ends the job with an error
 * message if pe is not in the context's team or the context is invalid. */
int ctx_world_pe_slow(shmem_ctx_t ctx, int pe, const char *fn);

/* The world PE of index `pe` in the context's team. */
ALWAYS_INLINE int ctx_world_pe(shmem_ctx_t ctx, int pe, const char *fn)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        return pe;
    if (likely(ctx != SHMEM_CTX_INVALID && (uint32_t)pe < ctx->direct_pes))
        return pe;
    return ctx_world_pe_slow(ctx, pe, fn);
}

/* True if ctx is an existing context or the default one; accepts any value. */
bool ctx_alive(shmem_ctx_t ctx);

/* The team of an existing context, and the handle of that team. */
struct shmem_team *ctx_team(shmem_ctx_t ctx);
shmem_team_t ctx_handle(shmem_ctx_t ctx);

/* For the operations of the library itself, such as those of the collectives: transport
 * context 0, whatever the thread.  Its fence and quiet cover context 0 only; without a
 * pool (net_pool.c) that includes the program's operations.  For the functions of
 * pgas/rma; no context of the program has this value. */
#define CTX_LIBRARY ((shmem_ctx_t)2)

/* The transport context, opened at the first use; only in jobs with remote PEs.  Of the
 * default context, the one of the calling thread. */
struct net_ctx *ctx_net(shmem_ctx_t ctx);

/* Fence and quiet of the remote operations; only in jobs with remote PEs. */
void ctx_net_fence(shmem_ctx_t ctx, const char *fn);
void ctx_net_quiet(shmem_ctx_t ctx, const char *fn);

/* Creates a context of the team.  Returns 0; or -1 and sets *ctx to SHMEM_CTX_INVALID
 * (out of memory, or SHMEM_TEAM_INVALID). */
int ctx_create(shmem_team_t team, long options, shmem_ctx_t *ctx, const char *fn);
void ctx_destroy(shmem_ctx_t ctx, const char *fn);

/* The number of contexts with SHMEM_CTX_PRIVATE of the team (NULL: of all teams). */
int ctx_private(const struct shmem_team *team);
/* Destroys all contexts of a team. */
void ctx_destroy_all(const struct shmem_team *team);

/* Destroys all contexts; must precede net_close. */
void ctx_close_all(void);

/* Frees the memory of all contexts. */
void ctx_fini(void);

#endif
