/* SPDX-License-Identifier: BSD-3-Clause */
/* api_signal.c - rows of put-with-signal and the signal routines (9.8).  Uses: signal. */
#include "config.h"

#include "pgas/rma/amo.h"
#include "pgas/rma/api.h"
#include "pgas/rma/signal.h"

/* clang-format off */
#define PUT_SIGNAL(fn, PTR, S)                                                           \
    API(void, shmem_##fn, (PTR dest, const PTR source, size_t n,                         \
                           uint64_t *sig, uint64_t value, int op, int pe))               \
    {                                                                                    \
        signal_put((struct signal_put){dest, source, n, S}, sig, value, op, pe,          \
                   "shmem_" #fn);                                                        \
    }
#define PUT_SIGNAL_CTX(fn, PTR, S)                                                       \
    API(void, shmem_ctx_##fn, (shmem_ctx_t ctx, PTR dest, const PTR source, size_t n,    \
                               uint64_t *sig, uint64_t value, int op, int pe))           \
    {                                                                                    \
        (void)ctx;                                                                       \
        signal_put((struct signal_put){dest, source, n, S}, sig, value, op, pe,          \
                   "shmem_ctx_" #fn);                                                    \
    }
#define ALL(fn, PTR, S)                                                                  \
    PUT_SIGNAL(fn, PTR, S)                                                               \
    PUT_SIGNAL_CTX(fn, PTR, S)                                                           \
    PUT_SIGNAL(fn##_nbi, PTR, S)                                                         \
    PUT_SIGNAL_CTX(fn##_nbi, PTR, S)

#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    ALL(NAME##_put_signal, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits) ALL(put##bits##_signal, void *, bits / 8)
SHMEM_SIZES(S)
#undef S
ALL(putmem_signal, void *, 1)

#define UPDATE(fn, op)                                                                   \
    API(void, shmem_##fn, (uint64_t *sig, uint64_t value, int pe))                       \
    { signal_update(sig, value, op, pe, "shmem_" #fn); }                                 \
    API(void, shmem_ctx_##fn, (shmem_ctx_t ctx, uint64_t *sig, uint64_t value, int pe))  \
    { (void)ctx; signal_update(sig, value, op, pe, "shmem_ctx_" #fn); }
UPDATE(signal_add, SHMEM_SIGNAL_ADD)
UPDATE(signal_set, SHMEM_SIGNAL_SET)
/* clang-format on */

API(uint64_t, shmem_signal_fetch, (const uint64_t *sig))
{
    return amo_fetch(sig, sizeof *sig);
}
