/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack.h - packs the data of a message, and unpacks it with checked bounds.
 *
 * Pure.  Used by all files that make or read messages.  Numbers are little-endian.  A
 * string is u32 length, the bytes, and a zero that is not counted; bytes are u64 length
 * and the bytes.
 */
#ifndef OSHRUN_NET_PACK_H
#define OSHRUN_NET_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialized = empty.  Grows. */
struct pack {
    unsigned char *data;
    size_t len, capacity;
};

void pack_u8(struct pack *p, uint8_t v);
void pack_u32(struct pack *p, uint32_t v);
void pack_u64(struct pack *p, uint64_t v);
void pack_string(struct pack *p, const char *text); /* NULL is packed as NULL */
void pack_bytes(struct pack *p, const void *data, size_t len);
void pack_numbers(struct pack *p, const uint32_t *list, uint32_t count);
void pack_free(struct pack *p);

/* Reading past the end, or malformed data, sets `failed`, which stays set, and returns
 * 0, NULL or an empty value: read everything, then check once. */
struct unpack {
    const unsigned char *at, *end;
    bool failed;
    const void *rest; /* the data continues here, if rest_len > 0; for unpack_rest */
    size_t rest_len;
};

struct unpack unpack_of(const void *data, size_t len);
uint8_t unpack_u8(struct unpack *u);
uint32_t unpack_u32(struct unpack *u);
uint64_t unpack_u64(struct unpack *u);
const char *unpack_string(struct unpack *u); /* points into the data */
const void *unpack_bytes(struct unpack *u, size_t *len);
/* All bytes that are left, of which there may be none. */
const void *unpack_rest(struct unpack *u, size_t *len);
/* Reads the number of following items of at least `min` bytes each; fails if they exceed
 * the data. */
uint32_t unpack_count(struct unpack *u, size_t min);
/* Reads a list of pack_numbers, which the caller frees.  NULL only on failure. */
uint32_t *unpack_numbers(struct unpack *u, uint32_t *count);
/* True if nothing failed and all data was read. */
bool unpack_done(const struct unpack *u);

#endif
