/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.c - values of every type and the serial model of the operations, for the
 * conformance programs.  It shares no code with the library's kernels: integers are
 * computed as 64 bits, floating-point values as long double, complex ones as two of them.
 */
#include "tests/api/conform/conform.h"

static uint64_t get_int(const struct cf_type *t, const void *value)
{
    uint64_t v = 0;
    unsigned shift = (unsigned)(64 - 8 * t->size);

    memcpy(&v, value, t->size); /* assumes little endian */
    v <<= shift;
    return t->kind == CF_SINT ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

static void put_int(const struct cf_type *t, uint64_t v, void *value)
{
    memcpy(value, &v, t->size);
}

static bool is_float(const struct cf_type *t)
{
    return t->size == (t->kind == CF_CPLX ? 2 : 1) * sizeof(float);
}

/* part: 0 = real, 1 = imaginary */
static long double get_real(const struct cf_type *t, const void *value, int part)
{
    if (is_float(t))
        return ((const float *)value)[part];
    if (t->kind == CF_CPLX || t->size == sizeof(double))
        return ((const double *)value)[part];
    return *(const long double *)value;
}

static void put_real(const struct cf_type *t, long double v, void *value, int part)
{
    if (is_float(t))
        ((float *)value)[part] = (float)v;
    else if (t->kind == CF_CPLX || t->size == sizeof(double))
        ((double *)value)[part] = (double)v;
    else
        *(long double *)value = v;
}

static long double greatest_real(const struct cf_type *t)
{
    return is_float(t) ? 3.40282346638528859812e+38L : 1.79769313486231570815e+308L;
}

static void edge_real(const struct cf_type *t, unsigned which, void *value)
{
    const long double edges[CF_EDGES] = {
        0, 1, greatest_real(t), -greatest_real(t), -0.0L, -0.5L, 1e-40L, 2};

    put_real(t, edges[which], value, 0);
    if (t->kind == CF_CPLX)
        put_real(t, edges[(which + 4) % CF_EDGES], value, 1);
}

static void edge_int(const struct cf_type *t, unsigned which, void *value)
{
    uint64_t top = (uint64_t)1 << (8 * t->size - 1), all = ~(uint64_t)0;
    bool is_signed = t->kind == CF_SINT;
    const uint64_t edges[CF_EDGES] = {0,
                                      1,
                                      is_signed ? top - 1 : all,
                                      top,
                                      is_signed ? all : all - 1,
                                      0x5a3c96f0c35aa5e1u,
                                      top | 0x21,
                                      2};

    put_int(t, edges[which], value);
}

void cf_edge(const struct cf_type *t, unsigned which, void *value)
{
    memset(value, 0, t->size);
    (t->kind >= CF_FLT ? edge_real : edge_int)(t, which % CF_EDGES, value);
}

void cf_random(const struct cf_type *t, uint64_t salt, void *value)
{
    enum { SMALL = 7 };
    uint64_t state = (salt + 1) * 0x9e3779b97f4a7c15u;
    uint64_t r = check_random(&state);

    memset(value, 0, t->size);
    if (t->kind < CF_FLT) {
        put_int(t, r, value);
        return;
    }
    put_real(t, (long double)(int)(r % SMALL) - SMALL / 2, value, 0);
    if (t->kind == CF_CPLX)
        put_real(t, (long double)(int)((r >> 32) % SMALL) - SMALL / 2, value, 1);
}

bool cf_identical(const struct cf_type *t, const void *a, const void *b)
{
    bool is_ldbl = t->kind == CF_FLT && t->size == sizeof(long double);

    return memcmp(a, b, is_ldbl ? (size_t)LDBL_BYTES : t->size) == 0;
}

bool cf_same(const struct cf_type *t, const void *a, const void *b)
{
    if (cf_identical(t, a, b))
        return true;
    if (t->kind < CF_FLT)
        return false;
    for (int part = 0; part < (t->kind == CF_CPLX ? 2 : 1); part++)
        if (get_real(t, a, part) != get_real(t, b, part)) /* 0 and -0 are equal */
            return false;
    return true;
}

int cf_order(const struct cf_type *t, const void *a, const void *b)
{
    if (t->kind == CF_SINT) {
        int64_t x = (int64_t)get_int(t, a), y = (int64_t)get_int(t, b);
        return (x > y) - (x < y);
    }
    if (t->kind == CF_UINT) {
        uint64_t x = get_int(t, a), y = get_int(t, b);
        return (x > y) - (x < y);
    }
    long double x = get_real(t, a, 0), y = get_real(t, b, 0);
    return (x > y) - (x < y);
}

static void apply_int(const struct cf_type *t, enum cf_op op, void *acc, const void *x)
{
    uint64_t a = get_int(t, acc), b = get_int(t, x);

    switch (op) {
    case CF_AND:
        a &= b;
        break;
    case CF_OR:
        a |= b;
        break;
    case CF_XOR:
        a ^= b;
        break;
    case CF_SUM:
        a += b;
        break;
    default:
        a *= b;
        break;
    }
    put_int(t, a, acc);
}

static void apply_real(const struct cf_type *t, enum cf_op op, void *acc, const void *x)
{
    long double a = get_real(t, acc, 0), b = get_real(t, x, 0), ai, bi;

    if (t->kind == CF_FLT) {
        put_real(t, op == CF_SUM ? a + b : a * b, acc, 0);
        return;
    }
    ai = get_real(t, acc, 1);
    bi = get_real(t, x, 1);
    put_real(t, op == CF_SUM ? a + b : a * b - ai * bi, acc, 0);
    put_real(t, op == CF_SUM ? ai + bi : a * bi + ai * b, acc, 1);
}

void cf_apply(const struct cf_type *t, enum cf_op op, void *acc, const void *x)
{
    if (op == CF_MAX || op == CF_MIN) {
        int order = cf_order(t, x, acc);
        if (op == CF_MAX ? order > 0 : order < 0)
            memcpy(acc, x, t->size);
    } else if (t->kind < CF_FLT) {
        apply_int(t, op, acc, x);
    } else {
        apply_real(t, op, acc, x);
    }
}

const char *cf_text(const struct cf_type *t, const void *value)
{
    enum { TEXTS = 4, LENGTH = 80 };
    static char texts[TEXTS][LENGTH];
    static int next;
    char *text = texts[next++ % TEXTS];

    if (t->kind == CF_SINT)
        snprintf(text, LENGTH, "%lld", (long long)get_int(t, value));
    else if (t->kind == CF_UINT)
        snprintf(text, LENGTH, "%llu", (unsigned long long)get_int(t, value));
    else if (t->kind == CF_FLT)
        snprintf(text, LENGTH, "%Lg", get_real(t, value, 0));
    else
        snprintf(text, LENGTH, "%Lg + %Lg i", get_real(t, value, 0),
                 get_real(t, value, 1));
    return text;
}
