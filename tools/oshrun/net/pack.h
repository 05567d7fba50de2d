/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack.h - bytes of a message: written in order, read back with every bound checked.
 *
 * Pure.  Used by all that makes or reads messages.  Numbers are little-endian.  A string
 * is u32 length, the bytes, and a zero that is not counted; bytes are u64 length and the
 * bytes.
 */
#ifndef OSHRUN_NET_PACK_H
#define OSHRUN_NET_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed = empty.  Grows; when there is no memory `failed` is set and stays. */
struct pack {
    unsigned char *data;
    size_t len, capacity;
    bool failed;
};

void pack_u8(struct pack *p, uint8_t v);
void pack_u32(struct pack *p, uint32_t v);
void pack_u64(struct pack *p, uint64_t v);
void pack_string(struct pack *p, const char *text); /* NULL is packed as NULL */
void pack_bytes(struct pack *p, const void *data, size_t len);
void pack_numbers(struct pack *p, const uint32_t *list, uint32_t count);
void pack_free(struct pack *p);

/* What is read past the end, or does not fit, sets `failed` (which stays) and is 0, NULL
 * or empty: read all, then look once. */
struct unpack {
    const unsigned char *at, *end;
    bool failed;
};

struct unpack unpack_of(const void *data, size_t len);
uint8_t unpack_u8(struct unpack *u);
uint32_t unpack_u32(struct unpack *u);
uint64_t unpack_u64(struct unpack *u);
const char *unpack_string(struct unpack *u); /* points into the data */
const void *unpack_bytes(struct unpack *u, size_t *len);
/* A number of things to come, each of at least `min` bytes: fails if they cannot be
 * there. */
uint32_t unpack_count(struct unpack *u, size_t min);
/* Of pack_numbers: a new list, which is not NULL unless something failed. */
uint32_t *unpack_numbers(struct unpack *u, uint32_t *count);
/* True if nothing failed and all was read. */
bool unpack_done(const struct unpack *u);

#endif
