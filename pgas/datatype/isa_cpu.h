/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * isa_cpu.h - feature detection.  One section per architecture; each defines the same
 * functions.  A leaf.  Used by: isa.
 */
#ifndef PGAS_DATATYPE_ISA_CPU_H
#define PGAS_DATATYPE_ISA_CPU_H

#include "pgas/datatype/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define ISA_OSXSAVE (1u << 27) /* leaf 1, ECX: xgetbv may be called */

static inline uint64_t isa_xgetbv(void)
{
    uint32_t low, high;

    __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static inline bool isa_cpu_has(enum isa isa)
{
    struct isa_x86 x = {0, 0, 0};
    uint32_t eax, ebx, ecx, edx;

    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        x.leaf1_ecx = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        x.leaf7_ebx = ebx;
    if (x.leaf1_ecx & ISA_OSXSAVE)
        x.xcr0 = isa_xgetbv();
    return isa_x86_has(&x, isa);
}

#define ISA_VBMI (1u << 1) /* leaf 7, ECX */

static inline bool isa_cpu_has_vbmi(void)
{
    uint32_t eax, ebx, ecx, edx;

    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ecx & ISA_VBMI) != 0;
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

/* The kernel sets this bit only if it saves the SVE registers. */
#define ISA_HWCAP_SVE (1ul << 22)

static inline bool isa_cpu_has(enum isa isa)
{
    return isa == ISA_SVE && (getauxval(AT_HWCAP) & ISA_HWCAP_SVE) != 0;
}

#else
static inline bool isa_cpu_has(enum isa isa)
{
    (void)isa;
    return false;
}
#endif

#if !defined(__x86_64__)
static inline bool isa_cpu_has_vbmi(void)
{
    return false;
}
#endif

#endif
