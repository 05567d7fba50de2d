/* SPDX-License-Identifier: BSD-3-Clause */
/* signal.c - see signal.h.  Uses: rma, amo, amo_at, core/net, core/log. */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/base/log.h"
#include "pgas/transport/perform.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"

static enum transport_amo_op signal_amo_op(int sig_op, const char *fn)
{
    if (sig_op == SHMEM_SIGNAL_SET)
        return TRANSPORT_AMO_SET;
    if (sig_op == SHMEM_SIGNAL_ADD)
        return TRANSPORT_AMO_ADD;
    log_misuse("%s: argument 'sig_op' = %d, but it must be SHMEM_SIGNAL_SET (%d) or "
               "SHMEM_SIGNAL_ADD (%d)",
               fn, sig_op, SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
}

/* On the same node the update has release semantics: it orders the data before it. */
void signal_update(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int sig_op,
                   int pe, const char *fn)
{
    enum transport_amo_op op = signal_amo_op(sig_op, fn);
    void *word = peer_quick(sig_addr, sizeof *sig_addr, pe);

    if (unlikely(word == NULL)) {
        (void)amo_call(&(struct amo_call){
            .ctx = ctx,
            .amo = {.op = op, .size = sizeof *sig_addr, .operand = signal},
            .addr = sig_addr,
            .pe = pe,
            .fn = fn,
            .want = AMO_NEVER});
        return;
    }
    perform_op(op, word, signal, 0, sizeof *sig_addr);
    rma_changed(sig_addr, sizeof *sig_addr, pe);
}

static __attribute__((noinline)) void
signal_put_remote(shmem_ctx_t ctx, const struct signal_put *put, size_t bytes,
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, const char *fn)
{
    const struct transport_signal s = {
        .at = peer_symaddr(sig_addr, sizeof *sig_addr, pe, fn),
        .op = signal_amo_op(sig_op, fn),
        .size = sizeof *sig_addr,
        .operand = signal};
    struct transport_symaddr to = s.at;

    if (bytes > 0)
        to = peer_symaddr(put->dest, bytes, pe, fn);
    net_put_signal(ctx_net(ctx), to, put->source, bytes, &s,
                   put->nbi ? NET_LATER : NET_NOW, fn);
}

void signal_put(shmem_ctx_t ctx, const struct signal_put *put, uint64_t *sig_addr,
                uint64_t signal, int sig_op, int pe, const char *fn)
{
    size_t bytes = rma_bytes(put->n, put->size, fn);

    if (net_remote(pe)) {
        signal_put_remote(ctx, put, bytes, sig_addr, signal, sig_op, pe, fn);
        return;
    }
    rma_put(ctx, put->dest, put->source, bytes, pe, fn);
    signal_update(ctx, sig_addr, signal, sig_op, pe, fn);
}
