/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - see copy.h.  A leaf. */
#include "config.h"

#include "pgas/datatype/copy.h"
#include "pgas/datatype/copy_nt.h"

static size_t nontemporal_min = SIZE_MAX;

void copy_set_nontemporal(size_t n)
{
    nontemporal_min = n;
}

void copy_large(void *dst, const void *src, size_t n)
{
    if (n < nontemporal_min)
        memcpy(dst, src, n);
    else
        copy_nt(dst, src, n);
}
