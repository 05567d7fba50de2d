/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - see pack.h. */
#include "config.h"

#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)256)
#define NULL_STRING    UINT32_MAX /* as a length: NULL, and no bytes follow */

static void pack_reserve(struct pack *p, size_t len)
{
    if (len > SIZE_MAX / 4 - p->len)
        error_no_memory();
    if (p->capacity - p->len >= len)
        return;
    size_t capacity = p->capacity != 0 ? p->capacity : FIRST_CAPACITY;
    while (capacity - p->len < len)
        capacity *= 2;
    p->data = mem_resize(p->data, capacity, 1);
    p->capacity = capacity;
}

static void pack_put(struct pack *p, const void *data, size_t len)
{
    if (len == 0)
        return;
    pack_reserve(p, len);
    memcpy(p->data + p->len, data, len);
    p->len += len;
}

/* The lowest len bytes of v, lowest first. */
static void pack_put_number(struct pack *p, uint64_t v, size_t len)
{
    unsigned char b[sizeof v];
    for (size_t i = 0; i < len; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    pack_put(p, b, len);
}

void pack_u8(struct pack *p, uint8_t v)
{
    pack_put_number(p, v, sizeof v);
}

void pack_u32(struct pack *p, uint32_t v)
{
    pack_put_number(p, v, sizeof v);
}

void pack_u64(struct pack *p, uint64_t v)
{
    pack_put_number(p, v, sizeof v);
}

void pack_string(struct pack *p, const char *text)
{
    if (text == NULL) {
        pack_u32(p, NULL_STRING);
        return;
    }
    size_t len = strlen(text);
    if (len >= NULL_STRING)
        error_no_memory();
    pack_u32(p, (uint32_t)len);
    pack_put(p, text, len + 1);
}

void pack_bytes(struct pack *p, const void *data, size_t len)
{
    pack_u64(p, len);
    pack_put(p, data, len);
}

void pack_numbers(struct pack *p, const uint32_t *list, uint32_t count)
{
    pack_u32(p, count);
    for (uint32_t i = 0; i < count; i++)
        pack_u32(p, list[i]);
}

void pack_free(struct pack *p)
{
    free(p->data);
    *p = (struct pack){0};
}

struct unpack unpack_of(const void *data, size_t len)
{
    static const unsigned char nothing[1];
    const unsigned char *at = data != NULL && len > 0 ? data : nothing;
    return (struct unpack){.at = at, .end = at == nothing ? at : at + len};
}

/* len bytes, or NULL. */
static const unsigned char *pack_take(struct unpack *u, uint64_t len)
{
    if (u->failed || len > (size_t)(u->end - u->at)) {
        u->failed = true;
        return NULL;
    }
    const unsigned char *at = u->at;
    u->at += len;
    return at;
}

static uint64_t pack_take_number(struct unpack *u, size_t len)
{
    const unsigned char *b = pack_take(u, len);
    uint64_t v = 0;
    for (size_t i = 0; b != NULL && i < len; i++)
        v |= (uint64_t)b[i] << (8 * i);
    return v;
}

uint8_t unpack_u8(struct unpack *u)
{
    return (uint8_t)pack_take_number(u, sizeof(uint8_t));
}

uint32_t unpack_u32(struct unpack *u)
{
    return (uint32_t)pack_take_number(u, sizeof(uint32_t));
}

uint64_t unpack_u64(struct unpack *u)
{
    return pack_take_number(u, sizeof(uint64_t));
}

const char *unpack_string(struct unpack *u)
{
    uint32_t len = unpack_u32(u);
    if (u->failed || len == NULL_STRING)
        return NULL;
    const unsigned char *text = pack_take(u, (uint64_t)len + 1);
    /* The zero must be at the end and nowhere before. */
    if (text != NULL && memchr(text, '\0', (size_t)len + 1) != text + len) {
        u->failed = true;
        return NULL;
    }
    return (const char *)text;
}

const void *unpack_bytes(struct unpack *u, size_t *len)
{
    uint64_t n = unpack_u64(u);
    const void *data = pack_take(u, n);
    *len = data != NULL ? (size_t)n : 0;
    return data;
}

const void *unpack_rest(struct unpack *u, size_t *len)
{
    const void *data = u->rest_len > 0 ? u->rest : u->at;
    *len = u->rest_len > 0 ? u->rest_len : (size_t)(u->end - u->at);
    u->at = u->end;
    return data;
}

uint32_t unpack_count(struct unpack *u, size_t min)
{
    uint32_t n = unpack_u32(u);
    size_t left = (size_t)(u->end - u->at);
    if (u->failed || (min > 0 && n > left / min)) {
        u->failed = true;
        return 0;
    }
    return n;
}

uint32_t *unpack_numbers(struct unpack *u, uint32_t *count)
{
    *count = unpack_count(u, sizeof(uint32_t));
    uint32_t *list = u->failed ? NULL : mem_calloc((size_t)*count + 1, sizeof *list);
    for (uint32_t i = 0; list != NULL && i < *count; i++)
        list[i] = unpack_u32(u);
    return list;
}

bool unpack_done(const struct unpack *u)
{
    return !u->failed && u->at == u->end;
}
