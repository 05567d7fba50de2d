// SPDX-License-Identifier: BSD-3-Clause
// cxx.cc - shmem.h from C++: it compiles without a warning, links and works.
// Compiled and run by cxx.sh.
#include <shmem.h>

#include <cstdio>
#include <vector>

static long target[4];
static long counter;

int main()
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    std::vector<long> source(4, me);
    shmem_long_put(target, source.data(), source.size(), to);
    shmem_ctx_long_atomic_add(SHMEM_CTX_DEFAULT, &counter, 2, 0);
    shmem_barrier_all();
    double *heap = static_cast<double *>(shmem_malloc(sizeof(double)));
    *heap = me;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, heap, heap, 1);
    bool ok = target[3] == (me - 1 + npes) % npes && *heap == npes - 1 &&
              shmem_long_g(&counter, 0) == 2 * npes;
    shmem_free(heap);
    shmem_finalize();
    if (!ok)
        std::fprintf(stderr, "cxx: PE %d has wrong values\n", me);
    return ok ? 0 : 1;
}
