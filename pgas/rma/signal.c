/* SPDX-License-Identifier: BSD-3-Clause */
/* signal.c - see signal.h.  Uses: rma, amo, core/log. */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/log.h"
#include "pgas/rma/amo.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"

void signal_update(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                   const char *fn)
{
    void *word = peer_at(sig_addr, sizeof *sig_addr, pe, fn);

    if (sig_op == SHMEM_SIGNAL_SET)
        amo_set(word, signal, sizeof *sig_addr);
    else if (sig_op == SHMEM_SIGNAL_ADD)
        amo_fetch_add(word, signal, sizeof *sig_addr);
    else
        log_die("%s: argument 'sig_op' = %d, but it must be SHMEM_SIGNAL_SET (%d) or "
                "SHMEM_SIGNAL_ADD (%d)",
                fn, sig_op, SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
    rma_changed(sig_addr, sizeof *sig_addr, pe);
}

void signal_put(struct signal_put put, uint64_t *sig_addr, uint64_t signal, int sig_op,
                int pe, const char *fn)
{
    rma_put(put.dest, put.source, rma_bytes(put.n, put.size, fn), pe, fn);
    /* The update is a release: it orders the data before it. */
    signal_update(sig_addr, signal, sig_op, pe, fn);
}
