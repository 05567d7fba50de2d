/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal.h - put with signal, and signals alone (9.8).
 * Uses: rma, amo, order.  Used by: api_signal.
 */
#ifndef PGAS_RMA_SIGNAL_H
#define PGAS_RMA_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/shmem.h"

/* A put of n elements of `size` bytes, to be followed by a signal. */
struct signal_put {
    void *dest;
    const void *source;
    size_t n, size;
    bool nbi; /* source must not change before the context's quiet */
};

/* Puts the data, then updates the signal word.  A PE that observes the signal also
 * observes the data. */
void signal_put(shmem_ctx_t ctx, const struct signal_put *put, uint64_t *sig_addr,
                uint64_t signal, int sig_op, int pe, const char *fn);

/* Updates a signal word; sig_op is SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. */
void signal_update(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int sig_op,
                   int pe, const char *fn);

#endif
