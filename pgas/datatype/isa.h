/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * isa.h - the instruction sets with kernels of their own, and run-time detection of those
 * that the processor and the operating system support.  A leaf.
 * Used by: copy, op, coll/life, oshmem_info.
 */
#ifndef PGAS_DATATYPE_ISA_H
#define PGAS_DATATYPE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Within one architecture each set includes the ones before it.  The baseline is the
 * compiler's default: SSE2 on x86-64, Advanced SIMD on 64-bit Arm.  AVX-512 means F, BW,
 * DQ and VL together. */
#define ISA_TABLE(I)                                                                     \
    I(BASELINE, baseline)                                                                \
    I(AVX2, avx2)                                                                        \
    I(AVX512, avx512)                                                                    \
    I(SVE, sve)

#define ISA_ENUM(NAME, name) ISA_##NAME,
enum isa { ISA_TABLE(ISA_ENUM) ISAS };
#undef ISA_ENUM

const char *isa_name(enum isa isa);

/* True if the instruction set can be used: the processor has it, and the operating system
 * saves its registers at a context switch (XCR0 on x86). */
bool isa_here(enum isa isa);

/* True if the processor has AVX-512 VBMI, permutations of bytes.  Use them only if
 * ISA_AVX512 can be used. */
bool isa_has_vbmi(void);

/* The best instruction set that can be used. */
enum isa isa_best(void);

/* Parses a value of SHMEM_ISA: the name of a usable instruction set, or auto for the
 * best. Returns 0, or -1 with the reason in error[len]. */
int isa_read(const char *text, enum isa *isa, char *error, size_t len);

/* The x86 feature words: ECX of cpuid leaf 1, EBX of leaf 7, and XCR0, which is 0 where
 * xgetbv is not available. */
struct isa_x86 {
    uint32_t leaf1_ecx, leaf7_ebx;
    uint64_t xcr0;
};
bool isa_x86_has(const struct isa_x86 *x, enum isa isa);

#endif
