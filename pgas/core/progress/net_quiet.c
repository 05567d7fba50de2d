/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_quiet.c - order and completion of a context's operations on remote PEs (net.h).
 * Uses: net_int, block, ft.
 */
#include "config.h"

#include <errno.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/ft/ft.h"

/* ---- the functions of struct net_op.post --------------------------------------------
 */

/* Nothing was outstanding at a moment since the call of fence or quiet, even if more has
 * been posted since. */
static bool net_op_drained(const struct net_op *o)
{
    return load_relaxed_u64(&o->c->drained) != o->drained;
}

static int net_post_fence(const struct net_op *o)
{
    bool drained = net_op_drained(o);
    int rc = pgas_self.net->t->fence(o->c->t);

    return drained ? 0 : rc;
}

static int net_post_quiet(const struct net_op *o)
{
    bool drained = net_op_drained(o);
    int rc = pgas_self.net->t->quiet(o->c->t);

    if (rc == 0) {
        net_ctx_drained(o->c);
        store_release_u32(&o->c->open, 0);
    }
    return drained ? 0 : rc;
}

static int net_post_quiet_all(const struct net_op *o)
{
    int rc = pgas_self.net->t->quiet_all(o->c->t);

    if (rc == 0) {
        net_ctx_drained(o->c);
        store_release_u32(&o->c->open, 0);
    }
    return rc;
}

/* ---- fence and quiet -----------------------------------------------------------------
 */

void net_fence(struct net_ctx *c, const char *fn)
{
    struct net_op o = {.c = c, .fn = fn, .symaddr.pe = NET_NO_PE};

    if (c == NULL)
        return;
    o.drained = load_relaxed_u64(&c->drained);
    o.post = net_post_fence;
    net_op_post_any(&o);
}

static struct net_op net_quiet_op(struct net_ctx *c, uint64_t drained, const char *fn)
{
    return (struct net_op){.c = c,
                           .fn = fn,
                           .symaddr.pe = NET_NO_PE,
                           .tracking = NET_CLOSES,
                           .drained = drained};
}

/* The quiet may have ended other threads' quiets, too. */
static void net_quiet_wake(const struct net_ctx *c)
{
    if (unlikely(load_relaxed_u32(&c->waiters) != 0))
        net_wake_sleepers();
}

static void net_complete(struct net_ctx *c, int (*post)(const struct net_op *o),
                         uint64_t drained, const char *fn)
{
    struct net_op o = net_quiet_op(c, drained, fn);

    o.post = post;
    net_op_post_any(&o);
    net_quiet_wake(c);
}

void net_quiet_end(const char *fn)
{
    if (unlikely(load_relaxed_u32(&pgas_self.net->suspects.n) != 0))
        net_await_verdicts(fn); /* it is not known that failed operations are dropped */
    ft_operations_completed();
}

void net_quiet(struct net_ctx *c, const char *fn)
{
    if (c == NULL || load_acquire_u32(&c->open) == 0)
        return;
    net_complete(c, net_post_quiet, load_relaxed_u64(&c->drained), fn);
    net_quiet_end(fn);
}

bool net_quiet_begin(struct net_ctx *c, uint64_t drained, const char *fn)
{
    struct net_op o = net_quiet_op(c, drained, fn);

    if (!net_try_lock(c))
        return false;
    uint64_t pending = net_ctx_pending(c);
    o.rc = net_post_quiet(&o);
    if (o.rc == -EAGAIN)
        net_op_limit_others(&o);
    bool ended = net_ctx_changed(c, pending, 0);
    net_unlock(c);
    if (ended)
        net_wake_sleepers();
    else if (o.rc == 0)
        net_quiet_wake(c);
    return o.rc == 0;
}

void net_quiet_since(struct net_ctx *c, uint64_t drained, const char *fn)
{
    if (load_acquire_u32(&c->open) != 0)
        net_complete(c, net_post_quiet, drained, fn);
}

void net_quiet_all(struct net_ctx *c, const char *fn)
{
    PGAS_ASSERT(pgas_self.ft != NULL);
    if (c == NULL)
        return;
    net_complete(c, net_post_quiet_all, 0, fn);
    net_quiet_end(fn);
}
