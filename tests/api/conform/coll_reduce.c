/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_reduce.c - every reduction and scan of every type over overlapping teams: 0, 1,
 * odd and large counts, in place and not.  Integers are random in all bits, so sums and
 * products wrap around; results of other types are exact in any order.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

enum form { REDUCE, INSCAN, EXSCAN };
typedef int (*reduce_fn)(shmem_team_t team, void *d, const void *s, size_t n);

/* clang-format off */
#define BODY(fn, C)                                                                      \
    static int do_##fn(shmem_team_t team, void *d, const void *s, size_t n)              \
    { return fn(team, (C *)d, (const C *)s, n); }
#define AND_BODY(N, C)  BODY(shmem_##N##_and_reduce, C)
#define OR_BODY(N, C)   BODY(shmem_##N##_or_reduce, C)
#define XOR_BODY(N, C)  BODY(shmem_##N##_xor_reduce, C)
#define MAX_BODY(N, C)  BODY(shmem_##N##_max_reduce, C)
#define MIN_BODY(N, C)  BODY(shmem_##N##_min_reduce, C)
#define SUM_BODY(N, C)                                                                   \
    BODY(shmem_##N##_sum_reduce, C) BODY(shmem_##N##_sum_inscan, C)                      \
    BODY(shmem_##N##_sum_exscan, C)
#define PROD_BODY(N, C) BODY(shmem_##N##_prod_reduce, C)
CF_TEAM_AND(AND_BODY)
CF_TEAM_OR(OR_BODY)
CF_TEAM_XOR(XOR_BODY)
CF_TEAM_MAX(MAX_BODY)
CF_TEAM_MIN(MIN_BODY)
CF_TEAM_SUM(SUM_BODY)
CF_TEAM_PROD(PROD_BODY)

#define R(fn, N, C, OP, FORM) {CF_NAME(fn), CF_TYPE(N, C), OP, FORM, do_##fn},
#define AND_ROW(N, C)  R(shmem_##N##_and_reduce, N, C, CF_AND, REDUCE)
#define OR_ROW(N, C)   R(shmem_##N##_or_reduce, N, C, CF_OR, REDUCE)
#define XOR_ROW(N, C)  R(shmem_##N##_xor_reduce, N, C, CF_XOR, REDUCE)
#define MAX_ROW(N, C)  R(shmem_##N##_max_reduce, N, C, CF_MAX, REDUCE)
#define MIN_ROW(N, C)  R(shmem_##N##_min_reduce, N, C, CF_MIN, REDUCE)
#define SUM_ROW(N, C)                                                                    \
    R(shmem_##N##_sum_reduce, N, C, CF_SUM, REDUCE)                                      \
    R(shmem_##N##_sum_inscan, N, C, CF_SUM, INSCAN)                                      \
    R(shmem_##N##_sum_exscan, N, C, CF_SUM, EXSCAN)
#define PROD_ROW(N, C) R(shmem_##N##_prod_reduce, N, C, CF_PROD, REDUCE)

static const struct routine {
    const char *name;
    struct cf_type type;
    enum cf_op op;
    enum form form;
    reduce_fn call;
} routines[] = {
    CF_TEAM_AND(AND_ROW) CF_TEAM_OR(OR_ROW) CF_TEAM_XOR(XOR_ROW) CF_TEAM_MAX(MAX_ROW)
    CF_TEAM_MIN(MIN_ROW) CF_TEAM_SUM(SUM_ROW) CF_TEAM_PROD(PROD_ROW)
};
/* clang-format on */

enum { COUNTS = 4, FORMS = 2, CASES = CF_TEAMS * COUNTS * FORMS };
enum { LARGE = 131, HUGE = 9001, SLOT_MAX = (HUGE + 1) * 16 };
static size_t counts[COUNTS] = {0, 1, 7, LARGE}, slot = (LARGE + 1) * 16;
static unsigned char *to_buffer, *from_buffer;

/* True if case `which` of a row is run: a team, a count, in place or not.  Huge counts,
 * which the library splits into segments, only for a few types and on three teams. */
static bool wanted(size_t which)
{
    size_t team = which / FORMS / COUNTS;

    return (int)team < cf_nteams && (counts[COUNTS - 1] == LARGE ||
                                     (which / FORMS % COUNTS == 3 && team % 3 == 0));
}

static bool is_huge(const struct routine *r)
{
    const char *name = r->type.name;

    return strcmp(name, "double") == 0 || strcmp(name, "int8") == 0 ||
           strcmp(name, "longdouble") == 0 || strcmp(name, "complexf") == 0 ||
           strcmp(name, "uint32") == 0;
}

/* The first elements are edge values (integers; floats only for max and min), the others
 * are random. */
static void value_of(const struct routine *r, int pe, size_t which, size_t i, void *value)
{
    uint64_t salt = ((uint64_t)pe * CASES + which) * HUGE + i;

    if (i < CF_EDGES && (r->type.kind < CF_FLT || r->op == CF_MAX || r->op == CF_MIN))
        cf_edge(&r->type, (unsigned)(i + (size_t)pe), value);
    else
        cf_random(&r->type, salt, value);
}

/* The result at member `me` of the team for element i. */
static void model(const struct routine *r, const struct cf_team *t, int me, size_t which,
                  size_t i, void *result)
{
    int first = 0, last = r->form == REDUCE ? t->size - 1 : me - (r->form == EXSCAN);
    unsigned char x[CF_VALUE];

    memset(result, 0, CF_VALUE);
    if (last >= 0)
        value_of(r, cf_world(t, first), which, i, result);
    for (int k = 1; k <= last; k++) {
        value_of(r, cf_world(t, k), which, i, x);
        cf_apply(&r->type, r->op, result, x);
    }
}

static void verify_dest(const struct routine *r, const struct cf_team *t, size_t which,
                        size_t n, const unsigned char *to)
{
    unsigned char expected[CF_VALUE] __attribute__((aligned(16)));
    const struct cf_type *type = &r->type;
    size_t i = 0, size = type->size;

    for (; i < n; i++) {
        model(r, t, cf_rank(t), which, i, expected);
        if (!cf_same(type, to + i * size, expected))
            break;
    }
    cf_check(i == n, "team %s, %zu elements%s: element %zu is %s, not %s", t->name, n,
             which % 2 ? " in place" : "", i, cf_text(type, to + i * size),
             cf_text(type, expected));
    cf_check(check_find_other(to + n * size, size, CF_FILLER) == size,
             "team %s, %zu elements: wrote beyond the end", t->name, n);
}

/* Fills the source at the last moment, when other PEs may already be in the call. */
static void prepare(const struct routine *r, size_t which, unsigned char *from)
{
    for (size_t i = 0; i < counts[which / FORMS % COUNTS]; i++)
        value_of(r, cf_me, which, i, from + i * r->type.size);
}

static void run_row(const struct routine *r, uint64_t *seed)
{
    for (size_t which = 0; which < CASES; which++)
        if (wanted(which))
            memset(to_buffer + which * slot, CF_FILLER, slot);
    int status = r->call(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    cf_case(r->name);
    cf_check(status == 0, "null pointers, 0 elements: returned %d", status);
    shmem_barrier_all();
    for (size_t which = 0; which < CASES; which++) {
        size_t n = counts[which / FORMS % COUNTS], team = which / FORMS / COUNTS;
        const struct cf_team *t = &cf_teams[team];
        unsigned char *to = to_buffer + which * slot;
        unsigned char *from = which % 2 ? to : from_buffer + which * slot;
        if (!wanted(which) || cf_rank(t) < 0)
            continue;
        check_delay(seed);
        prepare(r, which, from);
        status = r->call(t->team, to, from, n);
        cf_case(r->name);
        cf_check(status == 0, "team %s, %zu elements: returned %d", t->name, n, status);
        if (from != to) /* the source may be reused at once */
            memset(from, CF_FILLER, n * r->type.size);
        verify_dest(r, t, which, n, to);
    }
    shmem_barrier_all();
}

int main(void)
{
    cf_start("coll_reduce");
    to_buffer = check_alloc((size_t)CASES * SLOT_MAX);
    from_buffer = check_alloc((size_t)CASES * SLOT_MAX);
    uint64_t seed = check_seed(cf_me);
    cf_teams_open();
    for (size_t row = 0; row < CF_COUNT(routines); row++)
        run_row(&routines[row], &seed);
    counts[COUNTS - 1] = HUGE;
    slot = SLOT_MAX;
    for (size_t row = 0; row < CF_COUNT(routines); row++)
        if (is_huge(&routines[row]))
            run_row(&routines[row], &seed);
    cf_teams_close();
    shmem_free(from_buffer);
    shmem_free(to_buffer);
    return cf_finish();
}
