/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash.h - FNV-1a with 64 bits: digests that PEs compare, and hash tables.  Not for input
 * that an attacker chooses.  Source: RFC 9923.
 */
#ifndef PGAS_HASH_H
#define PGAS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues a digest, at first HASH_START, with n bytes. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    /* The analyser does not follow the bytes of an array of wider integers. */
    for (size_t i = 0; i < n; i++) /* NOLINTNEXTLINE(clang-analyzer-core.*) */
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
