/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_pool.c - the transport contexts behind the default context.
 *
 * With SHMEM_THREAD_MULTIPLE each thread posts its operations on the default context to
 * one of SHMEM_CTX_POOL transport contexts, so that threads contend for the lock of a
 * context only if there are more of them.  The first thread uses context 0; the others
 * are opened at the first use by a thread.  The collectives use context 0 (CTX_LIBRARY).
 *
 * Order.  A transport orders the operations of one context only.  Operations that other
 * threads have issued before a fence or quiet, and that happen before it, are on other
 * contexts of the pool; and so may be those that a thread issues after it has
 * synchronised with the thread that called fence.  Therefore a fence completes the
 * operations of all contexts as soon as there are several, and the operations on context
 * 0, which earlier fences have ordered only there, are completed before the second
 * context is used.
 *
 * Invariant: a context of the pool that has been used is in `of`; `shared` is nonzero if
 * there is one besides context 0.  A thread that has synchronised with the user sees
 * both.
 *
 * Uses: net_int, env, log.
 */
#include "config.h"

#include "include/shmem.h"

#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"

void net_pool_init(struct net_pool *p, struct net_ctx *ctx_0)
{
    uint64_t size = pgas_self.env.ctx_pool;

    if (size < 1 || size > NET_POOL_MAX)
        log_die("SHMEM_CTX_POOL=%llu: must be 1 to %d", (unsigned long long)size,
                NET_POOL_MAX);
    pthread_mutex_init(&p->lock, NULL);
    p->size = pgas_self.thread_level == SHMEM_THREAD_MULTIPLE ? (uint32_t)size : 1;
    p->of[0] = ctx_0;
}

/* The index of the calling thread's context; threads get them in turn.  Each
 * initialization of the library has indices of its own: pgas_thread.pool_index less
 * `base` is out of range if it is of another one, or 0. */
static uint32_t net_pool_index(struct net_pool *p)
{
    uint32_t base = pgas_self.generation * NET_POOL_MAX; /* not 0 */
    uint32_t index = pgas_thread.pool_index - base;

    if (unlikely(index >= p->size)) {
        index = fetch_add_acq_rel_u32(&p->threads, 1) % p->size;
        pgas_thread.pool_index = base + index;
    }
    return index;
}

/* Completes the operations on context 0 that earlier fences have ordered only there.  The
 * lock of that context orders the store of `shared` before the posts that follow: a
 * thread whose post the quiet misses sees it at its next fence. */
static void net_pool_order(struct net_pool *p)
{
    if (load_acquire_u32(&p->ordered) != 0)
        return;
    store_release_u32(&p->shared, 1);
    net_lock(p->of[0]);
    net_unlock(p->of[0]);
    net_quiet(p->of[0], "SHMEM_CTX_DEFAULT");
    store_release_u32(&p->ordered, 1);
}

/* Makes the context the one of the index; returns that of another thread if it was
 * faster. */
static struct net_ctx *net_pool_store(struct net_pool *p, uint32_t index,
                                      struct net_ctx *c)
{
    pthread_mutex_lock(&p->lock);
    struct net_ctx *other = __atomic_load_n(&p->of[index], __ATOMIC_RELAXED);
    if (other == NULL)
        __atomic_store_n(&p->of[index], c, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&p->lock);
    return other;
}

/* No lock is held during the quiet, which may wait for long.  Counted in `locks`: a
 * signal handler that exits must not finalize while there is one. */
static __attribute__((noinline)) struct net_ctx *net_pool_open(struct net_pool *p,
                                                               uint32_t index)
{
    pgas_thread.locks++;
    struct net_ctx *c = net_ctx_open(false, false);
    pgas_thread.locks--;
    if (c != p->of[0])
        net_pool_order(p);
    pgas_thread.locks++;
    struct net_ctx *other = net_pool_store(p, index, c);
    pgas_thread.locks--;
    if (other == NULL)
        return c;
    net_ctx_close(c);
    return other;
}

struct net_ctx *net_pool_ctx(void)
{
    struct net_pool *p = &pgas_self.net->pool;

    if (likely(p->size == 1))
        return p->of[0];
    uint32_t index = net_pool_index(p);
    struct net_ctx *c = __atomic_load_n(&p->of[index], __ATOMIC_ACQUIRE);
    return likely(c != NULL) ? c : net_pool_open(p, index);
}

static bool net_pool_is_shared(const struct net_pool *p)
{
    return load_acquire_u32(&p->shared) != 0;
}

/* While the thread waits for one context, others may become drained; those that it waits
 * for later have begun, and limit the posts, unless another thread had the lock. */
static void net_pool_quiet_shared(struct net_pool *p, const char *fn)
{
    struct net_ctx *c[NET_POOL_MAX];
    uint64_t drained[NET_POOL_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->size; i++) {
        c[n] = __atomic_load_n(&p->of[i], __ATOMIC_ACQUIRE);
        if (c[n] == NULL || load_acquire_u32(&c[n]->open) == 0)
            continue;
        drained[n] = load_relaxed_u64(&c[n]->drained);
        n++;
    }
    for (uint32_t i = 0; n > 1 && i < n; i++)
        if (net_quiet_begin(c[i], drained[i], fn))
            c[i] = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (c[i] != NULL)
            net_quiet_since(c[i], drained[i], fn);
    net_quiet_end(fn); /* operations may have failed after the last of these checks */
}

void net_pool_quiet(const char *fn)
{
    struct net_pool *p = &pgas_self.net->pool;

    if (unlikely(net_pool_is_shared(p)))
        net_pool_quiet_shared(p, fn);
    else
        net_quiet(p->of[0], fn);
}

void net_pool_fence(const char *fn)
{
    struct net_pool *p = &pgas_self.net->pool;

    if (unlikely(net_pool_is_shared(p)))
        net_pool_quiet(fn);
    else
        net_fence(p->of[0], fn);
}

void net_pool_close(struct net_pool *p)
{
    for (uint32_t i = 1; i < p->size; i++)
        net_ctx_close(p->of[i]);
    pthread_mutex_destroy(&p->lock);
}
