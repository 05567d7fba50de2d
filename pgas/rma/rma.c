/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c - see rma.h.  Uses: core/peer, core/log, datatype/copy. */
#include "config.h"

#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

void rma_too_long(size_t n, size_t size, const char *fn)
{
    log_die("%s: %zu elements of %zu bytes each are more than a size_t holds", fn, n,
            size);
}

void rma_put(void *dest, const void *source, size_t bytes, int pe, const char *fn)
{
    copy_bytes(peer_at(dest, bytes, pe, fn), source, bytes);
    rma_changed(dest, bytes, pe);
}

void rma_get(void *dest, const void *source, size_t bytes, int pe, const char *fn)
{
    copy_bytes(dest, peer_at(source, bytes, pe, fn), bytes);
}
