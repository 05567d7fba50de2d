/* SPDX-License-Identifier: BSD-3-Clause */
/* api_order.c - rows of memory ordering (9.12) and locks (9.13).  Uses: order, lock. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/order.h"

API(void, shmem_fence, (void))
{
    order_fence();
}
API(void, shmem_quiet, (void))
{
    order_quiet();
}

API(void, shmem_ctx_fence, (shmem_ctx_t ctx))
{
    (void)ctx;
    order_fence();
}

API(void, shmem_ctx_quiet, (shmem_ctx_t ctx))
{
    (void)ctx;
    order_quiet();
}

API(void, shmem_set_lock, (long *lock))
{
    lock_set(lock, "shmem_set_lock");
}
API(void, shmem_clear_lock, (long *lock))
{
    lock_clear(lock, "shmem_clear_lock");
}
/* 0 = we have the lock now, 1 = another PE has it */
API(int, shmem_test_lock, (long *lock))
{
    return !lock_try(lock, "shmem_test_lock");
}
