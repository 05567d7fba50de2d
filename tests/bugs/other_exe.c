/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * other_exe.c - in a job of two executables globals are not symmetric, as
 * shmem_addr_accessible and shmem_ptr report; the heap is.  Built twice, with globals of
 * different size, as other_a and other_b.
 */
#include "config.h"

#include "tests/api/multi/check.h"

static long word = 1, more[MORE_WORDS] = {2};

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), other = (me + 1) % n;
    CHECK_EQ(n, 2);
    CHECK(shmem_addr_accessible(&word, me));
    CHECK(shmem_ptr(&word, me) == &word);
    CHECK_EQ(shmem_addr_accessible(&word, other), 0);
    CHECK(shmem_ptr(&word, other) == NULL);
    CHECK(shmem_ptr(more, other) == NULL);

    long *heap = check_alloc(sizeof(*heap));
    CHECK(shmem_addr_accessible(heap, other));
    shmem_long_p(heap, me + 1, other);
    shmem_barrier_all();
    CHECK_EQ(*heap, other + 1);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
