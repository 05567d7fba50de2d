/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - shared by the tests of wait and test routines: the types, values at the limits
 * of their ranges, a model of the comparisons, and all routines for arrays by type.
 */
#ifndef TESTS_API_MULTI_WAIT_H
#define TESTS_API_MULTI_WAIT_H

#include "shmem_types.def"
#include "tests/api/multi/check.h"

enum { SINT = 1, UINT = 0 };
enum { WAIT_VALUES = 8, COMPARISONS = 6 };

static const int comparisons[COMPARISONS] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                             SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

/* A value at a limit or in the middle of the type's range, sign-extended to 64 bits. */
static inline uint64_t wait_value(size_t size, bool is_signed, int which)
{
    uint64_t top = (uint64_t)1 << (8 * size - 1);
    const uint64_t value[WAIT_VALUES] = {0,       1,       2,  ~(uint64_t)0, ~(uint64_t)1,
                                         top - 1, top + 1, top};
    unsigned shift = (unsigned)(64 - 8 * size);
    uint64_t v = value[which] << shift;
    return is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

/* -1, 0, 1 as a is less than, equal to, greater than b. */
static inline int wait_order(bool is_signed, uint64_t a, uint64_t b)
{
    if (is_signed)
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return (a > b) - (a < b);
}

static inline bool wait_holds(bool is_signed, uint64_t a, int cmp, uint64_t b)
{
    int o = wait_order(is_signed, a, b);
    switch (cmp) {
    case SHMEM_CMP_EQ:
        return o == 0;
    case SHMEM_CMP_NE:
        return o != 0;
    case SHMEM_CMP_GT:
        return o > 0;
    case SHMEM_CMP_GE:
        return o >= 0;
    case SHMEM_CMP_LT:
        return o < 0;
    default:
        return o <= 0;
    }
}

/* The routines for arrays; each also has a vector form (struct set_call). */
enum set_form { WAIT_ALL, WAIT_ANY, WAIT_SOME, TEST_ALL, TEST_ANY, TEST_SOME, FORMS };

/* The arguments of any of them. */
struct set_call {
    void *words;
    size_t n;
    size_t *indices;
    const int *status;
    int cmp;
    uint64_t value;
    const void *values; /* not NULL: the vector form */
};

/* clang-format off */
#define SET_FORMS(NAME, T, END, AGAINST)                                                 \
    case WAIT_ALL: shmem_##NAME##_wait_until_all##END(T, AGAINST); return 0;             \
    case WAIT_ANY: return shmem_##NAME##_wait_until_any##END(T, AGAINST);                \
    case WAIT_SOME: return shmem_##NAME##_wait_until_some##END(SET_##T, AGAINST);        \
    case TEST_ALL: return (size_t)shmem_##NAME##_test_all##END(T, AGAINST);              \
    case TEST_ANY: return shmem_##NAME##_test_any##END(T, AGAINST);                      \
    default: return shmem_##NAME##_test_some##END(SET_##T, AGAINST);
#define ARRAY     c->words, c->n, c->status, c->cmp
#define SET_ARRAY c->words, c->n, c->indices, c->status, c->cmp
#define SET_CALLS(NAME, C, KIND)                                                         \
    static inline size_t set_##NAME(int form, const struct set_call *c)                  \
    {                                                                                    \
        if (c->values == NULL)                                                           \
            switch (form) { SET_FORMS(NAME, ARRAY, , (C)c->value) }                      \
        switch (form) { SET_FORMS(NAME, ARRAY, _vector, c->values) }                     \
    }                                                                                    \
    static inline void set_p_##NAME(void *word, uint64_t v, int pe)                      \
    { shmem_##NAME##_p(word, (C)v, pe); }
SHMEM_TYPES_SYNC(SET_CALLS)
/* clang-format on */

struct set_type {
    const char *name;
    size_t size;
    bool is_signed;
    size_t (*call)(int form, const struct set_call *c);
    void (*p)(void *word, uint64_t value, int pe);
};
#define SET_TYPE(NAME, C, KIND) {#NAME, sizeof(C), KIND, set_##NAME, set_p_##NAME},
static const struct set_type set_types[] = {SHMEM_TYPES_SYNC(SET_TYPE)};
enum { SET_TYPES = sizeof(set_types) / sizeof(set_types[0]) };

#endif
