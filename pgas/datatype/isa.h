/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * isa.h - the instruction sets for which there are kernels, and which of them the
 * processor and the kernel of the system have.  A leaf.
 * Used by: copy, op, core/init, oshmem_info.
 */
#ifndef PGAS_DATATYPE_ISA_H
#define PGAS_DATATYPE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one processor's, each has all that the ones before it have.  Baseline is what the
 * compiler uses without being told: SSE2 on x86-64, Advanced SIMD on 64-bit Arm.  AVX-512
 * is F, BW, DQ and VL together. */
#define ISA_TABLE(I)                                                                     \
    I(BASELINE, baseline)                                                                \
    I(AVX2, avx2)                                                                        \
    I(AVX512, avx512)                                                                    \
    I(SVE, sve)

#define ISA_ENUM(NAME, name) ISA_##NAME,
enum isa { ISA_TABLE(ISA_ENUM) ISAS };
#undef ISA_ENUM

const char *isa_name(enum isa isa);

/* May it be used here?  Of the processor's features those count that the system saves
 * when it switches threads (XCR0 of x86). */
bool isa_here(enum isa isa);

/* The best that may be used here. */
enum isa isa_best(void);

/* Read a value of SHMEM_ISA: the name of one that may be used here, or auto for the best.
 * Returns 0, or -1 with the reason in error[len]. */
int isa_read(const char *text, enum isa *isa, char *error, size_t len);

/* What cpuid and xgetbv of an x86 say: ECX of leaf 1, EBX of leaf 7, and XCR0, which is 0
 * where xgetbv cannot be called. */
struct isa_x86 {
    uint32_t leaf1_ecx, leaf7_ebx;
    uint64_t xcr0;
};
bool isa_x86_has(const struct isa_x86 *x, enum isa isa);

#endif
