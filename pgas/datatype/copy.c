/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - see copy.h.  Uses: copy_x86, isa.  A leaf. */
#include "config.h"

#include "pgas/datatype/copy.h"
#include "pgas/threads/atomic.h"
#include "pgas/datatype/copy_x86.h"
#include "pgas/datatype/op/op_table.h"

/* The loop over wide registers is faster than memcpy while source and destination are in
 * the L1 cache (measured on Zen 4, where memcpy uses `rep movsb` from 4 KiB on).  Beyond
 * that all kernels run at cache speed. */
#define WIDE_MAX 32768

/* Shorter parts do not amortise the fence.  A buffer that several PEs write stays in
 * cache for larger totals than one PE's buffer (measured: non-temporal stores are up to
 * 2x slower for a total of 16 MiB and 1.4x faster for 64 MiB). */
#define PART_MIN   4096
#define PARTS_OVER 4

void copy_init(enum isa isa, size_t nontemporal)
{
    kernels.nontemporal_copy = nontemporal;
    kernels.wide_copy_max = isa == ISA_AVX2 || isa == ISA_AVX512 ? WIDE_MAX : 0;
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
