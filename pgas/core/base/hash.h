/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash.h - 64-bit FNV-1a (RFC 9923) for digests that PEs compare and for hash tables.  It
 * is not collision-resistant against an attacker.
 */
#ifndef PGAS_HASH_H
#define PGAS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Adds n bytes to a digest, which is initially HASH_START. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    /* The static analyser does not track the bytes of an array of wider integers. */
    for (size_t i = 0; i < n; i++) /* NOLINTNEXTLINE(clang-analyzer-core.*) */
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
