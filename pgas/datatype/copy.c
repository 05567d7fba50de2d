/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - see copy.h.  Uses: copy_isas, copy_x86, isa. */
#include "config.h"

#include <unistd.h>

#include "pgas/datatype/copy.h"
#include "pgas/datatype/copy_isas.h"
#include "pgas/threads/atomic.h"
#include "pgas/datatype/op/op_table.h"

/* Shorter parts do not amortise the fence.  A buffer that several PEs write stays in
 * cache for larger totals than one PE's buffer (measured: non-temporal stores are up to
 * 2x slower for a total of 16 MiB and 1.4x faster for 64 MiB). */
#define PART_MIN   4096
#define PARTS_OVER 4

static const copy_kernel copy_kernels[ISAS] = {COPY_KERNELS};

/* The loops over registers are faster than memcpy while source and destination are in the
 * L1 cache: at 8 KiB on Zen 5, 130 to 175 GB/s instead of 80 to 107, because memcpy uses
 * `rep movsb` from about 3 KiB on.  Beyond the L1 cache that is faster, since it does not
 * read the lines of the destination: 148 GB/s instead of 88 at 32 KiB. */
static size_t copy_loop_max(void)
{
    enum { L1_COMMON = 32 << 10 };
    const long cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);

    return (cache > 0 ? (size_t)cache : L1_COMMON) / 2;
}

void copy_init(enum isa isa, size_t nontemporal)
{
    const copy_kernel kernel = copy_kernels[isa];

    kernels.nontemporal_copy = nontemporal;
    kernels.wide_copy_max = kernel != NULL ? COPY_LONG - 1 : 0;
    kernels.long_copy_max = kernel != NULL ? copy_loop_max() : 0;
    kernels.long_copy = kernel;
}

static void copy_nontemporal(void *dst, const void *src, size_t n)
{
    copy_nt_lines(dst, src, n);
    copy_nt_end();
}

LINE_ALIGNED void copy_large(void *dst, const void *src, size_t n)
{
    if (n <= kernels.wide_copy_max)
        copy_wide(dst, src, n);
    else if (n <= kernels.long_copy_max)
        kernels.long_copy(dst, src, n);
    else if (n < kernels.nontemporal_copy)
        memcpy(dst, src, n);
    else
        copy_nontemporal(dst, src, n);
}

void copy_part(void *dst, const void *src, size_t n, size_t all)
{
    if (n >= PART_MIN && all / PARTS_OVER >= kernels.nontemporal_copy)
        copy_nontemporal(dst, src, n);
    else
        copy_bytes(dst, src, n);
}
