/* SPDX-License-Identifier: BSD-3-Clause */
/* api_order.c - rows of memory ordering (9.12) and locks (9.13).  Uses: order, lock. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/order.h"

/* clang-format off */
ROUTINE_0(void, shmem_fence, ALONE)
{ order_fence(SHMEM_CTX_DEFAULT, fn); }
ROUTINE_0(void, shmem_quiet, ALONE)
{ order_quiet(SHMEM_CTX_DEFAULT, fn); }
ROUTINE(void, shmem_ctx_fence, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE))
{ if (ctx != SHMEM_CTX_INVALID) order_fence(ctx, fn); }
ROUTINE(void, shmem_ctx_quiet, 0, ALONE, (shmem_ctx_t, ctx, CTX_OR_NONE))
{ if (ctx != SHMEM_CTX_INVALID) order_quiet(ctx, fn); }

ROUTINE(void, shmem_set_lock, sizeof(long), ALONE, (long *, lock, LOCK))
{ lock_set(lock, fn); }
ROUTINE(void, shmem_clear_lock, sizeof(long), ALONE, (long *, lock, LOCK))
{ lock_clear(lock, fn); }
/* 0: the caller holds the lock; 1: another PE holds it; an error if the PE that
 * stores its state has failed */
ROUTINE(int, shmem_test_lock, sizeof(long), ALONE, (long *, lock, LOCK))
{ return lock_try(lock, fn) ? 0 : lock_status(lock); }
/* clang-format on */
