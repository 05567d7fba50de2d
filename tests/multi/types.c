/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types.c - put, get, p and g, blocking and not, with and without a context, of every RMA
 * type: boundary values arrive bit by bit, and nothing beside them is touched.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

#include <float.h>

typedef void (*move_fn)(void *dest, const void *source, size_t n, int pe);
typedef void (*one_fn)(void *dest, const void *value, int pe);

/* One set of thin functions for each type, all of the same prototypes. */
#define ROWS(NAME, C, KIND)                                                              \
    MOVE(NAME, put)                                                                      \
    MOVE(NAME, put_nbi) MOVE(NAME, get) MOVE(NAME, get_nbi) ONE_P(NAME, C) ONE_G(NAME, C)
#define MOVE(NAME, OP)                                                                   \
    static void OP##_##NAME(void *d, const void *s, size_t n, int pe)                    \
    {                                                                                    \
        shmem_##NAME##_##OP(d, s, n, pe);                                                \
    }                                                                                    \
    static void ctx_##OP##_##NAME(void *d, const void *s, size_t n, int pe)              \
    {                                                                                    \
        shmem_ctx_##NAME##_##OP(SHMEM_CTX_DEFAULT, d, s, n, pe);                         \
    }
#define ONE_P(NAME, C)                                                                   \
    static void p_##NAME(void *d, const void *v, int pe)                                 \
    {                                                                                    \
        shmem_##NAME##_p(d, *(const C *)v, pe);                                          \
    }                                                                                    \
    static void ctx_p_##NAME(void *d, const void *v, int pe)                             \
    {                                                                                    \
        shmem_ctx_##NAME##_p(SHMEM_CTX_DEFAULT, d, *(const C *)v, pe);                   \
    }
#define ONE_G(NAME, C)                                                                   \
    static void g_##NAME(void *d, const void *s, int pe)                                 \
    {                                                                                    \
        *(C *)d = shmem_##NAME##_g(s, pe);                                               \
    }                                                                                    \
    static void ctx_g_##NAME(void *d, const void *s, int pe)                             \
    {                                                                                    \
        *(C *)d = shmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, s, pe);                        \
    }
SHMEM_TYPES_RMA(ROWS)
#undef ROWS

struct type {
    const char *name;
    size_t size;
    int kind;
    move_fn put[4], get[4];
    one_fn p[2], g[2];
};
enum { SINT, UINT, FLT };

#define ROW(NAME, C, KIND)                                                               \
    {#NAME,                                                                              \
     sizeof(C),                                                                          \
     KIND,                                                                               \
     {put_##NAME, ctx_put_##NAME, put_nbi_##NAME, ctx_put_nbi_##NAME},                   \
     {get_##NAME, ctx_get_##NAME, get_nbi_##NAME, ctx_get_nbi_##NAME},                   \
     {p_##NAME, ctx_p_##NAME},                                                           \
     {g_##NAME, ctx_g_##NAME}},
static const struct type types[] = {SHMEM_TYPES_RMA(ROW)};
#undef ROW

enum { TYPES = sizeof(types) / sizeof(types[0]), VALUES = 8, GUARD = 64, ELEMENT = 16 };
static const unsigned char guard_byte = 0xa5;

/* A long double has 10 bytes of value and padding that need not travel. */
static size_t value_bytes(const struct type *t)
{
    return t->kind == FLT && t->size == sizeof(long double) && LDBL_MANT_DIG == 64
               ? 10
               : t->size;
}

static void float_value(const struct type *t, void *element, int which, int pe)
{
    const double value[VALUES] = {0.0, -0.0, 1.0, -1.5, FLT_MAX, -FLT_MIN, 1e-40, 0.1};
    double d = which == 0 ? (double)pe : value[which];
    float f = (float)d;
    long double l = which == VALUES - 1 ? LDBL_MAX : (long double)d;
    if (t->size == sizeof(f))
        memcpy(element, &f, sizeof(f));
    else if (t->size == sizeof(d))
        memcpy(element, &d, sizeof(d));
    else
        memcpy(element, &l, sizeof(l));
}

/* Boundaries as bits: 0, all ones, lowest and highest signed, ... */
static void int_value(const struct type *t, void *element, int which, int pe)
{
    uint64_t top = (uint64_t)1 << (8 * t->size - 1);
    const uint64_t value[VALUES] = {(uint64_t)pe,        ~(uint64_t)0, top,    top - 1, 1,
                                    0x8182838485868788u, ~(uint64_t)1, top + 1};
    memcpy(element, &value[which], t->size); /* little-endian: the low bytes */
}

static void make_value(const struct type *t, void *element, int which, int pe)
{
    memset(element, 0, ELEMENT);
    if (t->kind == FLT)
        float_value(t, element, which, pe);
    else
        int_value(t, element, which, pe);
}

/* The VALUES elements at `block` are pe's; guards lie on both sides. */
static void check_block(const struct type *t, const unsigned char *block, int pe,
                        const char *how, int form)
{
    unsigned char element[ELEMENT];
    size_t bytes = VALUES * t->size;
    for (int i = 0; i < VALUES; i++) {
        make_value(t, element, i, pe);
        CHECK_NAMED(
            memcmp(block + GUARD + (size_t)i * t->size, element, value_bytes(t)) == 0,
            "%s %s, form %d: value %d from PE %d is wrong", t->name, how, form, i, pe);
    }
    CHECK_NAMED(check_find_other(block, GUARD, guard_byte) == GUARD,
                "%s %s, form %d: bytes before are changed", t->name, how, form);
    CHECK_NAMED(check_find_other(block + GUARD + bytes, GUARD, guard_byte) == GUARD,
                "%s %s, form %d: bytes after are changed", t->name, how, form);
}

enum { BLOCK = 2 * GUARD + VALUES * ELEMENT };
static unsigned char inbox[BLOCK] __attribute__((aligned(16)));
static unsigned char outbox[BLOCK] __attribute__((aligned(16)));

static void make_values(const struct type *t, unsigned char *block, int pe)
{
    unsigned char element[ELEMENT];
    for (int i = 0; i < VALUES; i++) {
        make_value(t, element, i, pe);
        memcpy(block + (size_t)i * t->size, element, t->size);
    }
}

static void test_put(const struct type *t, int form, int to, int from)
{
    unsigned char local[BLOCK] __attribute__((aligned(16))) = {0};
    make_values(t, local, shmem_my_pe());
    memset(inbox, guard_byte, BLOCK);
    shmem_barrier_all();
    t->put[form](inbox + GUARD, local, VALUES, to);
    shmem_barrier_all();
    check_block(t, inbox, from, "put", form);
    shmem_barrier_all();
}

static void test_get(const struct type *t, int form, int to)
{
    unsigned char local[BLOCK] __attribute__((aligned(16)));
    memset(outbox, 0, BLOCK);
    make_values(t, outbox, shmem_my_pe());
    shmem_barrier_all();
    memset(local, guard_byte, BLOCK);
    t->get[form](local + GUARD, outbox, VALUES, to);
    shmem_quiet();
    check_block(t, local, to, "get", form);
    shmem_barrier_all();
}

static void test_one(const struct type *t, int form, int to, int from)
{
    unsigned char local[BLOCK] __attribute__((aligned(16)));
    make_values(t, local, shmem_my_pe());
    memset(inbox, guard_byte, BLOCK);
    shmem_barrier_all();
    for (size_t i = 0; i < VALUES; i++)
        t->p[form](inbox + GUARD + i * t->size, local + i * t->size, to);
    shmem_barrier_all();
    check_block(t, inbox, from, "p", form);

    memset(local, guard_byte, BLOCK);
    for (size_t i = 0; i < VALUES; i++)
        t->g[form](local + GUARD + i * t->size, inbox + GUARD + i * t->size, to);
    check_block(t, local, shmem_my_pe(), "g", form);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int distance = 0; distance < npes && distance < 3; distance++) {
        int to = (me + distance) % npes, from = (me - distance + npes) % npes;
        for (size_t i = 0; i < TYPES; i++) {
            for (int form = 0; form < 4; form++) {
                test_put(&types[i], form, to, from);
                test_get(&types[i], form, to);
            }
            for (int form = 0; form < 2; form++)
                test_one(&types[i], form, to, from);
        }
    }
    shmem_finalize();
    return 0;
}
