/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - see check.h.  The model of an operation works on one element, with 64-bit
 * integers, C's own reals, and pairs; it shares nothing with the kernels.
 */
#include "config.h"

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/kernels/check.h"

enum { ELEMENT_MAX = 32, SHIFT_MAX = 64, MARGIN = 64, MARK = 0x5a };

struct row {
    const char *name;
    enum op op;
    enum op_kind kind;
    size_t size;  /* the argument of op_find */
    size_t bytes; /* of an element */
    void (*make)(void *element, const struct row *row, bool special, size_t i);
    void (*model)(void *out, const void *a, const void *b, const struct row *row);
    bool (*same)(const void *x, const void *y, const struct row *row);
};

static uint64_t random_bits(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}

/* ---- integers: in 64 bits, of which the lower ones are compared ------------------ */

/* Boundaries of some width, and patterns */
static const uint64_t edges[] = {
    0,
    1,
    2,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffffffffffff,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
};
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void put(void *element, size_t size, uint64_t bits)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)element)[i] = (unsigned char)(bits >> 8 * i);
}

static uint64_t get(const void *element, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)((const unsigned char *)element)[i] << 8 * i;
    return bits;
}

/* As a signed number that is in the same order as those of the kind */
static int64_t rank(uint64_t bits, const struct row *row)
{
    unsigned unused = 64 - 8 * (unsigned)row->size;

    if (row->kind == OP_SINT)
        return (int64_t)(bits << unused) >> unused;
    return (int64_t)(bits ^ (uint64_t)1 << 63);
}

static void int_make(void *element, const struct row *row, bool special, size_t i)
{
    uint64_t bits = random_bits();

    (void)i;
    if (special || bits % 3 == 0)
        bits = edges[bits / 3 % LENGTH(edges)];
    put(element, row->bytes, bits);
}

static uint64_t int_result(uint64_t a, uint64_t b, const struct row *row)
{
    bool larger = rank(b, row) > rank(a, row), smaller = rank(b, row) < rank(a, row);
    uint64_t of[OPS] = {
        [OP_AND] = a & b,           [OP_OR] = a | b,    [OP_XOR] = a ^ b,
        [OP_SUM] = a + b,           [OP_PROD] = a * b,  [OP_MAX] = larger ? b : a,
        [OP_MIN] = smaller ? b : a, [OP_LAND] = a && b, [OP_LOR] = a || b,
        [OP_LXOR] = !a != !b,
    };

    return of[row->op];
}

static void int_model(void *out, const void *a, const void *b, const struct row *row)
{
    put(out, row->size, int_result(get(a, row->size), get(b, row->size), row));
}

static bool int_same(const void *x, const void *y, const struct row *row)
{
    return memcmp(x, y, row->bytes) == 0;
}

/* ---- reals ----------------------------------------------------------------------- */

/* Special value of operand element i.  The first operand cycles through the table
 * fastest, the second advances once per cycle, so LENGTH(of)^2 elements cover all pairs.
 */
static long double special_real(size_t i, bool second, size_t size)
{
    long double most = size == 4 ? FLT_MAX : size == 8 ? DBL_MAX : LDBL_MAX;
    long double least = size == 4 ? FLT_MIN : size == 8 ? DBL_MIN : LDBL_MIN;
    const long double of[] = {0,    -0.0L, 1,     -1,     INFINITY,  -INFINITY, NAN, -NAN,
                              most, -most, least, -least, least / 8, 0.1L,      3,   -7};

    return of[(second ? i / LENGTH(of) : i) % LENGTH(of)];
}

/* i < CHECK_COUNT_MAX: element i of a; otherwise element i - CHECK_COUNT_MAX of b */
static long double real(const struct row *row, bool special, size_t i)
{
    bool second = i >= CHECK_COUNT_MAX;
    int64_t bits = (int64_t)random_bits();

    if (special)
        return special_real(i % CHECK_COUNT_MAX, second, row->size);
    return ldexpl((long double)bits, (int)(bits & 31) - 79);
}

/* A sum or product that is NaN may be any NaN. */
#define REAL_SAME(C, x, y)                                                               \
    (memcmp(&(x), &(y), SIGNIFICANT(C)) == 0 ||                                          \
     (row->op != OP_MAX && row->op != OP_MIN && isnan(x) && isnan(y)))
/* The padding of a long double is undefined. */
#define SIGNIFICANT(C) (sizeof(C) == 16 && LDBL_MANT_DIG == 64 ? 10 : sizeof(C))

#define REAL(NAME, C)                                                                    \
    static void NAME##_make(void *element, const struct row *row, bool special,          \
                            size_t i)                                                    \
    {                                                                                    \
        C x = (C)real(row, special, i);                                                  \
        memcpy(element, &x, sizeof x);                                                   \
    }                                                                                    \
    static void NAME##_model(void *out, const void *x, const void *y,                    \
                             const struct row *row)                                      \
    {                                                                                    \
        C a, b, r;                                                                       \
        memcpy(&a, x, sizeof a);                                                         \
        memcpy(&b, y, sizeof b);                                                         \
        switch (row->op) {                                                               \
        case OP_MAX:                                                                     \
            r = b > a ? b : a;                                                           \
            break;                                                                       \
        case OP_MIN:                                                                     \
            r = b < a ? b : a;                                                           \
            break;                                                                       \
        case OP_SUM:                                                                     \
            r = a + b;                                                                   \
            break;                                                                       \
        default:                                                                         \
            r = a * b;                                                                   \
        }                                                                                \
        memcpy(out, &r, sizeof r);                                                       \
    }                                                                                    \
    static bool NAME##_same(const void *x, const void *y, const struct row *row)         \
    {                                                                                    \
        C a, b;                                                                          \
        memcpy(&a, x, sizeof a);                                                         \
        memcpy(&b, y, sizeof b);                                                         \
        return REAL_SAME(C, a, b);                                                       \
    }
REAL(flt, float)
REAL(dbl, double)
REAL(ldbl, long double)

/* ---- complex numbers ------------------------------------------------------------- */

#define COMPLEX(NAME, C)                                                                 \
    static void NAME##_make(void *element, const struct row *row, bool special,          \
                            size_t i)                                                    \
    {                                                                                    \
        struct row part = *row;                                                          \
        part.size /= 2;                                                                  \
        uint64_t other = random_bits();                                                  \
        size_t of_b = i >= CHECK_COUNT_MAX ? CHECK_COUNT_MAX : 0;                        \
        C x[2] = {(C)real(&part, special, i),                                            \
                  (C)real(&part, special, of_b + other % 256)};                          \
        memcpy(element, x, sizeof x);                                                    \
    }                                                                                    \
    static void NAME##_model(void *out, const void *x, const void *y,                    \
                             const struct row *row)                                      \
    {                                                                                    \
        C _Complex a, b, r;                                                              \
        memcpy(&a, x, sizeof a);                                                         \
        memcpy(&b, y, sizeof b);                                                         \
        r = row->op == OP_SUM ? a + b : a * b;                                           \
        memcpy(out, &r, sizeof r);                                                       \
    }                                                                                    \
    static bool NAME##_same(const void *x, const void *y, const struct row *row)         \
    {                                                                                    \
        C a[2], b[2];                                                                    \
        memcpy(a, x, sizeof a);                                                          \
        memcpy(b, y, sizeof b);                                                          \
        return REAL_SAME(C, a[0], b[0]) && REAL_SAME(C, a[1], b[1]);                     \
    }
COMPLEX(cflt, float)
COMPLEX(cdbl, double)
COMPLEX(cldbl, long double)

/* ---- pairs ----------------------------------------------------------------------- */

/* Few values, so that many are equal */
#define PAIR(NAME, C, VALUE)                                                             \
    struct NAME {                                                                        \
        C value;                                                                         \
        int index;                                                                       \
    };                                                                                   \
    static void NAME##_make(void *element, const struct row *row, bool special,          \
                            size_t i)                                                    \
    {                                                                                    \
        static const int index[] = {INT_MIN, -1, 0, 1, INT_MAX};                         \
        struct NAME x;                                                                   \
        (void)row, (void)special, (void)i;                                               \
        memset(&x, (int)random_bits(), sizeof x); /* the padding */                      \
        x.value = (C)(VALUE);                                                            \
        x.index = index[random_bits() % LENGTH(index)];                                  \
        memcpy(element, &x, sizeof x);                                                   \
    }                                                                                    \
    static void NAME##_model(void *out, const void *x, const void *y,                    \
                             const struct row *row)                                      \
    {                                                                                    \
        struct NAME a, b;                                                                \
        memcpy(&a, x, sizeof a);                                                         \
        memcpy(&b, y, sizeof b);                                                         \
        if (row->op == OP_MAXLOC ? b.value > a.value : b.value < a.value)                \
            a = b;                                                                       \
        else if (b.value == a.value && b.index < a.index)                                \
            a = b;                                                                       \
        memcpy(out, &a, sizeof a);                                                       \
    }                                                                                    \
    static bool NAME##_same(const void *x, const void *y, const struct row *row)         \
    {                                                                                    \
        struct NAME a, b;                                                                \
        (void)row;                                                                       \
        memcpy(&a, x, sizeof a);                                                         \
        memcpy(&b, y, sizeof b);                                                         \
        return a.index == b.index && memcmp(&a.value, &b.value, SIGNIFICANT(C)) == 0;    \
    }
#define FEW_INTS (edges[random_bits() % LENGTH(edges)])
#define FEW_REALS(C)                                                                     \
    (special ? real(&(struct row){.size = sizeof(C)}, true, i)                           \
             : (long double)(random_bits() % 8) - 4)
PAIR(short_int, int16_t, FEW_INTS)
PAIR(int_int, int32_t, FEW_INTS)
PAIR(long_int, int64_t, FEW_INTS)
PAIR(float_int, float, FEW_REALS(float))
PAIR(double_int, double, FEW_REALS(double))
PAIR(ldouble_int, long double, FEW_REALS(long double))

/* ---- rows ------------------------------------------------------------------------ */

/* clang-format off */
#define ROW(KIND, OP, SIZE, BYTES, NAME, TEXT)                                           \
    {TEXT " " #OP, OP_##OP, OP_##KIND, SIZE, BYTES,                                      \
     NAME##_make, NAME##_model, NAME##_same},
#define INT(KIND, OP, BITS) ROW(KIND, OP, BITS / 8, BITS / 8, int, #KIND #BITS)
#define INT_SIZES(KIND, OP)                                                              \
    INT(KIND, OP, 8) INT(KIND, OP, 16) INT(KIND, OP, 32) INT(KIND, OP, 64)
#define INTS(KIND)                                                                       \
    INT_SIZES(KIND, AND) INT_SIZES(KIND, OR) INT_SIZES(KIND, XOR)                        \
    INT_SIZES(KIND, MAX) INT_SIZES(KIND, MIN)                                            \
    INT_SIZES(KIND, SUM) INT_SIZES(KIND, PROD)                                           \
    INT_SIZES(KIND, LAND) INT_SIZES(KIND, LOR) INT_SIZES(KIND, LXOR)
#define REAL_ROW(OP, C, NAME) ROW(FLT, OP, sizeof(C), sizeof(C), NAME, #C)
#define REALS(C, NAME)                                                                   \
    REAL_ROW(MAX, C, NAME) REAL_ROW(MIN, C, NAME)                                        \
    REAL_ROW(SUM, C, NAME) REAL_ROW(PROD, C, NAME)
#define COMPLEXES(C, NAME)                                                               \
    ROW(CPLX, SUM, 2 * sizeof(C), 2 * sizeof(C), NAME, "complex " #C)                    \
    ROW(CPLX, PROD, 2 * sizeof(C), 2 * sizeof(C), NAME, "complex " #C)
#define PAIRS(KIND, C, NAME)                                                             \
    ROW(PAIR_##KIND, MAXLOC, sizeof(C), sizeof(struct NAME), NAME, #NAME)                \
    ROW(PAIR_##KIND, MINLOC, sizeof(C), sizeof(struct NAME), NAME, #NAME)

static const struct row rows[] = {
    INTS(SINT) INTS(UINT)
    REALS(float, flt) REALS(double, dbl) REALS(long double, ldbl)
    COMPLEXES(float, cflt) COMPLEXES(double, cdbl) COMPLEXES(long double, cldbl)
    PAIRS(SINT, int16_t, short_int) PAIRS(SINT, int32_t, int_int)
    PAIRS(SINT, int64_t, long_int)
    PAIRS(FLT, float, float_int) PAIRS(FLT, double, double_int)
    PAIRS(FLT, long double, ldouble_int)
};
/* clang-format on */

size_t check_rows(void)
{
    return LENGTH(rows);
}

/* ---- memory ---------------------------------------------------------------------- */

/* Room for one operand, between pages that cannot be touched */
struct space {
    unsigned char *begin, *end;
};

enum { DATA_MAX = CHECK_COUNT_MAX * ELEMENT_MAX };

static struct space capacity_grow(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t len = (DATA_MAX + SHIFT_MAX + 2 * MARGIN + page - 1) / page * page;
    unsigned char *at = mmap(NULL, len + 2 * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) != 0 ||
        mprotect(at + page + len, page, PROT_NONE) != 0)
        abort();
    return (struct space){at + page, at + page + len};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Marks the bytes around an operand, */
static void mark(const struct space *r, unsigned char *at, size_t bytes)
{
    size_t before = least(MARGIN, (size_t)(at - r->begin));
    size_t after = least(MARGIN, (size_t)(r->end - at) - bytes);

    memset(at - before, MARK, before);
    memset(at + bytes, MARK, after);
}

/* and checks the marks afterwards. */
static bool marked(const struct space *r, const unsigned char *at, size_t bytes)
{
    static unsigned char marks[MARGIN];
    size_t before = least(MARGIN, (size_t)(at - r->begin));
    size_t after = least(MARGIN, (size_t)(r->end - at) - bytes);

    memset(marks, MARK, sizeof marks);
    return memcmp(at - before, marks, before) == 0 &&
           memcmp(at + bytes, marks, after) == 0;
}

/* ---- one kernel ------------------------------------------------------------------ */

static struct {
    struct space out, a, b;
    unsigned char given_a[DATA_MAX], given_b[DATA_MAX], wanted[DATA_MAX];
} m;

static void prepare(const struct row *row, bool special, size_t n)
{
    if (m.out.begin == NULL) {
        m.out = capacity_grow();
        m.a = capacity_grow();
        m.b = capacity_grow();
    }
    memset(m.wanted, 0, sizeof m.wanted);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * row->bytes;
        row->make(m.given_a + at, row, special, i);
        row->make(m.given_b + at, row, special, i + CHECK_COUNT_MAX);
        row->model(m.wanted + at, m.given_a + at, m.given_b + at, row);
    }
}

/* The operands of one call. */
struct call {
    const struct row *row;
    const struct op_fns *fns;
    size_t n, shift;
    bool at_begin; /* of the space; else the end of the operands is at its end */
};

/* The shifts of the operands differ from each other, but for 0. */
static unsigned char *operand_at(const struct space *r, const struct call *c,
                                 size_t factor)
{
    size_t bytes = c->n * c->row->bytes, shift = c->shift * factor % SHIFT_MAX;
    unsigned char *at = c->at_begin ? r->begin + shift : r->end - shift - bytes;

    mark(r, at, bytes);
    return at;
}

static bool result_ok(const struct call *c, const unsigned char *out)
{
    const struct row *row = c->row;

    if (memcmp(out, m.wanted, c->n * row->bytes) == 0)
        return true;
    for (size_t i = 0; i < c->n; i++)
        if (!row->same(out + i * row->bytes, m.wanted + i * row->bytes, row))
            return false;
    return true;
}

enum form { TWO, THREE, OUT_IS_A, OUT_IS_B, FORMS };

static const char *call_form(const struct call *c, enum form form)
{
    size_t bytes = c->n * c->row->bytes;
    unsigned char *a = operand_at(&m.a, c, 1), *b = operand_at(&m.b, c, 5);
    unsigned char *out = form == TWO || form == OUT_IS_A ? a : b;

    if (form == THREE) {
        out = operand_at(&m.out, c, 3);
        memset(out, MARK, bytes);
    }
    memcpy(a, m.given_a, bytes);
    memcpy(b, m.given_b, bytes);
    if (form == TWO)
        c->fns->two(a, b, c->n);
    else
        c->fns->three(out, a, b, c->n);
    if (!result_ok(c, out))
        return "wrong";
    if ((form == THREE && !marked(&m.out, out, bytes)) || !marked(&m.a, a, bytes) ||
        !marked(&m.b, b, bytes))
        return "written outside";
    if ((out != a && memcmp(a, m.given_a, bytes) != 0) ||
        (out != b && memcmp(b, m.given_b, bytes) != 0))
        return "a source is changed";
    return NULL;
}

static int call_all(const struct call *c, char *text)
{
    static const char *const names[] = {"two operands", "three", "three, out is a",
                                        "three, out is b"};

    for (enum form form = TWO; form < FORMS; form++) {
        const char *bad = call_form(c, form);
        if (bad == NULL)
            continue;
        snprintf(text, CHECK_TEXT, "%s, %s, %zu elements, shift %zu%s: %s", c->row->name,
                 names[form], c->n, c->shift, c->at_begin ? " at begin" : "", bad);
        return -1;
    }
    return 0;
}

int check_row(size_t r, const struct check_extent *e, bool special, char *text)
{
    struct call c = {&rows[r], op_find(rows[r].op, rows[r].kind, rows[r].size), 0, 0,
                     false};

    if (c.fns == NULL) {
        snprintf(text, CHECK_TEXT, "%s: there is none", c.row->name);
        return -1;
    }
    prepare(c.row, special, e->count_max);
    for (c.n = 0; c.n <= e->count_max; c.n += e->count_step) {
        c.at_begin = false;
        for (c.shift = 0; c.shift < e->shifts; c.shift += e->shift_step)
            if (call_all(&c, text) != 0)
                return -1;
        c.at_begin = true;
        c.shift = 0;
        if (call_all(&c, text) != 0)
            return -1;
    }
    return 0;
}
