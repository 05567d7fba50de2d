/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c - see rma.h.  Uses: core/peer, core/log, datatype/copy. */
#include "config.h"

#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

static _Noreturn __attribute__((cold)) void too_long(size_t n, size_t size,
                                                     const char *fn)
{
    log_die(
        "%s: argument 'nelems' = %zu elements of %zu bytes is more than a size_t holds",
        fn, n, size);
}

size_t rma_bytes(size_t n, size_t size, const char *fn)
{
    size_t bytes;

    if (unlikely(__builtin_mul_overflow(n, size, &bytes)))
        too_long(n, size, fn);
    return bytes;
}

void rma_put(void *dest, const void *source, size_t n, size_t size, int pe,
             const char *fn)
{
    size_t bytes = rma_bytes(n, size, fn);

    copy_bytes(peer_at(dest, bytes, pe, fn), source, bytes);
    rma_changed(dest, bytes, pe);
}

void rma_get(void *dest, const void *source, size_t n, size_t size, int pe,
             const char *fn)
{
    size_t bytes = rma_bytes(n, size, fn);

    copy_bytes(dest, peer_at(source, bytes, pe, fn), bytes);
}
