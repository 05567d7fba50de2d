/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_limit.c - limits the posts that are concurrent with a quiet.
 *
 * A transport knows only whether anything is outstanding, so a quiet ends at the first
 * moment since its call at which nothing is; any thread may have found it (`drained`).
 * So that there is one, a quiet that must wait limits the posts of its context:
 * NET_CREDIT more are accepted, and then none until nothing is outstanding.
 *
 * Invariants, under the lock of the context:
 * - A quiet waits that was refused implies `limited`: the first refusal sets it, and only
 *   net_ctx_drained clears it, which ends the quiet, too.  (quiet_all, after failures
 *   only, needs confirmations as well and may be refused again.)
 * - The posts accepted while `limited` is set cost at most NET_CREDIT, the last of them
 *   perhaps more.  With the posts before the refusal they are finitely many, and they
 *   complete without further posts; so each quiet ends.
 * - A post that is refused for lack of credit lets the transport complete what is
 *   outstanding, as quiet does.  So posts go on even if the thread that called quiet has
 *   left it because of a failure.
 *
 * Memory orders.  `limited`, `credit` and the stores of `drained` are ordered by the
 * lock.  The load of `drained` at the call of quiet is relaxed and without the lock: the
 * caller has synchronised with the threads that have posted before, so it loads a value
 * that is not older than their posts, and a change that it sees under the lock is a
 * moment after all posts that happen before the call.  Without the lock of a private
 * context there is one thread.  A post without a waiting quiet costs one load of
 * `limited`, beside `posts`, which it increments. Model: tests/models/drained.pml.
 *
 * Uses: net_int.
 */
#include "config.h"

#include <errno.h>

#include "pgas/core/progress/net_int.h"

static void net_op_consume_credit(const struct net_op *o)
{
    size_t bytes = o->fragment != NULL ? o->fragment->blocks.bytes : o->len,
           cost = 1 + bytes / NET_LONG;

    o->c->credit -= cost < o->c->credit ? (uint32_t)cost : o->c->credit;
}

int net_op_post_limited(const struct net_op *o)
{
    struct net_ctx *c = o->c;

    if (o->symaddr.pe == NET_NO_PE) /* fence, quiet */
        return o->post(o);
    if (c->credit == 0 && pgas_self.net->t->quiet(c->t) != 0)
        return -EAGAIN;
    if (c->credit == 0)
        net_ctx_drained(c);
    int rc = o->post(o);
    if (rc == 0 && c->limited)
        net_op_consume_credit(o);
    return rc;
}

/* Quiet limits the posts; so does fence, but only when others have posted since: it may
 * end before the context is drained, and the limit would remain. */
void net_op_limit_others(struct net_op *o)
{
    struct net_ctx *c = o->c;
    bool overtaken = o->refused && o->posts != c->posts;

    if (!o->refused)
        o->posts = c->posts;
    o->refused = true;
    if (o->symaddr.pe != NET_NO_PE || c->limited ||
        (o->tracking != NET_CLOSES && !overtaken))
        return;
    c->limited = true;
    c->credit = NET_CREDIT;
}

int net_op_post_again(struct net_op *o)
{
    int rc = o->c->limited ? net_op_post_limited(o) : o->post(o);

    if (rc == -EAGAIN)
        net_op_limit_others(o);
    return rc;
}
