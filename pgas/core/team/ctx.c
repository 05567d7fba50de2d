/* SPDX-License-Identifier: BSD-3-Clause */
/* ctx.c - see ctx.h.  Uses: core/pool, core/team, core/log, threads/atomic. */
#include "config.h"

#include "pgas/core/core_state.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/base/pgas_assert.h"

#define STATE core_self.ctx

static _Noreturn __attribute__((cold)) void ctx_no_ctx(shmem_ctx_t ctx, const char *fn)
{
    log_misuse("%s: argument 'ctx' = %p is not a valid context%s; use one from "
               "shmem_ctx_create or shmem_team_create_ctx, or SHMEM_CTX_DEFAULT",
               fn, (void *)ctx,
               ctx == SHMEM_CTX_INVALID ? " (SHMEM_CTX_INVALID)"
                                        : " (already destroyed?)");
}

static _Noreturn __attribute__((cold)) void ctx_no_pe(const struct shmem_team *team,
                                                      int pe, const char *fn)
{
    log_misuse("%s: argument 'pe' = %d, but the context is of %s%s, which has PEs 0..%d",
               fn, pe, team->name != NULL ? "team " : "a team of the program",
               team->name != NULL ? team->name : "", team->npes - 1);
}

/* Executed by each put and get with a context whose team is not direct: takes no lock and
 * does not search the pool. */
int ctx_world_pe_slow(shmem_ctx_t ctx, int pe, const char *fn)
{
    if (unlikely(ctx == SHMEM_CTX_INVALID || ctx->team == NULL))
        ctx_no_ctx(ctx, fn);
    const struct shmem_team *team = ctx->team;
    if (unlikely((unsigned)pe >= (unsigned)team->npes))
        ctx_no_pe(team, pe, fn);
    return team_world_pe(team, pe);
}

bool ctx_alive(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT || pool_has(&STATE.pool, ctx);
}

/* Opened at the first use, so that contexts used only with local PEs cost nothing. */
static struct net_ctx *ctx_open_net(struct shmem_ctx *ctx)
{
    pthread_mutex_lock(&STATE.net_lock);
    struct net_ctx *net = __atomic_load_n(&ctx->net, __ATOMIC_RELAXED);
    PGAS_ASSERT(ctx->team != NULL && pgas_self.net != NULL);
    if (net == NULL) {
        net = net_ctx_open((ctx->options & SHMEM_CTX_PRIVATE) != 0,
                           (ctx->options & SHMEM_CTX_SERIALIZED) != 0);
        __atomic_store_n(&ctx->net, net, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&STATE.net_lock);
    return net;
}

struct net_ctx *ctx_net(shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        return net_pool_ctx();
    if (ctx == CTX_LIBRARY)
        return net_ctx_0();
    struct net_ctx *net = __atomic_load_n(&ctx->net, __ATOMIC_ACQUIRE);
    return likely(net != NULL) ? net : ctx_open_net(ctx);
}

/* The transport context; NULL if ctx was never used with a remote PE. */
static struct net_ctx *ctx_net_used(shmem_ctx_t ctx)
{
    if (ctx == CTX_LIBRARY)
        return net_ctx_0();
    return __atomic_load_n(&ctx->net, __ATOMIC_ACQUIRE);
}

void ctx_net_fence(shmem_ctx_t ctx, const char *fn)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        net_pool_fence(fn);
    else
        net_fence(ctx_net_used(ctx), fn);
}

void ctx_net_quiet(shmem_ctx_t ctx, const char *fn)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        net_pool_quiet(fn);
    else
        net_quiet(ctx_net_used(ctx), fn);
}

/* Completes all operations of the context, then closes its transport context. */
static void ctx_close_net(struct shmem_ctx *ctx, const char *fn)
{
    if (ctx->net == NULL || pgas_self.net == NULL)
        return;
    net_quiet(ctx->net, fn);
    net_ctx_close(ctx->net);
    ctx->net = NULL;
}

struct shmem_team *ctx_team(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT ? team_world() : ctx->team;
}

shmem_team_t ctx_handle(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : ctx->handle;
}

int ctx_create(shmem_team_t handle, long options, shmem_ctx_t *ctx, const char *fn)
{
    *ctx = SHMEM_CTX_INVALID;
    if (handle == SHMEM_TEAM_INVALID)
        return -1;
    struct shmem_team *team = team_of(handle, fn);
    struct shmem_ctx *new = pool_alloc(&STATE.pool);
    if (new == NULL)
        return -1;
    fetch_add_acq_rel_u32(&team->contexts, 1);
    PGAS_ASSERT(new->net == NULL &&new->team == NULL);
    new->team = team;
    new->direct_pes = team_is_direct(team) ? (uint32_t)team->npes : 0;
    new->handle = handle;
    new->options = options;
    new->owner = pthread_self();
    new->net = NULL;
    pool_publish(&new->item);
    *ctx = new;
    return 0;
}

void ctx_destroy(shmem_ctx_t ctx, const char *fn)
{
    if (ctx == SHMEM_CTX_INVALID)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        log_misuse("%s: argument 'ctx' is SHMEM_CTX_DEFAULT, which cannot be destroyed",
                   fn);
    if (!pool_has(&STATE.pool, ctx))
        ctx_no_ctx(ctx, fn);
    PGAS_ASSERT(ctx->team != NULL);
    fence_full(); /* the implied quiet */
    ctx_close_net(ctx, fn);
    uint32_t before = fetch_add_acq_rel_u32(&ctx->team->contexts, UINT32_MAX); /* - 1 */
    PGAS_ASSERT(before > 0);
    (void)before;
    pool_free(&STATE.pool, ctx);
}

struct count {
    const struct shmem_team *team;
    int n;
};

static bool ctx_count_private(void *object, void *arg)
{
    const struct shmem_ctx *ctx = object;
    struct count *count = arg;

    count->n += (count->team == NULL || ctx->team == count->team) &&
                (ctx->options & SHMEM_CTX_PRIVATE) != 0;
    return false;
}

int ctx_private(const struct shmem_team *team)
{
    struct count count = {.team = team};

    pool_each(&STATE.pool, ctx_count_private, &count);
    return count.n;
}

static bool ctx_is_of(const void *object, const void *team)
{
    const struct shmem_ctx *ctx = object;

    return team == NULL || ctx->team == team;
}

/* Closes the contexts of a team; NULL: of all teams.  Their quiets may wait for long:
 * other threads can use the pool meanwhile. */
static void ctx_close_of(const struct shmem_team *team)
{
    struct pool_item *item = pool_remove(&STATE.pool, ctx_is_of, team), *next;

    for (; item != NULL; item = next) {
        next = item->next;
        ctx_close_net((struct shmem_ctx *)item, "shmem_ctx_destroy");
        pool_free(&STATE.pool, item);
    }
}

void ctx_destroy_all(const struct shmem_team *team)
{
    if (load_relaxed_u32(&team->contexts) > 0)
        ctx_close_of(team);
}

void ctx_close_all(void)
{
    ctx_close_of(NULL);
}

void ctx_fini(void)
{
    pool_clear(&STATE.pool);
}
