/* SPDX-License-Identifier: BSD-3-Clause */
/* api_signal.c - rows of put-with-signal and the signal routines (9.8).  Uses: signal. */
#include "config.h"

#include "pgas/threads/amo.h"
#include "pgas/core/progress/net.h"
#include "pgas/rma/api.h"
#include "pgas/rma/signal.h"

/* clang-format off */
#define PUT_SIGNAL(X, PTR, S, NBI)                                                       \
    ROUTINE_CTX(void, X, S,                                                              \
                signal_put(ctx, &(struct signal_put){dest, source, nelems, S, NBI},      \
                           sig_addr, signal, sig_op, pe, fn),                            \
                (PTR, dest, SYM), (const PTR, source, LOCAL), (size_t, nelems, COUNT),   \
                (uint64_t *, sig_addr, SIGNAL_APART), (uint64_t, signal, ANY),           \
                (int, sig_op, SIGNAL_OP), (int, pe, PE))
#define ALL(X, PTR, S) PUT_SIGNAL(X, PTR, S, false) PUT_SIGNAL(X##_nbi, PTR, S, true)

#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    ALL(NAME##_put_signal, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits) ALL(put##bits##_signal, void *, bits / 8)
SHMEM_SIZES(S)
#undef S
ALL(putmem_signal, void *, 1)

#define UPDATE(X, op)                                                                    \
    ROUTINE_CTX(void, X, sizeof(uint64_t),                                               \
                signal_update(ctx, sig_addr, signal, op, pe, fn),                        \
                (uint64_t *, sig_addr, SIGNAL), (uint64_t, signal, ANY), (int, pe, PE))
UPDATE(signal_add, SHMEM_SIGNAL_ADD)
UPDATE(signal_set, SHMEM_SIGNAL_SET)
/* clang-format on */

ROUTINE(uint64_t, shmem_signal_fetch, sizeof(uint64_t), ALONE,
        (const uint64_t *, sig_addr, SIGNAL))
{
    (void)fn;
    net_poll(); /* the program may call this routine in a loop */
    return amo_fetch(sig_addr, sizeof *sig_addr);
}
