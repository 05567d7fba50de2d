/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.c - see isa.h.  Uses: isa_cpu.  A leaf. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pgas/datatype/isa.h"
#include "pgas/datatype/isa_cpu.h"

static const char *const names[] = {
#define I(NAME, name) #name,
    ISA_TABLE(I)
#undef I
};

const char *isa_name(enum isa isa)
{
    return names[isa];
}

bool isa_here(enum isa isa)
{
    return isa == ISA_BASELINE || isa_cpu_has(isa);
}

bool isa_has_vbmi(void)
{
    return isa_cpu_has_vbmi();
}

enum isa isa_best(void)
{
    enum isa best = ISA_BASELINE;

    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++)
        if (isa_here(isa))
            best = isa;
    return best;
}

/* ---- reading --------------------------------------------------------------------- */

static int isa_error(const char *what, char *error, size_t len)
{
    snprintf(error, len, "%s; use auto", what);
    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++) {
        size_t used = strlen(error);
        if (isa_here(isa))
            snprintf(error + used, len - used, "%s%s", isa == isa_best() ? " or " : ", ",
                     names[isa]);
    }
    return -1;
}

int isa_read(const char *text, enum isa *isa, char *error, size_t len)
{
    if (strcmp(text, "auto") == 0) {
        *isa = isa_best();
        return 0;
    }
    for (enum isa i = ISA_BASELINE; i < ISAS; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        *isa = i;
        return isa_here(i) ? 0 : isa_error("not supported by this processor", error, len);
    }
    return isa_error("not an instruction set", error, len);
}

/* ---- x86 ------------------------------------------------------------------------- */

enum {
    LEAF1_OSXSAVE = 1 << 27,
    LEAF1_AVX = 1 << 28,
    LEAF7_AVX2 = 1 << 5,
    LEAF7_F = 1 << 16,
    LEAF7_DQ = 1 << 17,
    LEAF7_BW = 1 << 30,
    XCR0_AVX = 0x6,     /* XMM, YMM */
    XCR0_AVX512 = 0xe6, /* plus opmask, ZMM_Hi256 and Hi16_ZMM */
};
#define LEAF7_VL (1u << 31)

static bool isa_has_bits(uint64_t bits, uint64_t wanted)
{
    return (bits & wanted) == wanted;
}

static bool isa_has_avx2(const struct isa_x86 *x)
{
    return isa_has_bits(x->leaf1_ecx, LEAF1_OSXSAVE | LEAF1_AVX) &&
           isa_has_bits(x->xcr0, XCR0_AVX) && isa_has_bits(x->leaf7_ebx, LEAF7_AVX2);
}

static bool isa_has_avx512(const struct isa_x86 *x)
{
    return isa_has_avx2(x) && isa_has_bits(x->xcr0, XCR0_AVX512) &&
           isa_has_bits(x->leaf7_ebx, LEAF7_F | LEAF7_DQ | LEAF7_BW | LEAF7_VL);
}

bool isa_x86_has(const struct isa_x86 *x, enum isa isa)
{
    if (isa == ISA_AVX2)
        return isa_has_avx2(x);
    return isa == ISA_AVX512 && isa_has_avx512(x);
}
