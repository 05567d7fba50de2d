/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - see copy.h.  Uses: copy_x86, isa.  A leaf. */
#include "config.h"

#include "pgas/datatype/copy.h"
#include "pgas/datatype/copy_x86.h"

/* The loop over wide registers beats memcpy while both ends are in the first-level cache:
 * measured on Zen 4, where memcpy begins to call `rep movsb` at 4 KiB.  Above that all
 * kernels run at the caches' speed. */
#define WIDE_MAX 32768

/* Parts that are shorter are not worth the fence behind them; and several PEs find what
 * they have just written in the caches for longer than one PE does (measured: with 16 MiB
 * in all the stores around them lose a factor of up to 2, with 64 MiB they win 1.4). */
#define PART_MIN   4096
#define PARTS_OVER 4

static size_t nontemporal_min = SIZE_MAX;
static size_t wide_max; /* 0 = there are no wide registers, or they are not wanted */

void copy_init(enum isa isa, size_t nontemporal)
{
    nontemporal_min = nontemporal;
    wide_max = isa == ISA_AVX2 || isa == ISA_AVX512 ? WIDE_MAX : 0;
}

static void copy_around(void *dst, const void *src, size_t n)
{
    copy_nt_lines(dst, src, n);
    copy_nt_end();
}

void copy_large(void *dst, const void *src, size_t n)
{
    if (n <= wide_max)
        copy_wide(dst, src, n);
    else if (n < nontemporal_min)
        memcpy(dst, src, n);
    else
        copy_around(dst, src, n);
}

void copy_part(void *dst, const void *src, size_t n, size_t all)
{
    if (n >= PART_MIN && all / PARTS_OVER >= nontemporal_min)
        copy_around(dst, src, n);
    else
        copy_bytes(dst, src, n);
}
